"""What answers took, in tokens, dollars and seconds, and what prompt caches have saved of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from .. import wording as words
from ..conversation.conversation import Conversation
from ..conversation.messages import StopReason, Turn
from ..conversation.places import Place
from ..models.request_price import Price
from .history import cell_of
from .tabular import Table

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class UsageRow(NamedTuple):
    """One answer; token counts, cost and seconds are ``None`` where unknown, as after an interrupt.

    ``turn``: the number of its turn, from 1.
    ``version``: its number among the answers to that turn, from 1.
    ``cell``: the turn's cell.
    ``model``: who answered.
    ``input_tokens``, ``output_tokens``, ``cache_read_tokens``, ``cache_write_tokens``, ``reasoning_tokens``: as in
    :class:`~jupyter_ctx.context.usage.Usage`, where cached tokens are part of the input and reasoning of the output.
    ``cost``: in US dollars.
    ``seconds``: from the request to the end of the reply.
    ``stop_reason``: why the reply ended.
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


def _row(number: int, version: int, place: Place, turn: Turn) -> UsageRow:
    took: dict[str, Any] = {name: getattr(turn.usage, name, None) for name in TOKENS}
    took |= {"cost": turn.cost, "seconds": turn.record.seconds}
    return UsageRow(number, version, cell_of(place), turn.model, **took, stop_reason=turn.stop_reason)


def saved_by_caching(usages: Usages, price_of: Callable[[str], Price | None]) -> str:
    """Return a line on what prompt caches saved of these answers, at the prices of today; empty: they had no part.

    Dollars are those of the answers whose price is known, less what writing to caches cost more than usual input.
    """
    total = usages.total
    if not (total.cache_read_tokens or total.cache_write_tokens):
        return ""
    prices = {model: price_of(model) for model in {row.model for row in usages}}
    dollars = sum(_saved(price, row) for row in usages if (price := prices[row.model]) is not None)
    sign = "−" if dollars < 0 else ""
    money = f"{sign}{words.dollars(abs(dollars))}; " if dollars else ""
    read = f"{total.cache_read_tokens:,} of {total.input_tokens:,} input tokens"
    return f"Saved by caching: {money}{read} were read from caches"


def _saved(price: Price, row: UsageRow) -> float:
    read, written = row.cache_read_tokens or 0, row.cache_write_tokens or 0
    return read * (price.input - price.read) - written * (price.written - price.input)
