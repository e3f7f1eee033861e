"""Draw tokens: texts as models cut them, and answers shaded by how likely each token was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..context.logprobs import Token, TokenLogprob, as_one, in_pieces
from .answer.markdown import MimeBundle, to_markdown
from .tables import first_words, table, table_html, table_text
from .text import attribute_html, markdown_block, text_html, to_plain

MOST_DRAWN = 400  # tokens of one text: about 125 kB of HTML
COLOURS = ("#1976d2", "#f9a825", "#388e3c", "#c2185b")  # in turn
LINES = ("solid", "dotted")  # in turn, for eyes and pages without colours
TOKENS_HEAD = ("text", "model", "tokens", "characters", "words")
GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22em),1fr));gap:12px 24px;margin:6px 0"
TOKENS_STYLE = "line-height:1.9;margin:4px 0;font-family:var(--jp-code-font-family,monospace);font-size:13px"
TOKEN_STYLE = "display:inline-block;max-width:100%;overflow-wrap:anywhere;line-height:1.4;margin-right:2px"

CERTAIN_FROM = 0.9  # from this probability on a token is not shaded, nor reached by Tab
LEAST_LISTED, MOST_OTHERS = 5, 4  # of the least certain tokens; of those that were likely in the place of one
SEEN_BEFORE = 24  # characters of the answer that stand before a listed token
UNSURE_COLOUR = "#f57c00"
LEAST_CERTAIN_HEAD = ("token", "probability", "also likely")
CERTAINTY_SHEET = (
    "<style>"
    ".jctx-certainty{position:relative;white-space:pre-wrap;line-height:1.7}"
    ".jctx-unsure:focus::after{content:attr(title);position:absolute;left:0;margin-top:1.7em;z-index:2;"
    "padding:2px 6px;border:1px solid #757575;border-radius:3px;white-space:pre-wrap;max-width:95%;"
    "background:var(--jp-layout-color0,Canvas);color:var(--jp-content-font-color1,CanvasText)}"
    ".jctx-certainty+table :is(th,td:nth-child(2)){white-space:nowrap}"
    "</style>"
)


class CutText(NamedTuple):
    """A text, and the tokens that a model cuts it into; ``None``: nobody tells them, and there is an ``estimate``."""

    text: str
    model: str
    tokens: Sequence[Token] | None
    estimate: int

    @property
    def row(self) -> tuple[str, ...]:
        """Its cells below TOKENS_HEAD."""
        count = f"~{self.estimate:,}" if self.tokens is None else f"{len(self.tokens):,}"
        return first_words(self.text), self.model, count, f"{len(self.text):,}", f"{len(self.text.split()):,}"

    @property
    def shown(self) -> Sequence[Token]:
        """The tokens that are drawn."""
        return (self.tokens or ())[:MOST_DRAWN]

    @property
    def labels(self) -> str:
        """The tokens that are drawn, in one line."""
        return "|".join(token.label for token in self.shown)

    @property
    def note(self) -> str:
        """What is not shown, and why; empty: everything is."""
        if self.tokens is None:
            return f"The server of {self.model} does not show its tokens; the count is estimated."
        return f"The first {MOST_DRAWN:,} tokens are shown." if len(self.tokens) > MOST_DRAWN else ""


def tokens_bundle(cuts: Sequence[CutText]) -> dict[str, str]:
    """Return texts cut into tokens as HTML, as Markdown and as plain text."""
    lines = [f"{cut.model}: {cut.labels}" for cut in cuts if cut.tokens]
    notes = dict.fromkeys(cut.note for cut in cuts if cut.note)
    text = to_plain("\n".join([table_text(TOKENS_HEAD, [cut.row for cut in cuts]), "", *lines, *notes]))
    page = f'<div class="jctx-tokens" style="{GRID}">{"".join(map(_cut_html, cuts))}</div>'
    return {"text/html": page, "text/markdown": markdown_block(text), "text/plain": text}


def _cut_html(cut: CutText) -> str:
    _, model, *counts = cut.row
    figures = " · ".join(f"{name}: {count}" for name, count in zip(TOKENS_HEAD[2:], counts, strict=True))
    parts = [f"<strong>{figures}</strong> · {text_html(model)}"]
    if cut.tokens:
        drawn = "".join(_token_html(token, place) for place, token in enumerate(cut.shown))
        label = attribute_html(cut.labels)
        parts.append(f'<div role="img" dir="auto" aria-label="{label}" style="{TOKENS_STYLE}">{drawn}</div>')
        rows = [(token.label, str(token.id), token.hex) for token in cut.shown]
        ids = table_html(("token", "id", "bytes"), rows, "")
        parts.append(f"<details><summary>ids and bytes</summary>{ids}</details>")
    return f'<div style="min-width:0">{"".join(parts)}<div>{text_html(cut.note)}</div></div>'


def _token_html(token: Token, place: int) -> str:
    """Return a token in its colour, with a line below it that is not its neighbours', and the line ends in it."""
    colour, line = COLOURS[place % len(COLOURS)], LINES[place % len(LINES)]
    style = f"{TOKEN_STYLE};background-color:{colour}2b;border-bottom:2px {line} {colour}"
    return f'<span style="{style}">{text_html(token.label)}</span>{"<br>" * token.data.count(10)}'


