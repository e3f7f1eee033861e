"""What a model thought before it answered: folded away, counted, never sent again."""

from __future__ import annotations

from ..text import text_html

TAIL = 2_000  # characters, while it grows
MAX_THINKING = 50_000
TEXT_STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;max-height:20em;overflow-y:auto;font-size:90%;margin:.3em 0"


def thinking_html(thought: str, tokens: int | None = None) -> str:
    """The whole of it, for a finished answer; ``tokens`` where the provider has counted them."""
    if not thought:
        return ""
    left_out = f"({len(thought) - MAX_THINKING:,} characters more)" if len(thought) > MAX_THINKING else ""
    return _folded(f"Thought for {_amount(thought, tokens)}", thought[:MAX_THINKING], left_out)


def growing_html(thought: str, answered: bool) -> str:
    """What is sent while it grows: its end; with the answer below it the one line."""
    if not thought:
        return ""
    amount = _amount(thought, None)
    if answered:
        return _folded(f"Thought for {amount}", "", "(shown with the whole answer)")
    return _folded(f"Thinking… ({amount}, {len(thought):,} characters)", thought[-TAIL:], "")


def _amount(thought: str, tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else f"~{max(1, len(thought) // 4):,} tokens"


def _folded(summary: str, text: str, below: str) -> str:
    shown = f'<div dir="auto" tabindex="0" style="{TEXT_STYLE}">{text_html(text)}</div>' if text else ""
    return f'<details class="jctx-thinking"><summary>{summary}</summary>{shown}{below}</details>'
