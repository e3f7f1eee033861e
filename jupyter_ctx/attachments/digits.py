"""Write floating-point numbers with as few digits as tell them apart, and say where digits are dropped."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable
from ctypes import c_float
from math import isfinite
from typing import Any

LEAST_DIGITS, MOST_DIGITS = 6, 17  # significant ones of a number that is rounded; with 17 none is lost
SHORT = 12  # significant digits with which a number is written as it is
PLAIN = 1e16  # from which on Python writes exponents


def decimal_text(value: float, digits: int) -> str:
    """Return a number as Python writes it, or, where that is long, with ``digits`` digits and all before the point."""
    text = repr(float(value))
    if digits >= MOST_DIGITS or not _is_long(text):
        return text
    return _rounded(value, digits)


def digits_apart(values: Iterable[float]) -> int:
    """Return few digits with which different numbers stay different in writing: the fewest, or little more."""
    different = {value for value in values if isfinite(value)}
    written = {repr(float(value)): value for value in different}
    long = [value for text, value in written.items() if _is_long(text)]
    short = {text for text in written if not _is_long(text)}

    def are_apart(digits: int) -> bool:
        rounded = {_rounded(value, digits) for value in long}
        return len(rounded) == len(long) and short.isdisjoint(rounded)

    tried = range(LEAST_DIGITS, MOST_DIGITS)
    if are_apart(LEAST_DIGITS):
        return LEAST_DIGITS
    return LEAST_DIGITS + bisect_left(tried, True, lo=1, key=are_apart)


def _is_long(text: str) -> bool:
    """Return whether a number as Python writes it has more than SHORT significant digits."""
    if len(text) <= SHORT:
        return False
    significant = text.partition("e")[0].replace(".", "").lstrip("-0")
    return len(significant) > SHORT


def _rounded(value: float, digits: int) -> str:
    whole = len(f"{abs(value):.0f}") if abs(value) < PLAIN else 0
    return f"{value:.{max(digits, whole)}g}"


def of_single(value: float) -> float:
    """Return the shortest number that is the same in single precision."""
    for digits in range(LEAST_DIGITS, 9):
        shorter = float(f"{value:.{digits}g}")
        if c_float(shorter).value == value:
            return shorter
    return value


def written_array(array: Any, **options: Any) -> tuple[str, bool]:
    """Return an array of NumPy as text, and whether digits were dropped; ``options`` are those of ``array2string``."""
    write = sys.modules["numpy"].array2string
    seen: list[float] = []
    dropped = False

    def see(value: Any) -> str:
        seen.append(_number(value))
        return "0"

    def show(value: Any) -> str:
        nonlocal dropped
        number = _number(value)
        text = decimal_text(number, digits)
        dropped |= float(text) != number == number  # NaN is not itself
        return text.removesuffix(".0") + "." * text.endswith(".0")

    first: str = write(array, separator=", ", formatter=_formats(see), **options)
    if not seen:
        return first, False
    digits = digits_apart(seen)
    return write(array, separator=", ", formatter=_formats(show), **options), dropped


def _formats(one: Any) -> dict[str, Any]:
    """Return what NumPy writes numbers with."""

    def both(value: Any) -> str:
        real, imaginary = one(value.real), one(value.imag)
        return f"{real}{'' if imaginary[:1] == '-' else '+'}{imaginary}j"

    return {"float_kind": one, "complex_kind": both}


def _number(value: Any) -> float:
    """Return a number of NumPy as Python's, with the digits that NumPy writes."""
    return float(value) if isinstance(value, float) else float(str(value))
