"""Draw a conversation as it was said: prompts, answers, and what each has taken.

The newest turns are shown, and of long texts the beginning and their length: a saved notebook holds what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..wording import counted, turns
from .answer.calls import AnswerStep, step_bundles
from .answer.footer import Footer, footer_html, footer_line
from .answer.json_block import is_json, json_block
from .answer.markdown import MAX_HIGHLIGHTED, answer_html, to_html, with_fence_closed
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


def transcript_html(talk: Transcript) -> str:
    """Return the conversation as HTML; everything in it is escaped, or rendered as answers are."""
    left = {"coloured": MAX_HIGHLIGHTED, "formulas": math.inf}
    newest = [_turn_html(turn, MOST_WHOLE, left) for turn in talk.turns[-IN_FULL:]]
    fixed = (("System prompt", talk.system), ("Summary of older turns", talk.summary))
    parts = [_folded_html(title, _said_html(text, MOST_WHOLE)) for title, text in fixed if text]
    return (
        f'<div class="jctx-transcript" style="max-width:900px;{WRAPS}">{"".join(parts)}{_older(talk.turns)}'
        f'{"".join(newest)}<div style="{SMALL};margin:.6em 0">{text_html(total_line(talk))}</div></div>'
    )


def total_line(talk: Transcript) -> str:
    """Return the whole in one line."""
    parts = (talk.name, talk.model, turns(len(talk.turns)), footer_line(talk.total, priced=True))
    return " · ".join(filter(None, parts))


def transcript_text(talk: Transcript, head: str) -> str:
    """Return the newest turns as plain text, below a ``head``."""
    shown, lines = talk.turns[-IN_TEXT:], [head]
    for number, turn, _, _, steps in shown:
        said = [*(step.plain for step in step_bundles(steps)), turn.reply]
        lines += [f"{number}> {shortened(turn.typed, MOST_IN_TEXT)}"]
        lines += [f"   {shortened(text, MOST_IN_TEXT)}" for text in said]
    more = len(talk.turns) - len(shown)
    if more:
        lines.insert(1, f"… {counted(more, 'turn')} before these")
    return to_plain("\n".join(lines))


def _older(all_turns: Sequence[TurnShown]) -> str:
    """Return how many turns come before the newest."""
    count = len(all_turns) - IN_FULL
    told = f"{turns(count)} before these: chat.export('talk.md') writes all."
    return f'<div style="{SMALL}">{text_html(told)}</div>' if count > 0 else ""


def _turn_html(shown: TurnShown, most: int, left: dict[str, float]) -> str:
    """Return a turn with at most so many characters of each text; ``left`` as for to_html."""
    turn = shown.turn
    attached = [f"with {', '.join(turn.sources)}"] if turn.sources else []
    head = " · ".join([f"turn {shown.number:,}", *attached, *shown.states])
    called = "".join(step.html for step in step_bundles(shown.steps))
    return (
        f'<div class="jctx-turn" style="margin:0 0 1.2em"><div style="{SMALL}">{text_html(head)}</div>'
        f"{_said_html(turn.typed, most)}{called}{_answer(turn.reply, most, left)}"
        f"{footer_html(shown.figures, priced=True)}</div>"
    )


def _answer(reply: str, most: int, left: dict[str, float]) -> str:
    reply = json_block(reply) if is_json(reply) else reply
    if len(reply) <= most:
        return answer_html(to_html(reply, left))
    return answer_html(to_html(with_fence_closed(reply[:most]), left) + _rest(reply, most))


def _said_html(text: str, most: int) -> str:
    """Return the beginning of a text in the box of a prompt."""
    return f'<div dir="auto" style="{PROMPT_STYLE}">{text_html(text[:most])}{_rest(text, most)}</div>'


def _rest(text: str, most: int) -> str:
    """Return how much of a text is not shown."""
    told = f"… {most:,} of {len(text):,} characters are shown."
    return f'<div style="{SMALL}">{told}</div>' if len(text) > most else ""


def _folded_html(summary: str, body: str) -> str:
    """Return HTML that a line unfolds to."""
    return f'<details style="margin:.4em 0"><summary style="{SMALL}">{text_html(summary)}</summary>{body}</details>'
