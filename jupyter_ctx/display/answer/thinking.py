"""Draw the thinking text of a reply, folded, with its size in tokens."""

from __future__ import annotations

from ..text import text_html

MAX_GROWING = 2_000  # characters shown while the text grows: its end, and up to a step more
GROWING_STEP = 1_000  # characters that are left out at once: in between, what is shown only gets longer
# the mark of an element that the JupyterLab extension leaves as it was, since its text is not sent again
KEPT_CLASS = "jctx-kept"
MAX_THINKING = 50_000  # characters shown in a finished answer
TEXT_STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;max-height:20em;overflow-y:auto;font-size:90%;margin:.3em 0"


def thinking_html(thought: str, tokens: int | None = None) -> str:
    """Return the thinking text of a finished answer; ``tokens`` is the provider's count, or ``None``."""
    if not thought:
        return ""
    left_out = f"({len(thought) - MAX_THINKING:,} characters more)" if len(thought) > MAX_THINKING else ""
    return _folded(f"Thought for {_amount(thought, tokens)}", thought[:MAX_THINKING], left_out)


def growing_html(thought: str, answered: bool) -> str:
    """Return the end of a growing thinking text; once the answer has begun, what stands in for it where it is gone."""
    if not thought:
        return ""
    amount = _amount(thought, None)
    if answered:
        stand_in = f'<div class="{KEPT_CLASS}">(shown when the answer is complete)</div>'
        return _details(f"Thought for {amount}", stand_in)
    start = max(0, (len(thought) - MAX_GROWING) // GROWING_STEP * GROWING_STEP)
    text = f'<div class="{KEPT_CLASS}">{_box(thought[start:])}</div>'
    return _details(f"Thinking… ({amount}, {len(thought):,} characters)", text)


def _amount(thought: str, tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else f"~{max(1, len(thought) // 4):,} tokens"


def _folded(summary: str, text: str, below: str) -> str:
    return _details(summary, _box(text) + below)


def _box(text: str) -> str:
    return f'<div dir="auto" tabindex="0" style="{TEXT_STYLE}">{text_html(text)}</div>'


def _details(summary: str, body: str) -> str:
    return f'<details class="jctx-thinking"><summary>{summary}</summary>{body}</details>'
