"""Read a value of the notebook as text within its room: a table, an array, a collection, or what it says of itself.

Each kind of value has a draft of a size: a larger one has more of the value. One search finds the largest that fits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any

from ..context.summary_facts import fenced
from ..conversation.text_safety import clean, lasting
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..template.expressions import module_of
from ..wording import counted
from .attached import Draft, TextRoom
from .printing import KEY_ROOM, CollectionPrinter, decimal_text, digits_apart, is_collection, own_text, shape_of, sides
from .rich_text import markup_text
from .tables import FIRST_CELLS, TableWriter, library_table

CHARACTERS_A_TOKEN = 12  # more than any tokenizer holds in one for long
TRIES, FILLED = 9, 0.95  # of the search; of the room, which is enough
SIZES = re.compile(r"<\w+ of [\d,]+ ")  # of tables and arrays in a collection
TOKENS_A_VALUE, COMPARED = 4, 500  # of an array; values at each end of one that its digits tell apart
MOST_VALUES = 20_000_000  # of a tensor that is read as an array, and of an array whose range is looked for


def value_text(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    """Return a value as it joins a prompt, and what was sent of what. Raises InvalidRequestError."""
    if isinstance(value, str):
        if not value.strip():
            raise InvalidRequestError(f"{name} is an empty text: there is nothing to send.")
        return fit_text(name, str.__str__(value), room, redactor)
    data = room.for_data()
    table = library_table(value)
    if table is not None:
        writer = TableWriter(table, data, redactor)
        return fit(name, writer.draft, writer.cells, FIRST_CELLS, data, redactor)
    array = _array_of(value)
    if array is not None:
        return _array_text(name, type(value).__name__, array, data, redactor)
    markup = markup_text(value)
    if markup:
        return fit_text(name, markup, room, redactor)
    if is_collection(value) or isinstance(value, bytes):
        return _fit_collection(name, value, data, redactor)
    shape = shape_of(value)
    text, what = fit_text(name, lasting(repr(value)) if shape else own_text(value), data, redactor)
    return text, f"{sides(shape)} values by its own short text, {what}" if shape else what


def fit(
    name: str, draft: Callable[[int], Draft], most: int, first: int, room: TextRoom, redactor: Redactor
) -> tuple[str, str]:  # fmt: skip
    """Return the draft of the largest size up to ``most`` that fits, as far as a few tries find it, and what it is.

    ``first`` is the size that is tried first. Raises InvalidRequestError where not even the smallest draft fits.
    """
    low, high, size, is_found, blanked = 0, most, min(first, most), False, redactor.blanked
    for _ in range(TRIES):
        if low >= high or is_found:
            break
        made = draft(size)
        tokens = room.count(fenced_block(name, made.text))
        low, high = (low, size - 1) if tokens > room.tokens else (size, high)
        is_found = low == size and (made.is_whole or tokens >= FILLED * room.tokens)
        share = min(int(size * room.tokens / max(tokens, 1.0) * 0.98), most)  # most values are even
        size = share if low < share <= high else (low + high + 1) // 2
    redactor.blanked = blanked  # with those of this draft, not of all that were tried
    made = draft(low)
    text = fenced_block(name, redactor.masked(made.text))
    tokens = room.count(text)
    if tokens > room.tokens:
        raise InvalidRequestError(
            f"{name} needs at least {tokens:,.0f} tokens, and one attachment may take {room.tokens:,}: "
            "%chat config attach_share 0.5 gives it half of the limit. Nothing was sent."
        )
    return text, ", ".join(filter(None, (made.what, about_tokens(tokens))))


def about_tokens(count: float) -> str:
    """Return an estimate in words."""
    return f"about {counted(round(count), 'token')}"


def fenced_block(name: str, text: str) -> str:
    """Return a value's text below its name, in a fence that it cannot close."""
    return f"{name}:\n{fenced(text)}"


