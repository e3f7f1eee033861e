"""Find what ``-a WORD`` names: a variable of the notebook, a part of one, or a file; label it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ..attachments.attached import MOST_SHARE, Attached
from ..attachments.attached_files import exists
from ..attachments.user_code import format_error, silent
from ..attachments.web_pages import Address, is_address
from ..errors import InvalidRequestError
from ..template.expressions import Expression, RefusedError, described
from ..wording import did_you_mean
from .output_recorder import ABSENT
from .variables import variables_of

VARIABLE_NAME = re.compile(r"[^\W\d]\w*")
KEYS = re.compile(r"\[([^\[\]]+)\]")
AS_IT_IS = re.compile(r"[-\d.: ]*|'.*'|\".*\"")  # a number, a slice, or a text in its quotes
WHOLE = ":all"  # behind a name: as much as fits
NOT_DATA = ("a module", "a class", "a function")
MOST_LISTED = 12  # numbers of outputs
MOST_FILES = 1_000  # of a folder that are compared with a word
SIMILARITY = 0.6  # of difflib, from 0 to 1
NUMBERED = re.compile(r"(Out|In)\s?\[\s?(\d+)\s?\]|_(i?)(\d+)\b")
FILLED_IN = re.compile(r"\{\{.*?\}\}")


def attached_named(
    word: str, variables: Mapping[str, Any], attach: Callable[..., Attached], *, allow_local: bool = False
) -> Attached:
    """Return what a word names: an expression as ``{{ }}`` has it, such as ``axes[0]``, else a file; or a web page.

    ``./NAME`` is a file in any case; ``NAME:all`` sends as much of a value as fits half of the limit. ``attach`` makes
    what goes with the prompt from a value and its name. Raises InvalidRequestError.
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
    if word in variables:
        return variables[word]
    problems: list[str] = []
    for expression in map(Expression.of, _readings(word)):
        if not expression.names or expression.unknown(variables) or expression.source != expression.text:
            continue
        try:
            with silent():
                return expression.value(variables)
        except RefusedError as error:
            problems.insert(0, f"{error}.")
        except Exception as error:  # of the user's own objects, too
            hint = "".join(getattr(error, "__notes__", ()))
            if word.startswith("Out[") and isinstance(error, KeyError):
                hint = f" There are {', '.join(map(str, [*variables['Out']][-MOST_LISTED:]))}."
            problems.append(f"{format_error(error)}.{hint}")
    if exists(word):
        return ABSENT
    raise InvalidRequestError(f"-a {word}: {problems[0]} Nothing was sent." if problems else _no_such(word, variables))


def _readings(word: str) -> Iterable[str]:
    """Yield the expressions that a word may be: a line's quotes are gone by now, so that ``d[key]`` may be a text."""

    def quoted(match: re.Match[str], *, numbers: bool) -> str:
        parts = [part.strip() for part in match[1].split(",")]
        return f"[{', '.join(part if AS_IT_IS.fullmatch(part) and not numbers else repr(part) for part in parts)}]"

    words, everything = (KEYS.sub(partial(quoted, numbers=numbers), word) for numbers in (False, True))
    return dict.fromkeys((words, word, everything))


def _no_such(word: str, variables: Mapping[str, Any]) -> str:
    """Return what is wrong with a word that names nothing, with the nearest variable or file."""
    files: list[str] = []
    with suppress(OSError):
        folder = os.path.dirname(word)
        entries = islice(os.scandir(folder or "."), MOST_FILES)
        files = [os.path.join(folder, each.name) for each in entries if each.is_file()]
    names = [*variables_of(variables, is_attachable), *files, "cells"]
    first = VARIABLE_NAME.match(word)
    words = [word, *([first.group()] if first else [])]
    hint = next(filter(None, (did_you_mean(each, names, similarity=SIMILARITY) for each in words)), "")
    return (
        f"-a {word}: there is no such variable, and no such file or directory (looked for from {Path.cwd()}).{hint} "
        "Nothing was sent."
    )


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
