"""What may stand at a place of a ``%%chat`` line: a table of models, files, variables, turns, values and more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.core.getipython import get_ipython

from ..config.aliases import load_aliases
from ..config.settings import MODELS, SETTING_NAMES, SETTINGS, choices
from ..display.tables import first_words
from ..errors import InvalidRequestError
from ..experiments.table.table_files import TABLE_FORMATS
from ..models.model_names import bare_names, known_models, model_names, providers
from ..models.window_tables import resolve_window
from ..providers.lookup import key_holders, provider_names
from ..wording import nearest_name
from .attach_named import is_attachable
from .command_table import COMMANDS
from .help_topics import TOPICS
from .variables import is_run, is_schema, is_scorer, is_table, variables_of

if TYPE_CHECKING:
    from .chat_cells import ChatCells

CHANGES = {  # what a command changes of a turn, and how that is before it
    "pin": ("pinned", False), "unpin": ("pinned", True),
    "exclude": ("excluded", False), "include": ("excluded", True),
}  # fmt: skip
EXAMPLES_OF_PARAMETERS = {  # of requests, that many servers know
    "top_p": 0.9, "seed": 1, "stop": json.dumps(["\n"]), "frequency_penalty": 0.5, "presence_penalty": 0.5,
}  # fmt: skip


class Suggestion(NamedTuple):
    """What may be typed, and what it is, such as ``column`` or ``DataFrame 12,000 × 5``."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line up to the cursor: its whole words, and the one at the cursor without and with its quote."""

    before: list[str]
    current: str
    quoted: str
    cells: Callable[[], ChatCells]


def _models(typed: TypedLine) -> Iterator[Suggestion]:
    """Yield models of the provider that is named already, else short names, providers and the makers' models."""
    provider, slash, _ = typed.current.partition("/")
    if slash:
        provider = nearest_name(provider, provider_names()) or provider
        names = [*known_models(provider), *(name for name in model_names() if name.startswith(typed.current))]
        yield from map(_model, dict.fromkeys(names))
        return
    with suppress(InvalidRequestError):  # a damaged file is told of when it is used
        yield from (Suggestion(name, f"alias of {model}") for name, model in load_aliases().items())
    yield from map(_model, model_names())
    yield from (Suggestion(name, "provider") for name in providers())
    yield from map(_model, bare_names() if typed.current else ())


@lru_cache(maxsize=2_000)
def _model(name: str) -> Suggestion:
    window = resolve_window(name)
    return Suggestion(name, "model" if window.is_guess else f"window {window.tokens:,}")


def _files(typed: TypedLine, suffixes: tuple[str, ...] = ("",)) -> Iterator[Suggestion]:
    """Yield files and folders whose path begins so; of files only those that end in one of the ``suffixes``."""
    folder, slash, start = typed.current.rpartition("/")
    with suppress(OSError, RuntimeError):
        for each in sorted(Path(f"{folder}{slash}" or ".").expanduser().iterdir()):
            is_hidden = each.name.startswith(".") and not start.startswith(".")
            if each.is_dir() and not is_hidden:
                yield Suggestion(f"{folder}{slash}{each.name}/", "folder")
            elif each.name.endswith(suffixes) and not is_hidden:
                yield Suggestion(f"{folder}{slash}{each.name}", "file")


def _text_or_file(typed: TypedLine) -> Iterator[Suggestion]:
    if typed.current.startswith("@"):
        files = _files(replace(typed, current=typed.current[1:]))
        yield from (Suggestion(f"@{path}", kind) for path, kind in files)


def notebook_names() -> Mapping[str, Any]:
    """Return the notebook's variables."""
    shell: Any = get_ipython()
    return shell.user_ns if shell is not None else {}


def _variables(fits: Callable[[Any], bool], _: object = None) -> Iterator[Suggestion]:
    names = notebook_names()
    return (Suggestion(name, described_type(names[name])) for name in variables_of(names, fits))


def described_type(value: Any) -> str:
    """Return a value's type with its size, such as ``DataFrame 12,000 × 5`` or ``list of 3``."""
    name, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
        return f"{name} {' × '.join(f'{size:,}' for size in shape)}"
    return f"{name} of {len(value):,}" if isinstance(value, dict | list | tuple | set | frozenset) else name


def _turns(typed: TypedLine) -> Iterator[Suggestion]:
    """Yield the numbers of turns, newest first; only of those that the command can change."""
    mark, is_set = CHANGES.get(typed.before[0], ("", False))
    for number, place in reversed([*enumerate(typed.cells().places, 1)]):
        if getattr(place, mark, False) == is_set and str(number) not in typed.before:
            yield Suggestion(str(number), first_words(place.turn.typed))


def _of_a_setting(typed: TypedLine) -> Iterator[Suggestion]:
    """Yield values of the setting that stands before: models, and the words it takes."""
    name = typed.before[-1]
    if name in MODELS:
        yield from _models(typed)
    if name in SETTINGS:
        yield from _words(choices(name), "value")
    if name == "system":
        yield from _text_or_file(typed)


def _words(names: Iterable[str], kind: str) -> Iterator[Suggestion]:
    return (Suggestion(name, kind) for name in names)


Completer = Callable[[TypedLine], Iterable[Suggestion]]
COMPLETERS: dict[str, Completer] = {  # by what a command or an option takes, or by the option
    "MODEL": _models,
    "FILE": _files,
    "NOTEBOOK": _files,
    "NAME_OR_FILE": lambda typed: (*_variables(is_attachable), *_files(typed)),
    "TEXT": _text_or_file,
    "TABLE": lambda typed: (*_variables(is_table), *_files(typed, tuple(TABLE_FORMATS))),
    "RUN": partial(_variables, is_run),
    "--schema": partial(_variables, is_schema),
    "--score": partial(_variables, is_scorer),
    "TURN": _turns,
    "N…": _turns,
    "N": lambda typed: _turns(typed) if typed.before[:1] == ["compare"] else (),
    "VALUE": _of_a_setting,
    "NAME=VALUE": lambda typed: (
        Suggestion(f"{name}=", f"such as {value}")
        for name, value in EXAMPLES_OF_PARAMETERS.items()
        if "=" not in typed.current
    ),
    "CONVERSATION": lambda typed: _words(typed.cells().library.names, "conversation"),
    "PROVIDER": lambda _: _words(provider_names(), "provider"),
    "OWNER": lambda _: _words(key_holders(), "provider"),
    "SETTING": lambda _: _words(SETTING_NAMES, "setting"),
    "TOPIC": lambda _: _words(TOPICS, "topic"),
    "COMMAND": lambda _: (*_words(COMMANDS, "command"), *_words(SETTING_NAMES, "setting")),
    "HOW": lambda _: _words(choices("on_overflow"), "value"),
}
