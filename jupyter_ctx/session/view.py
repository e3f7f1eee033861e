"""What a request sends: the part of a conversation that is in view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..context.prefix_sums import Ledger
from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..context.tokens import Fixed, Meter
from ..conversation.conversation import Conversation, Place
from ..conversation.messages import Message, Role, Summary, Turn
from ..providers.base import Request
from .tabular import AsTable, to_dataframe

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


@dataclass(frozen=True, slots=True)
class ViewPart:
    """One message of a view, or one that is not in it.

    ``number`` is its turn's, from 1; ``exact``: its tokens come from what the provider said;
    ``stale``: its answer was written after an older answer than the one that stands before it.
    """

    role: Role
    text: str
    tokens: int
    state: PartStatus
    number: int | None = None
    exact: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class View(AsTable):
    """A request before it is sent.

    ``messages`` are its parts in order, ``omitted`` the turns' messages that stay out,
    ``input_tokens`` the whole; ``exact``: the provider has counted all of it.
    """

    messages: tuple[ViewPart, ...]
    omitted: tuple[ViewPart, ...]
    input_tokens: int
    exact: bool
    request: Request

    def to_dataframe(self) -> Any:
        """One row a message: ``turn`` and the fields of a part, with its ``share`` of the request.

        What stays out of the request comes last, with a share of 0.
        """
        return to_dataframe(self._columns()).astype({"turn": "Int64"})

    def _shown(self) -> dict[str, list[Any]]:
        return {name: column[: len(self.messages)] for name, column in self._columns().items()}

    def _columns(self) -> dict[str, list[Any]]:
        total = max(self.input_tokens, 1)
        shares = [part.tokens / total for part in self.messages] + [0.0] * len(self.omitted)
        parts = (*self.messages, *self.omitted)
        columns: dict[str, list[Any]] = {"turn": [part.number for part in parts]}
        columns |= {
            name: [getattr(part, name) for part in parts] for name in ("role", "text", "tokens", "exact", "stale")
        }
        return {**columns, "share": shares, "state": [part.state for part in parts]}


@dataclass(frozen=True, slots=True)
class Scope:
    """What may stand before a prompt at position ``at``.

    Turns before ``floor`` are left out by the user's own trim; the ``summary`` stands for
    the turn versions that it covers.
    """

    at: int
    floor: int
    fixed: Fixed
    summary: Summary | None = None

    @property
    def covers(self) -> frozenset[str]:
        """The turn versions that the summary stands for."""
        return self.summary.covers if self.summary is not None else NO_TURNS

    def holds(self, place: Place) -> bool:
        """Whether a view may hold the turn, pinned or not."""
        return place.sendable and (place.pinned or place.turn.id not in self.covers)


def scope_at(conversation: Conversation, at: int, system: str) -> Scope:
    """What may stand before a prompt at this position: only what came before it.

    A trim that lies behind the position does not count, and a summary only where all that
    it covers came before.
    """
    floor = conversation.trimmed_to if conversation.trimmed_to <= at else 0
    summary = conversation.summary
    if summary is not None and not 0 < covered_to(conversation, summary.covers) <= at:
        summary = None
    return _scope(at, floor, system, summary)


def covered_to(conversation: Conversation, covers: frozenset[str]) -> int:
    """The position after the last turn whose current version is among these and may be sent; 0 where none is."""
    there = (place.turn.id in covers and not place.excluded for place in reversed(conversation.places))
    return next((len(conversation.places) - i for i, covered in enumerate(there) if covered), 0)


def scope_then(conversation: Conversation, at: int, system: str, turn: Turn) -> tuple[Scope, int]:
    """What stands now in the view that a turn was sent with, and where that begins."""
    scope = _scope(at, 0, system, conversation.summaries.get(turn.summary or ""))
    return scope, at if turn.start == turn.id else conversation.index(turn.start)


def without_summary(scope: Scope) -> Scope:
    """The same for a request that leaves no room for the summary."""
    return replace(scope, fixed=Fixed(scope.fixed.system), summary=None)


def _scope(at: int, floor: int, system: str, summary: Summary | None) -> Scope:
    text = summary_message(summary.text) + SUMMARY_ANSWER if summary is not None else ""
    return Scope(at, floor, Fixed(system, text), summary)


def turn_tokens(turn: Turn, meter: Meter) -> float:
    """Tokens of a turn, as one model counts."""
    return meter.turn(turn.id, turn.prompt, turn.reply, turn.attached)


def extend_ledger(ledger: Ledger, conversation: Conversation, scope: Scope, meter: Meter) -> Ledger:
    """The ledger with the turns that have come since."""
    for place in conversation.places[len(ledger) :]:
        turn = place.turn
        tokens = turn_tokens(turn, meter) if scope.holds(place) else None
        ledger.append(tokens, pinned=place.pinned, counted=meter.counted(turn.id))
    return ledger


def in_view(conversation: Conversation, scope: Scope, start: int) -> tuple[list[Place], list[Place]]:
    """The turns of a view that begins at ``start``: pinned ones that the cut has passed, and the rest.

    A pinned turn stays in its place while it stands among turns that are sent as they are.
    """
    rest = [place for place in conversation.places[start : scope.at] if scope.holds(place)]
    verbatim = next((i for i, place in enumerate(rest) if not place.pinned), len(rest))
    before = min(start, scope.at)
    passed = [place for place in conversation.pins if scope.holds(place) and conversation.index(place.id) < before]
    if scope.covers:
        passed, rest = passed + rest[:verbatim], rest[verbatim:]
    return passed, rest


def to_messages(conversation: Conversation, scope: Scope, start: int, asked: Message) -> tuple[Message, ...]:
    """The messages of a request: what is fixed first, the newest last."""
    passed, rest = in_view(conversation, scope, start)
    messages = [Message("system", scope.fixed.system)] if scope.fixed.system.strip() else []
    messages += [message for place in passed for message in place.turn.messages]
    if scope.summary is not None:
        messages += [Message("user", summary_message(scope.summary.text))]
        messages += [Message("assistant", SUMMARY_ANSWER)]
    messages += [message for place in rest for message in place.turn.messages]
    return (*messages, asked)


def summary_is_old(conversation: Conversation) -> bool:
    """Whether some turn that the summary covers has a newer version by now."""
    covers = conversation.summary.covers if conversation.summary else frozenset()
    return any(
        place.turn.id not in covers and any(version.id in covers for version in place.versions)
        for place in conversation.places
    )


def part_status(place: Place, index: int, scope: Scope, start: int) -> PartStatus:
    """What becomes of a turn in a view that begins at ``start``."""
    if place.excluded:
        return "excluded"
    if not place.sendable:
        return "empty"
    if place.pinned:
        return "pinned"
    if place.turn.id in scope.covers:
        return "summarised"
    return "sent" if start <= index < scope.at else "left out"


def turn_parts(conversation: Conversation, scope: Scope, start: int, meter: Meter) -> Iterator[ViewPart]:
    """Both messages of every turn, with what becomes of them."""
    stale = conversation.stale()
    for index, place in enumerate(conversation.places):
        turn, state = place.turn, part_status(place, index, scope, start)
        exact = meter.counted(turn.id)
        asked, said = meter.message(turn.prompt) + turn.attached, meter.tokens(turn.reply)
        share = turn_tokens(turn, meter) / max(asked + said, 1.0)
        yield ViewPart("user", turn.prompt, round(asked * share), state, index + 1, exact, place.id in stale)
        yield ViewPart("assistant", turn.reply, round(said * share), state, index + 1, exact, place.id in stale)
