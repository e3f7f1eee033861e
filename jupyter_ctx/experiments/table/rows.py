"""Read a table whose rows fill a template: a frame, a list, a mapping of columns, or a file.

A table is read by columns, and a row is a view of it: no cell is copied, and none is of a type of NumPy's where
Python has one. A missing cell (``None``, NaN, NaT, NA) is ``None``.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, overload

from ...attachments.tables import LibraryTable, library_table
from ...errors import InvalidRequestError
from ...template.expressions import module_of
from .table_files import MAX_ROWS, TABLE_FORMATS, TEXT_COLUMN, column_names, most_rows, read_table_file

_TAKEN = (
    "a DataFrame, a list of dicts or of texts, a mapping of columns, or the path of a CSV, JSONL, Parquet, Arrow or "
    "Excel file"
)
_SHOWN = 60  # characters of a value in an error message
_PLAIN = (str, int, bool, float, type(None))


class Row(Mapping[str, Any]):
    """A row of a table, as a mapping from column to value; ``None`` stands for a missing cell."""

    __slots__ = ("number", "rows")

    def __init__(self, rows: Rows, number: int) -> None:
        self.rows, self.number = rows, number

    def __getitem__(self, name: str) -> Any:
        return self.rows.cell(name, self.number)

    def __contains__(self, name: object) -> bool:
        return name in self.rows.cells

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows.cells)

    def __len__(self) -> int:
        return len(self.rows.cells)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # not the whole table


class Rows(Sequence[Row]):
    """The rows of a table.

    columns: the names of its columns, in order
    source: where the rows come from, in words
    cells: the values of each column
    frame: the pandas or Polars frame that was read; ``None`` where it was none
    notes: what was decided in reading, a line each
    """

    def __init__(
        self, cells: Mapping[str, Sequence[Any]], source: str, frame: Any = None, notes: tuple[str, ...] = ()
    ) -> None:
        self.cells, self.source, self.frame, self.notes = cells, source, frame, notes
        self.columns = tuple(cells)
        self._length = len(next(iter(cells.values()))) if cells else 0

    def cell(self, column: str, number: int) -> Any:
        """Return the value of a cell as a type of Python's own, ``None`` where it is missing. Raises KeyError."""
        return plain(self.cells[column][number])

    def missing(self, column: str) -> int:
        """Return the number of missing cells of a column."""
        return sum(plain(cell) is None for cell in self.cells[column])

    def notices(self, used: Collection[str] | None = None) -> tuple[str, ...]:
        """Return lines about what to know of the table before it is sent; of the columns ``used``, or of all."""
        columns = [column for column in self.columns if used is None or column in used]
        empty = {column: count for column in columns if (count := self.missing(column))}
        where = ", ".join(f"{column} in {count:,} of {len(self):,} rows" for column, count in empty.items())
        lines = [f"Missing cells are filled in as empty text: {where}."] if empty else []
        decimal = ", ".join(column for column in empty if self._were_whole(column))
        if decimal:
            lines.append(
                f"{decimal}: pandas holds whole numbers beside missing cells as decimals, so 3 is filled in as 3.0. "
                "df.convert_dtypes() keeps them whole."
            )
        return (*self.notes, *lines)

    def _were_whole(self, column: str) -> bool:
        """Return whether a column is of decimals only because cells are missing."""
        cells: Any = self.cells[column]
        if module_of(type(cells)) != "pandas" or str(cells.dtype) != "float64":
            return False
        numbers = cells.dropna().to_numpy()
        return bool(len(numbers) and (numbers == numbers.round()).all())

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, number: int) -> Row: ...
    @overload
    def __getitem__(self, number: slice) -> Rows: ...
    def __getitem__(self, number: int | slice) -> Row | Rows:
        if isinstance(number, slice):
            frame = self.frame if self.frame is None else getattr(self.frame, "iloc", self.frame)[number]
            cells = {name: column[number] for name, column in self.cells.items()}
            return Rows(cells, self.source, frame, self.notes)
        if not -self._length <= number < self._length:
            raise IndexError(f"there is no row {number}: the table has {self._length:,}")
        return Row(self, number % self._length)

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, number) for number in range(self._length))

    def __repr__(self) -> str:
        return f"Rows({self.source}: {len(self):,} rows of {', '.join(self.columns)})"


def plain(value: Any) -> Any:
    """Return the value of a cell as a type of Python's own where it has one, and ``None`` for a missing one."""
    kind = type(value)
    if kind in _PLAIN:
        return None if value != value else value  # NaN alone is not itself
    library = module_of(kind)
    if library == "pandas":
        return None if kind.__name__ in ("NaTType", "NAType") else value
    if library == "polars" and hasattr(value, "to_list"):
        return value.to_list()
    if library == "numpy":
        if kind.__name__ in ("datetime64", "timedelta64"):
            return None if value != value else value
        return plain(value.tolist()) if hasattr(value, "dtype") else value
    return value


def read_rows(table: Any, limit: int | None = None) -> Rows:
    """Return the rows of a table, or its first ``limit`` rows.

    table: a frame of pandas, Polars or Arrow, a relation of DuckDB, a data set
        of Hugging Face, a Series, a list of dicts, data classes or named tuples, a list of texts or numbers (the column
        is ``text``), a generator of these, a mapping of columns, or the path of a .csv, .tsv, .jsonl, .json, .parquet,
        .arrow, .feather or .xlsx file

    Raises InvalidRequestError for anything else, for a table without rows or with two columns of one name, and for
    more than a million rows without a ``limit``.
    """
    found = _read(table, limit)
    if not len(found):
        raise InvalidRequestError(f"There is nothing to ask: {found.source} has no rows.")
    if limit is None and len(found) > MAX_ROWS:
        raise InvalidRequestError(
            f"There are more than {MAX_ROWS:,} rows in {found.source}: say how many to ask, such as limit={MAX_ROWS:,}."
        )
    return found if limit is None or len(found) <= limit else found[:limit]


