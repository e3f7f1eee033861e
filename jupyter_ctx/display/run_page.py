"""The card of a run, as HTML and as plain text: what was asked, what it scored, sentences to quote, and the answers.

The HTML needs no script and reads without its stylesheet, so that a page that is saved or exported has it too. Texts
are cut, so that a card stays small whatever a model or a scorer is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .tables import shortened
from .text import WRAPS, markdown_block, text_html, to_plain
from .word_marks import marked_on_a_page

MOST_LABEL, MOST_FIGURE, MOST_SENTENCE = 60, 100, 400  # characters
MOST_ROWS, MOST_ANSWER = 200, 2_000  # rows of answers in a notebook, and characters of each
OPEN_ROWS, MOST_TEXT_ROWS = 10, 20  # rows that stand open, and rows in a plain text
FOLDED_FROM = 400  # characters of a text that unfolds
MARKED = 500_000  # characters whose words are compared: seconds; those of later rows are not


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A rate, a mean or a difference: in words, what it is of, and its interval.

    ends: low, value and high as shares of a bar
    """

    value: str
    label: str
    interval: str
    ends: tuple[float, float, float] | None = None


class AnswerMark(NamedTuple):
    """What is said of an answer."""

    kind: Literal["pass", "fail", "other"]
    text: str


class AnswerCell(NamedTuple):
    """One answer with its marks; the error where there is none."""

    answer: str
    marks: tuple[AnswerMark, ...] = ()


class AnswerRow(NamedTuple):
    """The answers to one row of a table: its number in words, what it holds, and an answer for each variant."""

    name: str
    inputs: str
    cells: tuple[AnswerCell, ...]


class AnswerTable(NamedTuple):
    """Answers side by side, in the order in which they are shown.

    remedy: where all are, if a part is shown
    """

    variants: Sequence[str]
    rows: Sequence[AnswerRow]
    remedy: str = ""

    def caption(self, most: int) -> str:
        """Return how many rows there are, and how many of them are shown."""
        rows = len(self.rows)
        if rows <= most:
            return f"Answers ({rows:,})"
        return f"Answers (the first {most:,} of {rows:,}{self.remedy and f'; {self.remedy} has all'})"


@dataclass(frozen=True, slots=True)
class CardFigures:
    """What a card shows.

    name: of the run
    figures: a line of them, the first being the number of rows
    scores: a line each
    sentences: to quote
    answers: side by side
    """

    name: str = ""
    figures: Sequence[str] = ()
    scores: Sequence[ScoreLine] = ()
    sentences: Sequence[str] = ()
    answers: AnswerTable | None = None


def card_bundle(card: CardFigures) -> dict[str, str]:
    """Return a card in its forms, by media type."""
    name = f"{card.name}: " if card.name else ""
    scores = [f"{line.label}: {line.value} ({line.interval})" for line in card.scores]
    lines = [*card.sentences, name + ", ".join(card.figures), *scores]
    text = to_plain("\n".join(filter(None, lines)))
    page = f"{CARD_STYLE}{card_html(card)}"
    return {"text/html": page, "text/markdown": markdown_block(text), "text/plain": text}


def card_html(card: CardFigures) -> str:
    """Return a card as HTML; the style sheet is not in it."""
    parts = [f'<p dir="auto">{_line(each, MOST_SENTENCE)}</p>' for each in card.sentences]
    name = f"<b>{_line(card.name, MOST_LABEL)}</b> " if card.name else ""
    first, *others = [_line(figure, MOST_FIGURE) for figure in card.figures] or [""]
    if name or first:
        quiet = f'<span class="jctx-quiet">{" · ".join(others)}</span>'
        parts.append(f'<div class="jctx-run">{name}<span>{first}</span> {quiet}</div>')
    parts += map(_score_html, card.scores)
    table = card.answers
    if table is not None and table.rows:
        is_open = " open" if len(table.rows) <= OPEN_ROWS else ""
        summary = f"<summary>{text_html(table.caption(MOST_ROWS))}</summary>"
        parts.append(f"<details{is_open}>{summary}{answers_html(table)}</details>")
    return f'<div class="jctx-card">{"".join(parts)}</div>'


def _score_html(line: ScoreLine) -> str:
    """Return a figure as HTML, with a bar from the lower to the upper end of its interval."""
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


def _line(text: str, most: int) -> str:
    """Return the beginning of a text as HTML in one line."""
    return text_html(shortened(text, most))


# the answers


