"""Write a table as text: its shape, its columns with their missing values, and its first and last rows and columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from ..runtime.secret_texts import BLANKED, classify_secret_name
from ..wording import counted
from .attached import Blanks, TextRoom
from .library_tables import LibraryTable
from .printing import KEY_ROOM, LEAST_DIGITS, CollectionPrinter, decimal_text, digits_apart, is_collection, own_text

WIDTHS = (4_000, 1_000, 300, 100, 30)  # characters that a cell may have
NAME_CHARACTERS = 60
ENOUGH_ROWS, FIRST_CELLS = 8, 64  # with fewer rows, columns are left out; cells that are tried first
SINGLES = ("float32", "float16")  # NumPy's, which are no floats of Python's
ALIKE = 8  # columns of the same type, from which on one line says it for all
ESCAPED = str.maketrans({"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r"})


class TableWriter:
    """Writes a table in sizes of up to ``cells`` cells."""

    def __init__(self, table: LibraryTable, room: TextRoom, blanked: Blanks) -> None:
        self._table, self._blanked, self._schema = table, blanked, cache(table.schema)
        self._wide, self._width, self._is_cut = len(table.names) - table.labels, WIDTHS[0], False
        self.cells = self._wide * max(table.rows, 1)
        first = self._numbers(min(self._wide, max(room.tokens // FIRST_CELLS, 1)))
        texts = [text for column in self._cells(min(ENOUGH_ROWS, table.rows), 0, first) for text in column]
        fitting = (width for width in WIDTHS if room.count(" ".join(t[:width] for t in texts)) <= 0.8 * room.tokens)
        self._width = next(fitting, WIDTHS[-1])

    def draft(self, size: int) -> tuple[str, str, bool]:
        """Return the table with ``size`` cells, what was sent of what, and whether it is whole.

        These are of a few rows, until all columns are there, and then of more.
        """
        table, self._is_cut = self._table, False
        wide = min(self._wide, max(size // max(min(table.rows, ENOUGH_ROWS), 1), min(size, 1)))
        rows = min(table.rows, size // wide) if wide else table.rows * (not self._wide)
        height, width = counted(table.rows, "row"), counted(self._wide, "column")
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
        return "\n".join(lines), what, (rows, wide) == (table.rows, self._wide)

    def _numbers(self, wide: int) -> list[int]:
        """Return the numbers of the labels and of the first and the last columns, ``wide`` in all."""
        first, end = self._table.labels + (wide + 1) // 2, len(self._table.names)
        return [*range(first), *range(end - wide // 2, end)]

    def _columns(self, wide: int) -> list[str]:
        """Return the types and missing values of columns, in one line where many have the same."""
        table, numbers = self._table, self._numbers(wide)[self._table.labels :]
        types = [self._schema(number) for number in numbers]
        if len(types) >= ALIKE and table.rows and len(set(types)) == 1:
            lines = [f"These {wide:,} columns are of type {types[0][0]}, each with {types[0][1]} missing"]
        else:
            lines = ["| column | type | missing |", "|-|-|-|"] if types else []
            lines += [
                f"| {self._name(n)} | {dtype} | {gaps} |" for n, (dtype, gaps) in zip(numbers, types, strict=True)
            ]
        if wide < self._wide:
            first, last = table.labels + (wide + 1) // 2, len(table.names) - wide // 2 - 1
            names = f"from {self._name(first)} to {self._name(last)}"
            lines.append(f"… {counted(self._wide - wide, 'column')} left out, {names} …")
        return ["", *lines] if lines else []

    def _rows(self, rows: int, wide: int) -> list[str]:
        """Return the first and the last rows as lines of Markdown."""
        table, numbers = self._table, self._numbers(wide)
        head = rows if rows == table.rows else (rows + 1) // 2
        names, columns = [self._name(number) for number in numbers], self._cells(head, rows - head, numbers)
        if wide < self._wide:
            gap = table.labels + (wide + 1) // 2
            names.insert(gap, "…")
            columns.insert(gap, ["…"] * rows)
        lines = [f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True)]
        title = "All rows:"
        if rows < table.rows:
            title = f"The first {head:,} and the last {rows - head:,} of {table.rows:,} rows:"
            lines.insert(head, f"… {counted(table.rows - rows, 'row')} left out …")
        return ["", title, f"| {' | '.join(names)} |", f"|{'-|' * len(names)}", *lines]

    def _cells(self, head: int, tail: int, numbers: Sequence[int]) -> list[list[str]]:
        """Return the first and the last cells of columns as texts."""
        table = self._table
        ranges = [(0, head), (table.rows - tail, table.rows)]
        parts = [table.read(start, stop, numbers) for start, stop in ranges if start < stop]
        columns = zip(*parts, strict=True) if parts else [()] * len(numbers)
        named = zip(numbers, columns, strict=True)
        return [
            self._texts(table.names[number], [value for part in column for value in part]) for number, column in named
        ]

    def _texts(self, name: object, values: Sequence[Any]) -> list[str]:
        values = [float(value) if type(value).__name__ in SINGLES else value for value in values]
        digits = digits_apart(value for value in values if isinstance(value, float))
        if classify_secret_name(name):
            values = [BLANKED if self._blanked.hides(name, value) else value for value in values]
        return [self._cell(value, digits, self._width) for value in values]

    def _name(self, number: int) -> str:
        return self._cell(self._table.names[number], LEAST_DIGITS, NAME_CHARACTERS)

    def _cell(self, value: Any, digits: int, width: int) -> str:
        """Return a value in one cell of a Markdown table, shortened with … where it is long."""
        if isinstance(value, float):
            return decimal_text(value, digits)
        if isinstance(value, str):
            text = value
        elif is_collection(value):
            text = CollectionPrinter(width, width, {}, self._blanked).text(value, line=sys.maxsize)
        else:
            text = own_text(value)
        is_long = len(text) > width
        if is_long or "\n" in text:
            text = self._blanked.redacted(text[: width + KEY_ROOM])
        if is_long:
            self._is_cut = True
            text = f"{text[:width]}…"
        return text.translate(ESCAPED)
