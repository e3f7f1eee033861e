"""The card of a run, as HTML and as plain text: what was asked, what it scored, and sentences to quote.

The HTML needs no script and reads without its stylesheet, so that a page that is saved or exported has it too. Texts
are cut, so that a card stays small whatever a model or a scorer is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tables import shortened
from .text import WRAPS, markdown_block, text_html, to_plain

MOST_LABEL, MOST_FIGURE, MOST_SENTENCE = 60, 100, 400  # characters


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A rate or a mean: in words, what it is of, and its interval; ``ends`` are low, value and high of a rate."""

    value: str
    label: str
    interval: str
    ends: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class CardFigures:
    """What a card shows.

    name: of the run
    figures: a line of them, the first being the number of rows
    scores: a line each
    sentences: to quote
    """

    name: str
    figures: Sequence[str]
    scores: Sequence[ScoreLine] = ()
    sentences: Sequence[str] = ()


def card_forms(card: CardFigures) -> dict[str, str]:
    """Return a card in its forms, by media type."""
    text = card_text(card)
    page = f"{CARD_STYLE}{card_html(card)}"
    return {"text/html": page, "text/markdown": markdown_block(text), "text/plain": text}


def card_html(card: CardFigures) -> str:
    """Return a card as HTML."""
    first, *others = (_line(figure, MOST_FIGURE) for figure in card.figures)
    name = f"<b>{_line(card.name, MOST_LABEL)}</b> " if card.name else ""
    sentences = [f'<p dir="auto">{_line(each, MOST_SENTENCE)}</p>' for each in card.sentences]
    return "".join(
        [
            f'<div class="jctx-card">{"".join(sentences)}',
            f'<div class="jctx-figures">{name}<span>{first}</span> ',
            f'<span class="jctx-quiet">{" · ".join(others)}</span></div>',
            *map(score_html, card.scores),
            "</div>",
        ]
    )


def card_text(card: CardFigures) -> str:
    """Return a card as plain text."""
    name = f"{card.name}: " if card.name else ""
    scores = [f"{line.label}: {line.value} ({line.interval})" for line in card.scores]
    return to_plain("\n".join([*card.sentences, name + ", ".join(card.figures), *scores]))


def score_html(line: ScoreLine) -> str:
    """Return a rate or a mean as HTML, with a bar from the lower to the upper end of its interval."""
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


_INK = "var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))"
_QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
_TRACK = "var(--jp-layout-color3,#e0e0e0)"
_BRAND = "var(--jp-brand-color1,#1976d2)"
CARD_STYLE = (
    "<style>"
    f".jctx-card{{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);color:{_INK};{WRAPS}}}"
    ".jctx-card p{margin:0 0 4px;font-size:14px}"
    ".jctx-figures{display:flex;flex-wrap:wrap;gap:0 12px;font-variant-numeric:tabular-nums}"
    f".jctx-quiet{{color:{_QUIET}}}"
    ".jctx-score{display:flex;gap:0 12px;align-items:center;font-variant-numeric:tabular-nums}"
    ".jctx-score b{font-size:18px;font-weight:600;flex:none;min-width:3.6em}"
    ".jctx-interval{position:relative;flex:none;width:min(160px,25%);height:6px;border-radius:3px;"
    f"background:{_TRACK}}}"
    f".jctx-interval span{{position:absolute;height:6px;border-radius:3px;background:{_BRAND};opacity:.6}}"
    ".jctx-interval i{position:absolute;top:-3px;width:2px;height:12px;margin-left:-1px;background:currentColor}"
    "@media (forced-colors:active){.jctx-interval{outline:1px solid CanvasText}"
    ".jctx-interval :is(span,i){forced-color-adjust:none;background:Highlight}}"
    "</style>"
)
