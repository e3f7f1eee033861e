"""Rows as a table: text in a terminal, HTML on a page, and a pandas DataFrame where pandas is installed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ..errors import MissingDependencyError
from ..wording.escaping import escaped as escaped
from ..wording.layout import cut, fitted_widths, line_width, padded

MAX_SHOWN_ROWS, MAX_SHOWN_TEXT = 60, 60  # characters of a text
CELL_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
FIGURES = re.compile(r"~?-?\$?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?(?: %)?")
RowT = TypeVar("RowT")


class Table(tuple[RowT, ...]):
    """A tuple of rows that shows itself as a table; ``columns`` names the attributes of a row that are shown.

    A column is left out where it is empty, and where it has nothing but what ``usual`` says of it; DataFrames have all.
    ``heads`` are the words above columns that are shown by another name, ``formats`` write the values of some.
    """

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[Mapping[str, str]] = {}
    heads: ClassVar[Mapping[str, str]] = {}
    formats: ClassVar[Mapping[str, Callable[[Any], str]]] = {}

    def __repr__(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return f"{type(self).__name__}: nothing yet"
        widths = fitted_widths([head, *rows], line_width())
        right = [_is_figures(column) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                padded(cut(cell, width), width, right=side)
                for cell, width, side in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in (head, *rows)
        ]
        return "\n".join(filter(None, (*lines, self._more().strip(), self._below())))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Write the table; in a list, only how many rows it has."""
        alone = len(getattr(printer, "stack", ())) <= 1
        printer.text(repr(self) if alone and not cycle else f"{type(self).__name__}({len(self):,} rows)")

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        if not rows:
            return html.escape(repr(self))
        right = [_is_figures(column) for column in zip(*rows, strict=True)]
        body = "".join(f"<tr>{_row(row, 'td', right)}</tr>" for row in rows)
        below = " ".join(filter(None, (self._more().strip(), self._below())))
        caption = f'<caption style="text-align:left;caption-side:bottom">{escaped(below)}</caption>' if below else ""
        return f"<table>{caption}<thead><tr>{_row(head, 'th', right)}</tr></thead><tbody>{body}</tbody></table>"

    def _below(self) -> str:
        """Return a line to show below the rows."""
        return ""

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each row and the columns of the table. Raises MissingDependencyError."""
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
        return pandas.DataFrame({name: [getattr(row, name) for row in self] for name in self.columns})

    def _cells(self) -> list[list[str]]:
        """Return the heads of the columns, then the newest rows, each cell in one short line."""
        newest = self[-MAX_SHOWN_ROWS:]
        cells = {name: [self._cell(name, getattr(row, name)) for row in newest] for name in self.columns}
        silent = {name for name, column in cells.items() if set(column) <= {"", self.usual.get(name, "")}}
        shown = [name for name in self.columns if name not in silent] if newest else list(self.columns)
        return [
            [self.heads.get(name, name) for name in shown],
            *map(list, zip(*(cells[name] for name in shown), strict=True)),
        ]

    def _cell(self, name: str, value: object) -> str:
        return cell_text(value if value is None or name not in self.formats else self.formats[name](value))

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


def _is_figures(column: Sequence[str]) -> bool:
    """Return whether a column has numbers only, and is aligned right."""
    return all(FIGURES.fullmatch(cell) for cell in column if cell)


def _row(cells: Sequence[str], kind: str, right: Sequence[bool]) -> str:
    return "".join(
        f'<{kind} style="text-align:{"right" if side else "left"}">{escaped(cell)}</{kind}>'
        for cell, side in zip(cells, right, strict=True)
    )
