"""A turn as the newest turns of a conversation are, to say how many more like these fit."""

from __future__ import annotations

from statistics import fmean

from ..context.forecast import NEWEST, TypicalTurn
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Turn
from .view import turn_tokens

LEAST_TURNS = 2  # from which a turn may be called typical
READ_OF_A_PROMPT = 2_000  # characters, by which the margin of its estimate is taken


def typical_turn(past: Conversation, meter: Meter) -> TypicalTurn | None:
    """Return the mean of the newest ten answered turns; ``None`` where fewer than two were answered.

    Their median would be further off where some turns are much longer than others, see benchmarks/README.md.
    """
    newest = [place.turn for place in past.places[-NEWEST:] if place.sendable]
    if len(newest) < LEAST_TURNS:
        return None
    sizes = [turn_tokens(turn, meter) for turn in newest]
    prompts = [_asked(turn, size) for turn, size in zip(newest, sizes, strict=True)]
    return TypicalTurn(fmean(sizes), fmean(prompts), meter.margin(newest[-1].prompt[:READ_OF_A_PROMPT]))


def _asked(turn: Turn, size: float) -> float:
    """Return the tokens of a turn's prompt: what the reply was reported to leave of it, else by their lengths."""
    if turn.usage is not None:
        reply = turn.usage.output_tokens - turn.usage.reasoning_tokens
        if 0 < reply < size:
            return size - reply
    return size * len(turn.prompt) / max(len(turn.prompt) + len(turn.reply), 1)
