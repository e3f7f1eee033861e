"""Tables and arrays of any library: read them by position, and write their shape, and first and last rows and values.

pandas is read as it is, other libraries by narwhals; none is imported for a value that does not come from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from ..conversation.text_safety import lasting
from ..runtime.redaction import BLANKED, Redactor, classify_secret_name
from ..template.expressions import module_of
from ..wording import counted
from .attached import Draft, TextRoom
from .printing import KEY_ROOM, CollectionPrinter, decimal_text, digits_apart, is_collection, own_text, shape_of, sides

LEAST_WIDTH, WIDTH_A_TOKEN = 30, 3  # characters that a cell may have, more where the first rows fit with them
NAME_CHARACTERS = 60
ENOUGH_ROWS, FIRST_CELLS = 8, 64  # with fewer rows, columns are left out; cells that are tried first
COMPARED = 500  # values at each end of an array that its digits tell apart
MOST_VALUES = 20_000_000  # of a tensor that is read as an array, and of an array whose range is looked for
ESCAPED = str.maketrans({"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class LibraryTable:
    """A table of some library: rows by position, columns by number."""

    kind: str  # in words
    rows: int  # 0 for a query that is lazy
    names: Sequence[object]  # of its columns, those of the labels of its rows first
    schema: Callable[[int], str]  # returns the type of a column, and its missing values in words
    read: Callable[[int, int, Sequence[int]], Sequence[Sequence[Any]]]  # from one row to another, each of the columns
    labels: int = 0  # columns that are labels of the rows
    is_lazy: bool = False  # whether it is a query that has not run

    def named_columns(self, stop: int) -> dict[str, Sequence[Any]]:
        """Return the values of the rows before a number, by the names of labels and columns."""
        named = [number for number, name in enumerate(self.names) if name != ""]
        columns = self.read(0, stop, named) if stop else [()] * len(named)
        return {str(self.names[number]): column for number, column in zip(named, columns, strict=True)}


def library_table(value: Any) -> LibraryTable | None:
    """Return a table of any library; ``None`` for any other value. A query is not run."""
    kind: Any = type(value)
    pandas: Any = sys.modules.get("pandas")
    if hasattr(pandas, "api") and isinstance(value, pandas.DataFrame | pandas.Series):
        return _of_pandas(value)
    if hasattr(kind, "fetchall") and hasattr(kind, "limit"):
        return _of_duckdb(value)
    fields = getattr(getattr(value, "dtype", None), "names", None)
    if fields and module_of(kind) == "numpy":
        return _of_columns(kind.__name__, value.size, fields, lambda number: value[fields[number]].ravel())
    return _of_narwhals(value) if hasattr(kind, "columns") or hasattr(kind, "__arrow_c_stream__") else None


def _of_pandas(value: Any) -> LibraryTable:
    """Return a frame or a column of pandas, below the labels of its rows."""
    frame = value if hasattr(value, "columns") else value.to_frame("value" if value.name is None else value.name)
    levels = [frame.index.get_level_values(n) for n in range(frame.index.nlevels)]
    labels = [level.name or (f"level {n}" if len(levels) > 1 else "") for n, level in enumerate(levels)]

    def column(number: int) -> Any:
        return (levels[number] if number < len(levels) else frame.iloc[:, number - len(levels)]).array

    return _of_columns(type(value).__name__, len(frame), [*labels, *frame.columns], column, labels=len(levels))


def _of_columns(
    kind: str, rows: int, names: Sequence[object], column: Callable[[int], Any], labels: int = 0
) -> LibraryTable:
    """Return a table whose columns are arrays of pandas or NumPy, or series of narwhals."""

    def schema(number: int) -> str:
        values = column(number)
        if hasattr(values, "null_count"):
            missing = values.null_count()
        else:
            missing = (values.isna() if hasattr(values, "isna") else values != values).sum()
        return f"{values.dtype}, {missing:,} missing" if missing else str(values.dtype)

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[list[Any]]:
        columns = [column(number)[start:stop] for number in numbers]
        return [values.tolist() if hasattr(values, "tolist") else values.to_list() for values in columns]

    return LibraryTable(kind, rows, names, schema, read, labels)


def _of_duckdb(relation: Any) -> LibraryTable:
    """Return a relation of DuckDB: its rows are counted, and those that are shown are asked for."""

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        columns = [*zip(*relation.limit(stop - start, start).fetchall(), strict=True)] or [()] * len(relation.columns)
        return [columns[number] for number in numbers]

    types = relation.types
    return LibraryTable("DuckDB relation", len(relation), relation.columns, lambda n: str(types[n]), read)


def _of_narwhals(value: Any) -> LibraryTable | None:
    """Return the table of a value that narwhals reads; ``None``: it does not."""
    import narwhals

    kind = f"{module_of(type(value)).title()} {type(value).__name__}"
    frame: Any = narwhals.from_native(value, pass_through=True, allow_series=True)
    if isinstance(frame, narwhals.LazyFrame):
        schema = frame.collect_schema()
        types = schema.dtypes()
        return LibraryTable(kind, 0, schema.names(), lambda n: str(types[n]), lambda *_: (), is_lazy=True)
    if isinstance(frame, narwhals.Series):
        return _of_columns(kind, len(frame), [frame.name or "value"], lambda _: frame)
    is_read = isinstance(frame, narwhals.DataFrame)
    return _of_columns(kind, len(frame), frame.columns, lambda n: frame[:, n]) if is_read else None


class TableWriter:
    """Writes a table in sizes of up to ``cells`` cells."""

    def __init__(self, table: LibraryTable, room: TextRoom, redactor: Redactor) -> None:
        self._table, self._redactor, self._schema = table, redactor, cache(table.schema)
        self._wide, self._is_cut = len(table.names) - table.labels, False
        self.cells = self._wide * max(table.rows, 1)
        first_cells = max(min(table.rows, ENOUGH_ROWS) * self._wide, 1)
        self._width = max(LEAST_WIDTH, WIDTH_A_TOKEN * room.tokens // first_cells)

    def draft(self, size: int) -> Draft:
        """Return the table with ``size`` cells: of a few rows until all columns are there, and then of more."""
        table, self._is_cut = self._table, False
        wide = min(self._wide, max(size // max(min(table.rows, ENOUGH_ROWS), 1), min(size, 1)))
        rows = min(table.rows, size // wide) if wide else table.rows * (not self._wide)
        height, width = counted(table.rows, "row"), counted(self._wide, "column")
        what = f"all {height}" if rows == table.rows else f"{rows:,} of {height}"
        lines = [f"{table.kind} with {height} and {width}", "", *(self._lines(rows, wide) if wide else ())]
        if table.is_lazy:
            what = "the columns of a query that has not run"
            lines[0] = f"{table.kind} with {width}; it has not run, so that it has no rows yet"
        if not wide and rows < table.rows:
            lines.append(f"{height} left out.")
        what += f" and {wide:,} of {self._wide:,} columns" * (wide < self._wide)
        what += ", long cells shortened" * self._is_cut
        return Draft("\n".join(lines).rstrip(), what, (rows, wide) == (table.rows, self._wide))

    def _lines(self, rows: int, wide: int) -> list[str]:
        """Return the first and the last columns in Markdown: their names, types, and first and last cells."""
        table, head = self._table, rows if rows == self._table.rows else (rows + 1) // 2
        first, last = table.labels + (wide + 1) // 2, len(table.names) - wide // 2
        numbers = [*range(first), *range(last, len(table.names))]
        types = ["" if number < table.labels else f" ({self._schema(number)})" for number in numbers]
        columns = [[f"{self._name(number)}{kind}"] for number, kind in zip(numbers, types, strict=True)]
        for start, stop in ((0, head), (table.rows - rows + head, table.rows)):
            values = table.read(start, stop, numbers) if start < stop else ()
            for number, column, cells in zip(numbers, columns, values, strict=False):
                column += self._texts(table.names[number], cells)
        if wide < self._wide:
            between = f"{counted(last - first, 'column')} left out, from {self._name(first)} to {self._name(last - 1)}"
            columns.insert(first, [f"… {between} …", *["…"] * rows])
        lines = [f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True)]
        lines.insert(1, f"|{'-|' * len(columns)}")
        if rows < table.rows:
            lines.insert(2 + head, f"… {counted(table.rows - rows, 'row')} left out …")
        return lines

    def _texts(self, name: object, values: Iterable[Any]) -> list[str]:
        """Return the cells of a column as texts; numbers of few bits have the digits of Python's."""
        values = [float(value) if type(value).__name__.startswith("float") else value for value in values]
        digits = digits_apart(value for value in values if isinstance(value, float))
        if classify_secret_name(name):
            values = [BLANKED if self._redactor.is_secret(name, value) else value for value in values]
        return [decimal_text(each, digits) if isinstance(each, float) else self._cell(each) for each in values]

    def _name(self, number: int) -> str:
        return self._cell(self._table.names[number], NAME_CHARACTERS)

    def _cell(self, value: Any, width: int = 0) -> str:
        """Return a value in one cell of a Markdown table, shortened with … where it is long."""
        width = width or self._width
        if is_collection(value):
            text = CollectionPrinter(width, width, self._redactor).text(value, line=sys.maxsize)
        else:
            text = value if isinstance(value, str) else own_text(value)
        is_long = len(text) > width
        if is_long or "\n" in text:
            text = self._redactor.masked(text[: width + KEY_ROOM])
        self._is_cut |= is_long
        return f"{text[:width]}{'…' * is_long}".translate(ESCAPED)


def array_of(value: Any) -> Any:
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


def array_draft(kind: str, array: Any) -> Callable[[int], Draft]:
    """Return what writes an array: its shape, type and range, and so many of the values at the ends of its sides."""
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

    return draft


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
