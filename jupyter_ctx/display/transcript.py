"""Draw a conversation as it was said: prompts, answers, and what each has taken.

The newest turns are shown, and of long texts the beginning and their length: a saved notebook holds what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..wording import turns
from .answer.attachment_summary import AnswerStep, step_bundles
from .answer.footer import Footer, footer_html, footer_line
from .answer.markdown import MAX_HIGHLIGHTED, answer_html, is_json, json_block, to_html, with_fence_closed
from .tables import shortened
from .text import QUIET, WRAPS, text_html, to_plain

if TYPE_CHECKING:
    from ..conversation.messages import Turn

IN_FULL, IN_TEXT = 20, 3  # of the newest turns: on a page, and in plain text
MOST_WHOLE, MOST_IN_TEXT = 10_000, 300  # characters of a text there
SMALL = f"font-size:85%;{QUIET}"
PROMPT_STYLE = (
    "margin:2px 0 4px;padding:6px 12px;border-radius:6px;white-space:pre-wrap;background:rgba(128,128,128,0.1);"
    "background:var(--jp-layout-color2,rgba(128,128,128,0.1))"
)


class TurnShown(NamedTuple):
    """A turn of a transcript.

    ``states`` say what else is to be said of it, such as ``left out`` or ``pinned``; ``steps``: what the model called.
    """

    number: int
    turn: Turn
    figures: Footer
    states: Sequence[str] = ()
    steps: Sequence[AnswerStep] = ()


class Transcript(NamedTuple):
    """A conversation; ``model`` is the one in use, ``total`` what all turns took, ``summary`` stands for older ones."""

    model: str
    turns: Sequence[TurnShown]
    total: Footer
    name: str = ""
    system: str = ""
    summary: str = ""

    @property
    def older(self) -> str:
        """How many turns come before those that a page shows; empty: none."""
        count = len(self.turns) - IN_FULL
        return f"{turns(count)} before these: chat.export('talk.md') writes all." if count > 0 else ""

    @property
    def sum(self) -> str:
        """The whole in one line."""
        parts = (self.name, self.model, turns(len(self.turns)), footer_line(self.total, priced=True))
        return " · ".join(filter(None, parts))


def transcript_html(talk: Transcript) -> str:
    """Return the conversation as HTML; everything in it is escaped, or rendered as answers are."""
    left = {"coloured": MAX_HIGHLIGHTED, "formulas": math.inf}
    parts = [
        f'<details style="margin:.4em 0"><summary style="{SMALL}">{title}</summary>{_prompt_html(text)}</details>'
        for title, text in (("System prompt", talk.system), ("Summary of older turns", talk.summary))
        if text
    ]
    parts += [f'<div style="{SMALL}">{text_html(talk.older)}</div>'] if talk.older else []
    parts += [_turn_html(turn, left) for turn in talk.turns[-IN_FULL:]]
    parts.append(f'<div style="{SMALL};margin:.6em 0">{text_html(talk.sum)}</div>')
    return f'<div class="jctx-transcript" style="max-width:900px;{WRAPS}">{"".join(parts)}</div>'


def transcript_text(talk: Transcript, head: str) -> str:
    """Return the newest turns as plain text, below a ``head``."""
    shown, lines = talk.turns[-IN_TEXT:], [head]
    more = len(talk.turns) - len(shown)
    lines += [f"… {turns(more)} before these"] if more else []
    for number, turn, _, _, steps in shown:
        answers = [*(step.plain for step in step_bundles(steps)), turn.reply]
        lines += [f"{number}> {shortened(turn.typed, MOST_IN_TEXT)}"]
        lines += [f"   {shortened(text, MOST_IN_TEXT)}" for text in answers]
    return to_plain("\n".join(lines))


def _turn_html(shown: TurnShown, left: dict[str, float]) -> str:
    """Return a turn; ``left`` as for to_html."""
    turn = shown.turn
    attached = [f"with {', '.join(turn.sources)}"] if turn.sources else []
    head = " · ".join([f"turn {shown.number:,}", *attached, *shown.states])
    called = "".join(step.html for step in step_bundles(shown.steps))
    reply = json_block(turn.reply) if is_json(turn.reply) else turn.reply
    answer = answer_html(to_html(with_fence_closed(reply[:MOST_WHOLE]), left) + _rest(reply))
    return (
        f'<div class="jctx-turn" style="margin:0 0 1.2em"><div style="{SMALL}">{text_html(head)}</div>'
        f"{_prompt_html(turn.typed)}{called}{answer}{footer_html(shown.figures, priced=True)}</div>"
    )


def _prompt_html(text: str) -> str:
    """Return the beginning of a text in the box of a prompt."""
    return f'<div dir="auto" style="{PROMPT_STYLE}">{text_html(text[:MOST_WHOLE])}{_rest(text)}</div>'


def _rest(text: str) -> str:
    """Return how much of a text is not shown."""
    told = f"… {MOST_WHOLE:,} of {len(text):,} characters are shown."
    return f'<div style="{SMALL}">{told}</div>' if len(text) > MOST_WHOLE else ""
