"""Rows as a table: text in a terminal, HTML on a page, and a pandas DataFrame where pandas is installed."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from ..errors import MissingDependencyError
from ..wording.escaping import escaped as escaped

MAX_SHOWN_ROWS, MAX_SHOWN_TEXT = 60, 60  # characters of a text
CELL_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
RowT = TypeVar("RowT")


class Table(tuple[RowT, ...]):
    """A tuple of rows that shows itself as a table; ``columns`` names the attributes of a row that are shown."""

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return f"{type(self).__name__}: nothing yet"
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
        return "\n".join(line.rstrip() for line in lines) + self._more()

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return html.escape(repr(self))
        body = "".join(f"<tr>{_row(row, 'td')}</tr>" for row in rows)
        return f"<table><thead><tr>{_row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>{self._more()}"

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each row and the columns of the table. Raises MissingDependencyError."""
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
        return pandas.DataFrame({name: [getattr(row, name) for row in self] for name in self.columns})

    def _cells(self) -> list[list[str]]:
        """Return the names of the columns, then the newest rows, each cell in one short line."""
        newest = self[-MAX_SHOWN_ROWS:]
        return [list(self.columns), *([cell_text(getattr(row, name)) for name in self.columns] for row in newest)]

    def _more(self) -> str:
        more = f"\n… the newest {MAX_SHOWN_ROWS} of {len(self):,}; to_dataframe() has all"
        return more if len(self) > MAX_SHOWN_ROWS else ""


def cell_text(value: object) -> str:
    """Return a value in one short line."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(CELL_CONTROLS.sub(" ", str(value)).split())
    return text if len(text) <= MAX_SHOWN_TEXT else text[: MAX_SHOWN_TEXT - 1] + "…"


def _row(cells: Sequence[str], kind: str) -> str:
    return "".join(f'<{kind} style="text-align:left">{escaped(cell)}</{kind}>' for cell in cells)
