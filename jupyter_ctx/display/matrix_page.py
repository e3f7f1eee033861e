"""Draw the answers of a run side by side: a line for each row, a column for each arm, and filters that need no script.

Every row is in the page, and the browser lays out those that are in view alone (``content-visibility``): ten thousand
of them can be scrolled, searched and printed without a script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .tables import shortened
from .text import text_html

MATRIX_FILTERS = {"all": "all", "differ": "where they differ", "failed": "fail or failed"}
FOLDED_FROM, SEEN_FOLDED = 700, 400  # characters of a text that is folded, and of what is seen of it then
MOST_IN_ROW, LEAST_IN_CELL = 800, 60  # characters of all answers in a line of a bounded page, and of one at least


class AnswerMark(NamedTuple):
    """What is said of an answer; ``kind`` is ``pass``, ``fail`` or ``other``."""

    kind: str
    text: str


class MatrixCell(NamedTuple):
    """One answer with its marks; the error where there is none."""

    answer: str
    marks: tuple[AnswerMark, ...]

    def __str__(self) -> str:
        return " · ".join(filter(None, (*(mark.text for mark in self.marks), self.answer)))


class MatrixRow(NamedTuple):
    """The answers to one row of the table.

    ``row``, ``repeat``: their numbers, from 0.
    ``inputs``: the columns of the row.
    ``cells``: an answer for each arm.
    ``differ``: whether the arms differ: in their marks, or in words where nothing is scored.
    ``failed``: whether an answer failed or was refused, or fails a scorer.
    """

    row: int
    repeat: int
    inputs: Mapping[str, Any]
    cells: tuple[MatrixCell, ...]
    differ: bool
    failed: bool

    def passes(self, name: str) -> bool:
        """Return whether a filter shows the row."""
        return name == "all" or bool(getattr(self, name))


def matrix_html(arms: Sequence[str], rows: Sequence[MatrixRow], most: int | None = None) -> str:
    """Return the matrix with its filters; ``most`` bounds the rows that each filter shows, and so the texts' length."""
    found = {name: [at for at, row in enumerate(rows) if row.passes(name)] for name in MATRIX_FILTERS}
    shown_by = {name: set(places[:most]) for name, places in found.items()}
    length = None if most is None else max(LEAST_IN_CELL, MOST_IN_ROW // max(1, len(arms)))
    repeated = any(row.repeat for row in rows)
    lines = []
    for at in sorted(set().union(*shown_by.values())):
        filters = " ".join(name for name, places in shown_by.items() if at in places)
        lines.append(f'<tr data-in="{filters}">{_line(rows[at], length, repeated=repeated)}</tr>')
    heads = "".join(f'<th scope="col" dir="auto">{text_html(arm or "answer")}</th>' for arm in arms)
    # in a form of their own, radio buttons of several outputs are apart, and Enter sends nothing
    return (
        f'{MATRIX_SHEET}<form class="jctx-matrix" method="dialog" style="--arms:{len(arms)}">{_filters(found)}'
        '<div class="jctx-box" role="region" aria-label="Answers" tabindex="0"><table>'
        f'<thead><tr><th scope="col">row</th>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div></form>'
    )


def _filters(found: Mapping[str, Sequence[int]]) -> str:
    choices = []
    for name, label in MATRIX_FILTERS.items():
        checked = " checked" if name == "all" else ""
        button = f'<input type="radio" name="rows" class="jctx-by-{name}" data-lm-suppress-shortcuts="true"{checked}>'
        choices.append(f"<label>{button} {label} ({len(found[name]):,})</label>")
    return f"<fieldset><legend>Rows</legend>{''.join(choices)}</fieldset>"


def _line(row: MatrixRow, length: int | None, *, repeated: bool) -> str:
    number = f"{row.row}, repeat {row.repeat}" if repeated else f"{row.row}"
    inputs = "\n".join(f"{name}: {value}" for name, value in row.inputs.items())
    cells = "".join(f'<td dir="auto">{_marks(cell.marks)}{_folded(cell.answer, length)}</td>' for cell in row.cells)
    return f'<th scope="row">{number}<div dir="auto">{_folded(inputs, length)}</div></th>{cells}'


def _marks(marks: Sequence[AnswerMark]) -> str:
    shown = "".join(f'<b class="jctx-{mark.kind}">{text_html(mark.text)}</b>' for mark in marks)
    return f"<div>{shown}</div>" if shown else ""


def _folded(text: str, length: int | None) -> str:
    """Return a text, a long one as its beginning that unfolds to the whole; with a ``length``, only so much of it."""
    if length is not None:
        return text_html(text if len(text) <= length else shortened(text, length))
    if len(text) <= FOLDED_FROM:
        return text_html(text)
    end = text.rfind(" ", SEEN_FOLDED // 2, SEEN_FOLDED) + 1 or SEEN_FOLDED
    return f"<details><summary>{text_html(text[:end])}</summary>{text_html(text[end:])}</details>"


_HIDDEN = "".join(
    f".jctx-matrix:has(.jctx-by-{name}:checked) tbody tr:not([data-in~={name}]){{display:none}}"
    for name in MATRIX_FILTERS
)
_CELLS = ".jctx-matrix.jctx-matrix :is(th,td)"  # front ends have rules for tables
MATRIX_SHEET = (
    "<style>"
    ".jctx-matrix{--ground:var(--jp-layout-color0,var(--vscode-editor-background,Canvas));margin:.4em 0}"
    ".jctx-matrix fieldset{border:0;padding:0;margin:0 0 .4em;display:flex;flex-wrap:wrap;gap:.2em 1.2em}"
    ".jctx-matrix legend{float:left;padding:0;font-weight:600}"
    ".jctx-matrix .jctx-box{overflow:auto;max-height:85vh;border:1px solid #7778}"
    # each row is a grid of the same columns, so that a row out of sight needs no layout
    ".jctx-matrix table{display:block;margin:0;min-width:calc(9em + 12em*var(--arms))}"
    ".jctx-matrix :is(thead,tbody){display:block}"
    ".jctx-matrix thead{position:sticky;top:0;z-index:1;background:var(--ground)}"
    ".jctx-matrix tr{display:grid;grid-template-columns:minmax(9em,1fr) repeat(var(--arms),minmax(12em,2fr))}"
    ".jctx-matrix tbody tr{content-visibility:auto;contain-intrinsic-height:auto 5em;border-top:1px solid #7778}"
    f"{_CELLS}{{text-align:start;vertical-align:top;padding:.4em .6em;white-space:pre-wrap;overflow-wrap:anywhere;"
    "min-width:0;max-width:none}"
    ".jctx-matrix tbody th div{font-weight:400;font-size:90%}"
    ".jctx-matrix b{display:inline-block;font-weight:600;font-size:85%;border:1px solid #7778;border-radius:3px;"
    "padding:0 .3em;margin:0 .3em .2em 0}"
    ".jctx-matrix .jctx-pass{border-color:#388e3c;background:#388e3c26}"
    ".jctx-matrix .jctx-fail{border-color:#d32f2f;background:#d32f2f26}"
    f"{_HIDDEN}"
    "@media print{.jctx-matrix .jctx-box{max-height:none}.jctx-matrix tbody tr{content-visibility:visible}}"
    "</style>"
)
