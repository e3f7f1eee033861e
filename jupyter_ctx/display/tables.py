"""Draw tables of text, as plain text and as HTML, and the words in which two texts differ."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from ..wording.layout import cut_apart, fitted_widths, padded
from ..wording.word_changes import Piece
from .text import text_html, to_plain

MAX_FIRST_WORDS = 60  # characters
WIDE_CELL = 30  # characters; the text of a longer cell may be cut where a table is narrow
FIGURE = re.compile(r"~?-?\$?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?: %)?")  # a number such as ~1,200, $0.05 or 50 %
# plain colours first: a sanitiser drops each declaration with a CSS variable, and keeps the other
CHANGE_STYLES = {
    "del": "background:#ffcdd2;background:color-mix(in srgb,var(--jp-error-color1,#d32f2f) 25%,transparent);"
    "text-decoration:line-through;color:#212121;color:var(--jp-content-font-color1,inherit)",
    "ins": "background:#c8e6c9;background:color-mix(in srgb,var(--jp-success-color1,#388e3c) 25%,transparent);"
    "text-decoration:underline;color:#212121;color:var(--jp-content-font-color1,inherit)",
}
NO_DIGIT = re.compile(r"[~$,% ]")  # what a figure has besides its number
NO_FIGURE = ("", "–", "…")  # in a column of figures
TableRow = Sequence[str]
TableRows = Sequence[TableRow | str]  # a str is a line across the table


def first_words(text: str) -> str:
    """Return the beginning of a text in one line of 60 characters at most."""
    return shortened(text, MAX_FIRST_WORDS)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text in one line of ``most`` characters at most."""
    line = " ".join(to_plain(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def table(head: TableRow, rows: TableRows, caption: str) -> dict[str, str]:
    """Return a table as HTML and as plain text; without rows, its caption alone is the plain text."""
    caption = to_plain(caption)
    return {
        "text/html": table_html(head, rows, caption),
        "text/plain": f"{caption}\n{table_text(head, rows)}" if rows else caption,
    }


def table_text(head: TableRow, rows: TableRows, width: int | None = None) -> str:
    """Return a table as plain text, each cell in one line, which is cut where the table is to have a ``width``."""
    lines = [to_plain(row) if isinstance(row, str) else _line(row) for row in (head, *rows)]
    cells = [line for line in lines if not isinstance(line, str)]
    widths = fitted_widths(cells, sys.maxsize if width is None else width)
    sides = column_sides(head, rows)
    whole = sum(widths) + 2 * (len(widths) - 1)
    columns = [cut_apart(column, wide) for column, wide in zip(zip(*cells, strict=True), widths, strict=True)]
    shown = zip(*columns, strict=True)

    def drawn(line: TableRow | str) -> str:
        if isinstance(line, str):
            return f"── {line} ".ljust(whole, "─")
        parts = zip(next(shown), widths, sides, strict=True)
        return "  ".join(padded(cell, wide, right=side == "right") for cell, wide, side in parts).rstrip()

    return "\n".join(map(drawn, lines))


def _line(row: TableRow) -> TableRow:
    return [to_plain(cell).replace("\n", " ") for cell in row]


def table_html(head: TableRow, rows: TableRows, caption: str, *, below: bool = False) -> str:
    """Return a table as HTML, with every cell escaped and its caption above or ``below`` it."""
    sides = column_sides(head, rows)
    body = "".join(f"<tr>{row_html(row, sides)}</tr>" for row in rows)
    return (
        f'<table class="jctx-table">{caption_html(caption, below=below)}'
        f"<thead><tr>{heads_html(head, sides)}</tr></thead><tbody>{body}</tbody></table>"
    )


def caption_html(caption: str, *, below: bool = False) -> str:
    """Return the caption of a table."""
    side = ";caption-side:bottom" if below else ""
    return f'<caption style="text-align:left{side}">{text_html(caption)}</caption>' if caption else ""


def heads_html(head: TableRow, sides: Sequence[str]) -> str:
    """Return the heads of a table's columns."""
    pairs = zip(head, sides, strict=True)
    return "".join(f'<th style="text-align:{side}">{text_html(name)}</th>' for name, side in pairs)


def row_html(row: TableRow | str, sides: Sequence[str]) -> str:
    """Return the cells of a row, or of a line across all columns."""
    if isinstance(row, str):
        style = "text-align:left;border-top:2px solid currentColor;opacity:.75"
        return f'<td colspan="{len(sides)}" style="{style}">{text_html(row)}</td>'
    pairs = zip(row, sides, strict=True)
    return "".join(f'<td{_kind(cell)} style="text-align:{side}">{text_html(cell)}</td>' for cell, side in pairs)


def _kind(cell: str) -> str:
    return ' class="jctx-text"' if len(cell) > WIDE_CELL else ""


def column_sides(head: TableRow, rows: TableRows) -> list[str]:
    """Return for each column where its cells stand: at the right where all that say something are figures."""
    cells = [row for row in rows if not isinstance(row, str)]
    columns = zip(*cells, strict=True) if cells else [()] * len(head)
    return ["right" if _is_of_figures(column) else "left" for column in columns]


def _is_of_figures(column: Sequence[str]) -> bool:
    return any(column) and all(cell in NO_FIGURE or FIGURE.fullmatch(cell) for cell in column)


def sorted_indexes(rows: TableRows, column: int, *, descending: bool) -> list[int]:
    """Return the indexes of rows sorted by a column, figures as figures and before text; without lines across it."""
    cells = {index: row[column] for index, row in enumerate(rows) if not isinstance(row, str)}
    figures = {index: float(NO_DIGIT.sub("", cell)) for index, cell in cells.items() if FIGURE.fullmatch(cell)}
    texts = {index: cell.casefold() for index, cell in cells.items() if index not in figures}
    by_size = sorted(figures, key=figures.__getitem__, reverse=descending)
    by_letter = sorted(texts, key=texts.__getitem__, reverse=descending)
    return by_size + by_letter


def changes_html(pieces: Sequence[Piece], kind: str) -> str:
    """Return the pieces of a text as HTML; ``kind`` is ``del`` for the first of two texts, ``ins`` for the second."""
    style = CHANGE_STYLES[kind]
    return "".join(
        f'<{kind} style="{style}">{text_html(piece.text)}</{kind}>' if piece.changed else text_html(piece.text)
        for piece in pieces
    )
