"""What may stand at a place of a ``%%chat`` line: models with their windows, files, variables, turns, values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from IPython.core.getipython import get_ipython

from ..config.aliases import load_aliases
from ..config.settings import MODELS, SETTING_NAMES, SETTINGS, choices
from ..conversation.places import Place
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
from .variables import is_table, variables_of


class Suggestion(NamedTuple):
    """What may be typed, and what it is, such as ``column`` or ``DataFrame 12,000 × 5``."""

    text: str
    kind: str = ""


class Conversations(Protocol):
    """What Tab may ask about the notebook's conversations."""

    @property
    def names(self) -> list[str]:
        """The names of this notebook's conversations."""

    @property
    def places(self) -> Sequence[Place]:
        """The turns of the current conversation, in order."""


class Spot(NamedTuple):
    """A place of a line: what is typed there, and the words before it, of which the first names the command."""

    current: str
    before: list[str]
    conversations: Conversations


def values(kinds: Iterable[str], spot: Spot) -> Iterator[Suggestion]:
    """Yield words for a place: those written in small letters as they are, those in capitals by their kind."""
    for kind in kinds:
        if kind in FINDERS:
            yield from FINDERS[kind](spot)
        elif kind.islower():
            yield Suggestion(kind, "default value" if kind == "default" else "word")


def _models(spot: Spot) -> Iterator[Suggestion]:
    """Yield models of the provider that is named already, else short names, providers and the makers' models."""
    provider, slash, _ = spot.current.partition("/")
    if slash:
        provider = nearest_name(provider, provider_names()) or provider
        names = [*known_models(provider), *(name for name in model_names() if name.startswith(spot.current))]
        yield from map(_model, dict.fromkeys(names))
        return
    with suppress(InvalidRequestError):  # a damaged file is told of when it is used
        yield from (Suggestion(name, f"alias of {model}") for name, model in load_aliases().items())
    yield from map(_model, model_names())
    yield from (Suggestion(name, "provider") for name in providers())
    yield from map(_model, bare_names() if spot.current else ())


def _model(name: str) -> Suggestion:
    return Suggestion(name, _window(name))


@lru_cache(maxsize=2_000)
def _window(model: str) -> str:
    window = resolve_window(model)
    return "model" if window.is_guess else f"window {window.tokens:,}"


def _files(spot: Spot) -> Iterator[Suggestion]:
    """Yield files and folders whose path begins so."""
    folder, _, start = spot.current.rpartition("/")
    path = Path(f"{folder}/" if "/" in spot.current else ".").expanduser()
    typed = spot.current[: len(spot.current) - len(start)]
    with suppress(OSError, RuntimeError):
        for each in sorted(path.iterdir()):
            if start.startswith(".") or not each.name.startswith("."):
                is_folder = each.is_dir()
                yield Suggestion(f"{typed}{each.name}{'/' if is_folder else ''}", "folder" if is_folder else "file")


def _things(spot: Spot) -> Iterator[Suggestion]:
    """Yield variables whose values can go with a prompt, then files and folders."""
    yield from _variables(is_attachable)
    yield from _files(spot)


def _tables(spot: Spot) -> Iterator[Suggestion]:
    """Yield variables that may hold a table, then folders and files that may."""
    yield from _variables(is_table)
    yield from (word for word in _files(spot) if word.text.endswith(("/", *TABLE_FORMATS)))


def _runs(_: Spot) -> Iterator[Suggestion]:
    return _variables(lambda value: type(value).__name__ == "Run" and hasattr(value, "progress"))


def _schemas(_: Spot) -> Iterator[Suggestion]:
    return _variables(lambda value: isinstance(value, type | dict))


def _scorers(_: Spot) -> Iterator[Suggestion]:
    return _variables(lambda value: callable(getattr(value, "ask", value)) and not isinstance(value, type))


