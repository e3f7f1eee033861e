"""Find what ``-a WORD`` names: a variable of the notebook, a part of one, or a file."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..attachments.attached import Attached
from ..attachments.files import attached_file
from ..attachments.guarded import READ_SECONDS, guarded, said_by
from ..errors import InvalidRequestError
from ..template.kinds import described
from .variables import variables_of

VARIABLE_NAME = re.compile(r"[^\W\d]\w*")
PART_NAME = re.compile(r"\.([^\W\d]\w*)|\[((?:[^\[\]]|\[[^\[\]]*\])+)\]")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::(-?\d+))?")
NOT_DATA = ("a module", "a class", "a function")
MOST_FILES = 1_000  # of a folder that are compared with a word
ABSENT = object()  # there is no variable of the name
MOST_LISTED = 12  # numbers of items
SIMILARITY = 0.6  # of difflib, from 0 to 1


class NotFoundError(Exception):
    """A variable has no such part; the message says which."""


class _Found(NamedTuple):
    """What a word names: a value or a file, and a line for the user."""

    value: Any
    notice: str = ""


def attached_named(word: str, variables: Mapping[str, Any], attach: Callable[[str, Any], Attached]) -> Attached:
    """Return what a word names: a variable, an attribute or an item of one, else a file. Raises InvalidRequestError.

    Items are named by constants, as in ``Out[3]``, ``axes[0, 1]``, ``results['fig']`` and ``df[:100]``. ``attach``
    makes what goes with the prompt from a value and its name. ``./NAME`` is a file in any case.
    """
    found = _found(word, variables)
    if found.value is ABSENT:
        return attached_file(Path(word))
    part = attach(word, found.value)
    if not found.notice:
        return part
    return Attached(part.name, part.text, part.files, part.what, (*part.notices, found.notice))


def _found(word: str, variables: Mapping[str, Any]) -> _Found:
    is_file, problem = _is_file(word), None
    with guarded(word, READ_SECONDS):  # attributes and items run code of their classes
        try:
            value = part_named(word, variables)
        except NotFoundError as error:
            value, problem = ABSENT, error
    if problem is not None and not is_file:
        raise InvalidRequestError(f"-a {word}: {problem} Nothing was sent.")
    if value is ABSENT:
        if not is_file and not _exists(word):
            raise InvalidRequestError(_no_such(word, variables))
        return _Found(ABSENT)
    notice = f"{word} is the variable; -a ./{word} sends the file of this name." if is_file else ""
    return _Found(value, notice)


def part_named(word: str, variables: Mapping[str, Any]) -> Any:
    """Return the value that a word names, or ``ABSENT`` where there is no such variable. Raises NotFoundError."""
    first = VARIABLE_NAME.match(word)
    if first is None or first.group() not in variables:
        return ABSENT
    value, place, text = variables[first.group()], first.end(), first.group()
    while place < len(word):
        step = PART_NAME.match(word, place)
        if step is None:
            return ABSENT
        value = _attribute(value, step[1], text) if step[1] else _item(value, step[2], text)
        place, text = step.end(), word[: step.end()]
    return value


def _attribute(value: Any, name: str, text: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        names: list[str] = []
        with suppress(Exception):
            names = [each for each in dir(value) if each[:1] != "_"]
        raise NotFoundError(
            f"{text} has no attribute {name!r}, and there is no file of this name.{_question(name, names, text + '.')}"
        ) from None
    except Exception as error:
        raise NotFoundError(f"{text}.{name} raised {said_by(error)}.") from None


def _item(value: Any, typed: str, text: str) -> Any:
    problem: Exception | None = None
    for key in _keys(typed):
        try:
            return value[key]
        except Exception as error:  # of any class that has items
            problem = problem or error
    if isinstance(problem, LookupError):
        raise NotFoundError(f"{text} has no item {typed}.{_items_hint(value, typed, text)}") from None
    raise NotFoundError(f"{text}[{typed}] raised {said_by(problem or ValueError())}.") from None


def _items_hint(value: Any, typed: str, text: str) -> str:
    """Return the nearest key, or how many items there are."""
    if isinstance(value, Mapping):
        keys = list(value)
        near = get_close_matches(
            typed.strip("'\""), [key for key in keys[:1_000] if isinstance(key, str)], 1, SIMILARITY
        )
        if near:
            return f" Did you mean {text}[{near[0]!r}]?"
        numbers = [key for key in keys[-MOST_LISTED:] if isinstance(key, int)]
        return f" There are {', '.join(map(str, numbers))}." if numbers else ""
    with suppress(Exception):
        return f" It has {len(value):,}, and the first is number 0."
    return ""


def _keys(typed: str) -> Iterable[Any]:
    """Yield what a text in brackets may mean; a line's quotes are gone by now, so that any text may be a key."""
    typed = typed.strip()
    part = SLICE.fullmatch(typed)
    if part is not None:
        yield slice(*(int(each) if each else None for each in part.groups()))
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        yield literal_eval(typed)
    if typed[0] == "[" and typed[-1] == "]":  # a list of columns
        yield [each.strip() for each in typed[1:-1].split(",")]
    yield typed


def _no_such(word: str, variables: Mapping[str, Any]) -> str:
    """Return what is wrong with a word that names nothing, with the nearest variable or file."""
    files: list[str] = []
    with suppress(OSError):
        folder = os.path.dirname(word)
        found = islice(os.scandir(folder or "."), MOST_FILES)
        files = [os.path.join(folder, each.name) for each in found if each.is_file()]
    names = [*variables_of(variables, is_attachable), *files]
    first = VARIABLE_NAME.match(word)
    hint = _question(word, names) or (_question(first.group(), names) if first else "")
    return (
        f"-a {word}: there is no such variable, and no such file or directory (looked for from {Path.cwd()}).{hint} "
        "Nothing was sent."
    )


def _question(name: str, names: Iterable[str], before: str = "") -> str:
    near = get_close_matches(name, list(names), 1, SIMILARITY)
    return f" Did you mean {before}{near[0]}?" if near else ""


def _is_file(word: str) -> bool:
    with suppress(OSError, ValueError):
        return os.path.isfile(word)
    return False


def _exists(word: str) -> bool:
    with suppress(OSError, ValueError, RuntimeError):
        return Path(word).expanduser().exists()
    return False


def is_attachable(value: Any) -> bool:
    """Return whether a value can go with a prompt: anything but None, modules, classes and functions."""
    return value is not None and described(value) not in NOT_DATA
