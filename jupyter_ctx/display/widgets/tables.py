"""Draw the status and tables of text, as plain text and as HTML."""

from __future__ import annotations

import html
import time
from collections.abc import Sequence

from ... import wording as words
from ...context.info import ContextInfo
from ...wording.layout import line_width, wrapped, wrapped_list
from ..text import text_html, to_plain
from .gauge import cost_text, gauge_terminal, gauge_text, legend

MAX_FIRST_WORDS = 60  # characters
WIDE_CELL = 30  # characters; the text of a longer cell may be cut where a table is narrow
OF_FIGURES = frozenset({"turn", "turns", "tokens", "share", "block", "lines", "version"})  # heads of columns of figures
TableRow = Sequence[str]
TableRows = Sequence[TableRow | str]  # a str is a line across the table


def status_text(info: ContextInfo, turns: int, *, terminal: bool = False) -> str:
    """Return how full the context window is, with the whole calculation; ``terminal``: with the bar shown there."""
    width = line_width()
    bar = gauge_terminal(info, coloured=False) if terminal else gauge_text(info)
    budget, window = info.budget, info.budget.window
    about = "" if info.exact or not info.used else "~"
    capped = window.max_input_tokens is not None and not window.is_of_prompts
    input_cap = f", input at most {window.max_input_tokens:,}" if capped else ""
    age = f", {words.ago(time.time() - window.since)}" if window.since else ""
    parts = ", ".join(f"{s.name} {s.tokens:,}" for s in info.segments if s.tokens) or "nothing yet"
    reported = "not reported yet" if info.reported is None else f"last report: {info.reported:,} input + output"
    cached = f"; {info.cached:,} of {info.sent:,} input tokens from the cache" if info.cached else ""
    unpriced = f"; the price of {info.unpriced:,} more is unknown" if info.unpriced else ""
    bill = [("cost", cost_text(info), f"of all replies so far{unpriced}")] if info.cost or info.unpriced else []
    share = f" ({100 * budget.share:.0f} % of it)" if budget.share < 1 else ""
    left_over = (
        f"the next send leaves out {words.turns(info.will_leave)}" if info.will_leave else "left for the next prompt"
    )
    rows = [
        ("window", f"{window.bound}{window.tokens:,}", window.origin + age + input_cap),
        *([] if window.is_of_prompts else [("− reserve", f"{budget.reserve:,}", "kept free for the reply")]),
        ("= limit", f"{info.limit:,}", f"the largest prompt{share}"),
        ("− fixed", f"{budget.fixed:,}", "always sent: template, system prompt, memory, pinned turns, summary"),
        ("= available", f"{budget.available:,}", f"for other turns; {budget.target:,} after the margin for estimates"),
        ("used", f"{about}{info.used:,}", parts),
        ("", "", f"{reported}{cached}"),
        ("headroom", f"{about}{budget.headroom:,}", left_over),
        *bill,
    ]  # fmt: skip
    lines = [f"{name:<12}{figure:>10}  {note}" for name, figure, note in rows]
    left = f", {info.left_out:,} left out" if info.left_out else ""
    said = f"{words.turns(turns)}: {info.in_view:,} in the next request{left}"
    more = [] if info.more_turns is None else [words.room_for_turns(info.more_turns)]
    head = [wrapped(bar, width, "  "), wrapped_list(legend(glyphs=terminal), width, "  ")]
    return to_plain("\n".join([*head, *lines, "; ".join([said, *more])]))


def first_words(text: str) -> str:
    """Return the beginning of a text in one line of 60 characters at most."""
    return shortened(text, MAX_FIRST_WORDS)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text in one line of ``most`` characters at most."""
    line = " ".join(to_plain(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def table_text(head: TableRow, rows: TableRows) -> str:
    """Return a table as plain text, each cell in one line without control characters; numbers align right."""
    head, rows = _line(head), [to_plain(row) if isinstance(row, str) else _line(row) for row in rows]
    cells = [head, *(row for row in rows if not isinstance(row, str))]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    width = sum(widths) + 2 * (len(widths) - 1)

    def line(row: TableRow | str) -> str:
        return f"── {row} ".ljust(width, "─") if isinstance(row, str) else "  ".join(map(_padded, row, widths)).rstrip()

    return "\n".join(map(line, (head, *rows)))


def _line(row: TableRow) -> TableRow:
    return [to_plain(cell).replace("\n", " ") for cell in row]


def table_html(head: TableRow, rows: TableRows, caption: str) -> str:
    """Return a table as HTML, with every cell escaped."""
    body = "".join(f"<tr>{row_html(row, len(head))}</tr>" for row in rows)
    return (
        f'<table class="jctx-table">{caption_html(caption)}'
        f"<thead><tr>{heads_html(head)}</tr></thead><tbody>{body}</tbody></table>"
    )


def caption_html(caption: str) -> str:
    """Return the caption of a table."""
    return f'<caption style="text-align:left">{text_html(caption)}</caption>'


def heads_html(head: TableRow) -> str:
    """Return the heads of a table's columns; that of figures stands over them, on the right."""
    return "".join(
        f'<th style="text-align:{"right" if name in OF_FIGURES else "left"}">{html.escape(name)}</th>' for name in head
    )


def row_html(row: TableRow | str, width: int) -> str:
    """Return the cells of a row of ``width`` columns, or of a line across them."""
    if isinstance(row, str):
        style = "text-align:left;border-top:2px solid currentColor;opacity:.75"
        return f'<td colspan="{width}" style="{style}">{text_html(row)}</td>'
    return "".join(f'<td{_kind(cell)} style="text-align:{_side(cell)}">{text_html(cell)}</td>' for cell in row)


def _kind(cell: str) -> str:
    return ' class="jctx-text"' if len(cell) > WIDE_CELL else ""


def table(head: TableRow, rows: TableRows, caption: str) -> dict[str, str]:
    """Return a table as HTML and as plain text; without rows, its caption alone is the plain text."""
    caption = to_plain(caption)
    return {
        "text/html": table_html(head, rows, caption),
        "text/plain": f"{caption}\n{table_text(head, rows)}" if rows else caption,
    }


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if figure(cell) is not None else cell.ljust(width)


def figure(cell: str) -> int | None:
    """Return the number in a cell, such as ``~1,200`` or ``50 %``, or ``None`` when it is text."""
    digits = cell.lstrip("~").removesuffix(" %").replace(",", "")
    return int(digits) if digits.isdecimal() else None


def _side(cell: str) -> str:
    return "right" if figure(cell) is not None else "left"
