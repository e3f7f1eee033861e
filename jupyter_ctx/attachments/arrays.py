"""A brief of an array of NumPy: its shape, type and range, and its values or those at its edges."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

from .attached import TextRoom
from .sketch import MEMORY_ADDRESS
from .texts import Blanks, about_tokens, fitted_text, headed

EDGES = (500, 200, 100, 50, 20, 10, 5, 3, 2, 1)  # values at each end of each dimension
RANGED = 20_000_000  # values whose least and greatest are looked for


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and not isinstance(value, numpy.ma.MaskedArray)


def array_brief(name: str, array: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a brief of an array, and what was sent of what. Raises InvalidRequestError."""
    numpy: Any = sys.modules["numpy"]
    shape = " × ".join(f"{side:,}" for side in array.shape) or "no dimension"
    title = f"{type(array).__name__} of shape {shape}, {array.dtype}{_range(numpy, array)}"
    for shown, values in _ways(numpy, array, room.tokens):
        blanked.count = 0
        text = headed(name, f"{title}\n{blanked(MEMORY_ADDRESS.sub('', values))}")
        tokens = room.count(text)
        if tokens <= room.tokens:
            what = f"all {array.size:,} values" if shown == array.size else f"{shown:,} of {array.size:,} values"
            return text, f"{what}, {about_tokens(tokens)}"
    text, what = fitted_text(name, f"{title}\nIts values are left out.", room, blanked)
    return text, f"0 of {array.size:,} values, {what}"


def _ways(numpy: Any, array: Any, most: int) -> Iterator[tuple[int, str]]:
    """Yield how many values are shown, up to ``most``, and these as NumPy writes them, each time fewer.

    At first all; then some at each end of each dimension; then, of many dimensions, the first and last of all values.
    """
    write = partial(numpy.array2string, separator=", ")
    if array.size <= most:
        yield array.size, write(array, threshold=sys.maxsize)
    for edge in EDGES:
        shown = prod(min(side, 2 * edge) for side in array.shape)
        if shown <= most:
            yield shown, write(array, threshold=0, edgeitems=edge)
    for edge in EDGES:
        if 2 * edge <= min(most, array.size):
            ends = (write(part, threshold=sys.maxsize) for part in (array.flat[:edge], array.flat[array.size - edge :]))
            yield 2 * edge, "Its first and its last values:\n{}\n{}".format(*ends)


def _range(numpy: Any, array: Any) -> str:
    """Return the least and the greatest value and the number of those missing, in words."""
    if array.dtype.kind not in "iuf" or not 0 < array.size <= RANGED:
        return ""
    missing = int(numpy.isnan(array).sum()) if array.dtype.kind == "f" else 0
    if missing == array.size:
        return ", all NaN"
    least, greatest = (numpy.nanmin(array), numpy.nanmax(array)) if missing else (array.min(), array.max())
    gaps = f", {missing:,} NaN" if missing else ""
    return f", from {least:.6g} to {greatest:.6g}{gaps}"
