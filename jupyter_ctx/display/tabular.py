"""Rows as a table: text in a terminal, HTML on a page, and a pandas DataFrame where pandas is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ..errors import MissingDependencyError
from ..shown_as import mimebundle
from ..wording.layout import line_width
from .tables import first_words, table_html, table_text
from .text import text_html

MAX_SHOWN_ROWS = 60
RowT = TypeVar("RowT")


class Table(tuple[RowT, ...]):
    """A tuple of rows that shows itself as a table; ``columns`` names the attributes of a row that are shown.

    A column is left out where it is empty, and where it has nothing but what ``usual`` says of it; DataFrames have all.
    ``heads`` are the words above columns that are shown by another name, ``formats`` write the values of some. Of many
    rows the ``newest`` are shown, ``most_shown`` of them, else the first.
    """

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[Mapping[str, str]] = {}
    heads: ClassVar[Mapping[str, str]] = {}
    formats: ClassVar[Mapping[str, Callable[[Any], str]]] = {}
    newest: ClassVar[bool] = True
    most_shown: ClassVar[int] = MAX_SHOWN_ROWS

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return f"{type(self).__name__}: nothing yet"
        text = table_text(head, rows, line_width())
        return "\n".join(filter(None, (text, self._more(), self._below())))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Write the table; in a list, only how many rows it has."""
        alone = len(getattr(printer, "stack", ())) <= 1
        printer.text(repr(self) if alone and not cycle else f"{type(self).__name__}({len(self):,} rows)")

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return text_html(repr(self))
        return table_html(head, rows, " ".join(filter(None, (self._more(), self._below()))), below=True)

    def _below(self) -> str:
        """Return a line to show below the rows."""
        return ""

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each row and the columns of the table. Raises MissingDependencyError."""
        return data_frame(self, self.columns)

    def _cells(self) -> list[list[str]]:
        """Return the heads of the columns, then the rows that are shown, each cell in one short line."""
        part = self[-self.most_shown :] if self.newest else self[: self.most_shown]
        cells = {name: [self._cell(name, getattr(row, name)) for row in part] for name in self.columns}
        silent = {name for name, column in cells.items() if set(column) <= {"", self.usual.get(name, "")}}
        shown = [name for name in self.columns if name not in silent] if part else list(self.columns)
        return [
            [self.heads.get(name, name) for name in shown],
            *map(list, zip(*(cells[name] for name in shown), strict=True)),
        ]

    def _cell(self, name: str, value: object) -> str:
        return cell_text(value if value is None or name not in self.formats else self.formats[name](value))

    def _more(self) -> str:
        which = "newest" if self.newest else "first"
        more = f"… the {which} {self.most_shown} of {len(self):,}; to_dataframe() has all"
        return more if len(self) > self.most_shown else ""


def data_frame(rows: Sequence[object], columns: Sequence[str]) -> Any:
    """Return a DataFrame of these attributes of rows. Raises MissingDependencyError."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
    return pandas.DataFrame({name: [getattr(row, name) for row in rows] for name in columns})


def cell_text(value: object) -> str:
    """Return a value in one short line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else first_words(str(value))