def fit_text(name: str, text: str, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    """Return a text, of a long one the beginning and the end. Raises InvalidRequestError."""
    length, most = len(text), max(room.tokens, 1) * CHARACTERS_A_TOKEN
    if length > 2 * (most + KEY_ROOM):  # what cannot fit is not looked at
        text = text[: most + KEY_ROOM] + text[-most - KEY_ROOM :]
    is_all = len(text) == length
    text = clean(redactor.masked(text))
    most = len(text) if is_all else most

    def draft(kept: int) -> Draft:
        if is_all and kept == most:
            return Draft(text, "", is_whole=True)
        head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
        left_out = f"… {max(length - kept, 1):,} characters left out …"
        return Draft(f"{head}\n{left_out}\n{tail}", f"{kept:,} of {length:,} characters", is_whole=False)

    return fit(name, draft, most, most, room, redactor)


def _fit_collection(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    most = max(room.tokens, 1) * CHARACTERS_A_TOKEN

    def draft(size: int) -> Draft:
        printer = CollectionPrinter(size, most, redactor)
        text = printer.text(value)
        count = len(value) if hasattr(value, "__len__") else 0
        what = "" if printer.is_whole else "long parts shortened"
        if count > printer.members and not isinstance(value, bytes):
            what = f"{printer.members:,} of {count:,} members"
        sizes = "tables and arrays in it by their sizes" if SIZES.search(text) else ""
        return Draft(text, ", ".join(filter(None, (what, sizes))), printer.is_whole)

    return fit(name, draft, most, room.tokens, room, redactor)


def _array_of(value: Any) -> Any:
    """Return an array of NumPy that a value is or, as a tensor, can be read as; ``None`` for any other value."""
    numpy, kind, shape = sys.modules.get("numpy"), type(value), shape_of(value)
    if numpy is None or not hasattr(kind, "__array__") or isinstance(value, numpy.ma.MaskedArray):
        return None
    is_other = not isinstance(value, numpy.ndarray)
    if is_other and (module_of(kind) in ("xarray", "dask") or not shape or prod(shape) > MOST_VALUES):
        return None  # these tell more of themselves, or would be computed
    with suppress(Exception):  # of a library, for a type that NumPy has not
        for apart in ("detach", "cpu"):  # of a tensor that learns, or is in another memory
            value = getattr(value, apart)() if hasattr(kind, apart) else value
        return numpy.asarray(value)


def _array_text(name: str, kind: str, array: Any, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    """Return an array by its shape, type and range, and whole, or with the values at both ends of each side."""
    numpy: Any = sys.modules["numpy"]
    title = f"{kind} of shape {sides(array.shape)}, {array.dtype}{_array_range(array, numpy)}"
    ends = [*array.flat[:COMPARED], *array.flat[-COMPARED:]] if array.dtype.kind == "f" else []
    digits = digits_apart(map(float, ends))
    formats: Any = {"float_kind": lambda value: decimal_text(float(value), digits).removesuffix(".0")}

    def draft(size: int) -> Draft:
        edge = max(1, int(size ** (1 / max(array.ndim, 1))) // 2)
        shown = array.size if size >= array.size else prod(min(side, 2 * edge) for side in array.shape)
        most = array.size if shown == array.size else 0  # above which NumPy prints the ends of each side
        text = numpy.array2string(array, separator=", ", threshold=most, edgeitems=edge, formatter=formats)
        what = f"{'all' if shown == array.size else f'{shown:,} of'} {array.size:,} values"
        return Draft(f"{title}\n{lasting(str(text))}", what, shown == array.size)

    return fit(name, draft, array.size, room.tokens // TOKENS_A_VALUE, room, redactor)


def _array_range(array: Any, numpy: Any) -> str:
    """Return the least and the greatest number of an array, and how many are missing, in words."""
    if array.dtype.kind not in "iuf" or not 0 < array.size <= MOST_VALUES:
        return ""
    low, high = numpy.fmin.reduce(array, axis=None), numpy.fmax.reduce(array, axis=None)
    missing = int((array != array).sum())  # NaN equals nothing
    if array.dtype.kind == "f":
        digits = digits_apart((float(low), float(high)))
        low, high = (decimal_text(float(end), digits).removesuffix(".0") for end in (low, high))
    return f", from {low} to {high}" + f", {missing:,} NaN" * bool(missing)
