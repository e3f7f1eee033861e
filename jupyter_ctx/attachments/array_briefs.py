"""A brief of an array or a tensor: its shape, type and range, and its values or those at its edges."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from typing import Any

from ..conversation.text_safety import lasting
from ..runtime.secret_texts import BLANKED, is_secret_value, kind_of
from .attached import Blanks, TextRoom
from .digits import decimal_text, digits_apart, written_array
from .texts import about_tokens, fitted_text, headed

EDGES = (500, 200, 100, 50, 20, 10, 5, 3, 2, 1)  # values at each end of each dimension
RANGED = 20_000_000  # values whose least and greatest are looked for


def array_of(value: Any) -> Any:
    """Return an array of NumPy that a value is or, as a tensor, can be read as; ``None`` for any other value."""
    numpy, kind = sys.modules.get("numpy"), type(value)
    if numpy is None:
        return None
    if isinstance(value, numpy.ndarray):
        return None if isinstance(value, numpy.ma.MaskedArray) else value
    shape = getattr(value, "shape", None)
    if not hasattr(kind, "__array__") or not isinstance(shape, tuple) or not shape or prod(shape) > RANGED:
        return None
    with suppress(Exception):  # of a library, for a type that NumPy has not
        for apart in ("detach", "cpu"):  # of a tensor that learns, or is in another memory
            value = getattr(value, apart)() if hasattr(kind, apart) else value
        return numpy.asarray(value)
    return None


def array_brief(name: str, kind: str, array: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a brief of an array of a kind, and what was sent of what. Raises InvalidRequestError."""
    numpy: Any = sys.modules["numpy"]
    shape = " × ".join(f"{side:,}" for side in array.shape) or "no dimension"
    title = f"{kind} of shape {shape}, {array.dtype}{_range(numpy, array)}"
    for shown, values, is_rounded in _ways(_without_secrets(numpy, array), room.tokens):
        blanked.count = values.count(repr(BLANKED))
        text = headed(name, f"{title}\n{blanked(lasting(values) if array.dtype.hasobject else values)}")
        tokens = room.count(text)
        if tokens <= room.tokens:
            what = f"all {array.size:,} values" if shown == array.size else f"{shown:,} of {array.size:,} values"
            rounded = ", long numbers rounded" if is_rounded else ""
            return text, f"{what}{rounded}, {about_tokens(tokens)}"
    text, what = fitted_text(name, f"{title}\nIts values are left out.", room, blanked)
    return text, f"0 of {array.size:,} values, {what}"


def _without_secrets(numpy: Any, array: Any) -> Any:
    """Return an array with ``***`` in the fields of its records that hold secrets under their names."""
    names = array.dtype.names or ()
    hidden = {name for name in names if kind_of(name) and is_secret_value(name, array[name].ravel().tolist())}
    if not hidden:
        return array
    kinds = [(name, f"U{len(BLANKED)}" if name in hidden else array.dtype[name]) for name in names]
    found = numpy.empty(array.shape, kinds)
    for name in names:
        found[name] = BLANKED if name in hidden else array[name]
    return found


def _ways(array: Any, most: int) -> Iterator[tuple[int, str, bool]]:
    """Yield how many values are shown, up to ``most``, these, and whether digits were dropped; each time fewer values.

    At first all; then some at each end of each dimension; then, of many dimensions, the first and last of all values.
    """
    if array.size <= most:
        yield array.size, *written_array(array, threshold=sys.maxsize)
    for edge in EDGES:
        shown = prod(min(side, 2 * edge) for side in array.shape)
        if shown <= most:
            yield shown, *written_array(array, threshold=0, edgeitems=edge)
    for edge in EDGES:
        if 2 * edge <= min(most, array.size):
            ends = (
                written_array(part, threshold=sys.maxsize)
                for part in (array.flat[:edge], array.flat[array.size - edge :])
            )
            (first, is_rounded), (last, too) = ends
            yield 2 * edge, f"Its first and its last values:\n{first}\n{last}", is_rounded or too


def _range(numpy: Any, array: Any) -> str:
    """Return the least and the greatest value and the number of those missing, in words."""
    if array.dtype.kind not in "iuf" or not 0 < array.size <= RANGED:
        return ""
    missing = int(numpy.isnan(array).sum()) if array.dtype.kind == "f" else 0
    if missing == array.size:
        return ", all NaN"
    least, greatest = (numpy.nanmin(array), numpy.nanmax(array)) if missing else (array.min(), array.max())
    gaps = f", {missing:,} NaN" if missing else ""
    if array.dtype.kind != "f":
        return f", from {least} to {greatest}"
    ends = float(str(least)), float(str(greatest))
    digits = digits_apart(ends)
    words = " to ".join(decimal_text(end, digits).removesuffix(".0") for end in ends)
    return f", from {words}{gaps}"
