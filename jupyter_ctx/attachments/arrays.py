"""A brief of an array of NumPy: its shape, type and range, and its values or those at its edges."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

from .attached import TextRoom
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
    text = ""
    for edge in (0, *EDGES):
        shown = array.size if not edge else prod(min(side, 2 * edge) for side in array.shape)
        if shown > max(room.tokens, 1):  # no value takes less than a token
            continue
        blanked.count = 0
        text = f"{title}\n{blanked(_values(numpy, array, edge))}"
        tokens = room.count(headed(name, text))
        if tokens <= room.tokens:
            what = f"all {array.size:,} values" if shown == array.size else f"{shown:,} of {array.size:,} values"
            return headed(name, text), f"{what}, {about_tokens(tokens)}"
    return fitted_text(name, text or f"{title}\nIts values are left out.", room, blanked)


def _values(numpy: Any, array: Any, edge: int) -> str:
    """Return the values as NumPy writes them; ``edge`` of them at each end of each dimension, or all for 0."""
    threshold = sys.maxsize if not edge else 0
    return str(numpy.array2string(array, threshold=threshold, edgeitems=edge or 3, separator=", "))


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
