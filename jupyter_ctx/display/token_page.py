"""Draw texts as the tokens that models cut them into: told apart by colour and by line, with ids and bytes below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..context.logprobs import Token
from .tables import first_words, table_html, table_text
from .text import attribute_html, markdown_block, text_html, to_plain

MOST_DRAWN = 400  # tokens of one text: about 125 kB of HTML
COLOURS = ("#1976d2", "#f9a825", "#388e3c", "#c2185b")  # in turn
LINES = ("solid", "dotted")  # in turn, for eyes and pages without colours
TOKENS_HEAD = ("text", "model", "tokens", "characters", "words")
GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22em),1fr));gap:12px 24px;margin:6px 0"
TOKENS_STYLE = "line-height:1.9;margin:4px 0;font-family:var(--jp-code-font-family,monospace);font-size:13px"
TOKEN_STYLE = "display:inline-block;max-width:100%;overflow-wrap:anywhere;line-height:1.4;margin-right:2px"


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
    def labels(self) -> str:
        """Its tokens in one line, as far as they are shown."""
        return "|".join(token.label for token in (self.tokens or ())[:MOST_DRAWN])

    @property
    def note(self) -> str:
        """What is not shown, and why; empty: everything is."""
        if self.tokens is None:
            return f"{self.model} does not tell its tokens: the count is an estimate, and none is shown."
        return f"The first {MOST_DRAWN:,} tokens are shown." if len(self.tokens) > MOST_DRAWN else ""


def tokens_bundle(cuts: Sequence[CutText]) -> dict[str, str]:
    """Return texts cut into tokens as HTML, as Markdown and as plain text."""
    counts = table_text(TOKENS_HEAD, [cut.row for cut in cuts])
    drawn = ((f"{cut.model}: {cut.labels}" if cut.tokens else "", cut.note) for cut in cuts)
    lines = dict.fromkeys(filter(None, chain.from_iterable(drawn)))
    text = to_plain("\n".join([counts, "", *lines]))
    return {
        "text/html": f'<div class="jctx-tokens" style="{GRID}">{"".join(map(_html, cuts))}</div>',
        "text/markdown": markdown_block(text),
        "text/plain": text,
    }


def _html(cut: CutText) -> str:
    _, model, *counts = cut.row
    figures = " · ".join(f"{name}: {count}" for name, count in zip(TOKENS_HEAD[2:], counts, strict=True))
    parts = [f"<strong>{figures}</strong> · {text_html(model)}"]
    tokens = (cut.tokens or ())[:MOST_DRAWN]
    if tokens:
        drawn = "".join(_token_html(token, place) for place, token in enumerate(tokens))
        label = attribute_html(cut.labels)
        parts.append(f'<div role="img" dir="auto" aria-label="{label}" style="{TOKENS_STYLE}">{drawn}</div>')
        rows = [(token.label, str(token.id), token.hex) for token in tokens]
        bytes_of_all = table_html(("token", "id", "bytes"), rows, "")
        parts.append(f"<details><summary>ids and bytes</summary>{bytes_of_all}</details>")
    return f'<div style="min-width:0">{"".join(parts)}<div>{text_html(cut.note)}</div></div>'


def _token_html(token: Token, place: int) -> str:
    """Return a token in its colour, with a line below it that is not its neighbours', and the line ends in it."""
    colour, line = COLOURS[place % len(COLOURS)], LINES[place % len(LINES)]
    style = f"{TOKEN_STYLE};background-color:{colour}2b;border-bottom:2px {line} {colour}"
    return f'<span style="{style}">{text_html(token.label)}</span>{"<br>" * token.data.count(10)}'
