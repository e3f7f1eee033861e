"""Read tables of any library by position: frames and columns, groups, relations, data sets of Arrow.

pandas is read as it is, all other libraries by narwhals; none is imported for a value that does not come from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .kinds import module_of, name_of

COUNTED_CELLS, COUNTED_TEXTS = 50_000_000, 8_000_000  # of a table, that are looked at for missing values
SAMPLE = 50_000  # rows of a larger one
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
    names: of its columns, those of the labels of its rows first
    schema: returns the type of a column, and its missing values in words
    read: returns the values of rows from one number to another, of each of the columns
    labels: how many columns are labels of the rows
    unit: what its rows are
    is_lazy: whether it is a query that has not run
    """

    kind: str
    rows: int
    names: Sequence[object]
    schema: Callable[[int], tuple[str, str]]
    read: Callable[[int, int, Sequence[int]], Sequence[Sequence[Any]]]
    labels: int = 0
    unit: str = "row"
    is_lazy: bool = False

    def named_columns(self, stop: int) -> dict[str, Sequence[Any]]:
        """Return the values of the rows before a number, by the names of labels and columns."""
        named = [number for number, name in enumerate(self.names) if name != ""]
        columns = self.read(0, stop, named) if stop else [()] * len(named)
        return {str(self.names[number]): column for number, column in zip(named, columns, strict=True)}


