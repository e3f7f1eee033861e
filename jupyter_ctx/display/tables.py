"""Draw tables of text, as plain text and as HTML."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ..wording.layout import cut_apart, fitted_widths, padded
from .text import markdown_line, text_html, to_plain

MAX_FIRST_WORDS = 60  # characters
MARKUP = re.compile(r"[`*_\[\]<>&#|~!$\\]|://|www\.|@", re.I)  # in a cell of Markdown
WIDE_CELL = 30  # characters; the text of a longer cell may be cut where a table is narrow
FIGURE = re.compile(r"~?-?\$?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?: %)?")  # a number such as ~1,200, $0.05 or 50 %
NOT_DRAWN: Mapping[int, str] = MappingProxyType({})
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
    """Return a table as HTML, as Markdown and as plain text; without rows, its caption alone is the text."""
    caption = to_plain(caption)
    return {
        "text/html": table_html(head, rows, caption),
        "text/markdown": table_markdown(head, rows, caption) if rows else markdown_line(caption),
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
    body = (f"<tr>{row_html(row, sides)}</tr>" for row in rows)
    return page_html(head, sides, body, caption, below=below)


def page_html(
    head: TableRow, sides: Sequence[str], rows: Iterable[str], caption: str, *, below: bool = False
) -> str:  # fmt: skip
    """Return a table of rows that are HTML, with its caption above or ``below`` it."""
    return (
        f'<table class="jctx-table">{_caption_html(caption, below=below)}'
        f"<thead><tr>{heads_html(head, sides)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def table_markdown(head: TableRow, rows: TableRows, caption: str = "", sides: Sequence[str] = ()) -> str:
    """Return a table as Markdown, with its caption above it; a line across it is a row in bold.

    ``sides``: where the cells of each column stand, else as :func:`column_sides` says.
    """
    rules = ["--:" if side == "right" else "---" for side in sides or column_sides(head, rows)]
    cells = [_marked_across(row, len(head)) if isinstance(row, str) else [*map(cell_markdown, row)] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in (list(map(cell_markdown, head)), rules, *cells)]
    return "\n\n".join(filter(None, (markdown_line(caption), "\n".join(lines))))


def _marked_across(text: str, columns: int) -> list[str]:
    return [f"**{markdown_line(text)}**", *[""] * (columns - 1)]


def cell_markdown(cell: str) -> str:
    """Return a text for a cell of Markdown: as code where anything in it could be markup, a link or a formula.

    Escapes alone would not do: some viewers take the backslash behind an address for a part of the address.
    """
    line = _one_line(to_plain(cell))
    if not MARKUP.search(line):
        return line
    marks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    bars = re.sub(r"\\(?=\|)", "\\\\ ", line).replace("|", "\\|")  # two backslashes before a bar escape each other
    return f"{marks} {bars} {marks}"


def _one_line(cell: str) -> str:
    return " · ".join(filter(None, (" ".join(line.split()) for line in cell.splitlines())))


def _caption_html(caption: str, *, below: bool) -> str:
    side = ";caption-side:bottom" if below else ""
    return f'<caption style="text-align:left{side}">{text_html(caption)}</caption>' if caption else ""


def heads_html(head: TableRow, sides: Sequence[str]) -> str:
    """Return the heads of a table's columns."""
    pairs = zip(head, sides, strict=True)
    return "".join(_head_html(name, f'style="text-align:{side}"') for name, side in pairs)


def _head_html(name: str, style: str) -> str:
    """Return the head of a column; without a name it is a usual cell, since a screen reader would announce nothing."""
    return f"<th {style}>{text_html(name)}</th>" if name.strip() else f"<td {style}></td>"


def row_html(row: TableRow | str, sides: Sequence[str], drawn: Mapping[int, str] = NOT_DRAWN) -> str:
    """Return the cells of a row, or of a line across all columns; ``drawn`` are cells, by column, that are HTML."""
    if isinstance(row, str):
        style = "text-align:left;border-top:2px solid currentColor;opacity:.75"
        return f'<td colspan="{len(sides)}" style="{style}">{text_html(row)}</td>'
    pairs = enumerate(zip(row, sides, strict=True))
    return "".join(
        f'<td{_kind(cell)} style="text-align:{side}">{drawn.get(column) or text_html(cell)}</td>'
        for column, (cell, side) in pairs
    )


def _kind(cell: str) -> str:
    return ' class="jctx-text"' if len(cell) > WIDE_CELL else ""


def column_sides(head: TableRow, rows: TableRows) -> list[str]:
    """Return for each column where its cells stand: at the right where all that say something are figures."""
    cells = [row for row in rows if not isinstance(row, str)]
    columns = zip(*cells, strict=True) if cells else [()] * len(head)
    return ["right" if _is_of_figures(column) else "left" for column in columns]


def _is_of_figures(column: Sequence[str]) -> bool:
    return any(column) and all(cell in NO_FIGURE or FIGURE.fullmatch(cell) for cell in column)
