"""Find what ``-a WORD`` names: a variable of the notebook, a part of one, or a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
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
from .variables import variables_of

VARIABLE_NAME = re.compile(r"[^\W\d]\w*")
KEYS = re.compile(r"\[([^\[\]]+)\]")
AS_IT_IS = re.compile(r"[-\d.: ]*|'.*'|\".*\"")  # a number, a slice, or a text in its quotes
WHOLE = ":all"  # behind a name: as much as fits
NOT_DATA = ("a module", "a class", "a function")
MOST_FILES = 1_000  # of a folder that are compared with a word
SIMILARITY = 0.6  # of difflib, from 0 to 1


def attached_named(
    word: str, variables: Mapping[str, Any], attach: Callable[..., Attached], *, allow_local: bool = False
) -> Attached:
    """Return what a word names: an expression as ``{{ }}`` has it, such as ``axes[0]``, or a file, or a web page.

    ``./NAME`` is a file in any case; ``NAME:all`` sends as much of a value as fits half of the limit. ``attach`` makes
    what goes with the prompt from a value and its name. Raises InvalidRequestError.
    """
    if is_address(word):
        return attach(word, Address(word, allow_local))
    name = word.removesuffix(WHOLE)
    is_whole = name != word and not _is_file(word)
    word = name if is_whole else word
    if word not in variables and exists(word):
        return attach(word, Path(word))
    part = attach(word, _value(word, variables), **({"attach_share": MOST_SHARE} if is_whole else {}))
    more = f"-a {word}{WHOLE} sends more" if part.is_part and not is_whole else ""
    also = [f"{word} is the variable; -a ./{word} sends the file of this name."] if _is_file(word) else []
    return replace(part, more=more, notices=(*part.notices, *also))


def _value(word: str, variables: Mapping[str, Any]) -> Any:
    """Return what a word names that is no file. Raises InvalidRequestError.

    A line's quotes are gone by now, so that ``d[key]`` means ``d['key']`` where no variable is named so.
    """
    if word in variables:
        return variables[word]
    readings = map(Expression.of, (word, KEYS.sub(_quoted, word)))
    fitting = [each for each in readings if each.names and each.source == each.text and not each.unknown(variables)]
    if not fitting:
        raise InvalidRequestError(_no_such(word, variables))
    try:
        with silent():
            return fitting[0].value(variables)
    except RefusedError as error:
        problem = f"{error}."
    except Exception as error:  # of the user's own objects, too
        problem = f"{format_error(error)}.{''.join(getattr(error, '__notes__', ()))}"
    raise InvalidRequestError(f"-a {word}: {problem} Nothing was sent.")


def _quoted(keys: re.Match[str]) -> str:
    parts = [part.strip() for part in keys[1].split(",")]
    return f"[{', '.join(part if AS_IT_IS.fullmatch(part) else repr(part) for part in parts)}]"


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
