"""What answers took: a row for each, with its tokens, its cost and its seconds."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..conversation.conversation import Conversation, Place
from ..conversation.messages import StopReason, Turn
from .history import cell_of
from .tabular import AsTable

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class UsageRow(NamedTuple):
    """One answer: of which ``turn`` and as which of its versions, both numbers from 1, and what it took.

    Tokens nest as in :class:`~jupyter_ctx.context.usage.Usage`; they, ``cost`` (in US dollars)
    and ``seconds`` are ``None`` where nobody knows, as after an interrupt.
    """

    turn: int
    version: int
    cell: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    seconds: float | None
    stop_reason: StopReason


class Total(NamedTuple):
    """The sums of what is known of the answers: a bill, not the size of anything."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: float | None
    seconds: float


class Usages(AsTable, tuple[UsageRow, ...]):
    """All answers to the turns since the last clear, older versions included, in order of the turns.

    As a table it has one row an answer, with the fields of a row.
    """

    __slots__ = ()

    @property
    def total(self) -> Total:
        """Everything together; the cost is ``None`` where none is known."""
        sums: dict[str, Any] = {name: sum(getattr(row, name) or 0 for row in self) for name in Total._fields}
        priced = any(row.cost is not None for row in self)
        return Total(**{**sums, "cost": sums["cost"] if priced else None})

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [getattr(row, name) for row in self] for name in UsageRow._fields}


def usages(conversation: Conversation) -> Usages:
    """The table. What came from elsewhere, or was shown again, took nothing here."""
    return Usages(
        _row(number, version, place, turn)
        for number, place in enumerate(conversation.places, 1)
        for version, turn in enumerate(place.versions, 1)
        if turn.digest and not turn.stored  # turns that were added have no request
    )


def _row(number: int, version: int, place: Place, turn: Turn) -> UsageRow:
    took: dict[str, Any] = {name: getattr(turn.usage, name, None) for name in TOKENS}
    took |= {"cost": turn.cost, "seconds": turn.seconds}
    return UsageRow(number, version, cell_of(place), turn.model, **took, stop_reason=turn.stop_reason)
