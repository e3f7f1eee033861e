"""A brief of a table: its shape, its columns with their missing values, and its first and last rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from ..errors import InvalidRequestError
from ..runtime.secret_texts import BLANKED
from ..wording import counted, plural
from .attached import Blanks, TextRoom
from .digits import decimal_text, digits_apart
from .kinds import is_library_scalar
from .library_tables import LibraryTable
from .sketch import KEY_ROOM, Sketch
from .texts import about_tokens, headed, largest

WIDTHS = (4_000, 1_000, 400, 120, 40, 16)  # characters that a cell may have; fewer where few rows would fit
ENOUGH_ROWS, LEAST_ROWS = 6, 2  # with fewer, cells are shortened, or columns left out
NAME_CHARACTERS = 60
SCHEMA_SHARE = 0.5  # of the room, for the table of columns
ALIKE = 8  # columns of the same type, from which on one line says it for all
LONG_TABLE, NARROW_CELL = 1_000, 120  # rows from which on the first tell how many might fit; fewer of wide cells


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a table as lines of Markdown: those from its beginning and those from its end."""

    first: Sequence[str]
    last: Sequence[str]
    total: int
    unit: str

    def __len__(self) -> int:
        return len(self.first) + len(self.last)

    def said(self, number: int) -> str:
        """Return which rows a number of them are."""
        if number >= self.total:
            return f"All {plural(self.unit)}"
        return f"The first {(number + 1) // 2:,} and the last {number // 2:,} of {counted(self.total, self.unit)}"

    def lines(self, number: int) -> list[str]:
        """Return a number of rows, with a line about those between them."""
        if number >= self.total:
            return [*self.first, *self.last]
        head, tail = (number + 1) // 2, number // 2
        gap = f"… {counted(self.total - number, self.unit)} left out …"
        return [*self.first[:head], gap, *(self.last[len(self.last) - tail :] if tail else ())]


class FrameBrief:
    """A brief of a table within its room."""

    def __init__(self, name: str, table: LibraryTable, room: TextRoom, blanked: Blanks) -> None:
        self._name, self._table, self._room, self._blanked = name, table, room, blanked
        self._schemas: dict[int, tuple[str, str]] = {}
        self._roundings = 0
        self._shortened: set[str] = set()  # rows in which cells were
        self._rounded: set[str] = set()  # and those in which numbers were
        self._keys_in: dict[str, int] = {}  # of rows in which keys were blanked, how many
        most = min(table.columns, max(room.tokens // 3, 1))
        self._names = [_cell(str(each), NAME_CHARACTERS, blanked) for each in table.names[:most]]
        self._headings = (*table.labels, *table.names[:most])

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
        lines = text.split("\n")
        shown = "all" if number >= table.rows else f"{number:,} of"
        shown = (
            f"{shown} {counted(table.rows, table.unit)}" if table.rows != 1 or number != 1 else f"its 1 {table.unit}"
        )
        shown = "the columns of a query that has not run" if table.is_lazy else shown
        wide = f" and {columns:,} of {table.columns:,} columns" if columns < table.columns else ""
        cut = "" if self._shortened.isdisjoint(lines) else ", long cells shortened"
        rounded = "" if self._rounded.isdisjoint(lines) else ", long numbers rounded"
        return text, f"{shown}{wide}{cut}{rounded}, {about_tokens(room.count(text))}"

    def _with_rows(self, columns: int) -> tuple[int, str]:
        """Return how many rows fit beside these columns, and the text with them."""
        best = 0, self._text(columns, None, 0)
        for characters in WIDTHS:
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
            sample = self._lines(table.values(0, long // 10, columns), characters)
            each = self._room.count("\n".join(sample)) / len(sample)
            most = min(most, max(round(2 * self._room.tokens / each), long))
        head, tail = (most + 1) // 2, most // 2
        first, last = table.values(0, head, columns), table.values(table.rows - tail, table.rows, columns)
        lines = self._lines([*first, *last], characters)
        return _Rows(lines[: len(first)], lines[len(first) :], table.rows, table.unit)

    def _lines(self, rows: Sequence[Sequence[Any]], characters: int) -> list[str]:
        """Return rows as lines, with as many digits in each column as tell its numbers apart."""
        columns = ([cell for cell in column if isinstance(cell, float)] for column in zip(*rows, strict=True))
        digits = [digits_apart(numbers) for numbers in columns]
        return [self._line(row, digits, characters) for row in rows]

    def _line(self, row: Sequence[Any], digits: Sequence[int], characters: int) -> str:
        before, roundings = self._blanked.count, self._roundings
        cells = [
            BLANKED if self._blanked.hides(name, value) else self._value(value, each, characters)
            for name, value, each in zip(self._headings, row, digits, strict=False)
        ]
        line = f"| {' | '.join(cells)} |"
        if any(len(cell) > characters and cell[-1] == "…" for cell in cells):
            self._shortened.add(line)
        if self._roundings > roundings:
            self._rounded.add(line)
        if self._blanked.count > before:
            self._keys_in[line] = self._blanked.count - before
        return line

    def _value(self, value: Any, digits: int, characters: int) -> str:
        if isinstance(value, str):
            value = self._blanked.redacted(value[: characters + KEY_ROOM])
        if not isinstance(value, float):
            return _cell(value, characters, self._blanked)
        if value != value:
            return "NaN"
        text = decimal_text(value, digits)
        self._roundings += float(text) != value
        return text

    def _text(self, columns: int, rows: _Rows | None, number: int) -> str:
        table = self._table
        size = f"{counted(table.rows, table.unit)} and {counted(table.columns, 'column')}"
        if table.is_lazy:
            size = f"{counted(table.columns, 'column')}; it has not run, so that it has no rows yet"
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
            lines += [
                "",
                f"All {counted(table.rows, table.unit)} are left out." if table.rows > 1 else "Its row is left out.",
            ]
        if not self._rounded.isdisjoint(lines):
            lines += ["Long numbers are rounded, and those that differ still do."]
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
        return (
            f"… {counted(rest, 'column')} left out: {named} …" if names else f"… {counted(rest, 'column')} left out …"
        )


def _cell(value: Any, characters: int, blanked: Blanks) -> str:
    """Return a value in one cell of a Markdown table, shortened with … where it is long."""
    if type(value) is int and value.bit_length() < min(characters, 64):
        return str(value)  # most cells of long tables
    if isinstance(value, str | bool | date | time | timedelta | Decimal) or is_library_scalar(value):
        text = str(value)
    else:
        text = Sketch(value, 4 * characters, None, blanked).text
    if len(text) > characters:
        text = f"{blanked(text[: characters + 200])[:characters]}…"
    for sign, escaped in (("\\", "\\\\"), ("|", "\\|"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(sign, escaped)
    return text
