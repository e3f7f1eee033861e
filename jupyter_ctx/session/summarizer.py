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
    task,
    transcript,
    whole_lines,
    within,
)
from ..conversation.messages import Message, Turn
from ..errors import ContextOverflowError
from ..models.registry import Models, Target
from ..providers.base import Reply
from .complete import paid_stream

MOST_ATTACHED = 1_000  # characters of attached text whose figures and names a summary must keep as the user's own
LEAST_ROOM = 64  # tokens of transcript that are worth a request


class Older(NamedTuple):
    """The material of a summary: the turns, and the summary that stood for those before them."""

    turns: tuple[Turn, ...]
    before: str = ""

    @property
    def worded(self) -> list[Exchange]:
        """Return prompt and reply of each turn, with the names of what went with it, but without long texts of it."""
        return [(with_names(turn, _worded(turn)), turn.reply) for turn in self.turns]

    @property
    def exchanges(self) -> list[Exchange]:
        """Return prompt and reply of each turn, with all that went with it."""
        return [(with_names(turn, turn.prompt), turn.reply) for turn in self.turns]

    @property
    def prompts(self) -> list[str]:
        """Return the user's texts and the summary so far: a new summary must keep enough of their facts."""
        return [text for text in (self.before, *(prompt for prompt, _ in self.worded)) if text]


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
        *((prompt, "" if small else reply) for prompt, reply in older.worded),
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
    """Return a model's summary of the older turns, at most ``cap`` tokens; ``replied`` gets the reply.

    It is one request, which fits the model's window: the middle of longer turns is left out. Raises ChatError.
    """
    measure, small = target.meter.tokens, target.window.tokens <= SMALL_WINDOW
    asked = task(older.before, cap, instructions, small=small)
    room = (target.window.tokens - _length(target, cap)) * (1 - MARGIN) - measure(asked)
    if room < LEAST_ROOM:
        raise ContextOverflowError(f"{target.model} holds {target.window.tokens:,} tokens: too few to summarise in.")
    data = clipped("\n".join(transcript(older.exchanges, small=small)), room, measure)
    prompt = f"{asked}\n\n{fenced(data)}"
    request = target.request((Message("user", prompt),), max_tokens=_length(target, cap), cache_key=None)
    with closing(paid_stream(models, target, request, target.meter.message(prompt))) as stream:
        reply = next(item for item in stream if isinstance(item, Reply))
    replied(reply)
    text = reply.text.strip() if reply.stop_reason == "stop" else whole_lines(reply.text)
    return within(text, cap, measure)


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
