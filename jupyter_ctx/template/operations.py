"""Arithmetic, comparison and the methods that a prompt may call on data, with the size of each result bounded first."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal, getcontext
from typing import Any

from .array_reading import NAMED_RESULTS, SCALAR_METHODS, readable
from .kinds import array_kind, described, is_library_scalar, name_of
from .limits import ITEMS, TEXT, MissingError, RefusedError, at_most
from .value_reading import Reader

_PRECISION = 10_000  # digits of a Decimal result
_SEQUENCES = (str, bytes, list, tuple)


def _integer(value: Any) -> int | None:
    """Return a value as an integer, or ``None`` when it is not a whole number of Python or NumPy."""
    return operator.index(value) if hasattr(type(value), "__index__") else None


def _times(left: Any, right: Any) -> Any:
    for many, by in ((left, right), (right, left)):
        count = _integer(by)
        if type(many) in _SEQUENCES and count is not None:
            text = type(many) in (str, bytes)
            at_most(len(many) * count, TEXT if text else ITEMS, "characters" if text else "values")
            return many * count
        if type(many) in _SEQUENCES:
            raise RefusedError("text and lists can be multiplied by whole numbers only")
    return left * right


def _add(left: Any, right: Any) -> Any:
    if type(left) in _SEQUENCES and type(right) in _SEQUENCES:
        at_most(len(left) + len(right), TEXT if type(left) in (str, bytes) else ITEMS, "values")
    return left + right


def _modulo(left: Any, right: Any) -> Any:
    if type(left) in (str, bytes):
        raise RefusedError("a text is no format in a prompt; write x|round(2) for a number, and ~ to join texts")
    return left % right


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": _add, "Mul": _times, "Mod": _modulo,
    "Sub": operator.sub, "Div": operator.truediv, "FloorDiv": operator.floordiv,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "lteq": operator.le, "gt": operator.gt,
    "gteq": operator.ge,
}  # fmt: skip


def binary(reader: Reader, name: str, left: Any, right: Any) -> Any:
    """Apply an arithmetic operator, by its name in Jinja's grammar."""
    left, right = reader.plain(left), reader.plain(right)
    if Decimal in (type(left), type(right)):
        at_most(getcontext().prec, _PRECISION, "digits of decimal precision")
    return reader.plain(_BINARY[name](left, right))


def compare_values(reader: Reader, name: str, left: Any, right: Any) -> Any:
    """Apply a comparison, by its name in Jinja's grammar."""
    if name in ("in", "notin"):
        return (name == "in") == _contains(reader, right, left)
    return _COMPARE[name](reader.plain(left), reader.plain(right))


def _contains(reader: Reader, values: Any, value: Any) -> bool:
    found: bool = reader.plain(value) in reader.plain(list(reader.members(values)) if array_kind(values) else values)
    return found


def unary(reader: Reader, name: str, value: Any) -> Any:
    """Apply the sign ``Neg`` or ``Pos`` to a number."""
    value = reader.plain(value)
    return -value if name == "Neg" else +value


def truth(reader: Reader, value: Any) -> bool:
    """Return whether a value is true. Raises RefusedError for an array or a frame."""
    if array_kind(value):
        raise RefusedError("an array or a frame is neither true nor false; use any(), all() or |length")
    return bool(reader.plain(value))


def chain(values: Sequence[str]) -> str:
    """Join texts."""
    at_most(sum(map(len, values)), TEXT, "characters")
    return "".join(values)


_OF_DATES = ("isoformat", "strftime", "weekday", "isoweekday", "isocalendar", "toordinal", "ctime", "timetuple")
_OF_COUNTERS = ("most_common", "total")
_OF_SETS = ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")
METHODS: dict[type, tuple[str, ...]] = {
    str: (
        "capitalize", "casefold", "count", "endswith", "find", "index", "isalpha", "isdigit", "islower", "isnumeric",
        "isspace", "isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
        "rfind", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
    ),
    bytes: ("count", "endswith", "find", "hex", "index", "lower", "startswith", "strip", "upper"),
    int: ("bit_length",), float: ("is_integer",), Decimal: ("is_finite", "is_nan", "quantize"),
    list: ("count", "index"), tuple: ("count", "index"), dict: ("get", "items", "keys", "values"),
    set: _OF_SETS, frozenset: _OF_SETS,
    date: (*_OF_DATES, "replace"), time: ("isoformat", "strftime", "utcoffset", "tzname", "replace"),
    datetime: (*_OF_DATES, "date", "time", "timestamp", "utcoffset", "tzname", "replace", "timetz"),
    timedelta: ("total_seconds",),
}  # fmt: skip
_DATES = (date, time, datetime)


def call(reader: Reader, value: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a listed method on a copy of a value, with plain arguments. Raises RefusedError for any other method."""
    if array_kind(value):
        reader.check_open(value, [], name in NAMED_RESULTS)
        return reader.arrays.call(value, name, args, keywords)
    if is_library_scalar(value):
        return _scalar_method(value, name, args, keywords)
    if issubclass(type(value), Counter) and name in _OF_COUNTERS:
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
    if array_kind(value):
        return readable(value)[1]
    if is_library_scalar(value):
        return tuple(name for name in SCALAR_METHODS if hasattr(type(value), name))
    base = _base(value)
    counter = _OF_COUNTERS if issubclass(type(value), Counter) else ()
    return (*METHODS[base], *counter) if base is not None else ()


def _base(value: Any) -> type | None:
    """Return the built-in type whose methods a value has."""
    kind = type(value)
    bases = [base for base in METHODS if issubclass(kind, base)]
    return next((base for base in bases if base is kind), bases[0] if bases else None)


def _listed(value: Any, name: str) -> type:
    kind = _base(value)
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
    "replace": _replace, "join": _join, "split": _split, "rsplit": _split, "splitlines": _lines,
}  # fmt: skip
