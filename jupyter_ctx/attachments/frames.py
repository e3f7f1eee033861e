"""A brief of a table: its shape, its columns with their missing values, and its first and last rows.

No library is imported here: a frame's own one is loaded. Missing values are counted by the library, in all rows where
that is quick and in a part of them where it is not, which then is said.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, Protocol

from ..errors import InvalidRequestError
from ..template.keys import names_a_secret
from ..template.kinds import is_library_scalar
from .attached import TextRoom
from .sketch import Sketch
from .texts import Blanks, about_tokens, headed, largest

INTEGER_CHARS = tuple("?bBhHiIlLqQ")  # of NumPy's types of whole numbers
WIDTHS = (4_000, 1_000, 400, 120, 40, 16)  # characters that a cell may have; fewer where few rows would fit
ENOUGH_ROWS, LEAST_ROWS = 6, 2  # with fewer, cells are shortened, or columns left out
NAME_CHARACTERS = 60
SCHEMA_SHARE = 0.5  # of the room, for the table of columns
ALIKE = 8  # columns of the same type, from which on one line says it for all
DIGITS = 8
LONG_NUMBER = 12  # characters; a longer one is rounded
COUNTED_CELLS = 20_000_000  # numbers that are looked at for missing values
COUNTED_OBJECTS = 1_000_000  # values of Python that are
SAMPLE = 50_000
LONG_TABLE, NARROW_CELL = 1_000, 120  # rows from which on the first tell how many might fit; fewer of wide cells


class LibraryTable(Protocol):
    """A table of some library: rows by position, columns by number."""

    kind: str
    rows: int
    columns: int
    labels: list[str]  # names of the labels of its rows, which come first in every row; empty: they have none

    def names(self, stop: int) -> list[str]:
        """Return the names of the first columns."""

    def schema(self, column: int) -> tuple[str, str]:
        """Return the type of a column, and its missing values."""

    def values(self, start: int, stop: int, columns: int) -> list[list[Any]]:
        """Return rows of values of the first columns."""


class PandasTable:
    """A DataFrame, a Series or an Index of pandas."""

    def __init__(self, value: Any, kind: str) -> None:
        self._value, self.kind = value, kind
        self._is_frame = hasattr(value, "columns")
        self.rows = len(value)
        self.columns = len(value.columns) if self._is_frame else 1
        self.labels = _label_names(value.index) if hasattr(value, "index") else []
        self._objects = self._cells = 0

    def names(self, stop: int) -> list[str]:
        """Return the names of the first columns."""
        if self._is_frame:
            return [str(name) for name in self._value.columns[:stop]]
        return ["value" if self._value.name is None else str(self._value.name)]

    def schema(self, column: int) -> tuple[str, str]:
        """Return the type of a column, and its missing values."""
        series = self._value.iloc[:, column] if self._is_frame else self._value
        return str(series.dtype), self._missing(series)

    def _missing(self, series: Any) -> str:
        dtype = series.dtype
        if getattr(dtype, "char", "") in INTEGER_CHARS:
            return "0"  # NumPy's whole numbers have none
        if getattr(series, "nlevels", 1) > 1:
            return "not counted"
        if str(dtype) in ("object", "str", "string"):
            self._objects += self.rows
            is_exact = self._objects <= COUNTED_OBJECTS
        else:
            self._cells += self.rows
            is_exact = self._cells <= COUNTED_CELLS
        if is_exact or self.rows <= SAMPLE:
            return f"{int(series.isna().sum()):,}"
        step = -(-self.rows // SAMPLE)
        part = series.iloc[::step] if hasattr(series, "iloc") else series[::step]
        return f"about {round(float(part.isna().mean()) * self.rows):,}"

    def values(self, start: int, stop: int, columns: int) -> list[list[Any]]:
        """Return rows of labels and values of the first columns."""
        part = self._value.iloc[start:stop] if hasattr(self._value, "iloc") else self._value[start:stop]
        taken = [part.iloc[:, n].tolist() for n in range(columns)] if self._is_frame else [part.tolist()]
        if len(self.labels) > 1:
            taken = [*(part.index.get_level_values(n).tolist() for n in range(len(self.labels))), *taken]
        elif self.labels:
            taken.insert(0, part.index.tolist())
        return [list(row) for row in zip(*taken, strict=True)]


def _label_names(index: Any) -> list[str]:
    """Return the names of the levels of an index of pandas; a level without one is named by its number."""
    names = ["" if name is None else str(name) for name in index.names]
    return names if len(names) == 1 else [name or f"level {n}" for n, name in enumerate(names)]


class PolarsTable:
    """A DataFrame or a Series of Polars."""

    def __init__(self, value: Any, kind: str) -> None:
        self.kind, self.labels = kind, list[str]()
        self._frame = value.to_frame() if hasattr(value, "to_frame") else value
        self.rows, self.columns = self._frame.shape

    def names(self, stop: int) -> list[str]:
        """Return the names of the first columns."""
        return [name or "value" for name in self._frame.columns[:stop]]

    def schema(self, column: int) -> tuple[str, str]:
        """Return the type of a column, and its missing values."""
        series = self._frame.to_series(column)
        return str(series.dtype), f"{series.null_count():,}"

    def values(self, start: int, stop: int, columns: int) -> list[list[Any]]:
        """Return rows of values of the first columns."""
        part = self._frame[start:stop, :columns]
        return [list(row) for row in part.rows()]


def library_table(value: Any) -> LibraryTable | None:
    """Return a table of pandas or Polars; ``None`` for any other value."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    name = type(value).__name__
    if isinstance(value, _kinds(pandas, "DataFrame", "Series", "Index")):
        return PandasTable(value, name)
    if isinstance(value, _kinds(polars, "DataFrame", "Series")):
        return PolarsTable(value, f"Polars {name}")
    return None


