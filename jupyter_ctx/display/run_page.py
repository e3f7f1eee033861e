"""The card of a run, as HTML and as plain text: how far it is, what it scored, its answers.

The HTML needs no script and reads without its stylesheet, so that a page that is saved or exported has it too. Texts
are cut, so that a drawing stays below CARD_BYTES whatever an answer holds.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..wording import counted
from .tables import TableRow, TableRows, column_sides, shortened, table_text
from .text import WRAPS, text_html, to_plain

CARD_BYTES = 50_000  # of a drawing
ROW_BYTES = 40_000  # of the rows of a table, with what they unfold to
PER_PAGE = 10  # rows of the table
MOST_CELL, MOST_LABEL, MOST_SENTENCE = 100, 60, 400  # characters
UNFOLDED_BYTES = 6_000  # bytes of a text that a row unfolds to
MOST_CELLS = 10  # of a row
PLAIN_ROWS = 20  # of the table as plain text
SIDED_ROWS = 100  # that say where the cells of a column stand


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A rate or a mean: in words, what it is of, and its interval; ``ends`` are low, value and high of a rate."""

    value: str
    label: str
    interval: str
    ends: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Answers, a row each; ``texts`` returns what a row unfolds to, each with its name, at the column ``unfolds``."""

    head: TableRow
    rows: TableRows
    unfolds: int = 0
    texts: Callable[[int], Sequence[tuple[str, str]]] = lambda _: ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CardFigures:
    """What a card shows.

    name: of the run
    done, rows: answers that are there, and that are wanted
    figures: a line of them, the first being the number of rows
    scores: a line each
    newest: answers to look at while the run goes on
    sentences: to quote, once it has ended
    """

    name: str
    done: int
    rows: int
    figures: Sequence[str]
    scores: Sequence[ScoreLine] = ()
    newest: AnswerTable | None = None
    sentences: Sequence[str] = ()


def card_html(card: CardFigures) -> str:
    """Return the card without the table of all answers."""
    first, *others = map(_line, card.figures)
    name = f"<b>{_line(card.name, MOST_LABEL)}</b> " if card.name else ""
    sentences = [f'<p dir="auto">{_line(each, MOST_SENTENCE)}</p>' for each in card.sentences]
    newest = card.newest
    return "".join(
        [
            f'<div class="jctx-card"><div class="jctx-quote">{"".join(sentences)}</div>',
            f'<div class="jctx-figures">{name}<span>{first}</span> ',
            f'<span class="jctx-quiet">{" · ".join(others)}</span></div>',
            _bar(card),
            *map(_score, card.scores),
            _table(newest, _rows(newest, range(len(newest.rows)))) if newest is not None and newest.rows else "",
            "</div>",
        ]
    )


def card_text(card: CardFigures, table: AnswerTable | None = None) -> str:
    """Return the card as plain text, with the first rows of a table."""
    name = f"{card.name}: " if card.name else ""
    scores = [f"{line.label}: {line.value} ({line.interval})" for line in card.scores]
    lines = [*card.sentences, name + ", ".join(card.figures), *scores]
    if table is not None and table.rows:
        more = len(table.rows) - PLAIN_ROWS
        lines += ["", table_text(table.head, [table.rows[index] for index in range(min(PLAIN_ROWS, len(table.rows)))])]
        lines += [f"… {more:,} more rows"] if more > 0 else []
    return to_plain("\n".join(lines))


def fold_html(table: AnswerTable, shown: Sequence[int], *, is_open: bool = False) -> str:
    """Return the rows in view, folded below a line; where they are too long for a page, the first of them."""
    rows, size = list[str](), 0
    for row in _rows(table, shown):
        size += len(row.encode("utf-8", "replace"))
        if size > ROW_BYTES:
            break
        rows.append(row)
    less = len(shown) - len(rows)
    more = f'<p class="jctx-quiet">{counted(less, "more row")} had no room here.</p>' if less else ""
    opened = " open" if is_open else ""
    return (
        f'<details class="jctx-fold" data-lm-suppress-shortcuts="true"{opened}>'
        f"<summary>{text_html(table.summary)}</summary>{_table(table, rows)}{more}</details>"
    )


def _bar(card: CardFigures) -> str:
    share = 100 * card.done / max(1, card.rows)
    return (
        f'<div class="jctx-done" role="progressbar" aria-label="Rows answered" aria-valuemin="0" '
        f'aria-valuemax="{card.rows}" aria-valuenow="{card.done}"><div style="width:{share:.2f}%"></div></div>'
    )


def _score(line: ScoreLine) -> str:
    drawn = ""
    if line.ends is not None:
        low, value, high = (100 * end for end in line.ends)
        drawn = (
            '<span class="jctx-interval" aria-hidden="true">'
            f'<span style="left:{low:.1f}%;width:{high - low:.1f}%"></span><i style="left:{value:.1f}%"></i></span>'
        )
    return (
        f'<div class="jctx-score"><b>{text_html(line.value)}</b> {drawn} <span>{_line(line.label, MOST_LABEL)} '
        f'<span class="jctx-quiet">({text_html(line.interval)})</span></span></div>'
    )


def _table(table: AnswerTable, rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{_line(name, MOST_LABEL)}</th>' for name in table.head[:MOST_CELLS])
    return f'<table class="jctx-answers"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _rows(table: AnswerTable, shown: Iterable[int]) -> Iterable[str]:
    indexes = list(shown)
    sides = column_sides(table.head, [table.rows[index] for index in indexes[:SIDED_ROWS]])
    for index in indexes:
        cells = [_line(cell) for cell in table.rows[index][:MOST_CELLS]]
        texts = table.texts(index)
        if texts:
            whole = "".join(f"<b>{html.escape(name)}</b><div>{_whole(text)}</div>" for name, text in texts)
            cells[table.unfolds] = f"<details><summary>{cells[table.unfolds]}</summary>{whole}</details>"
        parts = [
            f'<td dir="auto" style="text-align:{side}">{cell}</td>' for cell, side in zip(cells, sides, strict=False)
        ]
        yield f"<tr>{''.join(parts)}</tr>"


def _line(text: str, most: int = MOST_CELL) -> str:
    """Return the beginning of a text as HTML in one line, of four bytes a character at most."""
    drawn, more = _within(shortened(text, most), 4 * most)
    return f"{drawn}…" if more else drawn


def _whole(text: str) -> str:
    """Return a text as HTML; of a long one the beginning, and how much more there is."""
    drawn, more = _within(text, UNFOLDED_BYTES)
    return f"{drawn} … {more:,} more characters" if more else drawn


def _within(text: str, most: int) -> tuple[str, int]:
    """Return the beginning of a text as HTML of so many bytes at most, and how many characters are left out."""
    kept = text[:most]
    drawn = text_html(kept)
    while len(drawn.encode("utf-8", "replace")) > most:
        kept = kept[: len(kept) * 4 // 5]
        drawn = text_html(kept)
    return drawn, len(text) - len(kept)


_LINE = "var(--jp-border-color2,var(--vscode-panel-border,#ccc))"
_INK = "var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))"
_QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
_TRACK = "var(--jp-layout-color3,#e0e0e0)"
_BRAND = "var(--jp-brand-color1,#1976d2)"
CARD_STYLE = (
    "<style>"
    f".jctx-card,.jctx-fold{{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);color:{_INK};{WRAPS}}}"
    ".jctx-card p,.jctx-fold p{margin:0 0 4px}.jctx-quote{font-size:14px;padding-right:76px}"
    ".jctx-figures{display:flex;flex-wrap:wrap;gap:0 12px;padding-right:76px;font-variant-numeric:tabular-nums}"
    f".jctx-quiet{{color:{_QUIET}}}"
    f".jctx-done{{height:6px;margin:8px 0;border-radius:3px;background:{_TRACK};overflow:hidden}}"
    f".jctx-done div{{height:6px;background:{_BRAND}}}"
    ".jctx-score{display:flex;gap:0 12px;align-items:center;font-variant-numeric:tabular-nums}"
    ".jctx-score b{font-size:18px;font-weight:600;flex:none;min-width:3.6em}"
    ".jctx-interval{position:relative;flex:none;width:min(160px,25%);height:6px;border-radius:3px;"
    f"background:{_TRACK}}}"
    f".jctx-interval span{{position:absolute;height:6px;border-radius:3px;background:{_BRAND};opacity:.6}}"
    f".jctx-interval i{{position:absolute;top:-3px;width:2px;height:12px;margin-left:-1px;"
    "background:currentColor}"
    ".jctx-fold summary{cursor:pointer}"
    f".jctx-fold summary:focus-visible{{outline:2px solid {_BRAND};outline-offset:-2px}}"
    ".jctx-answers summary{overflow:hidden;text-overflow:ellipsis}"
    f"table.jctx-answers{{border-collapse:collapse;width:100%;margin:6px 0;table-layout:auto;color:{_INK};"
    "font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif)}"
    ".jctx-answers :is(td,th){padding:3px 8px 3px 0;border:0;text-align:left;vertical-align:top;background:none;"
    f"border-bottom:1px solid {_LINE};white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:0}}"
    f".jctx-answers th{{color:{_QUIET};font-weight:500}}"
    ".jctx-answers :is(td,th):first-child{width:3em;max-width:4em}"
    f".jctx-answers td:has(details[open]){{white-space:pre-wrap;{WRAPS};width:60%}}"
    ".jctx-answers details b{display:block;font-weight:600;margin-top:4px}"
    "@media (forced-colors:active){.jctx-done,.jctx-interval{outline:1px solid CanvasText}"
    ".jctx-done div,.jctx-interval span,.jctx-interval i{forced-color-adjust:none;background:Highlight}}"
    "</style>"
)
