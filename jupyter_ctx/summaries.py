"""Writing the older part of a conversation shorter, and checking what came out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from .context.budget import MARGIN
from .context.compaction import (
    LARGE_PROMPT,
    MUST_KEEP,
    SMALL_PROMPT,
    SMALL_WINDOW,
    fenced,
    missing_facts,
    pick_lines,
    transcript,
    whole_lines,
)
from .conversation import Message, Turn
from .models import Target
from .providers import Reply, Request


def extractive_summary(turns: Sequence[Turn], before: str, target: Target, cap: int) -> str:
    """The user's own lines that hold the most numbers and names; no model is asked."""
    texts = [before, *(turn.prompt for turn in turns)]
    wanted, _ = missing_facts(texts, "")
    return "\n".join(pick_lines(texts, wanted, cap, target.meter.text))


def model_summary(turns: Sequence[Turn], before: str, target: Target, cap: int, instructions: str | None) -> str:
    """What the model makes of the older turns, within its own window and at most ``cap`` tokens."""
    small = target.window.tokens <= SMALL_WINDOW
    task = SMALL_PROMPT if small else LARGE_PROMPT
    task = f"{task}\n{instructions}" if instructions else task
    limit = target.window.tokens - cap
    room = limit * (1 - MARGIN) - 2 * target.meter.text(task)
    pairs = ([(f"(earlier) {before}", "")] if before else []) + [(t.prompt, t.reply) for t in turns]
    data = transcript(pairs, room, small=small, measure=target.meter.text)
    prompt = f"{task}\n\n{fenced(data)}"
    request = Request((Message("user", prompt),), max_tokens=cap, temperature=target.settings.temperature)
    with closing(target.provider.stream(request)) as stream:
        reply = next(item for item in stream if isinstance(item, Reply))
    return reply.text.strip() if reply.stop_reason == "stop" else whole_lines(reply.text)


def completed(text: str, said: Sequence[str], target: Target, cap: int) -> tuple[str, int, int]:
    """The summary with what it lost as the user's own lines, while they fit; facts kept and wanted."""
    wanted, lost = missing_facts(said, text)
    room = cap - target.meter.text(text)
    if lost and room > 0:
        lines = pick_lines(said, lost, room, target.meter.text)
        text = "\n".join([text, *lines]).strip()
        _, lost = missing_facts(said, text)
    return text, len(wanted) - len(lost), len(wanted)


def keeps_enough(kept: int, wanted: int) -> bool:
    """Whether a summary may stand for what was said."""
    return kept >= MUST_KEEP * wanted