def _read(table: Any, limit: int | None) -> Rows:
    if isinstance(table, Rows):
        return table
    if isinstance(table, Path) or (isinstance(table, str) and _is_path(table)):
        found, notes = read_table_file(Path(table), limit)
        name = Path(table).name
        cells = found if isinstance(found, Mapping) else _of_members(found, limit, name).cells
        return Rows(cells, name, notes=notes)
    for library, read in (("pandas", _of_pandas), ("polars", _of_polars)):
        module = sys.modules.get(library)
        if module is not None and isinstance(table, (module.DataFrame, module.Series)):
            return read(table)
    if isinstance(table, Mapping):
        return _of_columns(table)
    known = None if _is_array(table) else library_table(table)
    return (
        _of_members(table, limit, f"the {type(table).__name__}")
        if known is None
        else _of_library(known, f"the {type(table).__name__}", limit)
    )


def _is_path(text: str) -> bool:
    if "\n" not in text and Path(text).suffix.lower() in TABLE_FORMATS:
        return True
    raise InvalidRequestError(
        f"rows is the text {_shown(text)}: it must be {_TAKEN}. For one row, write a list: [text]."
    )


def _of_pandas(table: Any) -> Rows:
    import pandas

    if isinstance(table, pandas.Series):
        table = table.to_frame(TEXT_COLUMN if table.name is None else table.name)
    frame = table.copy(deep=False)  # pandas copies what the notebook changes later
    names = column_names(["_".join(map(str, name)) if type(name) is tuple else name for name in frame.columns])
    return Rows({name: frame.iloc[:, i].array for i, name in enumerate(names)}, "the DataFrame", frame)


def _of_polars(table: Any) -> Rows:
    frame = table.to_frame(table.name or TEXT_COLUMN) if hasattr(table, "to_frame") else table
    return Rows(dict(zip(column_names(frame.columns), frame.get_columns(), strict=True)), "the DataFrame", frame)


def _of_library(table: LibraryTable, source: str, limit: int | None) -> Rows:
    if table.is_lazy:
        raise InvalidRequestError(
            f"rows is a query that has not run ({table.kind}): write rows.collect() or .compute()."
        )
    column_names(table.names)
    return Rows(table.named_columns(min(table.rows, most_rows(limit))), source)


def _of_columns(table: Mapping[Any, Any]) -> Rows:
    columns = {}
    for name, column in table.items():
        if hasattr(column, "column_names") or hasattr(column, "columns"):  # such as the splits of a data set
            raise InvalidRequestError(f"rows is a mapping of tables: choose one of them, such as rows[{name!r}].")
        listed = column.tolist() if _is_array(column) else column
        if isinstance(listed, (str, bytes, Mapping)) or not isinstance(listed, Iterable):
            raise InvalidRequestError(
                f"rows is a mapping, and its {name!r} is {_shown(column)}: each column must be a list. For one row, "
                "write [{…}]."
            )
        columns[name] = list(listed)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InvalidRequestError(f"The columns differ in length: {said}.")
    return _named(columns, "the mapping")


def _of_members(table: Any, limit: int | None, source: str) -> Rows:
    members = _members(table, limit)
    first = next((member for member in members if member is not None), None)
    if first is None or isinstance(first, _PLAIN):
        strange = next((at for at, member in enumerate(members) if not isinstance(member, _PLAIN)), None)
        if strange is not None:
            raise _mixed(strange, members[strange], f"text, as row 0 is {_shown(members[0])}")
        return Rows({TEXT_COLUMN: members}, source)
    names: dict[Any, None] = {}
    for number, member in enumerate(members):
        found = _record(member)
        if found is None:
            what = "a mapping of columns, as row 0 is" if number else "a mapping of columns, or a text"
            raise _mixed(number, member, what)
        members[number] = found
        names.update(dict.fromkeys(found))
    return _named({name: [member.get(name) for member in members] for name in names}, source)


def _members(table: Any, limit: int | None) -> list[Any]:
    """Return the members of a list, an array or a generator, at most one more than are allowed."""
    if _is_array(table):
        table = table.tolist()
    if module_of(type(table)) == "datasets" and hasattr(table, "with_format"):
        table = table.with_format(None)  # its rows are dicts of Python's own values
    if isinstance(table, (bytes, bytearray, set, frozenset)) or not isinstance(table, Iterable):
        raise InvalidRequestError(f"rows is {_shown(table)}: it must be {_TAKEN}.")
    return list(islice(table, most_rows(limit)))


def _record(member: Any) -> Mapping[Any, Any] | None:
    """Return a row's columns, or ``None`` for what has none."""
    if isinstance(member, Mapping):
        return member
    if isinstance(member, tuple) and hasattr(member, "_fields"):
        return dict(zip(member._fields, member, strict=True))
    if is_dataclass(member) and not isinstance(member, type):
        return {field.name: getattr(member, field.name) for field in fields(member)}
    return None


def _mixed(number: int, member: Any, wanted: str) -> InvalidRequestError:
    return InvalidRequestError(f"Row {number} is {_shown(member)}: it must be {wanted}.")


def _named(columns: Mapping[Any, Sequence[Any]], source: str) -> Rows:
    return Rows(dict(zip(column_names(columns), columns.values(), strict=True)), source)


def _is_array(value: Any) -> bool:
    return module_of(type(value)) in ("numpy", "pandas", "polars") and hasattr(value, "tolist")


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
