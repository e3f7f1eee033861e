"""What answers took, in tokens, dollars and seconds."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from .. import wording as words
from ..conversation.conversation import Conversation
from ..conversation.messages import StopReason, Turn
from ..conversation.places import TurnSlot
from ..display.tabular import Table
from .history import cell_of

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class UsageRow(NamedTuple):
    """One answer; token counts, cost and seconds are ``None`` where unknown, as after an interrupt.

    ``turn``, ``version``: the number of its turn, and its own among the answers to that turn, from 1.
    ``input_tokens`` to ``reasoning_tokens``: as in :class:`~jupyter_ctx.context.usage.Usage`, where cached tokens are
    part of the input and reasoning of the output.
    ``cost``, ``seconds``: in US dollars; from the request to the end of the reply.
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
    """Sums over all answers, unknown values left out: what was used, not the size of a request."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: float | None
    seconds: float


class Usages(Table[UsageRow]):
    """All answers to the turns since the last clear, older versions included, in order of the turns."""

    __slots__ = ()
    columns = UsageRow._fields
    usual: ClassVar = {"version": "1", **dict.fromkeys(TOKENS[2:], "0"), "stop_reason": "stop"}
    heads: ClassVar = {
        **dict(zip(TOKENS, ("in", "out", "cache read", "cache write", "reasoning"), strict=True)),
        "stop_reason": "ending",
    }
    formats: ClassVar = {**dict.fromkeys(TOKENS, "{:,}".format), "cost": words.dollars, "seconds": "{:,.1f}".format}

    def _below(self) -> str:
        total = self.total
        cost = "" if total.cost is None else f", {words.dollars(total.cost)}"
        spent = f"{total.input_tokens:,} tokens in, {total.output_tokens:,} out{cost}, {total.seconds:,.1f} s"
        return f"{words.counted(len(self), 'answer')}: {spent}"

    @property
    def total(self) -> Total:
        """The sums over all rows; ``cost`` is ``None`` where no row has one."""
        sums: dict[str, Any] = {name: sum(getattr(row, name) or 0 for row in self) for name in Total._fields}
        priced = any(row.cost is not None for row in self)
        return Total(**{**sums, "cost": sums["cost"] if priced else None})


def usages(conversation: Conversation) -> Usages:
    """Return the table. Answers that were added from elsewhere or shown again took nothing here and have no row."""
    return Usages(
        _row(number, version, place, turn)
        for number, place in enumerate(conversation.places, 1)
        for version, turn in enumerate(place.versions, 1)
        if turn.record.digest and not turn.record.stored  # turns that were added have no request
    )


def _row(number: int, version: int, place: TurnSlot, turn: Turn) -> UsageRow:
    took: dict[str, Any] = {name: getattr(turn.usage, name, None) for name in TOKENS}
    took |= {"cost": turn.cost, "seconds": turn.record.seconds}
    return UsageRow(number, version, cell_of(place), turn.model, **took, stop_reason=turn.stop_reason)
