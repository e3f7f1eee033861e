"""The methods that a prompt may call on data: they change nothing, and the size of their result is bounded first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from .arrays import SCALAR_METHODS, readable
from .kinds import array_kind, described, is_library_scalar, name_of
from .limits import ITEMS, TEXT, MissingError, RefusedError, at_most
from .values import Reader

_OF_DATES = ("isoformat", "strftime", "weekday", "isoweekday", "isocalendar", "toordinal", "ctime", "timetuple")
_OF_SETS = (
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "copy",
)
METHODS: dict[type, tuple[str, ...]] = {
    str: (
        "capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "index", "isalnum", "isalpha",
        "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle",
        "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
        "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase",
        "title", "upper", "zfill",
    ),
    bytes: ("count", "endswith", "find", "hex", "index", "lower", "startswith", "strip", "upper"),
    int: ("bit_length", "bit_count", "as_integer_ratio", "conjugate"),
    float: ("as_integer_ratio", "conjugate", "hex", "is_integer"), complex: ("conjugate",),
    Decimal: ("as_integer_ratio", "is_finite", "is_nan", "normalize", "quantize", "to_eng_string", "adjusted"),
    Fraction: ("limit_denominator", "as_integer_ratio"),
    list: ("copy", "count", "index"), tuple: ("count", "index"), range: ("count", "index"),
    dict: ("copy", "get", "items", "keys", "values"), set: _OF_SETS, frozenset: _OF_SETS,
    date: (*_OF_DATES, "replace"), time: ("isoformat", "strftime", "utcoffset", "tzname", "replace"),
    datetime: (*_OF_DATES, "date", "time", "timestamp", "utcoffset", "tzname", "replace", "timetz"),
    timedelta: ("total_seconds",), UUID: (),
}  # fmt: skip
_DATES = (date, time, datetime)


def call(reader: Reader, value: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a listed method on a copy of a value, with plain arguments. Raises RefusedError for any other method."""
    if array_kind(value):
        return reader.arrays.call(value, name, args, keywords)
    if is_library_scalar(value):
        return _scalar_method(value, name, args, keywords)
    if issubclass(type(value), Counter) and name in ("most_common", "total"):
        return getattr(Counter(reader.plain(value)), name)(*args, **keywords)
    if name == "get" and issubclass(type(value), dict):
        return _get(reader, value, *args)
    kind = _listed(value, name)
    copied = reader.plain(value)
    if kind is str and (guard := _GUARDS.get(name)):
        args = guard(copied, *args, **keywords)
        keywords = {}
    elif kind in _DATES and name == "strftime":
        _check_date_format(*args)
    return getattr(kind, name)(copied, *args, **keywords)


def method_names(value: Any) -> tuple[str, ...]:
    """Return the names of the methods of a value that a prompt may call."""
    kind = type(value)
    if array_kind(value):
        return readable(value)[1]
    if is_library_scalar(value):
        return tuple(name for name in SCALAR_METHODS if hasattr(kind, name))
    base = kind if kind in METHODS else next((base for base in METHODS if issubclass(kind, base)), None)
    counter = ("most_common", "total") if issubclass(kind, Counter) else ()
    return (*METHODS[base], *counter) if base is not None else ()


def _listed(value: Any, name: str) -> type:
    kind = next((kind for kind in METHODS if type(value) is kind), None)
    kind = kind or next((kind for kind in METHODS if issubclass(type(value), kind)), None)
    if kind is None or name not in METHODS[kind]:
        raise RefusedError(f"a prompt cannot call {name}() of {name_of(type(value)) if kind else described(value)}")
    return kind


def _scalar_method(value: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    if name not in SCALAR_METHODS:
        raise RefusedError(f"a prompt cannot call {name}() of {name_of(type(value))}")
    if name == "strftime":
        _check_date_format(*args)
    return getattr(type(value), name)(value, *args, **keywords)


def _get(reader: Reader, value: Any, key: Any, default: Any = None) -> Any:
    try:
        return reader.item(value, key)
    except MissingError:
        return default


def _check_date_format(form: str) -> None:
    """Raise RefusedError for a long format, or one with widths: glibc's strftime takes widths of any size."""
    if len(form) > 200 or re.search(r"%[-_0^#+]*\d", form):
        raise RefusedError("a date format has at most 200 characters and no widths in a prompt")


# Each guard bounds the result of a text's method that makes more than it was given, and returns its arguments.


def _replace(text: str, old: str, new: str, count: int = -1) -> tuple[Any, ...]:
    found = text.count(old) if count < 0 else min(count, text.count(old))
    at_most(len(text) + found * len(new), TEXT, "characters")
    return old, new, count


def _padded(text: str, width: int, fill: str = " ") -> tuple[Any, ...]:
    at_most(int(width), TEXT, "characters")
    return width, fill


def _zeros(text: str, width: int) -> tuple[Any, ...]:
    return _padded(text, width)[:1]


def _tabs(text: str, tabsize: int = 8) -> tuple[Any, ...]:
    at_most(len(text) + text.count("\t") * int(tabsize), TEXT, "characters")
    return (tabsize,)


def _join(text: str, parts: Any) -> tuple[Any, ...]:
    parts = list(parts)
    at_most(sum(map(len, parts)) + len(text) * len(parts), TEXT, "characters")
    return (parts,)


def _split(text: str, sep: str | None = None, maxsplit: int = -1) -> tuple[Any, ...]:
    most = ITEMS if maxsplit < 0 else min(ITEMS, maxsplit)
    at_most(text.count(sep) if sep and maxsplit < 0 else 0, ITEMS, "values")
    return sep, most


def _lines(text: str, keepends: bool = False) -> tuple[Any, ...]:
    at_most(text.count("\n") + text.count("\r"), ITEMS, "lines")
    return (keepends,)


_GUARDS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "replace": _replace, "center": _padded, "ljust": _padded, "rjust": _padded, "zfill": _zeros, "expandtabs": _tabs,
    "join": _join, "split": _split, "rsplit": _split, "splitlines": _lines,
}  # fmt: skip
