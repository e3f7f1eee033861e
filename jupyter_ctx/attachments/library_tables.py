"""Read tables of any library by position: frames and columns, groups, relations, data sets of Arrow.

No library is imported for a value that does not come from it, but narwhals, which reads the frames of most. Missing
values are counted by the library, in all rows where that is quick and in a part of them where it is not, which then is
said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .digits import of_single
from .kinds import module_of, name_of

INTEGER_CHARS = tuple("?bBhHiIlLqQ")  # of NumPy's types of whole numbers
COUNTED_CELLS = 20_000_000  # numbers that are looked at for missing values
COUNTED_OBJECTS = 1_000_000  # values of Python that are
SAMPLE = 50_000
NOT_COUNTED = "not counted"
FRAME_MARKS = (  # a class with one of these is read by narwhals, or by way of Arrow
    "__arrow_c_stream__", "__arrow_c_array__", "__dask_graph__", "collect_schema", "toPandas",
)  # fmt: skip
READERS_OF_ARROW = ("polars", "pyarrow", "pandas")


@dataclass(frozen=True, slots=True)
class LibraryTable:
    """A table of some library: rows by position, columns by number.

    kind: what it is, in words
    rows: how many it has; 0 for a query that ``is_lazy``
    names: of its columns, as the library has them
    schema: returns the type of a column, and its missing values in words
    fetch: returns the values of rows from one number to another: of each label, then of the first columns
    labels: names of the labels of its rows; empty: they have none
    unit: what its rows are
    is_lazy: whether it is a query that has not run
    """

    kind: str
    rows: int
    names: Sequence[object]
    schema: Callable[[int], tuple[str, str]]
    fetch: Callable[[int, int, int], Sequence[Sequence[Any]]]
    labels: Sequence[str] = ()
    unit: str = "row"
    is_lazy: bool = False

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return len(self.names)

    def named_columns(self, stop: int) -> dict[str, Sequence[Any]]:
        """Return the values of the rows before a number, by the names of labels and columns."""
        names = [*self.labels, *map(str, self.names)]
        cells = self.fetch(0, stop, self.columns) if stop else [()] * len(names)
        return {name: column for name, column in zip(names, cells, strict=True) if name}

    def values(self, start: int, stop: int, columns: int) -> list[tuple[Any, ...]]:
        """Return rows of labels and values of the first columns."""
        return list(zip(*self.fetch(start, stop, columns), strict=True))


def library_table(value: Any) -> LibraryTable | None:
    """Return a table of any library; ``None`` for any other value."""
    kind, name = type(value), name_of(type(value))
    table = _of_pandas(value, name)
    if table is not None:
        return table
    if _is_relation(kind):
        return _relation(value, name)
    if hasattr(kind, "count_rows") and hasattr(kind, "take"):
        return _dataset(value, name)
    frame = frame_of(value)
    return None if frame is None else _of_frame(value, frame)


def _of_pandas(value: Any, name: str) -> LibraryTable | None:
    """Return a frame, a column or groups of pandas; ``None`` for any other value."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "api"):  # it is being imported
        return None
    if isinstance(value, pandas.DataFrame | pandas.Series | pandas.Index):
        return _indexed(value, name)
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        return _indexed(pandas.Series(value), name)
    frame = getattr(value, "obj", None) if module_of(type(value)) == "pandas" else None
    if frame is None or not hasattr(type(value), "ngroups"):
        return None
    return _indexed(value.size(), f"Sizes of the groups of a {name}", "group")


def _indexed(value: Any, kind: str, unit: str = "row") -> LibraryTable:
    """Return a DataFrame, a Series or an Index of pandas."""
    is_frame = hasattr(value, "columns")
    index = getattr(value, "index", None)
    labels = [] if index is None else ["" if name is None else str(name) for name in index.names]
    labels = labels if len(labels) < 2 else [name or f"level {n}" for n, name in enumerate(labels)]
    missing = _Missing(len(value))

    def schema(column: int) -> tuple[str, str]:
        series = value.iloc[:, column] if is_frame else value
        return str(series.dtype), missing.of(series)

    def fetch(start: int, stop: int, columns: int) -> list[list[Any]]:
        part = value.iloc[start:stop] if hasattr(value, "iloc") else value[start:stop]
        series = [part.iloc[:, n] for n in range(columns)] if is_frame else [part]
        return [_cells(each) for each in (*(part.index.get_level_values(n) for n in range(len(labels))), *series)]

    name = getattr(value, "name", None)
    names = list(value.columns) if is_frame else ["value" if name is None else name]
    return LibraryTable(kind, len(value), names, schema, fetch, labels, unit)


