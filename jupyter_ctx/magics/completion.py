"""Tab in a ``%%chat`` line: options, commands, and their values; silent in the prompt below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion
from IPython.core.getipython import get_ipython

from ..config.aliases import load_aliases
from ..config.settings import SETTING_NAMES, choices
from ..errors import InvalidRequestError
from ..experiments.table_files import TABLE_FORMATS
from ..models.model_names import bare_names, known_models, model_names, providers
from ..providers.lookup import key_holders, provider_names
from .attach_named import is_attachable
from .cell_images import IN_A_CELL_OF, CellImages
from .commands import COMMANDS
from .options import OPTIONS
from .variables import is_table, variables_of

VARIABLES = tuple(flag for option in OPTIONS if option.takes == "NAME" for flag in option.flags)


def matches(context: CompletionContext, conversations: Iterable[str], *, below: bool) -> Any:
    """Return what may stand at the cursor in one of our lines, as IPython's matchers do; ``below``: in the prompt."""
    if below:
        return _prose(context)
    typed = context.line_with_cursor[: context.cursor_position]
    words = typed.split()
    current = "" if typed[-1].isspace() else words[-1]
    before = words[1:] if not current else words[1:-1]
    token = context.token  # what the completer replaces: it splits at more than spaces
    skip = len(current) - len(token) if current.endswith(token) else 0
    if before and before[-1] in VARIABLES:
        return {"completions": []}  # Python's names belong here
    found = [word for word in _possible(conversations, before, current) if word.startswith(current)]
    if not found:  # nothing of Python's belongs here
        return _prose(context)
    return {
        "completions": [SimpleCompletion(text=word[skip:], type="param") for word in found],
        "suppress": True,
        "ordered": True,
    }


def _prose(context: CompletionContext) -> Any:
    """Offer no Python names in a prompt: only a matcher that finds something may silence the others."""
    return {"completions": [SimpleCompletion(text=context.token)], "suppress": True}


def _possible(conversations: Iterable[str], before: list[str], current: str) -> Iterable[str]:
    """Return what may stand after the words ``before`` of the line."""
    option = next((each for each in OPTIONS if before and before[-1] in each.flags and each.takes), None)
    if option is not None:
        return _values((option.takes,), conversations, before, current)
    if not before or before[0] not in COMMANDS:
        names = [name for name, each in COMMANDS.items() if name == each.name] if not before else []
        flags = [each.flag for each in OPTIONS if each.flag not in before and not each.only_for]
        return flags if current.startswith("-") else [*names, *flags]
    command, place = COMMANDS[before[0]], len(list(_plain_words(before))) - 1
    flags = [each.flag for each in OPTIONS if command.takes(each.name)]
    kinds = command.places[place] if place < len(command.places) else ()
    return [*_values(kinds, conversations, before, current), *flags]


def _plain_words(before: list[str]) -> Iterable[str]:
    """Yield the words of a line that are neither options nor their values."""
    takes = {flag: bool(each.takes) for each in OPTIONS for flag in each.flags}
    for last, word in zip(["", *before], before, strict=False):
        if word not in takes and not takes.get(last, False):
            yield word


def _values(kinds: Iterable[str], conversations: Iterable[str], before: list[str], current: str) -> list[str]:
    """Return words for a place: those written in small letters as they are, those in capitals by their kind."""
    found: list[str] = []
    for kind in kinds:
        if kind in FINDERS:
            found += FINDERS[kind](current)
        elif kind == "CONVERSATION":
            found += conversations
        elif kind == "VALUE":
            found += _of_a_setting(before[-1], current)
        elif kind.islower():
            found.append(kind)
    return found


def _of_a_setting(name: str, current: str) -> Iterable[str]:
    if name in ("model", "summary_model"):
        return _models(current)
    return choices(name) if name in SETTING_NAMES else ()


def _models(current: str) -> list[str]:
    """Return models of the provider that is named already, else short names, providers and the makers' models."""
    provider, slash, _ = current.partition("/")
    if slash:
        return [*known_models(provider), *(name for name in model_names() if name.startswith(current))]
    aliases: list[str] = []
    with suppress(InvalidRequestError):  # a damaged file is told of when it is used
        aliases += load_aliases()
    bare = bare_names() if current else []
    return list(dict.fromkeys([*aliases, *model_names(), *providers(), *bare]))


def _files(current: str) -> list[str]:
    """Return files and folders whose path begins so; those with a space must be quoted, and are left out."""
    folder, _, start = current.rpartition("/")
    place = Path(f"{folder}/" if "/" in current else ".").expanduser()
    typed = current[: len(current) - len(start)]
    with suppress(OSError, RuntimeError):
        found = sorted(place.iterdir())
        shown = [path for path in found if start.startswith(".") or not path.name.startswith(".")]
        return [f"{typed}{path.name}{'/' if path.is_dir() else ''}" for path in shown if " " not in path.name]
    return []


def _things(current: str) -> list[str]:
    """Return variables whose values can go with a prompt, then files and folders; images in cells after cell:."""
    if current.startswith(IN_A_CELL_OF):
        return _cell_images()
    return [*_variables(is_attachable), *_files(current)]


def _cell_images() -> list[str]:
    """Return the images in the Markdown cells of the notebook; those with a space must be quoted, and are left out."""
    shell = get_ipython()
    with suppress(InvalidRequestError):
        names = CellImages(shell).saved.names() if shell is not None else []
        return [f"{IN_A_CELL_OF}{name}" for name in names if " " not in name]
    return []


def _tables(current: str) -> list[str]:
    """Return variables that may hold a table, then folders and files that may."""
    files = _files(current)
    return [*_variables(is_table), *(path for path in files if path[-1] == "/" or path.endswith(tuple(TABLE_FORMATS)))]


def _runs(_: str) -> list[str]:
    return _variables(lambda value: type(value).__name__ == "Run" and hasattr(value, "progress"))


def _variables(fits: Callable[[Any], bool]) -> list[str]:
    shell = get_ipython()
    return variables_of(shell.user_ns, fits) if shell is not None else []


def _text_or_file(current: str) -> list[str]:
    return [f"@{path}" for path in _files(current[1:])] if current.startswith("@") else []


FINDERS: dict[str, Callable[[str], Iterable[str]]] = {
    "MODEL": _models,
    "FILE": _files,
    "NAME_OR_FILE": _things,
    "NOTEBOOK": _files,
    "TEXT": _text_or_file,
    "TABLE": _tables,
    "RUN": _runs,
    "PROVIDER": lambda _: provider_names(),
    "OWNER": lambda _: key_holders(),
    "SETTING": lambda _: SETTING_NAMES,
    "COMMAND": lambda _: COMMANDS,
    "HOW": lambda _: choices("on_overflow"),
}