def certainty_bundle(text: str, tokens: Sequence[TokenLogprob]) -> MimeBundle:
    """Return an answer with its tokens shaded, and a table of the least certain ones."""
    pieces = [(piece, as_one(told) if told else None) for piece, told in in_pieces(text, tokens)]
    body = "".join(_shaded(piece, told) if told else text_html(piece) for piece, told in pieces)
    known = [(told.token.probability, place, told) for place, (_, told) in enumerate(pieces) if told]
    least = [each for each in sorted(known)[:LEAST_LISTED] if each[0] < CERTAIN_FROM]
    rows = [_least_row("".join(piece for piece, _ in pieces[:place]), told) for _, place, told in least]
    caption = "The least certain tokens:" if rows else "No token with a known probability is below 90 %."
    forms = table(LEAST_CERTAIN_HEAD, rows, caption)
    page = f'{CERTAINTY_SHEET}<div class="jctx-certainty" dir="auto">{body}</div>{forms["text/html"]}'
    markdown = f"{to_markdown(text)}\n\n{forms['text/markdown']}"
    return MimeBundle(page, markdown, f"{to_plain(text)}\n\n{forms['text/plain']}", forms["text/plain"])


def _shaded(piece: str, told: TokenLogprob) -> str:
    """Return a piece of an answer, the darker the less likely it was."""
    probability = told.token.probability
    title = attribute_html("; ".join(filter(None, (percent_of(probability), _others(told)))))
    if probability >= CERTAIN_FROM:
        return f'<span title="{title}">{text_html(piece)}</span>'
    line = f";border-bottom:2px dotted {UNSURE_COLOUR}" if probability < 0.5 else ""
    style = f"background-color:{UNSURE_COLOUR}{round(110 * (1 - probability)):02x}{line}"
    return f'<span class="jctx-unsure" tabindex="0" title="{title}" style="{style}">{text_html(piece)}</span>'


def _least_row(before: str, told: TokenLogprob) -> tuple[str, ...]:
    """Return the cells of a token below LEAST_CERTAIN_HEAD, in brackets behind what stands ``before`` it."""
    cut = "…" if len(before) > SEEN_BEFORE else ""
    place = f"{cut}{before[-SEEN_BEFORE:]}[{told.token.label}]"
    return place, percent_of(told.token.probability), _others(told)


def _others(told: TokenLogprob) -> str:
    """Return what else was likely, with its probabilities."""
    own = told.token
    others = [each for each in told.top_logprobs if each.data != own.data and (each.id is None or each.id != own.id)]
    return " · ".join(f"{token.label} {percent_of(token.probability)}" for token in others[:MOST_OTHERS])


def percent_of(probability: float) -> str:
    """Return a probability, or a share, as a percentage."""
    return f"{100 * probability:.1f} %"
