"""Arithmetic and comparison, with the size of each result bounded before it is computed."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

from .kinds import array_kind
from .limits import INTEGER_BITS, ITEMS, TEXT, RefusedError, at_most
from .values import Reader

_WIDTH = 1_000  # characters of one value in a % format
_PRECISION = 10_000  # digits of a Decimal result
_FIELD = re.compile(r"%(?:\([^)]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)
_SEQUENCES = (str, bytes, list, tuple)


def _integer(value: Any) -> int | None:
    """Return a value as an integer, or ``None`` when it is not a whole number of Python or NumPy."""
    return operator.index(value) if hasattr(type(value), "__index__") else None


def _times(reader: Reader, left: Any, right: Any) -> Any:
    for many, by in ((left, right), (right, left)):
        count = _integer(by)
        if type(many) in _SEQUENCES and count is not None:
            text = type(many) in (str, bytes)
            at_most(len(many) * count, TEXT if text else ITEMS, "characters" if text else "values")
            return many * count
        if type(many) in _SEQUENCES:
            raise RefusedError("text and lists can be multiplied by whole numbers only")
    return left * right


def _add(reader: Reader, left: Any, right: Any) -> Any:
    if type(left) in _SEQUENCES and type(right) in _SEQUENCES:
        at_most(len(left) + len(right), TEXT if type(left) in (str, bytes) else ITEMS, "values")
    return left + right


def _power(reader: Reader, left: Any, right: Any) -> Any:
    if type(left) in (int, bool, Fraction) and _integer(right) is not None:
        size = max(_bits(left), 1) * abs(int(right))
        at_most(0 if left in (-1, 0, 1) else size, INTEGER_BITS, "bits")
        return left ** int(right)
    return left**right


def _bits(value: Any) -> int:
    return max(int(value.numerator).bit_length(), int(value.denominator).bit_length())


def _modulo(reader: Reader, left: Any, right: Any) -> Any:
    if type(left) is bytes:
        raise RefusedError("bytes cannot be used as a format in a prompt")
    return formatted(reader, left, right) if type(left) is str else left % right


def formatted(reader: Reader, form: str, values: Any) -> str:
    """Return ``form % values``. Raises RefusedError when the result could be too long."""
    fields = _FIELD.findall(form)
    for width, precision, _ in fields:
        if "*" in (width, precision):
            raise RefusedError("a width in a format must be a number, not *")
        for figures in (width, precision):
            at_most(int(figures[:9] or 0), _WIDTH, "characters of one value")
    largest = len(reader.text(values)) + 5 * _WIDTH  # a decimal number may have more digits than it shows
    at_most(len(form) + len(fields) * largest, TEXT, "characters")
    return str(form % values)


_BINARY: dict[str, Callable[[Reader, Any, Any], Any]] = {
    "Add": _add, "Mul": _times, "Pow": _power, "Mod": _modulo,
    "Sub": lambda _, left, right: left - right, "Div": lambda _, left, right: left / right,
    "FloorDiv": lambda _, left, right: left // right,
}  # fmt: skip
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Mul": operator.mul, "Pow": operator.pow, "Mod": operator.mod, "Sub": operator.sub,
    "Div": operator.truediv, "FloorDiv": operator.floordiv,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "lteq": operator.le, "gt": operator.gt,
    "gteq": operator.ge,
}  # fmt: skip


def binary(reader: Reader, name: str, left: Any, right: Any) -> Any:
    """Apply an arithmetic operator, by its name in Jinja's grammar."""
    if array_kind(left) or array_kind(right):
        return reader.arrays.binary(_PLAIN[name], _operand(reader, left), _operand(reader, right))
    left, right = reader.plain(left), reader.plain(right)
    if Decimal in (type(left), type(right)):
        at_most(getcontext().prec, _PRECISION, "digits of decimal precision")
    return reader.plain(_BINARY[name](reader, left, right))


def _operand(reader: Reader, value: Any) -> Any:
    return value if array_kind(value) else reader.plain(value)


def compare_values(reader: Reader, name: str, left: Any, right: Any) -> Any:
    """Apply a comparison, by its name in Jinja's grammar."""
    if name in ("in", "notin"):
        return (name == "in") == _contains(reader, right, left)
    if array_kind(left) or array_kind(right):
        return reader.arrays.binary(_COMPARE[name], _operand(reader, left), _operand(reader, right), compares=True)
    return _COMPARE[name](reader.plain(left), reader.plain(right))


def _contains(reader: Reader, values: Any, value: Any) -> bool:
    if array_kind(values):
        values = list(reader.members(values))
    found: bool = reader.plain(value) in reader.plain(values)
    return found


def unary(reader: Reader, name: str, value: Any) -> Any:
    """Apply the sign ``Neg`` or ``Pos`` to a number."""
    operation = operator.neg if name == "Neg" else operator.pos
    if array_kind(value):
        return reader.arrays.binary(lambda left, _: operation(left), value, 0)
    return operation(reader.plain(value))


def truth(reader: Reader, value: Any) -> bool:
    """Return whether a value is true. Raises RefusedError for an array or a frame."""
    if array_kind(value):
        raise RefusedError("an array or a frame is neither true nor false; use any(), all() or |length")
    return bool(reader.plain(value))


def chain(values: Sequence[str]) -> str:
    """Join texts."""
    at_most(sum(map(len, values)), TEXT, "characters")
    return "".join(values)
