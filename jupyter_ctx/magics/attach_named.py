"""Find what ``-a WORD`` names: a variable of the notebook, a part of one, or a file; label it."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..attachments.addresses import Address, is_address
from ..attachments.attached import MOST_SHARE, Attached
from ..attachments.attached_files import exists
from ..attachments.user_code import call_user_code, format_error
from ..errors import InvalidRequestError
from ..template.expressions import Expression, RefusedError, described
from ..wording import did_you_mean, nearest_name
from .variables import variables_of

VARIABLE_NAME = re.compile(r"[^\W\d]\w*")
PART_NAME = re.compile(r"\.([^\W\d]\w*)|\[((?:[^\[\]]|\[[^\[\]]*\])+)\]")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::(-?\d+))?")
WHOLE = ":all"  # behind a name: as much as fits
NOT_DATA = ("a module", "a class", "a function")
MOST_FILES = 1_000  # of a folder that are compared with a word
ABSENT = object()  # there is no variable of the name
MOST_LISTED = 12  # numbers of items
SIMILARITY = 0.6  # of difflib, from 0 to 1
NUMBERED = re.compile(r"(Out|In)\s?\[\s?(\d+)\s?\]|_(i?)(\d+)\b")
FILLED_IN = re.compile(r"\{\{.*?\}\}")


class NoPartError(InvalidRequestError):
    """A variable has no such part; the message says which."""


def attached_named(
    word: str, variables: Mapping[str, Any], attach: Callable[..., Attached], *, allow_local: bool = False
) -> Attached:
    """Return what a word names: a variable, an attribute or an item of one, else a file; or a web page.

    Items are named by constants, as in ``Out[3]``, ``axes[0, 1]``, ``results['fig']`` and ``df[:100]``; other
    expressions are those of ``{{ }}``, such as ``df[df.x > 2]``. ``./NAME`` is a file in any case; ``NAME:all`` sends
    as much of a value as fits half of the limit. ``attach`` makes what goes with the prompt from a value and its name.
    Raises InvalidRequestError.
    """
    if is_address(word):
        return attach(word, Address(word, allow_local))
    name = word.removesuffix(WHOLE)
    is_whole = name != word and not _is_file(word)
    word = name if is_whole else word
    value = _value(word, variables)
    if value is ABSENT:
        return attach(word, Path(word))
    part = attach(word, value, **({"attach_share": MOST_SHARE} if is_whole else {}))
    more = f"-a {word}{WHOLE} sends more" if part.is_part and not is_whole else ""
    also = [f"{word} is the variable; -a ./{word} sends the file of this name."] if _is_file(word) else []
    return replace(part, more=more, notices=(*part.notices, *also))


def _value(word: str, variables: Mapping[str, Any]) -> Any:
    """Return what a word names, or ``ABSENT`` where that is a file. Raises InvalidRequestError."""
    value, problem = ABSENT, ""
    try:
        value = call_user_code(word, lambda: part_named(word, variables))
    except NoPartError as error:
        problem = f"-a {word}: {error} Nothing was sent."
    if value is ABSENT and not exists(word):
        try:
            value = call_user_code(word, lambda: _computed(word, variables))
        except NoPartError as error:
            raise InvalidRequestError(problem or f"-a {word}: {error}. Nothing was sent.") from None
        if value is ABSENT:
            raise InvalidRequestError(problem or _no_such(word, variables))
    return value


def _computed(word: str, variables: Mapping[str, Any]) -> Any:
    """Return the value of an expression, as ``{{ }}`` reads it; ``ABSENT``: the word is none. Raises NoPartError."""
    expression = Expression.of(word)
    if not expression.names or expression.unknown(variables):
        return ABSENT
    try:
        return expression.value(variables)
    except RefusedError as error:
        raise NoPartError(str(error)) from None
    except Exception as error:
        raise NoPartError(format_error(error)) from None


def part_named(word: str, variables: Mapping[str, Any]) -> Any:
    """Return the value that a word names, or ``ABSENT`` where there is no such variable. Raises NoPartError."""
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
        raise NoPartError(
            f"{text} has no attribute {name!r}, and there is no file of this name.{_question(name, names, text + '.')}"
        ) from None
    except Exception as error:
        raise NoPartError(f"{text}.{name} raised {format_error(error)}.") from None


def _item(value: Any, typed: str, text: str) -> Any:
    problem: Exception | None = None
    for key in _keys(typed):
        try:
            return value[key]
        except Exception as error:  # of any class that has items
            problem = problem or error
    if isinstance(problem, LookupError):
        raise NoPartError(f"{text} has no item {typed}.{_items_hint(value, typed, text)}") from None
    raise NoPartError(f"{text}[{typed}] raised {format_error(problem or ValueError())}.") from None


def _items_hint(value: Any, typed: str, text: str) -> str:
    """Return the nearest key, or how many items there are."""
    if isinstance(value, Mapping):
        keys = list(value)
        texts = [key for key in keys[:1_000] if isinstance(key, str)]
        near = nearest_name(typed.strip("'\""), texts, SIMILARITY)
        if near:
            return f" Did you mean {text}[{near!r}]?"
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
        entries = islice(os.scandir(folder or "."), MOST_FILES)
        files = [os.path.join(folder, each.name) for each in entries if each.is_file()]
    names = [*variables_of(variables, is_attachable), *files]
    first = VARIABLE_NAME.match(word)
    hint = _question(word, names) or (_question(first.group(), names) if first else "")
    return (
        f"-a {word}: there is no such variable, and no such file or directory (looked for from {Path.cwd()}).{hint} "
        "Nothing was sent."
    )


def _question(name: str, names: Iterable[str], before: str = "") -> str:
    return did_you_mean(name, names, f"{before}{{}}", SIMILARITY)


def _is_file(word: str) -> bool:
    with suppress(OSError, ValueError):
        return os.path.isfile(word)
    return False


def is_attachable(value: Any) -> bool:
    """Return whether a value can go with a prompt: anything but None, modules, classes and functions."""
    return value is not None and described(value) not in NOT_DATA


class Labels:
    """The names of what goes with one prompt; what the prompt's own words name keeps that name."""

    def __init__(self, prompt: str) -> None:
        self._words = FILLED_IN.sub("", prompt)
        self._labels: dict[tuple[bool, str], str] = {}

    def of(self, name: str) -> str:
        """Return what to call a thing that is named as in ``Out[3][0]``; any other name stays."""
        numbered = NUMBERED.match(name)
        if numbered is None or numbered.group() in self._words:
            return name
        is_input = numbered[1] == "In" or numbered[3] == "i"
        number = len(self._labels) + 1
        label = f"input {number}" if is_input else f"output {number}"
        label = self._labels.setdefault((is_input, numbered[2] or numbered[4]), label)
        return f"{label}{name[numbered.end() :]}"