def is_lazy(value: Any) -> bool:
    """Return whether a value is a query of Polars that has not run."""
    return isinstance(value, _kinds(sys.modules.get("polars"), "LazyFrame"))


def _kinds(module: Any, *names: str) -> tuple[type, ...]:
    found = (getattr(module, name, None) for name in names)
    return tuple(kind for kind in found if isinstance(kind, type))


def lazy_brief(name: str, frame: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return the columns of a query of Polars, which is not run. Raises InvalidRequestError."""
    schema = frame.collect_schema()
    columns = list(schema.items())
    title = f"Polars LazyFrame with {len(columns):,} columns; not collected, so that it has no rows yet"

    def of(number: int) -> str:
        lines = [title, "", "| column | type |", "|-|-|"]
        lines += [f"| {_cell(column, NAME_CHARACTERS, blanked)} | {dtype} |" for column, dtype in columns[:number]]
        lines += [f"… {len(columns) - number:,} columns left out …"] if number < len(columns) else []
        return headed(name, "\n".join(lines))

    number, text = largest(of, len(columns), room, name)
    what = f"the columns of a query that has not run, {about_tokens(room.count(text))}"
    return text, what if number == len(columns) else f"{number:,} of {len(columns):,} columns of {what[15:]}"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a table as lines of Markdown: those from its beginning and those from its end."""

    first: Sequence[str]
    last: Sequence[str]
    total: int

    def __len__(self) -> int:
        return len(self.first) + len(self.last)

    def said(self, number: int) -> str:
        """Return which rows a number of them are."""
        if number >= self.total:
            return "All rows"
        return f"The first {(number + 1) // 2:,} and the last {number // 2:,} of {self.total:,} rows"

    def lines(self, number: int) -> list[str]:
        """Return a number of rows, with a line about those between them."""
        if number >= self.total:
            return [*self.first, *self.last]
        head, tail = min((number + 1) // 2, len(self.first)), number // 2
        gap = f"… {_many(self.total - number, 'row')} left out …"
        return [*self.first[:head], gap, *(self.last[len(self.last) - tail :] if tail else ())]


class FrameBrief:
    """A brief of a table within its room."""

    def __init__(self, name: str, table: LibraryTable, room: TextRoom, blanked: Blanks) -> None:
        self._name, self._table, self._room, self._blanked = name, table, room, blanked
        self._schemas: dict[int, tuple[str, str]] = {}
        self._is_rounded = False
        self._shortened: set[str] = set()  # rows in which cells were
        self._keys_in: dict[str, int] = {}  # of rows in which keys were blanked, how many
        most = min(table.columns, max(room.tokens // 3, 1))
        self._names = [_cell(each, NAME_CHARACTERS, blanked) for each in table.names(most)]
        self._secret = {i for i, each in enumerate((*table.labels, *self._names)) if names_a_secret(str(each))}

    def written(self) -> tuple[str, str]:
        """Return the text, and what was sent of what. Raises InvalidRequestError."""
        table, room = self._table, self._room
        half = TextRoom(max(round(room.tokens * SCHEMA_SHARE), 1), room.count)
        try:
            columns, _ = largest(lambda n: self._text(n, None, 0), len(self._names), half, self._name)
        except InvalidRequestError:  # not even the shape, in half of the room
            columns, _ = 0, largest(lambda n: self._text(n, None, 0), 0, room, self._name)
        number, text = 0 if table.columns else table.rows, self._text(columns, None, 0)
        while columns and table.rows:
            number, text = self._with_rows(columns)
            if number >= min(LEAST_ROWS, table.rows) or columns == 1:
                break
            columns = (columns + 1) // 2
        shown = f"all {table.rows:,} rows" if number >= table.rows else f"{number:,} of {table.rows:,} rows"
        shown = shown if table.rows != 1 or number != 1 else "its 1 row"
        wide = f" and {columns:,} of {table.columns:,} columns" if columns < table.columns else ""
        cut = ", long cells shortened" if not self._shortened.isdisjoint(text.split("\n")) else ""
        return text, f"{shown}{wide}{cut}, {about_tokens(room.count(text))}"

    def _with_rows(self, columns: int) -> tuple[int, str]:
        """Return how many rows fit beside these columns, and the text with them."""
        best = 0, self._text(columns, None, 0)
        for characters in WIDTHS:
            self._is_rounded = False
            rows = self._rows(columns, characters)
            try:
                best = largest(lambda n, rows=rows: self._text(columns, rows, n), len(rows), self._room, self._name)  # type: ignore[misc]
            except InvalidRequestError:  # not even the names of the columns above the rows
                break
            if best[0] >= min(ENOUGH_ROWS, self._table.rows):
                break
        return best

    def _rows(self, columns: int, characters: int) -> _Rows:
        """Return as many rows as might fit, written out."""
        table = self._table
        most = min(table.rows, max(self._room.tokens // max(columns, 1), 1))
        long = LONG_TABLE if characters <= NARROW_CELL else LONG_TABLE // 10
        if most > long:  # writing rows that do not fit takes time
            sample = [self._line(row, characters) for row in table.values(0, long // 10, columns)]
            each = self._room.count("\n".join(sample)) / len(sample)
            most = min(most, max(round(2 * self._room.tokens / each), long))
        if most < table.rows:
            head, tail = (most + 1) // 2, most // 2
            first, last = table.values(0, head, columns), table.values(table.rows - tail, table.rows, columns)
        else:
            first, last = table.values(0, table.rows, columns), []
        head_lines, tail_lines = ([self._line(row, characters) for row in rows] for rows in (first, last))
        return _Rows(head_lines, tail_lines, table.rows)

    def _line(self, row: Sequence[Any], characters: int) -> str:
        before = self._blanked.count
        cells = [self._value(value, characters) for value in row]
        for i in self._secret.intersection(range(len(row))):
            if isinstance(row[i], str) and row[i]:
                cells[i] = "***"
                self._blanked.count += 1
        line = f"| {' | '.join(cells)} |"
        if any(len(cell) > characters and cell[-1] == "…" for cell in cells):
            self._shortened.add(line)
        if self._blanked.count > before:
            self._keys_in[line] = self._blanked.count - before
        return line

    def _value(self, value: Any, characters: int) -> str:
        if isinstance(value, float):
            text = repr(float(value)) if value == value else "NaN"
            if len(text) <= LONG_NUMBER:
                return text
            self._is_rounded = True
            return f"{float(value):.{DIGITS}g}"
        return _cell(value, characters, self._blanked)

    def _text(self, columns: int, rows: _Rows | None, number: int) -> str:
        table = self._table
        size = f"{_many(table.rows, 'row')} and {_many(table.columns, 'column')}"
        lines = [f"{table.kind} with {size}"]
        if columns:
            lines += ["", *self._types(columns, is_named=rows is None)]
        if columns < table.columns:
            lines += [self._left_out(columns)]
        if rows is not None:
            labels = (_cell(each, NAME_CHARACTERS, self._blanked) for each in table.labels)
            names = [*labels, *self._names[:columns]]
            lines += ["", f"{rows.said(number)}:", f"| {' | '.join(names)} |", f"|{'-|' * len(names)}"]
            lines += rows.lines(number)
        elif table.rows and table.columns:
            lines += ["", f"All {table.rows:,} rows are left out." if table.rows > 1 else "Its row is left out."]
        if rows is not None and self._is_rounded:
            lines += [f"Long numbers are rounded to {DIGITS} digits."]
        return headed(self._name, self._blanked_lines(lines))

    def _types(self, columns: int, *, is_named: bool) -> list[str]:
        """Return the types and missing values of the first columns; in one line where many have the same."""
        found = [self._schema(n) for n in range(columns)]
        if columns >= ALIKE and len(set(found)) == 1:
            dtype, missing = found[0]
            names = f": {', '.join(self._names[:columns])}" if is_named else "."
            return [f"These {columns:,} columns are of type {dtype}, each with {missing} missing{names}"]
        rows = (f"| {self._names[n]} | {' | '.join(found[n])} |" for n in range(columns))
        return ["| column | type | missing |", "|-|-|-|", *rows]

    def _blanked_lines(self, lines: Sequence[str]) -> str:
        self._blanked.count = sum(self._keys_in.get(line, 0) for line in lines)  # of this text, not of all tried
        return self._blanked("\n".join(lines))

    def _schema(self, column: int) -> tuple[str, str]:
        if column not in self._schemas:
            dtype, missing = self._table.schema(column)
            self._schemas[column] = _cell(dtype, NAME_CHARACTERS, self._blanked), missing
        return self._schemas[column]

    def _left_out(self, columns: int) -> str:
        """Return a line that names the columns that are left out: all, or the first few and the last."""
        rest = self._table.columns - columns
        names = self._names[columns : columns + 5]
        named = ", ".join(names) + (f" and {rest - len(names):,} more" if rest > len(names) else "")
        return f"… {_many(rest, 'column')} left out: {named} …" if names else f"… {_many(rest, 'column')} left out …"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _cell(value: Any, characters: int, blanked: Blanks) -> str:
    """Return a value in one cell of a Markdown table, shortened with … where it is long."""
    if isinstance(value, str | bool | date | time | timedelta | Decimal) or is_library_scalar(value):
        text = str(value)
    else:
        text = Sketch(value, 4 * characters).text
    if len(text) > characters:
        text = f"{blanked(text[: characters + 200])[:characters]}…"
    for sign, written in (("\\", "\\\\"), ("|", "\\|"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(sign, written)
    return text


def frame_brief(name: str, table: LibraryTable, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a brief of a table, and what was sent of what. Raises InvalidRequestError."""
    return FrameBrief(name, table, room, blanked).written()
