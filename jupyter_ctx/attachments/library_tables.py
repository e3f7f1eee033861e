"""Read tables of any library by position: frames and columns, groups, relations, records.

pandas is read as it is, other libraries by narwhals; none is imported for a value that does not come from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..template.expressions import module_of

COUNTED, SAMPLE = 8_000_000, 50_000  # cells that are looked at for missing values; rows of a larger table
NOT_COUNTED = "not counted"
FRAME_MARKS = (  # a class with one of these is read by narwhals, or by way of Arrow
    "__arrow_c_stream__", "__arrow_c_array__", "__dask_graph__", "collect_schema", "toPandas",
)  # fmt: skip
READERS_OF_ARROW = ("polars", "pyarrow", "pandas")
TITLES = {"polars": "Polars", "dask": "Dask"}


@dataclass(frozen=True, slots=True)
class LibraryTable:
    """A table of some library: rows by position, columns by number."""

    kind: str  # in words
    rows: int  # 0 for a query that is lazy
    names: Sequence[object]  # of its columns, those of the labels of its rows first
    schema: Callable[[int], tuple[str, str]]  # returns the type of a column, and its missing values in words
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
    kind, library = type(value), module_of(type(value))
    pandas: Any = sys.modules.get("pandas")
    if hasattr(pandas, "api"):  # it is imported, all of it
        if isinstance(value, pandas.DataFrame | pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
            return _of_pandas(value, kind.__name__)
        if library == "pandas" and hasattr(kind, "ngroups") and hasattr(value, "obj"):
            return _of_pandas(value.size(), f"Sizes of the groups of a {kind.__name__}")
    if hasattr(kind, "fetchall") and hasattr(kind, "limit"):
        return _of_duckdb(value)
    fields = getattr(getattr(value, "dtype", None), "names", None)
    if library == "numpy" and fields:
        return _of_columns(kind.__name__, value.size, fields, lambda number: value[fields[number]].ravel())
    is_frame = any(hasattr(kind, mark) for mark in FRAME_MARKS) or (library == "polars" and hasattr(kind, "agg"))
    return _of_narwhals(value, library) if is_frame and library != "xarray" else None


def _of_pandas(value: Any, kind: str) -> LibraryTable:
    """Return a frame, a column, an index or an array of pandas."""
    if hasattr(value, "levels"):
        value = value.to_frame(index=False)
    levels = [value.index.get_level_values(n) for n in range(value.index.nlevels)] if hasattr(value, "index") else []
    labels = [level.name or (f"level {n}" if len(levels) > 1 else "") for n, level in enumerate(levels)]
    name = getattr(value, "name", None)
    names = list(value.columns) if hasattr(value, "columns") else ["value" if name is None else name]

    def column(number: int) -> Any:
        at = number - len(levels)
        column = levels[number] if at < 0 else value.iloc[:, at] if hasattr(value, "columns") else value
        return getattr(column, "array", column)

    return _of_columns(kind, len(value), [*labels, *names], column, labels=len(levels))


def _of_columns(
    kind: str, rows: int, names: Sequence[object], column: Callable[[int], Any], labels: int = 0
) -> LibraryTable:
    """Return a table whose columns are arrays of pandas or NumPy, or series of narwhals."""

    def schema(number: int) -> tuple[str, str]:
        values = column(number)
        dtype = str(values.dtype)
        if hasattr(values, "null_count"):
            return dtype, f"{values.null_count():,}"
        if hasattr(values.dtype, "char") and values.dtype.kind in "biu":
            return dtype, "0"  # NumPy's whole numbers have none
        step = 1 if rows * len(names) <= COUNTED else -(-rows // SAMPLE)
        part = values[::step]
        missing = int((part.isna() if hasattr(part, "isna") else part != part).sum())
        return dtype, f"{missing:,}" if step == 1 else f"about {missing * step:,}"

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[list[Any]]:
        columns = [column(number)[start:stop] for number in numbers]
        return [values.tolist() if hasattr(values, "tolist") else values.to_list() for values in columns]

    return LibraryTable(kind, rows, names, schema, read, labels)


def _of_duckdb(relation: Any) -> LibraryTable:
    """Return a relation of DuckDB: its rows are counted, and those that are shown are asked for."""

    def read(start: int, stop: int, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        columns = [*zip(*relation.limit(stop - start, start).fetchall(), strict=True)] or [()] * len(relation.columns)
        return [columns[number] for number in numbers]

    kind, types = f"DuckDB {type(relation).__name__}", relation.types
    return LibraryTable(kind, len(relation), relation.columns, lambda n: (str(types[n]), NOT_COUNTED), read)


def _of_narwhals(value: Any, library: str) -> LibraryTable | None:
    """Return the table of a value that narwhals reads, by itself or by way of Arrow; ``None``: it does not."""
    import narwhals

    kind = f"{TITLES.get(library, library)} {type(value).__name__}"
    if library == "polars" and hasattr(value, "agg"):  # groups
        kind = f"Sizes of the groups of a {kind}"
        sizes = value.agg(sys.modules["polars"].len())
        value = sizes.sort(sizes.columns) if hasattr(sizes, "rows") else sizes  # else it is a query
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
        schema = frame.collect_schema()
        types = schema.dtypes()
        return LibraryTable(
            kind, 0, schema.names(), lambda n: (str(types[n]), NOT_COUNTED), lambda *_: (), is_lazy=True
        )
    if isinstance(frame, narwhals.Series):
        return _of_columns(kind, len(frame), [frame.name or "value"], lambda _: frame)
    return _of_columns(kind, len(frame), frame.columns, lambda n: frame[:, n])
