"""Rows as a table: to read in a terminal and on a page, and as pandas' DataFrame where pandas is there."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import MissingDependencyError

MAX_SHOWN_ROWS = 60  # characters of a text, and rows of a table
CELL_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


class AsTable:
    """What shows itself as a table; ``_columns`` gives its columns by their names, ``_shown`` those to read."""

    __slots__ = ()

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        raise NotImplementedError

    def _shown(self) -> Mapping[str, Sequence[Any]]:
        return self._columns()

    def __repr__(self) -> str:
        head, *rows = _cells(self._shown())
        if not rows:
            return f"{type(self).__name__}: nothing yet"
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
        return "\n".join(line.rstrip() for line in lines) + _more(self._shown())

    def _repr_html_(self) -> str:
        head, *rows = _cells(self._shown())
        if not rows:
            return html.escape(repr(self))
        body = "".join(f"<tr>{_row(row, 'td')}</tr>" for row in rows)
        return f"<table><thead><tr>{_row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>{_more(self._shown())}"

    def to_dataframe(self) -> Any:
        """A DataFrame of the columns. Raises MissingDependencyError."""
        return to_dataframe(self._columns())


def to_dataframe(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A DataFrame of columns. Raises MissingDependencyError."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
    return pandas.DataFrame(columns)


def _cells(columns: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    """The names of the columns, then the newest rows, each cell in one short line."""
    rows = list(zip(*columns.values(), strict=True))[-MAX_SHOWN_ROWS:]
    return [list(columns), *(list(map(_cell, row)) for row in rows)]


def _cell(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(CELL_CONTROLS.sub(" ", str(value)).split())
    return text if len(text) <= MAX_SHOWN_ROWS else text[: MAX_SHOWN_ROWS - 1] + "…"


def _row(cells: Sequence[str], kind: str) -> str:
    # no dollar and no backslash, or MathJax would find formulas in them
    escaped = (html.escape(cell).replace("$", "<span>$</span>").replace("\\", "<span>\\</span>") for cell in cells)
    return "".join(f'<{kind} style="text-align:left">{cell}</{kind}>' for cell in escaped)


def _more(columns: Mapping[str, Sequence[Any]]) -> str:
    count = len(next(iter(columns.values()), ()))
    return f"\n… the newest {MAX_SHOWN_ROWS} of {count:,}; to_dataframe() has all" if count > MAX_SHOWN_ROWS else ""