def _variables(fits: Callable[[Any], bool]) -> Iterator[Suggestion]:
    shell: Any = get_ipython()
    names: Mapping[str, Any] = shell.user_ns if shell is not None else {}
    return (Suggestion(name, described_type(names[name])) for name in variables_of(names, fits))


def _text_or_file(spot: Spot) -> Iterator[Suggestion]:
    if spot.current.startswith("@"):
        files = _files(spot._replace(current=spot.current[1:]))
        yield from (Suggestion(f"@{path}", kind) for path, kind in files)


def _turns(spot: Spot) -> Iterator[Suggestion]:
    """Yield the numbers of turns, newest first; only of those that the command can change."""
    fits: Callable[[Place], bool] = {
        "pin": lambda place: not place.pinned,
        "unpin": lambda place: place.pinned,
        "exclude": lambda place: not place.excluded,
        "include": lambda place: place.excluded,
    }.get(spot.before[0], lambda _: True)
    places = list(enumerate(spot.conversations.places, 1))
    for number, place in reversed(places):
        if fits(place) and str(number) not in spot.before:
            yield Suggestion(str(number), first_words(place.turn.typed))


def _numbers(spot: Spot) -> Iterator[Suggestion]:
    """Yield the numbers of turns for commands whose number is that of a turn, and not a count."""
    return _turns(spot) if spot.before and spot.before[0] in ("history", "compare") else iter(())


def _of_a_setting(spot: Spot) -> Iterator[Suggestion]:
    """Yield values of the setting that stands before: models, and the words it takes."""
    name = spot.before[-1]
    if name in MODELS:
        yield from _models(spot)
    if name not in SETTINGS:
        return
    yield from _offered(name)
    if name == "system":
        yield from _text_or_file(spot)


def _offered(name: str) -> Iterator[Suggestion]:
    """Return the words that a setting may be."""
    return _words(choices(name), "value")


def _parameters(spot: Spot) -> Iterator[Suggestion]:
    """Yield further parameters of a request that many servers know."""
    samples = {"top_p": 0.9, "seed": 1, "stop": json.dumps(["\n"]), "frequency_penalty": 0.5, "presence_penalty": 0.5}
    return (Suggestion(f"{name}=", f"such as {value}") for name, value in samples.items() if "=" not in spot.current)


def _words(names: Iterable[str], kind: str) -> Iterator[Suggestion]:
    return (Suggestion(name, kind) for name in names)


FINDERS: dict[str, Callable[[Spot], Iterable[Suggestion]]] = {
    "MODEL": _models,
    "FILE": _files,
    "NAME_OR_FILE": _things,
    "NOTEBOOK": _files,
    "TEXT": _text_or_file,
    "TABLE": _tables,
    "RUN": _runs,
    "TURN": _turns,
    "N…": _turns,
    "N": _numbers,
    "VALUE": _of_a_setting,
    "NAME=VALUE": _parameters,
    "CONVERSATION": lambda spot: _words(spot.conversations.names, "conversation"),
    "PROVIDER": lambda _: _words(provider_names(), "provider"),
    "OWNER": lambda _: _words(key_holders(), "provider"),
    "SETTING": lambda _: _words(SETTING_NAMES, "setting"),
    "TOPIC": lambda _: _words(TOPICS, "topic"),
    "COMMAND": lambda _: (*_words(COMMANDS, "command"), *_words(SETTING_NAMES, "setting")),
    "HOW": lambda _: _offered("on_overflow"),
}
OF_VARIABLES: Mapping[str, Callable[[Spot], Iterable[Suggestion]]] = {"--schema": _schemas, "--score": _scorers}


def described_type(value: Any) -> str:
    """Return a value's type with its size, such as ``DataFrame 12,000 × 5`` or ``list of 3``."""
    name, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
        return f"{name} {' × '.join(f'{size:,}' for size in shape)}"
    return f"{name} of {len(value):,}" if isinstance(value, dict | list | tuple | set | frozenset) else name
