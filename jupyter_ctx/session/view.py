"""Which part of a conversation a request sends."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal, NamedTuple

from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..context.tokens import Fixed, Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Summary, Turn, file_tokens
from ..conversation.places import Place

PartStatus = Literal[
    "system",
    "pinned",
    "summary",
    "sent",
    "prompt",
    "left out",
    "excluded",
    "summarised",
    "empty",
    "summary of older answers",
]


NO_TURNS: frozenset[str] = frozenset()


class Scope(NamedTuple):
    """What may stand before a prompt at position ``at``.

    Turns before the position ``floor`` are left out because the user trimmed them. ``fixed`` is what every request
    carries; ``summary`` stands for the turn versions that it covers.
    """

    at: int
    floor: int
    fixed: Fixed
    summary: Summary | None = None

    @property
    def covers(self) -> frozenset[str]:
        """The ids of the turn versions that the summary stands for."""
        return self.summary.covers if self.summary is not None else NO_TURNS

    def held(self, places: Iterable[Place]) -> list[Place]:
        """Return those of the turns that may be sent, pinned or not."""
        covers = self.covers
        return [
            place
            for place in places
            if place.has_text and not place.excluded and (place.pinned or place.turn.record.id not in covers)
        ]

    def loose(self, conversation: Conversation, start: int, end: int) -> list[int]:
        """Return the numbers, from 1, of the turns between two positions that a cut behind them leaves out."""
        places = conversation.places[start:end]
        held = {place.id for place in self.held(places)}
        return [n for n, place in enumerate(places, start + 1) if place.id in held and not place.pinned]


def scope_at(conversation: Conversation, at: int, system: str) -> Scope:
    """Return what may stand before a prompt at this position: only turns before it.

    A trim counts if it lies before the position, a summary if every turn that it covers does.
    """
    floor = conversation.trimmed_to if conversation.trimmed_to <= at else 0
    summary = conversation.summary
    if summary is not None and not 0 < conversation.covered_to(summary.covers) <= at:
        summary = None
    return _scope(at, floor, system, summary)


def scope_then(conversation: Conversation, at: int, system: str, turn: Turn) -> tuple[Scope, int]:
    """Return the scope of the view that a turn was sent with, as it would be now, and where the view begins."""
    scope = _scope(at, 0, system, conversation.summaries.get(turn.record.summary or ""))
    return scope, at if turn.record.start == turn.id else conversation.index(turn.record.start)


def without_summary(scope: Scope) -> Scope:
    """Return the same scope without its summary."""
    return scope._replace(fixed=Fixed(scope.fixed.system), summary=None)


def _scope(at: int, floor: int, system: str, summary: Summary | None) -> Scope:
    text = summary_message(summary.text) + SUMMARY_ANSWER if summary is not None else ""
    return Scope(at, floor, Fixed(system, text), summary)


def view_key(tokenizer: str, fixed: Fixed, places: Iterable[Place], *added: str) -> str:
    """Return a fingerprint of what one tokenizer counts: the fixed texts, and turn versions by their ids.

    The ids of turns that are ``added`` come last.
    """
    turns = [place.turn.record.id for place in places]
    parts = "\0".join((tokenizer, *fixed, *turns, *added))
    return blake2b(parts.encode("utf-8", "replace"), digest_size=16).hexdigest()


def turn_tokens(turn: Turn, meter: Meter) -> float:
    """Return the tokens of a turn as one model counts them."""
    files = 0 if meter.counted(turn.id) else file_tokens(turn.attachments, meter.vision)
    return meter.turn(turn.id, turn.prompt, turn.reply, files)


def in_view(conversation: Conversation, scope: Scope, start: int) -> tuple[list[Place], list[Place]]:
    """Return the turns of a view that begins at ``start``: pinned turns from before it, and the rest.

    A pinned turn keeps its place while it stands among turns that are sent as they are; beside a summary, these begin
    at one that is not pinned.
    """
    if scope.covers:
        start = next(iter(scope.loose(conversation, start, scope.at)), scope.at + 1) - 1
    start = min(start, scope.at)
    pinned = [place for place in conversation.pins if conversation.index(place.id) < start]
    return scope.held(pinned), scope.held(conversation.places[start : scope.at])


def part_states(conversation: Conversation, scope: Scope, start: int) -> list[PartStatus]:
    """Return what becomes of every turn in a view that begins at ``start``."""
    return [_state(place, scope, inside=start <= i < scope.at) for i, place in enumerate(conversation.places)]


def _state(place: Place, scope: Scope, *, inside: bool) -> PartStatus:
    if place.excluded:
        return "excluded"
    if not place.sendable:
        return "empty"
    if place.pinned:
        return "pinned"
    if place.turn.id in scope.covers:
        return "summarised"
    return "sent" if inside else "left out"
