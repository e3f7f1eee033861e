"""Read a value of the notebook as text within its room: a table, an array, a collection, or what it says of itself.

Each kind of value has a draft of a size: a larger one has more of the value. One search finds the largest that fits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from math import isfinite, prod
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

from ..context.summary_facts import fenced
from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..runtime.secret_texts import BLANKED, kind_of
from ..wording import counted, plural
from .attached import Blanks, TextRoom
from .kinds import module_of, name_of
from .library_tables import LibraryTable, library_table
from .rich_text import markup_text

CHARACTERS_A_TOKEN = 12  # more than any tokenizer holds in one for long
TRIES, FILLED = 12, 0.95  # of the search; of the room, which is enough
KEY_ROOM = 4_000  # characters beside a cut that are looked at for a key
WIDTHS = (4_000, 1_000, 300, 100, 30)  # characters that a cell may have
NAME_CHARACTERS = 60
ENOUGH_ROWS, FIRST_CELLS = 8, 64  # with fewer rows, columns are left out; cells that are tried first
ALIKE = 8  # columns of the same type, from which on one line says it for all
EDGES = (500, 300, 200, 150, 100, 70, 50, 35, 25, 20, 15, 10, 7, 5, 4, 3, 2, 1)  # values at each end of each dimension
RANGED = 20_000_000  # values of an array whose least and greatest are looked for
LEAST_DIGITS, MOST_DIGITS, SHORT = 6, 17, 12  # significant digits of a number; of one written as it is
DEPTH, LEAST, LINE = 12, 24, 120  # levels of values in values; characters that a member may always take, and of a line
FEW = 32  # values of an array, or names of columns, that are told in a collection
LONG_TEXT = 1_000_000  # characters of an object's own text that are looked through
WRITTEN_BITS = 14_000  # Python writes no much longer numbers
AS_TEXT = (date, time, timedelta, Decimal)
COLLECTION_ENDS: dict[Any, str] = {  # by the repr of a class, which those that inherit it share
    dict.__repr__: "{…}", list.__repr__: "[…]", tuple.__repr__: "(…)", set.__repr__: "{…}",
    frozenset.__repr__: "frozenset({…})", MappingProxyType.__repr__: "mappingproxy({…})",
}  # fmt: skip


class Draft(NamedTuple):
    """A value as text, what was sent of what, and whether nothing was left out."""

    text: str
    what: str
    is_whole: bool


def value_text(name: str, value: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a value as it joins a prompt, and what was sent of what. Raises InvalidRequestError."""
    if isinstance(value, str):
        if not value.strip():
            raise InvalidRequestError(f"{name} is an empty text: there is nothing to send.")
        return text_brief(name, str.__str__(value), room, blanked)
    kind, data = type(value), room.for_data()
    is_ipython = module_of(kind) == "IPython" and isinstance(getattr(value, "data", None), dict | list)
    if is_ipython or (module_of(kind) == "pandas" and name_of(kind) == "Styler"):
        value = value.data
    graph = getattr(kind, "__dask_graph__", None)
    is_to_compute = graph is not None and graph(value) is not None  # by Dask, whose frames are tables
    table = None if is_to_compute and module_of(kind) != "dask" else library_table(value)
    if table is not None:
        most = (len(table.names) - table.labels) * max(table.rows, 1)
        return fit(name, _TableWriter(table, data, blanked).draft, most, FIRST_CELLS, data, blanked)
    if is_to_compute:
        text, what = text_brief(name, repr(value), data, blanked)
        return text, f"not computed, {what}"
    array = _array_of(value)
    if array is not None:
        draft = _array_draft(name_of(kind), array, blanked)
        return fit(name, draft, array.size, data.tokens // 4, data, blanked)
    markup = markup_text(value)
    if markup:
        return text_brief(name, markup, room, blanked)
    if _ends(value) is None and not isinstance(value, bytes):
        shape = _shape(value)
        text = lasting(repr(value)) if shape else own_text(value)
        is_part = shape and ("..." in text or text[:1] == "<")
        text, what = text_brief(name, text, data, blanked)
        return text, f"{_sides(shape)} values by its own short text, {what}" if is_part else what
    most = max(data.tokens, 1) * CHARACTERS_A_TOKEN
    own = dict[int, tuple[Any, str]]()
    return fit(name, lambda size: _Printer(size, most, own, blanked).draft(value), most, data.tokens, data, blanked)


def fit(
    name: str, draft: Callable[[int], Draft], most: int, first: int, room: TextRoom, blanked: Blanks
) -> tuple[str, str]:  # fmt: skip
    """Return the draft of the largest size up to ``most`` that fits, as far as a few tries find it, and what it is.

    ``first`` is the size that is tried first. Raises InvalidRequestError where not even the smallest draft fits.
    """
    low, high, guess = -1, most, min(first, most)
    best: tuple[Draft, int] | None = None
    for attempt in range(TRIES + 1):
        size = guess if attempt < TRIES and low < high else 0
        if size == 0 and best is not None:
            break
        blanked.count = 0  # of this draft, not of all that are tried
        made = draft(size)
        tokens = room.count(headed(name, made.text))
        if tokens <= room.tokens:
            low, best = size, (made, blanked.count)
            if made.is_whole or tokens >= FILLED * room.tokens:
                break
        elif size == 0:
            raise InvalidRequestError(
                f"{name} needs at least {tokens:,.0f} tokens, and one attachment may take {room.tokens:,}: "
                "%chat config attach_share 0.5 gives it half of the limit. Nothing was sent."
            )
        else:
            high = size - 1
        share = min(int(size * room.tokens / max(tokens, 1.0) * 0.98), most)  # most values are even
        guess = share if low < share <= high else (low + high + 1) // 2
    assert best is not None
    made, blanked.count = best
    text = headed(name, blanked(made.text))
    return text, ", ".join(filter(None, (made.what, about_tokens(room.count(text)))))


def about_tokens(count: float) -> str:
    """Return an estimate in words."""
    return f"about {counted(round(count), 'token')}"


def headed(name: str, text: str) -> str:
    """Return a value's text below its name, in a fence that it cannot close."""
    return f"{name}:\n{fenced(text)}"


def text_brief(name: str, text: str, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a text, of a long one the beginning and the end. Raises InvalidRequestError."""
    length, half = len(text), max(room.tokens, 1) * CHARACTERS_A_TOKEN // 2
    if length > 2 * half:  # what cannot fit is not looked at
        start, end = blanked(text[: half + KEY_ROOM])[:half], blanked(text[-half - KEY_ROOM :])[-half:]
    else:
        whole = blanked(text)
        start, end = whole[: (len(whole) + 1) // 2], whole[(len(whole) + 1) // 2 :]
    count, most = blanked.count, len(start) + len(end)

    def draft(kept: int) -> Draft:
        blanked.count = count
        if kept == most and length <= 2 * half:
            return Draft(start + end, "", is_whole=True)
        head, tail = start[: (kept + 1) // 2], end[len(end) - kept // 2 :]
        text = f"{head}\n… {max(length - kept, 1):,} characters left out …\n{tail}"
        return Draft(text, f"{kept:,} of {length:,} characters", is_whole=False)

    return fit(name, draft, most, most, room, blanked)


class _Printer:
    """Prints collections as Python does: ``size`` characters of each text, fewer members, tables in them by sizes.

    ``most`` are characters of all; ``own`` keeps what objects say of themselves, which are asked once.
    """

    def __init__(self, size: int, most: int, own: dict[int, tuple[Any, str]], blanked: Blanks) -> None:
        self._size, self._members, self._left = max(size, LEAST), size // 8 + 1, most
        self._own, self._blanked, self._open = own, blanked, list[int]()
        self._is_whole, self._sizes = True, 0

    def draft(self, value: Any) -> Draft:
        """Return a collection as text."""
        text, size = self.written(value), len(value) if type(value).__repr__ in COLLECTION_ENDS else 0
        what = f"{self._members:,} of {size:,} members" if size > self._members else ""
        what = what or "long parts shortened" * (not self._is_whole)
        sizes = "tables and arrays in it by their sizes" * bool(self._sizes)
        return Draft(text, ", ".join(filter(None, (what, sizes))), self._is_whole)

    def written(self, value: Any) -> str:
        """Return a value as text, without what is other in every kernel."""
        if isinstance(value, str | bytes):
            return self._spent(self._cut(value))
        ends = _ends(value)
        if ends is None:
            if id(value) not in self._own:
                self._own[id(value)] = value, own_text(value)  # with the value, whose id nothing else takes then
            text = self._own[id(value)][1]
            self._sizes += text[:1] == "<" and bool(_shape(value))
            return self._spent(text if len(text) <= self._size else self._cut(text)[1:])
        if id(value) in self._open:
            return "<contains itself>"
        if len(self._open) >= DEPTH or self._left < 0:
            self._is_whole = False
            return ends
        self._open.append(id(value))
        parts = self._parts(value)
        self._open.pop()
        apart = ",\n " if not self._open and sum(map(len, parts)) > LINE else ", "
        if isinstance(value, set) and not parts:
            return "set()"
        return ends.replace("…", apart.join(parts) + "," * (ends == "(…)" and len(parts) == 1), 1)

    def _parts(self, value: Any) -> list[str]:
        members: Any = _attributes(value) or value
        if isinstance(members, set | frozenset):
            members = sorted(members, key=repr)  # in an order that is the same in every kernel
        size, parts = len(members), list[str]()
        named = members.items() if hasattr(members, "items") else (("", member) for member in members)
        for label, member in list(islice(named, self._members)):
            text = repr(BLANKED) if self._blanked.hides(label, member) else self.written(member)
            key = f"{label}=" if members is not value else f"{self.written(label)}: "
            parts.append(f"{key}{text}" if hasattr(members, "items") else text)
            if self._left < 0:
                break
        if size > len(parts):
            self._is_whole = False
            parts.append(f"… {size - len(parts):,} more")
        return parts

    def _cut(self, value: str | bytes) -> str:
        """Return a text as Python writes it, without keys, which are found before line breaks are escaped."""
        part = value[: self._size + KEY_ROOM]
        if isinstance(part, str):
            part = self._blanked.redacted(part)
        else:
            part = self._blanked.redacted(part.decode("latin-1")).encode("latin-1", "replace")
        if len(value) <= self._size:
            return repr(part)
        self._is_whole = False
        return f"{part[: self._size]!r}… ({len(value) - self._size:,} more)"

    def _spent(self, text: str) -> str:
        self._left -= len(text) + 2
        return text


def _ends(value: Any) -> str | None:
    """Return between what a collection stands, or the attributes of an object; ``None``: it has a text of its own."""
    ends = COLLECTION_ENDS.get(type(value).__repr__)
    return f"{name_of(type(value))}(…)" if ends is None and _attributes(value) else ends


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object whose class has no text of its own."""
    kind: Any = type(value)
    is_plain = kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__
    found = getattr(value, "__dict__", {}) if is_plain or kind is SimpleNamespace else {}
    return {name: part for name, part in found.items() if name[:1] != "_"}


def own_text(value: Any) -> str:
    """Return what an object says of itself, without what is other in every kernel; of an array its size."""
    kind: Any = type(value)
    name, shape = name_of(kind), _shape(value)
    if kind is int and value.bit_length() > WRITTEN_BITS:
        return f"<int of {value.bit_length():,} bits>"
    if hasattr(kind, "columns") and len(shape) == 2:
        names = ", ".join(map(str, value.columns[:FEW]))
        return f"<{name} of {shape[0]:,} rows × {shape[1]:,} columns: {names}{', …' * (shape[1] > FEW)}>"
    if shape and hasattr(kind, "__array__"):
        listed = getattr(value, "tolist", getattr(value, "to_list", None))
        if prod(shape) <= FEW and listed is not None:
            return f"{name.removeprefix('nd')}({listed()!r})"
        return f"<{name} of {_sides(shape)} values, {getattr(value, 'dtype', '')}>"
    is_text = isinstance(value, AS_TEXT) or module_of(kind) in ("numpy", "pandas", "jupyter_ctx")
    text = str(value) if is_text or kind.__repr__ is object.__repr__ else repr(value)
    return text if len(text) > LONG_TEXT else lasting(text)


def _shape(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", ())
    return shape if isinstance(shape, tuple) else ()


def _sides(shape: Iterable[int]) -> str:
    return " × ".join(f"{side:,}" for side in shape) or "no dimension"


class _TableWriter:
    """Writes a table: its shape, its columns with their missing values, and its first and last rows and columns."""

    def __init__(self, table: LibraryTable, room: TextRoom, blanked: Blanks) -> None:
        self._table, self._blanked, self._schema = table, blanked, cache(table.schema)
        self._wide, self._width, self._is_cut = len(table.names) - table.labels, WIDTHS[0], False
        numbers = self._numbers(min(self._wide, max(room.tokens // FIRST_CELLS, 1)))
        cells = [*chain(*self._cells(min(ENOUGH_ROWS, table.rows), 0, numbers))]
        fitting = (each for each in WIDTHS if room.count(" ".join(c[:each] for c in cells)) <= 0.8 * room.tokens)
        self._width = next(fitting, WIDTHS[-1])

    def draft(self, size: int) -> Draft:
        """Return the table with ``size`` cells: of a few rows, until all columns are there, and then of more."""
        table, self._is_cut = self._table, False
        wide = min(self._wide, max(size // max(min(table.rows, ENOUGH_ROWS), 1), min(size, 1)))
        rows = min(table.rows, size // wide) if wide else table.rows * (not self._wide)
        height, width = counted(table.rows, table.unit), counted(self._wide, "column")
        shape = f"{width}; it has not run, so that it has no rows yet" if table.is_lazy else f"{height} and {width}"
        lines = [f"{table.kind} with {shape}", *self._columns(wide)]
        if rows and wide:
            lines += self._rows(rows, wide)
        elif table.rows > rows:
            lines += ["", f"{height} left out."]
        what = f"all {height}" if rows == table.rows else f"{rows:,} of {height}"
        what = "the columns of a query that has not run" if table.is_lazy else what
        what += f" and {wide:,} of {self._wide:,} columns" * (wide < self._wide)
        what += ", long cells shortened" * self._is_cut
        return Draft("\n".join(lines), what, (rows, wide) == (table.rows, self._wide))

    def _numbers(self, wide: int) -> list[int]:
        """Return the numbers of the labels and of the first and the last columns, ``wide`` in all."""
        first, end = self._table.labels + (wide + 1) // 2, len(self._table.names)
        return [*range(first), *range(end - wide // 2, end)]

    def _columns(self, wide: int) -> list[str]:
        """Return the types and missing values of columns, in one line where many have the same."""
        table = self._table
        found = [(self._name(number), *self._schema(number)) for number in self._numbers(wide)[table.labels :]]
        lines = ["| column | type | missing |", "|-|-|-|", *(f"| {' | '.join(each)} |" for each in found)]
        if len(found) >= ALIKE and table.rows and len({each[1:] for each in found}) == 1:
            lines = [f"These {wide:,} columns are of type {found[0][1]}, each with {found[0][2]} missing"]
        if wide < self._wide:
            first, last = table.labels + (wide + 1) // 2, len(table.names) - wide // 2 - 1
            names = f"from {self._name(first)} to {self._name(last)}"
            lines = [*(lines if wide else ()), f"… {counted(self._wide - wide, 'column')} left out, {names} …"]
        return ["", *lines] if self._wide else []

    def _rows(self, rows: int, wide: int) -> list[str]:
        """Return the first and the last rows as lines of Markdown."""
        table, numbers = self._table, self._numbers(wide)
        is_all = rows == table.rows
        head, tail = (rows, 0) if is_all else ((rows + 1) // 2, rows // 2)
        names, columns = [self._name(number) for number in numbers], self._cells(head, tail, numbers)
        if wide < self._wide:
            gap = table.labels + (wide + 1) // 2
            names.insert(gap, "…")
            columns.insert(gap, ["…"] * rows)
        lines = [f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True)]
        title, units = f"All {plural(table.unit)}:", counted(table.rows, table.unit)
        if not is_all:
            title = f"The first {head:,} and the last {tail:,} of {units}:"
            lines.insert(head, f"… {counted(table.rows - rows, table.unit)} left out …")
        return ["", title, f"| {' | '.join(names)} |", f"|{'-|' * len(names)}", *lines]

    def _cells(self, head: int, tail: int, numbers: Sequence[int]) -> list[list[str]]:
        """Return the first and the last cells of columns as texts."""
        table, none = self._table, [()] * len(numbers)
        first = table.read(0, head, numbers) if head else none
        last = table.read(table.rows - tail, table.rows, numbers) if tail else none
        parts = zip(numbers, first, last, strict=True)
        return [self._texts(table.names[number], [*above, *below]) for number, above, below in parts]

    def _texts(self, name: object, values: Sequence[Any]) -> list[str]:
        digits = digits_apart(value for value in values if isinstance(value, float))
        if kind_of(name):
            values = [BLANKED if self._blanked.hides(name, value) else value for value in values]
        return [self._cell(value, digits, self._width) for value in values]

    def _name(self, number: int) -> str:
        return self._cell(self._table.names[number], LEAST_DIGITS, NAME_CHARACTERS)

    def _cell(self, value: Any, digits: int, width: int) -> str:
        """Return a value in one cell of a Markdown table, shortened with … where it is long."""
        if isinstance(value, float):
            return decimal_text(value, digits)
        text = value if isinstance(value, str) else own_text(value)
        if _ends(value) is not None:
            text = _Printer(width, width, {}, self._blanked).written(value)
        is_long = len(text) > width
        if is_long or "\n" in text:
            text = self._blanked.redacted(text[: width + KEY_ROOM])
        if is_long:
            self._is_cut = True
            text = f"{text[:width]}…"
        for sign, escaped in (("\\", "\\\\"), ("|", "\\|"), ("\n", "\\n"), ("\r", "\\r")):
            text = text.replace(sign, escaped)
        return text


def _array_of(value: Any) -> Any:
    """Return an array of NumPy that a value is or, as a tensor, can be read as; ``None`` for any other value."""
    numpy, kind, shape = sys.modules.get("numpy"), type(value), _shape(value)
    if numpy is None or not hasattr(kind, "__array__") or isinstance(value, numpy.ma.MaskedArray):
        return None
    if isinstance(value, numpy.ndarray):
        return value
    if module_of(kind) == "xarray" or not shape or prod(shape) > RANGED:
        return None  # xarray tells more of itself
    try:
        for apart in ("detach", "cpu"):  # of a tensor that learns, or is in another memory
            value = getattr(value, apart)() if hasattr(kind, apart) else value
        return numpy.asarray(value)
    except Exception:  # of a library, for a type that NumPy has not
        return None


def _array_draft(kind: str, array: Any, blanked: Blanks) -> Callable[[int], Draft]:
    """Return what prints an array as NumPy does, of a large one the edges."""
    title = f"{kind} of shape {_sides(array.shape)}, {array.dtype}{_range(array)}"
    whole, names = array, array.dtype.names or ()
    hidden = [name for name in names if kind_of(name) and blanked.hides(name, array[name].ravel().tolist())]
    if hidden:
        fields = [(name, f"U{len(BLANKED)}" if name in hidden else whole.dtype[name]) for name in names]
        array = sys.modules["numpy"].empty(whole.shape, fields)
        for name in names:
            array[name] = BLANKED if name in hidden else whole[name]

    def draft(size: int) -> Draft:
        blanked.count = len(hidden)
        is_whole = size >= array.size
        edge = next((each for each in EDGES if prod(min(side, 2 * each) for side in array.shape) <= size), 0)
        shown = array.size if is_whole else prod(min(side, 2 * edge) for side in array.shape)
        text = _printed(array, edge, array.size * is_whole) if is_whole or edge else "Its values are left out."
        return Draft(f"{title}\n{text}", f"{'all' if is_whole else f'{shown:,} of'} {array.size:,} values", is_whole)

    return draft


def _printed(array: Any, edge: int, threshold: int) -> str:
    """Return an array as NumPy prints it, with as few digits as tell its numbers apart, and long texts shortened."""
    seen, digits = list[float](), LEAST_DIGITS

    def number(value: Any) -> str:
        seen.append(float(str(value)))  # of singles, with the digits that NumPy writes
        text = decimal_text(seen[-1], digits)
        return text[:-1] if text.endswith(".0") else text

    def cut(value: Any) -> str:
        text = repr(str(value[: WIDTHS[2]])) if isinstance(value, str) else own_text(value)
        return text if len(text) <= WIDTHS[2] else f"{text[: WIDTHS[2]]}…"

    def printed() -> str:
        formats: dict[str, Any] = {"float_kind": number, "object": cut, "numpystr": cut}
        options = {"threshold": threshold, "edgeitems": edge, "formatter": formats}
        return str(sys.modules["numpy"].array2string(array, separator=", ", **options))

    found = printed()
    digits = digits_apart(seen)
    return found if digits == LEAST_DIGITS else printed()


def _range(array: Any) -> str:
    """Return the least and the greatest value and the number of those missing, in words."""
    numpy: Any = sys.modules["numpy"]
    if array.dtype.kind not in "iuf" or not 0 < array.size <= RANGED:
        return ""
    missing = int(numpy.isnan(array).sum())
    if missing == array.size:
        return ", all NaN"
    ends = [numpy.nanmin(array), numpy.nanmax(array)]
    if array.dtype.kind != "f":
        return f", from {ends[0]} to {ends[1]}"
    ends = [float(str(end)) for end in ends]
    words = [decimal_text(end, digits_apart(ends)).removesuffix(".0") for end in ends]
    return f", from {' to '.join(words)}{f', {missing:,} NaN' * bool(missing)}"


def decimal_text(value: float, digits: int) -> str:
    """Return a number as Python writes it, or, where that is long, with ``digits`` digits and all before the point."""
    text = "NaN" if value != value else repr(float(value))
    if len(text.partition("e")[0].replace(".", "").strip("-0")) <= SHORT:
        return text
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e16 else 0  # from there on Python writes exponents
    return f"{value:.{max(digits, whole)}g}"


def digits_apart(values: Iterable[float]) -> int:
    """Return the fewest digits with which different numbers stay different in writing."""
    different = {value for value in values if isfinite(value)}
    apart = (
        n for n in range(LEAST_DIGITS, MOST_DIGITS) if len({decimal_text(v, n) for v in different}) == len(different)
    )
    return next(apart, MOST_DIGITS)
