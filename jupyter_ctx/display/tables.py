"""Draw tables of text, as plain text, as HTML and as Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..wording.layout import cut, fitted_widths, padded
from .text import markdown_line, text_html, to_plain

MAX_FIRST_WORDS = 60  # characters
MARKUP = re.compile(r"[`*_\[\]<>&#|~!$\\]|://|www\.|@", re.I)  # in a cell of Markdown
FIGURE = re.compile(r"~?-?\$?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?: %)?")  # a number such as ~1,200, $0.05 or 50 %
NO_FIGURE = ("", "–", "…")  # in a column of figures
DrawnCells = Mapping[tuple[int, int], str]  # cells, by the indexes of row and column, that are HTML already
NOT_DRAWN: DrawnCells = MappingProxyType({})
TableRow = Sequence[str]
TableRows = Sequence[TableRow | str]  # a str is a line across the table


def first_words(text: str) -> str:
    """Return the beginning of a text in one line of 60 characters at most."""
    return shortened(text, MAX_FIRST_WORDS)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text in one line of ``most`` characters at most."""
    line = " ".join(to_plain(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def table(head: TableRow, rows: TableRows, caption: str, drawn: DrawnCells = NOT_DRAWN) -> dict[str, str]:
    """Return a table as HTML, as Markdown and as plain text; without rows, its caption alone is the text.

    ``drawn``: as for :func:`table_html`.
    """
    caption = to_plain(caption)
    return {
        "text/html": table_html(head, rows, caption, drawn),
        "text/markdown": table_markdown(head, rows, caption) if rows else markdown_line(caption),
        "text/plain": f"{caption}\n{table_text(head, rows)}" if rows else caption,
    }


def table_text(head: TableRow, rows: TableRows, width: int = sys.maxsize) -> str:
    """Return a table as plain text, each cell in one line, which is cut where the table is to have a ``width``."""
    cells = [[to_plain(cell).replace("\n", " ") for cell in row] for row in (head, *rows) if not isinstance(row, str)]
    widths, left = fitted_widths(cells, width), iter(cells)
    sides = _column_sides(head, rows)
    whole = sum(widths) + 2 * (len(widths) - 1)
    text = list[str]()
    for row in (head, *rows):
        if isinstance(row, str):
            text.append(f"── {to_plain(row)} ".ljust(whole, "─"))
            continue
        columns = zip(next(left), widths, sides, strict=True)
        shown = [padded(cut(cell, wide), wide, right=side == "right") for cell, wide, side in columns]
        text.append("  ".join(shown).rstrip())
    return "\n".join(text)


def table_html(
    head: TableRow, rows: TableRows, caption: str, drawn: DrawnCells = NOT_DRAWN, *, below: bool = False
) -> str:  # fmt: skip
    """Return a table as HTML, with every cell escaped and its caption above or ``below`` it.

    ``drawn``: cells, by the indexes of row and column, that are HTML already.
    """
    sides = _column_sides(head, rows)
    bottom = ";caption-side:bottom" if below else ""
    title = f'<caption style="text-align:left{bottom}">{text_html(caption)}</caption>' if caption else ""
    heads = "".join(_head_html(name, side) for name, side in zip(head, sides, strict=True))
    body = list[str]()
    for index, row in enumerate(rows):
        if isinstance(row, str):
            style = "text-align:left;border-top:2px solid currentColor;opacity:.75"
            cells = f'<td colspan="{len(sides)}" style="{style}">{text_html(row)}</td>'
        else:
            shown = [drawn.get((index, column)) or text_html(cell) for column, cell in enumerate(row)]
            cells = "".join(
                f'<td style="text-align:{side}">{cell}</td>' for cell, side in zip(shown, sides, strict=True)
            )
        body.append(f"<tr>{cells}</tr>")
    return f'<table class="jctx-table">{title}<thead><tr>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _head_html(name: str, side: str) -> str:
    """Return the head of a column; without a name it is a usual cell, since a screen reader would announce nothing."""
    tag = "th" if name.strip() else "td"
    return f'<{tag} style="text-align:{side}">{text_html(name)}</{tag}>'


def table_markdown(head: TableRow, rows: TableRows, caption: str = "") -> str:
    """Return a table as Markdown, with its caption above it; a line across it is a row in bold."""
    rules = ["--:" if side == "right" else "---" for side in _column_sides(head, rows)]
    lines = [[*map(_cell_markdown, head)], rules]
    for row in rows:
        if isinstance(row, str):
            lines.append([f"**{markdown_line(row)}**", *[""] * (len(head) - 1)])
        else:
            lines.append([*map(_cell_markdown, row)])
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join(filter(None, (markdown_line(caption), drawn)))


def _cell_markdown(cell: str) -> str:
    """Return a text for a cell of Markdown: as code where anything in it could be markup, a link or a formula.

    Escapes alone would not do: some viewers take the backslash behind an address for a part of the address.
    """
    line = " · ".join(filter(None, (" ".join(line.split()) for line in to_plain(cell).splitlines())))
    if not MARKUP.search(line):
        return line
    marks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    bars = re.sub(r"\\(?=\|)", "\\\\ ", line).replace("|", "\\|")  # two backslashes before a bar escape each other
    return f"{marks} {bars} {marks}"


def _column_sides(head: TableRow, rows: TableRows) -> list[str]:
    """Return for each column where its cells stand: at the right where all that say something are figures."""
    cells = [row for row in rows if not isinstance(row, str)]
    columns = zip(*cells, strict=True) if cells else [()] * len(head)
    figures = (
        any(column) and all(cell in NO_FIGURE or FIGURE.fullmatch(cell) for cell in column) for column in columns
    )
    return ["right" if is_of_figures else "left" for is_of_figures in figures]
