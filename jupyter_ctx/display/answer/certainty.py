"""Draw an answer with the certainty of its tokens: shaded by probability, with what else was likely in its place."""

from __future__ import annotations

from collections.abc import Sequence

from ...context.logprobs import Token, TokenLogprob, as_one, in_pieces
from ...wording import counted
from ..tables import table
from ..text import attribute_html, text_html, to_plain
from .markdown import MimeBundle, to_markdown

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


def certainty_bundle(text: str, tokens: Sequence[TokenLogprob]) -> MimeBundle:
    """Return an answer with its tokens shaded, and a table of the least certain ones."""
    pieces = in_pieces(text, tokens)
    body = "".join(_shaded(piece, as_one(told)) if told else text_html(piece) for piece, told in pieces)
    ones = ((place, as_one(told)) for place, (_, told) in enumerate(pieces) if told)
    known = [(one.token.probability, place, one) for place, one in ones]
    least = [each for each in sorted(known)[:LEAST_LISTED] if each[0] < CERTAIN_FROM]
    rows = [_row("".join(piece for piece, _ in pieces[:place]), told) for _, place, told in least]
    count = sum(len(told) for _, told in pieces)
    some = "" if all(told for _, told in pieces) else " with a known probability"
    caption = f"The least certain of {counted(count, 'token')}{some}:" if rows else f"No token{some} is below 90 %."
    forms = table(LEAST_CERTAIN_HEAD, rows, caption)
    page = f'{CERTAINTY_SHEET}<div class="jctx-certainty" dir="auto">{body}</div>{forms["text/html"]}'
    markdown = f"{to_markdown(text)}\n\n{forms['text/markdown']}"
    return MimeBundle(page, markdown, f"{to_plain(text)}\n\n{forms['text/plain']}", forms["text/plain"])


def _shaded(piece: str, told: TokenLogprob) -> str:
    """Return a piece of an answer, the darker the less likely it was."""
    probability = told.token.probability
    title = attribute_html("; ".join(filter(None, (share_of_token(told.token), _others(told)))))
    if probability >= CERTAIN_FROM:
        return f'<span title="{title}">{text_html(piece)}</span>'
    line = f";border-bottom:2px dotted {UNSURE_COLOUR}" if probability < 0.5 else ""
    style = f"background-color:{UNSURE_COLOUR}{round(110 * (1 - probability)):02x}{line}"
    return f'<span class="jctx-unsure" tabindex="0" title="{title}" style="{style}">{text_html(piece)}</span>'


def _row(before: str, told: TokenLogprob) -> tuple[str, ...]:
    """Return the cells of a token below LEAST_CERTAIN_HEAD, in brackets behind what stands ``before`` it."""
    cut = "…" if len(before) > SEEN_BEFORE else ""
    place = f"{cut}{before[-SEEN_BEFORE:]}[{told.token.label}]"
    return place, share_of_token(told.token), _others(told)


def _others(told: TokenLogprob) -> str:
    """Return what else was likely, with its probabilities."""
    own = told.token
    others = [
        token for token in told.top_logprobs if token.data != own.data and (token.id is None or token.id != own.id)
    ]
    return " · ".join(f"{token.label} {share_of_token(token)}" for token in others[:MOST_OTHERS])


def share_of_token(token: Token) -> str:
    """Return a token's probability as a percentage."""
    return f"{100 * token.probability:.1f} %"
