"""What answers took, in tokens, dollars and seconds, and what prompt caches have saved of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

from .. import wording as words
from ..context.usage import Usage
from ..conversation.conversation import Conversation
from ..conversation.events import Event, Offered, Said
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


PriceOf: TypeAlias = Callable[[str], Price | None]  # by a model's full name


class Savings(NamedTuple):
    """What prompt caches have saved in the answers of a conversation, at the prices of today.

    All answers count that stand in it: older versions and those before a clear too; undone ones, and prompts that
    were sent with ``--no-history``, do not.

    answers: answers with a report of their tokens
    input_tokens: the input of all of them
    cached_tokens: of that, read from prompt caches
    cached_cost: US dollars that caching saved: those tokens at the usual price of input instead of the lower one, less
        what writing to the cache cost more than usual input; negative where the writing cost more; ``None``: no price
        is known
    unpriced: answers whose price is unknown, which ``cached_cost`` is without
    """

    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cached_cost: float | None = None
    unpriced: int = 0

    def __str__(self) -> str:
        """Return a line; empty: caching has neither saved nor cost anything."""
        if not (self.cached_tokens or self.cached_cost):
            return ""
        read = f"{self.cached_tokens:,} of {self.input_tokens:,} input tokens were read from caches"
        if not self.cached_cost:
            return f"Saved by caching: {read}"
        sign = "" if self.cached_cost > 0 else "−"
        more = "" if self.cached_cost > 0 else ", and writing to them cost more than that saved"
        unpriced = words.counted(self.unpriced, "answer")
        less = f"; the dollars are without {unpriced} of no known price" if self.unpriced else ""
        return f"Saved by caching: {sign}{words.dollars(abs(self.cached_cost))}; {read}{more}{less}"


def savings(conversation: Conversation, price_of: PriceOf) -> Savings:
    """Return what has been saved so far."""
    turns = {turn.id: turn for event in conversation.standing for turn in _answers(event)}
    answered = [(turn.model, turn.usage) for turn in turns.values() if turn.record.digest and not turn.record.stored]
    prices = {model: price_of(model) for model in {model for model, _ in answered}}
    reported = [(prices[model], usage) for model, usage in answered if usage is not None]
    saved = [_saved(price, usage) for price, usage in reported if price is not None]
    return Savings(
        len(reported),
        sum(usage.input_tokens for _, usage in reported),
        sum(usage.cache_read_tokens for _, usage in reported),
        sum(saved) if saved else None,
        len(answered) - len(saved),
    )


def _saved(price: Price, usage: Usage) -> float:
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    return read * (price.input - price.read) - written * (price.written - price.input)


def _answers(event: Event) -> tuple[Turn, ...]:
    """Return the turns that an event answers: several side by side; an answer may be offered again."""
    if isinstance(event, Offered):
        return event.alternatives.turns
    return (event.turn,) if isinstance(event, Said) else ()