def library_table(value: Any) -> LibraryTable | None:
    """Return a table of any library; ``None`` for any other value. A query is not run."""
    kind, name, library = type(value), name_of(type(value)), module_of(type(value))
    pandas: Any = sys.modules.get("pandas")
    if hasattr(pandas, "api"):  # it is imported, all of it
        if isinstance(value, pandas.DataFrame | pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
            return _of_pandas(value, name)
        if library == "pandas" and hasattr(kind, "ngroups") and hasattr(value, "obj"):
            return _of_pandas(value.size(), f"Sizes of the groups of a {name}", "group")
    if hasattr(kind, "fetchall") and hasattr(kind, "limit"):
        return _relation(value, name)
    if hasattr(kind, "count_rows") and hasattr(kind, "take"):
        return _dataset(value, name)
    if library == "polars" and hasattr(kind, "agg"):  # groups
        sizes = value.agg(sys.modules["polars"].len())
        value = sizes.sort(sizes.columns) if hasattr(sizes, "rows") else sizes  # else it is a query
    is_frame = library != "xarray" and any(hasattr(type(value), mark) for mark in FRAME_MARKS)
    return _of_narwhals(value, kind) if is_frame else None


def _of_pandas(value: Any, kind: str, unit: str = "row") -> LibraryTable:
    """Return a frame, a column, an index or an array of pandas."""
    if hasattr(value, "levels"):
        value = value.to_frame(index=False)
    levels = [value.index.get_level_values(n) for n in range(value.index.nlevels)] if hasattr(value, "index") else []
    labels = [level.name or (f"level {n}" if len(levels) > 1 else "") for n, level in enumerate(levels)]
    name = getattr(value, "name", None)
    names = list(value.columns) if hasattr(value, "columns") else ["value" if name is None else name]

    def column(number: int) -> Any:
        found = levels[number] if number < len(levels) else value
        at = number - len(levels)
        return found.iloc[:, at].array if hasattr(found, "columns") else getattr(found, "array", found)

    return _of_columns(kind, len(value), [*labels, *names], column, labels=len(levels), unit=unit)


def _of_columns(
    kind: str, rows: int, names: Sequence[object], column: Callable[[int], Any], **more: Any
) -> LibraryTable:
    """Return a table whose columns are arrays of pandas or series of narwhals."""

    def schema(number: int) -> tuple[str, str]:
        found = column(number)
        dtype = str(found.dtype)
        if not hasattr(found, "isna"):
            return dtype, f"{found.null_count():,}"
        if hasattr(found.dtype, "char") and found.dtype.kind in "biu":
            return dtype, "0"  # NumPy's whole numbers have none
        most = COUNTED_TEXTS if dtype in ("object", "str", "string") else COUNTED_CELLS
        step = 1 if rows * len(names) <= most else -(-rows // SAMPLE)
        missing = int(found[::step].isna().sum())
        return dtype, f"{missing:,}" if step == 1 else f"about {missing * step:,}"

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[list[Any]]:
        return [_cells(column(number)[start:stop]) for number in numbers]

    return LibraryTable(kind, rows, names, schema, read, **more)


def _cells(column: Any) -> list[Any]:
    """Return the values of a column: nanoseconds, which Python has not, as texts or numbers; singles as written."""
    narwhals, numpy, dtype = sys.modules.get("narwhals"), sys.modules.get("numpy"), column.dtype
    if not hasattr(column, "tolist"):
        assert narwhals is not None
        in_ns = getattr(dtype, "time_unit", "") == "ns"
        if dtype == narwhals.Time or (in_ns and dtype == narwhals.Datetime):
            column = column.cast(narwhals.String)
        elif in_ns:
            column = column.cast(narwhals.Int64)
    values: list[Any] = column.tolist() if hasattr(column, "tolist") else column.to_list()
    if numpy is None or str(dtype).lower() not in ("float32", "float[pyarrow]"):
        return values
    singles = float | numpy.floating
    return [float(str(numpy.float32(value))) if isinstance(value, singles) else value for value in values]


def _relation(value: Any, name: str) -> LibraryTable:
    """Return a relation of DuckDB: its rows are counted, and those that are shown are asked for."""

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        columns = [*zip(*value.limit(stop - start, start).fetchall(), strict=True)] or [()] * len(value.columns)
        return [columns[number] for number in numbers]

    return LibraryTable(f"DuckDB {name}", len(value), value.columns, lambda n: (str(value.types[n]), NOT_COUNTED), read)


def _dataset(value: Any, name: str) -> LibraryTable:
    """Return a data set of Arrow, whose files are read as far as its rows are shown."""
    rows, schema = value.count_rows(), value.schema

    def read(start: int, stop: int, numbers: Sequence[int]) -> Sequence[Sequence[Any]]:
        names = [schema.names[number] for number in numbers]
        found = value.head(stop, columns=names)[start:] if not start else value.take(range(start, stop), columns=names)
        return [column.to_pylist() for column in found.columns]

    return LibraryTable(f"pyarrow {name}", rows, schema.names, lambda n: (str(schema.types[n]), NOT_COUNTED), read)


def _of_narwhals(value: Any, kind: type) -> LibraryTable | None:
    """Return the table of a value that narwhals reads, by itself or by way of Arrow; ``None``: it does not."""
    import narwhals

    library, name = module_of(kind), name_of(kind)
    title = f"{ {'polars': 'Polars', 'dask': 'Dask'}.get(library, library) } {name}"
    if library == "pyarrow" and not hasattr(type(value), "__arrow_c_stream__"):
        value = sys.modules["pyarrow"].chunked_array([value])
    frame: Any = narwhals.from_native(value, pass_through=True, allow_series=True)
    if not isinstance(frame, narwhals.DataFrame | narwhals.LazyFrame | narwhals.Series):
        readers = sorted(READERS_OF_ARROW, key=lambda reader: reader not in sys.modules)
        reader: Any = next((each for each in readers if each in sys.modules or find_spec(each)), None)
        if reader is None or not hasattr(type(value), "__arrow_c_stream__"):
            return None
        frame = narwhals.from_arrow(value, backend=reader)
    if isinstance(frame, narwhals.LazyFrame):
        types = frame.collect_schema()
        title += f" of {value.npartitions:,} partitions" if hasattr(value, "npartitions") else ""
        return LibraryTable(
            title, 0, types.names(), lambda n: (str(types.dtypes()[n]), NOT_COUNTED), lambda *_: (), is_lazy=True
        )
    if isinstance(frame, narwhals.Series):
        return _of_columns(title, len(frame), [frame.name or "value"], lambda _: frame)
    is_sizes = library == "polars" and hasattr(kind, "agg")
    title = f"Sizes of the groups of a {title}" if is_sizes else title
    names = frame.columns
    column = lambda n: frame[:, n] if library == "pyarrow" else frame.get_column(names[n])  # noqa: E731  # of one name
    return _of_columns(title, len(frame), names, column, unit="group" if is_sizes else "row")
