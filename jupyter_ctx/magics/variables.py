"""Find what a line names: variables of the notebook, parts of them and files; check the names that it will bind."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..attachments.attached import MOST_SHARE, Attached, format_error, silent
from ..attachments.files_and_pages import Address, exists, is_address
from ..conversation.schema import Schema
from ..errors import InvalidRequestError
from ..experiments.table.table_files import TABLE_FORMATS
from ..template.expressions import Expression, RefusedError, described
from ..wording import did_you_mean

if TYPE_CHECKING:
    from ..tools.functions import Tool

IPYTHONS = re.compile("In|Out|get_ipython|display|exit|open|quit|_+|_i{1,3}|_[iod]h|_i?[0-9]+|__.*__")
VARIABLE_NAME = re.compile(r"[^\W\d]\w*")
WHOLE = ":all"  # behind a name: as much as fits
NOT_DATA = ("a module", "a class", "a function")


def check_new_name(flag: str, name: str) -> None:
    """Refuse a text that is not a name, and names that Python or IPython use. Raises UsageError."""
    is_taken = iskeyword(name) or hasattr(builtins, name) or IPYTHONS.fullmatch(name)
    if is_taken or not name.isidentifier():
        raise UsageError(f"{flag} {name}: {name!r} cannot be the name of a variable of yours. Choose another one.")


def named(what: str, name: str, variables: Mapping[str, Any], fits: Callable[[Any], bool], otherwise: str) -> Any:
    """Return the value of a variable, or of an attribute of one.

    Raises UsageError, which begins with ``what`` and suggests the nearest name that ``fits``, else says ``otherwise``.
    """
    value = value_named(name, variables)
    if value is None:
        hint = did_you_mean(name, variables_of(variables, fits)) or f" {otherwise}"
        raise UsageError(f"{what}: there is no variable {name!r}.{hint} Nothing was sent.")
    return value


def schema_named(name: str, variables: Mapping[str, Any]) -> Schema:
    """Return the schema in a variable. Raises UsageError and InvalidRequestError."""
    return Schema.of(named("--schema", name, variables, is_schema, "Define a class or a dict of this name first."))


def table_named(name: str, variables: Mapping[str, Any]) -> Any:
    """Return the table in a variable; else the path of a file. Raises UsageError."""
    if value_named(name, variables) is None and Path(name).suffix.lower() in TABLE_FORMATS:
        return Path(name)
    otherwise = f"Store a DataFrame or a list in one, or name a file ({', '.join(TABLE_FORMATS)})."
    return named("%%chat map", name, variables, is_table, otherwise)


def scorers_named(names: list[str], variables: Mapping[str, Any]) -> Any:
    """Return the scorers in variables, by name; one alone as the list or the function of its own name that it is.

    Raises UsageError.
    """
    scorers: dict[str, Any] = {}
    for name in names:
        value = named("--score", name, variables, is_scorer, "Store one first, such as exact('answer').")
        if len(names) == 1 and (isinstance(value, list | tuple) or getattr(value, "__name__", "") == name):
            return value
        if not (isinstance(value, Mapping) or is_scorer(value)):
            raise UsageError(f"--score {name}: {name} is a {type(value).__name__}, not a function, a list or a dict.")
        scorers |= value if isinstance(value, Mapping) else {name: value}
    return scorers


def tools_named(names: Iterable[str], whose: str, variables: Mapping[str, Any]) -> dict[str, Tool]:
    """Return the functions that may be called, by their names; none of IPython's own, such as exit.

    Raises UsageError for a name that is no function, and InvalidRequestError for a function that no model can call.
    """
    from ..tools.functions import as_tools

    functions = dict[str, Any]()
    for name in names:
        functions[name] = None if IPYTHONS.fullmatch(name) else value_named(name, variables)
        if not is_function(functions[name]):
            hint = did_you_mean(name, variables_of(variables, is_function))
            hint = hint or f" Run the cell that defines it first, or leave it out: {whose} none."
            raise UsageError(f"{whose} {name}: there is no function {name!r}.{hint} Nothing was sent.")
    return dict(zip(functions, as_tools(functions.values()), strict=True))


def is_function(value: Any) -> bool:
    """Return whether a model may call a value."""
    return callable(value) and not isinstance(value, type)


def variables_of(variables: Mapping[str, Any], fits: Callable[[Any], bool]) -> list[str]:
    """Return the names of the user's variables whose values fit."""
    return [
        name for name, value in variables.items() if name[0] != "_" and not IPYTHONS.fullmatch(name) and fits(value)
    ]


def is_table(value: Any) -> bool:
    """Return whether a value looks like a table: a frame, or a list of texts, numbers, dicts or objects."""
    is_frame = any(hasattr(type(value), name) for name in ("__arrow_c_stream__", "to_frame"))
    return bool(value) if isinstance(value, list) else is_frame


def is_schema(value: Any) -> bool:
    """Return whether a value may be a schema."""
    return isinstance(value, type | dict)


def is_scorer(value: Any) -> bool:
    """Return whether a value may score answers: a function, or a judge."""
    return callable(getattr(value, "ask", value)) and not isinstance(value, type)


def value_named(name: str, variables: Mapping[str, Any]) -> Any:
    """Return the value of a variable, or of an attribute of one; ``None`` where there is none."""
    first, *parts = name.split(".")
    value = variables.get(first)
    for part in parts:
        value = getattr(value, part, None)
    return value


def attached_named(
    word: str, variables: Mapping[str, Any], attach: Callable[..., Attached], *, allow_local: bool = False
) -> Attached:
    """Return what a word names: an expression as ``{{ }}`` has it, such as ``axes[0]``, or a file, or a web page.

    ``./NAME`` is a file in any case; ``NAME:all`` sends as much of a value as fits half of the limit. ``attach`` makes
    what goes with the prompt from a value and its name. Raises InvalidRequestError.
    """
    if is_address(word):
        return attach(word, Address(word, allow_local))
    if word not in variables and exists(word):
        return attach(word, Path(word))
    name = word.removesuffix(WHOLE)
    if name != word:
        return attach(name, _value(name, variables), attach_share=MOST_SHARE)
    part = attach(name, _value(name, variables))
    return replace(part, more=f"-a {name}{WHOLE} sends more" if part.is_part else "")


def _value(word: str, variables: Mapping[str, Any]) -> Any:
    """Return what a word names that is no file. Raises InvalidRequestError."""
    if word in variables:
        return variables[word]
    expression = Expression.of(word)
    if not expression.names or expression.source != expression.text or expression.unknown(variables):
        first = VARIABLE_NAME.match(word)
        names = [*variables_of(variables, is_attachable), "cells"]
        hint = did_you_mean(first.group() if first else word, names)
        raise InvalidRequestError(
            f"-a {word}: there is no such variable, and no such file or directory (looked for from {Path.cwd()}).{hint}"
            " Nothing was sent."
        )
    try:
        with silent():
            return expression.value(variables)
    except RefusedError as error:
        problem = f"{error}."
    except Exception as error:  # of the user's own objects, too
        problem = f"{format_error(error)}."
    raise InvalidRequestError(f"-a {word}: {problem} Nothing was sent.")


def is_attachable(value: Any) -> bool:
    """Return whether a value can go with a prompt: anything but None, modules, classes and functions."""
    return value is not None and described(value) not in NOT_DATA