def answers_html(table: AnswerTable, most: int | None = MOST_ROWS) -> str:
    """Return answers as a table, with the words marked that differ; ``most``: of so many rows, and long texts cut."""
    heads = "".join(f'<th scope="col" dir="auto">{text_html(name or "answer")}</th>' for name in table.variants)
    rows, left = list[str](), MARKED
    for row in table.rows[:most]:
        left -= sum(len(cell.answer) for cell in row.cells) * (len(row.cells) - 1)
        texts = [_cut(cell.answer, most) for cell in row.cells]
        pages = [text_html(text) for text in texts]
        pages = marked_on_a_page(pages) if left > 0 else pages
        cells = "".join(map(_cell_html, row.cells, texts, pages))
        inputs = _cut(row.inputs, most)
        shown = f'<div dir="auto">{_unfolding(text_html(inputs), len(inputs))}</div>'
        rows.append(f'<tr><th scope="row">{text_html(row.name)}{shown}</th>{cells}</tr>')
    return (
        '<div class="jctx-answers" role="region" aria-label="Answers" tabindex="0"><table>'
        f'<thead><tr><th scope="col">row</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _cell_html(cell: AnswerCell, text: str, page: str) -> str:
    marks = "".join(f'<b class="jctx-{mark.kind}">{text_html(mark.text)}</b>' for mark in cell.marks)
    above = f"<div>{marks}</div>" if marks else ""
    return f'<td dir="auto">{above}{_unfolding(page, len(text))}</td>'


def _cut(text: str, most: int | None) -> str:
    if most is None or len(text) <= MOST_ANSWER:
        return text
    return f"{text[:MOST_ANSWER]} … {len(text) - MOST_ANSWER:,} more characters"


def _unfolding(page: str, length: int) -> str:
    """Return a text as HTML; of a long one a few lines are seen until it is clicked."""
    return f"<details><summary>{page}</summary></details>" if length > FOLDED_FROM else page


def answers_text(table: AnswerTable) -> str:
    """Return the first answers as plain text."""
    lines = list[str]()
    for row in table.rows[:MOST_TEXT_ROWS]:
        lines.append(f"row {row.name}: {shortened(row.inputs, MOST_SENTENCE)}")
        for name, cell in zip(table.variants, row.cells, strict=True):
            marks = f" ({', '.join(mark.text for mark in cell.marks)})" if cell.marks else ""
            lines.append(f"  {name or 'answer'}{marks}: {cell.answer}".replace("\n", "\n    "))
    lines += [table.caption(MOST_TEXT_ROWS)] if len(table.rows) > MOST_TEXT_ROWS else []
    return to_plain("\n".join(lines))


_INK = "var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))"
_QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
_BACK = "var(--jp-layout-color1,var(--vscode-editor-background,Canvas))"
CARD_STYLE = f"""<style>
.jctx-card{{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);color:{_INK};{WRAPS}}}
.jctx-card p{{margin:0 0 4px;font-size:14px}}
.jctx-run{{display:flex;flex-wrap:wrap;gap:0 12px;font-variant-numeric:tabular-nums}}
.jctx-quiet{{color:{_QUIET}}}
.jctx-score{{display:flex;gap:0 12px;align-items:center;font-variant-numeric:tabular-nums}}
.jctx-score b{{font-size:18px;font-weight:600;flex:none;min-width:3.6em}}
.jctx-interval{{position:relative;flex:none;width:min(160px,25%);height:6px;border-radius:3px;
background:var(--jp-layout-color3,#e0e0e0)}}
.jctx-interval :is(span,i){{position:absolute;background:var(--jp-brand-color1,#1976d2)}}
.jctx-interval span{{height:6px;border-radius:3px;opacity:.6}}
.jctx-interval i{{top:-3px;width:2px;height:12px;margin-left:-1px;background:currentColor}}
@media (forced-colors:active){{.jctx-interval{{outline:1px solid CanvasText}}
.jctx-interval :is(span,i){{forced-color-adjust:none;background:Highlight}}}}
.jctx-answers{{overflow:auto;max-height:85vh;border:1px solid #7778;margin:.4em 0}}
.jctx-answers table{{border-collapse:collapse;margin:0;width:100%}}
.jctx-answers thead th{{position:sticky;top:0;z-index:1;background:{_BACK}}}
.jctx-answers.jctx-answers table :is(th,td){{text-align:start;vertical-align:top;padding:.4em .6em;white-space:pre-wrap;
overflow-wrap:anywhere;min-width:9em;max-width:40em;border-top:1px solid #7778}}
.jctx-answers tbody th div{{font-weight:400;font-size:90%}}
.jctx-answers td div b{{display:inline-block;font-weight:600;font-size:85%;border:1px solid #7778;border-radius:3px;
padding:0 .3em;margin:0 .3em .2em 0}}
.jctx-answers .jctx-pass{{border-color:#388e3c;background:#388e3c26}}
.jctx-answers .jctx-fail{{border-color:#d32f2f;background:#d32f2f26}}
.jctx-answers summary{{cursor:pointer}}
.jctx-answers details:not([open])>summary{{max-height:7.5em;overflow:hidden}}
@media print{{.jctx-answers{{max-height:none}}}}
</style>"""
