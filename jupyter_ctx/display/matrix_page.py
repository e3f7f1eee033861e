"""Draw the answers of a run side by side: a line for each row, a column for each arm, and filters that need no script.

Every row is in the page, and the browser lays out those that are in view alone (``content-visibility``): ten thousand
of them can be scrolled, searched and printed without a script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .text import text_html

MATRIX_FILTERS = {"all": "all", "differ": "where they differ", "failed": "fail or failed"}
FOLDED_FROM, SEEN_FOLDED = 700, 400  # characters of a text that is folded, and of what is seen of it then


class AnswerMark(NamedTuple):
    """What is said of an answer; ``kind`` is ``pass``, ``fail`` or ``other``."""

    kind: str
    text: str


class MatrixCell(NamedTuple):
    """One answer with its marks; the error where there is none."""

    answer: str
    marks: tuple[AnswerMark, ...]


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

    @property
    def filters(self) -> list[str]:
        """The names of the filters that show the row."""
        return ["all", *(["differ"] if self.differ else []), *(["failed"] if self.failed else [])]


def matrix_html(arms: Sequence[str], rows: Sequence[MatrixRow]) -> str:
    """Return the matrix with its filters."""
    repeated = any(row.repeat for row in rows)
    found = Counter(name for row in rows for name in row.filters)
    lines = [f'<tr data-in="{" ".join(row.filters)}">{_line(row, repeated=repeated)}</tr>' for row in rows]
    heads = "".join(f'<th scope="col" dir="auto">{text_html(arm or "answer")}</th>' for arm in arms)
    # in a form of its own: Enter sends nothing
    return (
        f'{MATRIX_SHEET}<form class="jctx-matrix" method="dialog" style="--arms:{len(arms)}">{_filters(found)}'
        '<div class="jctx-box" role="region" aria-label="Answers" tabindex="0"><table>'
        f'<thead><tr><th scope="col">row</th>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div></form>'
    )


def _filters(found: Mapping[str, int]) -> str:
    choices = []
    for name, label in MATRIX_FILTERS.items():
        checked = " checked" if name == "all" else ""
        button = f'<input type="radio" name="rows" class="jctx-by-{name}"{checked}>'
        choices.append(f"<label>{button} {label} ({found[name]:,})</label>")
    return f"<fieldset><legend>Rows</legend>{''.join(choices)}</fieldset>"


def _line(row: MatrixRow, *, repeated: bool) -> str:
    number = f"{row.row}, repeat {row.repeat}" if repeated else f"{row.row}"
    inputs = "\n".join(f"{name}: {value}" for name, value in row.inputs.items())
    cells = "".join(f'<td dir="auto">{_marks(cell.marks)}{_folded(cell.answer)}</td>' for cell in row.cells)
    return f'<th scope="row">{number}<div dir="auto">{_folded(inputs)}</div></th>{cells}'


def _marks(marks: Sequence[AnswerMark]) -> str:
    shown = "".join(f'<b class="jctx-{mark.kind}">{text_html(mark.text)}</b>' for mark in marks)
    return f"<div>{shown}</div>" if shown else ""


def _folded(text: str) -> str:
    """Return a text, a long one as its beginning that unfolds to the whole."""
    if len(text) <= FOLDED_FROM:
        return text_html(text)
    end = text.rfind(" ", SEEN_FOLDED // 2, SEEN_FOLDED) + 1 or SEEN_FOLDED
    return f"<details><summary>{text_html(text[:end])}</summary>{text_html(text[end:])}</details>"


_HIDDEN = "".join(
    f".jctx-matrix:has(.jctx-by-{name}:checked) tbody tr:not([data-in~={name}]){{display:none}}"
    for name in MATRIX_FILTERS
)
MATRIX_SHEET = (
    "<style>"
    ".jctx-matrix{margin:.4em 0}"
    ".jctx-matrix fieldset{border:0;padding:0;margin:0 0 .4em;display:flex;flex-wrap:wrap;gap:.2em 1.2em}"
    ".jctx-matrix legend{float:left;padding:0;font-weight:600}"
    ".jctx-matrix .jctx-box{overflow:auto;max-height:85vh;border:1px solid #7778}"
    # each row is a grid of the same columns, so that a row out of sight needs no layout
    ".jctx-matrix table{display:block;margin:0;min-width:calc(9em + 12em*var(--arms))}"
    ".jctx-matrix :is(thead,tbody){display:block}"
    ".jctx-matrix thead{position:sticky;top:0;z-index:1;background:Canvas}"
    ".jctx-matrix tr{display:grid;grid-template-columns:minmax(9em,1fr) repeat(var(--arms),minmax(12em,2fr))}"
    ".jctx-matrix tbody tr{content-visibility:auto;contain-intrinsic-height:auto 5em;border-top:1px solid #7778}"
    ".jctx-matrix :is(th,td){text-align:start;vertical-align:top;padding:.4em .6em;white-space:pre-wrap;"
    "overflow-wrap:anywhere;min-width:0}"
    ".jctx-matrix tbody th div{font-weight:400;font-size:90%}"
    ".jctx-matrix b{display:inline-block;font-weight:600;font-size:85%;border:1px solid #7778;border-radius:3px;"
    "padding:0 .3em;margin:0 .3em .2em 0}"
    ".jctx-matrix .jctx-pass{border-color:#388e3c;background:#388e3c26}"
    ".jctx-matrix .jctx-fail{border-color:#d32f2f;background:#d32f2f26}"
    f"{_HIDDEN}"
    "@media print{.jctx-matrix .jctx-box{max-height:none}.jctx-matrix tbody tr{content-visibility:visible}}"
    "</style>"
)