class _Missing:
    """Counts the missing values of columns of pandas, as long as there are few to look at."""

    def __init__(self, rows: int) -> None:
        self._rows, self._objects, self._cells = rows, 0, 0

    def of(self, series: Any) -> str:
        """Return how many there are, in words."""
        dtype = series.dtype
        if getattr(dtype, "char", "") in INTEGER_CHARS:
            return "0"  # NumPy's whole numbers have none
        if getattr(series, "nlevels", 1) > 1:
            return NOT_COUNTED
        if str(dtype) in ("object", "str", "string"):
            self._objects += self._rows
            is_exact = self._objects <= COUNTED_OBJECTS
        else:
            self._cells += self._rows
            is_exact = self._cells <= COUNTED_CELLS
        if is_exact or self._rows <= SAMPLE:
            return f"{int(series.isna().sum()):,}"
        step = -(-self._rows // SAMPLE)
        part = series.iloc[::step] if hasattr(series, "iloc") else series[::step]
        return f"about {round(float(part.isna().mean()) * self._rows):,}"


def _cells(column: Any) -> list[Any]:
    """Return the values of a column; those of single precision with the digits that they have there."""
    values: list[Any] = column.tolist() if hasattr(column, "tolist") else column.to_list()
    if str(column.dtype).lower() not in ("float32", "float[pyarrow]"):
        return values
    return [of_single(value) if isinstance(value, float) else value for value in values]


def _is_relation(kind: type) -> bool:
    return hasattr(kind, "fetchall") and hasattr(kind, "limit")


def _relation(value: Any, name: str) -> LibraryTable:
    """Return a relation of DuckDB: its rows are counted, and those that are shown are asked for."""
    return LibraryTable(
        f"DuckDB {name}", len(value), value.columns, lambda n: (str(value.types[n]), NOT_COUNTED),
        lambda start, stop, columns: [*zip(*value.limit(stop - start, start).fetchall(), strict=True)][:columns],
    )  # fmt: skip


def _dataset(value: Any, name: str) -> LibraryTable:
    """Return a data set of Arrow, whose files are read as far as its rows are shown."""
    schema = value.schema
    return LibraryTable(
        f"pyarrow {name}", value.count_rows(), schema.names, lambda n: (str(schema.types[n]), NOT_COUNTED),
        lambda start, stop, columns: _columns(frame_of(value.take(list(range(start, stop)))), columns),
    )  # fmt: skip


def _of_frame(value: Any, frame: Any) -> LibraryTable:
    """Return the table of a value of which narwhals has made a frame."""
    library, name = module_of(type(value)), name_of(type(value))
    kind = f"{ {'polars': 'Polars', 'dask': 'Dask'}.get(library, library) } {name}"
    if not hasattr(frame, "shape"):
        types = frame.collect_schema()
        kind += f" of {value.npartitions:,} partitions" if hasattr(value, "npartitions") else ""
        return LibraryTable(
            kind, 0, types.names(), lambda n: (str(types.dtypes()[n]), NOT_COUNTED), lambda *_: (), is_lazy=True
        )
    is_sizes = library == "polars" and name.endswith("GroupBy")
    kind = f"Sizes of the groups of a {kind}" if is_sizes else kind
    return LibraryTable(
        kind, len(frame), [each or "value" for each in frame.columns],
        lambda n: (str(frame[:, n].dtype), f"{frame[:, n].null_count():,}"),
        lambda start, stop, columns: _columns(frame[start:stop], columns), unit="group" if is_sizes else "row",
    )  # fmt: skip


def _columns(frame: Any, number: int) -> list[list[Any]]:
    """Return the values of the first columns of a frame of narwhals."""
    return [_cells(_exact(frame[:, n])) for n in range(number)]


def _exact(series: Any) -> Any:
    """Return a column of narwhals with nanoseconds, which Python's own types have not, as texts or numbers."""
    dtype, narwhals = series.dtype, sys.modules["narwhals"]
    if dtype == narwhals.Time or (dtype == narwhals.Datetime and dtype.time_unit == "ns"):
        return series.cast(narwhals.String)
    return series.cast(narwhals.Int64) if dtype == narwhals.Duration and dtype.time_unit == "ns" else series


def frame_of(value: Any) -> Any:
    """Return a frame of narwhals for a frame, a column or groups of any library, else ``None``.

    A query that has not run becomes a lazy one; it is not run. What has Arrow's PyCapsule interface is read by
    whichever of Polars, PyArrow and pandas is there.
    """
    kind = type(value)
    if module_of(kind) == "polars" and hasattr(kind, "agg"):  # groups
        sizes = value.agg(sys.modules["polars"].len())
        value = sizes.sort(sizes.columns) if hasattr(sizes, "rows") else sizes  # else it is a query
    elif not any(hasattr(kind, mark) for mark in FRAME_MARKS):
        return None
    import narwhals

    if module_of(kind) == "pyarrow" and not hasattr(kind, "__arrow_c_stream__"):
        value = sys.modules["pyarrow"].chunked_array([value])
    frame: Any = value if _is_relation(kind) else narwhals.from_native(value, pass_through=True, allow_series=True)
    if isinstance(frame, narwhals.Series):
        return frame.to_frame()
    if isinstance(frame, narwhals.DataFrame | narwhals.LazyFrame):
        return frame
    if hasattr(kind, "__arrow_c_stream__"):
        names = sorted(READERS_OF_ARROW, key=lambda name: name not in sys.modules)
        reader: Any = next((name for name in names if name in sys.modules or find_spec(name)), None)
        return None if reader is None else narwhals.from_arrow(value, backend=reader)
    return None
