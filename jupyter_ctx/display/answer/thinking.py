"""Draw the thinking text of a reply, folded, with its size in tokens."""

from __future__ import annotations

from ..text import text_html

MAX_GROWING = 2_000  # characters shown while the text grows: its end
MAX_THINKING = 50_000  # characters shown in a finished answer
TEXT_STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;max-height:20em;overflow-y:auto;font-size:90%;margin:.3em 0"


def thinking_html(thought: str, tokens: int | None = None) -> str:
    """Return the thinking text of a finished answer; ``tokens`` is the provider's count, or ``None``."""
    if not thought:
        return ""
    left_out = f"({len(thought) - MAX_THINKING:,} characters more)" if len(thought) > MAX_THINKING else ""
    return _folded(f"Thought for {_amount(thought, tokens)}", thought[:MAX_THINKING], left_out)


def growing_html(thought: str, answered: bool) -> str:
    """Return the end of a growing thinking text, or its summary line alone once the answer has begun."""
    if not thought:
        return ""
    amount = _amount(thought, None)
    if answered:
        return _folded(f"Thought for {amount}", "", "(shown when the answer is complete)")
    return _folded(f"Thinking… ({amount}, {len(thought):,} characters)", thought[-MAX_GROWING:], "")


def _amount(thought: str, tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else f"~{max(1, len(thought) // 4):,} tokens"


def _folded(summary: str, text: str, below: str) -> str:
    shown = f'<div dir="auto" tabindex="0" style="{TEXT_STYLE}">{text_html(text)}</div>' if text else ""
    return f'<details class="jctx-thinking"><summary>{summary}</summary>{shown}{below}</details>'
