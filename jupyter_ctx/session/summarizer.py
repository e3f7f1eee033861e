"""Write the older part of a conversation shorter, and check the result."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from ..context.budget import MARGIN
from ..context.summary_facts import (
    MUST_KEEP,
    SMALL_WINDOW,
    Exchange,
    clipped,
    fenced,
    missing_facts,
    pick_lines,
    portions,
    task,
    transcript,
    whole_lines,
    within,
)
from ..conversation.messages import Message, Turn
from ..errors import ContextOverflowError
from ..models.registry import Models, Target
from ..providers.base import Reply
from .paying import paid_stream

SMALLER = 2  # times that a portion which was refused is halved
MOST_ATTACHED = 1_000  # characters of attached text whose figures and names a summary must keep as the user's own
LEAST_ROOM = 64  # tokens of transcript that are worth a request


class Older(NamedTuple):
    """The material of a summary: the turns, and the summary that stood for those before them."""

    turns: tuple[Turn, ...]
    before: str = ""

    @property
    def said(self) -> list[Exchange]:
        """Return prompt and reply of each turn, with the names of what went with it, but without long texts of it."""
        return [(with_names(turn, _worded(turn)), turn.reply) for turn in self.turns]

    @property
    def sent(self) -> list[Exchange]:
        """Return prompt and reply of each turn, with all that went with it."""
        return [(with_names(turn, turn.prompt), turn.reply) for turn in self.turns]

    @property
    def prompts(self) -> list[str]:
        """Return the user's texts and the summary so far: a new summary must keep enough of their facts."""
        return [text for text in (self.before, *(prompt for prompt, _ in self.said)) if text]


def _worded(turn: Turn) -> str:
    """Return the prompt as a person worded it: long texts that went with it are data, and not to be kept whole."""
    attached = len(turn.prompt) - len(turn.typed)
    return turn.typed if attached > MOST_ATTACHED else turn.prompt


def with_names(turn: Turn, asked: str) -> str:
    """Return what was asked, with the names of what went with it; what was sent of it is no fact to keep."""
    names = ", ".join(re.sub(r" \([^()]*\)\Z", "", source) for source in turn.sources)
    return f"{asked}\n[attached: {names}]" if names else asked


def extractive_summary(older: Older, target: Target, cap: int) -> str:
    """Return the lines with the most numbers, names, decisions and definitions; no model is asked.

    Small models' replies are left out: there is little room, and their replies are worth less of it.
    """
    small = target.window.tokens <= SMALL_WINDOW
    exchanges: list[Exchange] = [
        (older.before, ""),
        *((prompt, "" if small else reply) for prompt, reply in older.said),
    ]
    wanted, _ = missing_facts(older.prompts, "")
    text = "\n".join(pick_lines(exchanges, wanted, cap, target.meter.tokens))
    if keeps_enough(len(wanted) - len(missing_facts(older.prompts, text)[1]), len(wanted)):
        return text
    return "\n".join(pick_lines(exchanges, wanted, cap, target.meter.tokens, evenly=False))


def model_summary(
    models: Models,
    older: Older,
    target: Target,
    cap: int,
    instructions: str | None,
    replied: Callable[[Reply], object],
) -> str:
    """Return a model's summary of the older turns, at most ``cap`` tokens; ``replied`` gets each reply.

    Turns that exceed the model's window are sent in portions, each with the summary of those before it.
    """
    measure, small = target.meter.tokens, target.window.tokens <= SMALL_WINDOW
    text = older.before
    for portion in _portions(older, target, cap, instructions):
        reply = _written(models, task(text, cap, instructions, small=small), portion, target, cap)
        replied(reply)
        text = reply.text.strip() if reply.stop_reason == "stop" else whole_lines(reply.text)
        text = within(text, cap, measure)
    return text


def _portions(older: Older, target: Target, cap: int, instructions: str | None) -> list[str]:
    """Return the turns as text, in portions that a request has room for. Raises ContextOverflowError."""
    measure, small = target.meter.tokens, target.window.tokens <= SMALL_WINDOW
    longest = task("x", cap, instructions, small=small)  # beside the summary so far
    limit = target.window.tokens - _length(target, cap)
    room = limit * (1 - MARGIN) - measure(longest) - cap
    if room < LEAST_ROOM:
        raise ContextOverflowError(f"{target.model} holds {target.window.tokens:,} tokens: too few to summarise in.")
    return list(portions(transcript(older.sent, small=small), room, measure))


def _written(models: Models, asked: str, data: str, target: Target, cap: int) -> Reply:
    """Send one request; refused as too long, it is sent again with the middle cut out of its data."""
    for smaller in range(SMALLER + 1):
        prompt = f"{asked}\n\n{fenced(data)}"
        request = target.request((Message("user", prompt),), max_tokens=_length(target, cap), cache_key=None)
        try:
            with closing(paid_stream(models, target, request, target.meter.message(prompt))) as stream:
                return next(item for item in stream if isinstance(item, Reply))
        except ContextOverflowError:
            if smaller == SMALLER:
                raise
            data = clipped(data, target.meter.tokens(data) / 2, target.meter.tokens)
    raise AssertionError("the last one returns or raises")


def _length(target: Target, cap: int) -> int:
    """Return the longest reply to ask for, in tokens: models that think need room for that, too."""
    return cap + target.reserve if target.thinks else cap


def completed_summary(text: str, older: Older, target: Target, cap: int) -> tuple[str, int, int]:
    """Return the summary with lost facts as the user's own lines while they fit, with the facts kept and wanted."""
    prompts = older.prompts
    wanted, lost = missing_facts(prompts, text)
    room = cap - target.meter.tokens(text)
    if lost and room > 0:
        lines = pick_lines([(prompt, "") for prompt in prompts], lost, room, target.meter.tokens)
        text = "\n".join([text, *(line for line in lines if line not in text)]).strip()
        _, lost = missing_facts(prompts, text)
    return text, len(wanted) - len(lost), len(wanted)


def keeps_enough(kept: int, wanted: int) -> bool:
    """Return whether a summary with ``kept`` of the ``wanted`` facts may stand for the turns."""
    return kept >= MUST_KEEP * wanted
