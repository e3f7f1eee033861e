"""What prompt caches and leaving out earlier turns have saved, from the records of the turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from .. import wording as words
from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..context.tokens import Meter
from ..context.usage import Usage
from ..conversation.conversation import Conversation
from ..conversation.events import Event, Offered, Said
from ..conversation.messages import Summary, Turn
from ..conversation.places import Place
from ..models.request_price import InputCost
from .view import NO_TURNS, turn_tokens

InputPrices: TypeAlias = Callable[[str, Usage, float], InputCost | None]  # by model, reported tokens and dollars


@dataclass(frozen=True, slots=True)
class Savings:
    """What prompt caches and leaving out earlier turns have saved in the answers of a conversation.

    All answers count that stand in it: older versions and those before a clear too; undone ones, and prompts that
    were sent with ``--no-history``, do not. Everything follows from events and the records of turns. Money is in US
    dollars, ``None`` where no price is known, and without the answers whose price is unknown, of which there are
    ``unpriced``.

    answers: answers with a report of their tokens
    input_tokens: the input of all of them
    cached_tokens: of that, read from prompt caches
    cached_cost: what caching saved: those tokens at the usual price of input instead of the lower one, less what
        writing to the cache cost more than usual input; negative where the writing cost more
    is_exact: whether the prices of today are those at which all of it was paid; else ``cached_cost`` is an estimate
    left_out_tokens: of earlier turns that the requests did not carry, because they were trimmed, cut to make room,
        summarised or excluded, less the summaries that stood for them. An estimate, because these turns were not sent
        and counted again; each turn counts once for every later request without it, but never more than the window
        still had room for: what could not have been sent saves nothing
    left_out_answers: answers whose request lacked any
    left_out_cost: these tokens at the average price of the input of the request that lacked them, so that what would
        have come from a cache counts as little as there. What summaries cost to write is not deducted
    unpriced: answers whose price is unknown
    """

    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cached_cost: float | None = None
    is_exact: bool = True
    left_out_tokens: int = 0
    left_out_answers: int = 0
    left_out_cost: float | None = None
    unpriced: int = 0

    def __str__(self) -> str:
        """Return a line each for caching and cutting; empty: neither has saved or cost anything."""
        lines = list[str]()
        if self.cached_tokens or self.cached_cost:
            read = f"{self.cached_tokens:,} of {self.input_tokens:,} input tokens were read from caches"
            lines.append(_line("caching", read, self.cached_cost, "" if self.is_exact else "~"))
        if self.left_out_tokens:
            prompts = "1 prompt" if self.left_out_answers == 1 else f"{self.left_out_answers:,} prompts"
            sent = f"~{self.left_out_tokens:,} tokens of earlier turns that would have fit were not sent with {prompts}"
            lines.append(_line("leaving out turns", sent, self.left_out_cost, "~"))
        if lines and self.unpriced and self.cached_cost is not None:
            lines[-1] += f"; the dollars are without {words.answers(self.unpriced)} of no known price"
        return "\n".join(lines)


def savings(conversation: Conversation, meter: Meter, prices: InputPrices) -> Savings:
    """Return what has been saved so far. O(n), where turns are mostly added at the end."""
    sums = _Sums()
    for turn, missing in left_out(conversation, lambda turn: turn_tokens(turn, meter), _summary_size(meter)):
        sums.add(turn, missing, prices)
    return sums.total()


def _line(means: str, tokens: str, cost: float | None, about: str) -> str:
    """Return what one of the means has saved, in dollars where these are known and in tokens."""
    if not cost:
        return f"saved by {means}: {tokens}"
    sign = "" if cost > 0 else "−"
    more = "" if cost > 0 else ", and writing to them cost more than that saved"
    return f"saved by {means}: {about}{sign}{words.dollars(abs(cost))}; {tokens}{more}"


@dataclass(slots=True)
class _Sums:
    answers: int = 0
    read: int = 0
    cached: int = 0
    lacking: int = 0
    missing: float = 0.0
    unpriced: int = 0
    is_exact: bool = True
    saved: list[float] = field(default_factory=list)
    spared: list[float] = field(default_factory=list)

    def add(self, turn: Turn, missing: float, prices: InputPrices) -> None:
        """Count an answer whose request lacked so many tokens, as far as the window still had room for them."""
        missing = min(missing, _room(turn))
        self.missing += missing
        self.lacking += missing >= 1
        usage, cost = turn.usage, turn.cost
        if usage is None:
            self.unpriced += 1
            return
        self.answers += 1
        self.read += usage.input_tokens
        self.cached += usage.cache_read_tokens
        paid = prices(turn.model, usage, cost) if cost is not None else None
        if paid is None:
            self.unpriced += 1
            return
        self.is_exact = self.is_exact and paid.exact
        self.saved.append(paid.uncached - paid.paid)
        self.spared.append(missing * paid.paid / max(usage.input_tokens, 1))

    def total(self) -> Savings:
        """Return the sums."""
        known = bool(self.saved)
        return Savings(
            self.answers, self.read, self.cached, sum(self.saved) if known else None, self.is_exact,
            round(self.missing), self.lacking, sum(self.spared) if known else None, self.unpriced,
        )  # fmt: skip


def _room(turn: Turn) -> float:
    """Return the tokens that the window still had room for beside a request and its answer."""
    window, usage = turn.record.window, turn.usage
    if not window:
        return math.inf
    return max(0, window - (usage.input_tokens + usage.output_tokens if usage is not None else 0))


def _summary_size(meter: Meter) -> Callable[[Summary], float]:
    """Return what measures the messages of a summary, each once."""
    known = dict[str, float]()

    def size(summary: Summary) -> float:
        if summary.id not in known:
            known[summary.id] = meter.message(summary_message(summary.text) + SUMMARY_ANSWER)
        return known[summary.id]

    return size


def left_out(
    conversation: Conversation, size: Callable[[Turn], float], summary_size: Callable[[Summary], float]
) -> Iterator[tuple[Turn, float]]:
    """Yield each answered turn with the tokens of earlier turns that its request did not carry.

    The conversation is folded once more, so that each request is seen among the turns that stood before it then.
    """
    past, missing, seen = Conversation(), _Missing(size), set[str]()
    for event in conversation.standing:
        for turn, at in _asked(event, past):
            if turn.id not in seen:  # an answer may be offered again
                seen.add(turn.id)
                yield turn, missing.of(past, turn, at, summary_size)
        past.append(event)
        missing.follow(past)


def _asked(event: Event, past: Conversation) -> Iterator[tuple[Turn, int]]:
    """Yield the turns whose request an event answers, several side by side, with how many turns stood before."""
    turns: tuple[Turn, ...]
    if isinstance(event, Said):
        turns, record, said = (event.turn,), event.turn.record, event
    elif isinstance(event, Offered):
        turns, record = event.alternatives.turns, event.alternatives.asked.record
        said = Said(event.alternatives.asked, event.alternatives.append, event.alternatives.new)
    else:
        return
    at = 0 if said.begins_anew(past) else past.position(record.cell, record.run, append=said.append)
    yield from ((turn, at) for turn in turns if turn.record.digest and not turn.record.stored)


class _Missing:
    """Running sums over the turns of a growing conversation: those of a changed one are made anew where they differ.

    ``_all``: the tokens of all turns. ``_kept``: of pinned ones, which every view holds. ``_gone``: of those that no
    view holds, because they are excluded or summarised.
    """

    def __init__(self, size: Callable[[Turn], float]) -> None:
        self._size = size
        self._all, self._kept, self._gone = [0.0], [0.0], [0.0]
        self._at = dict[str, int]()  # the position of each turn when it was added up last
        self._revision, self._covers = 0, NO_TURNS

    def follow(self, past: Conversation) -> None:
        """Forget the sums from the first turn on that an event has changed."""
        if past.revision != self._revision:
            self._cut(past.same_since(self._revision))
            self._revision = past.revision

    def of(self, past: Conversation, turn: Turn, at: int, summary_size: Callable[[Summary], float]) -> float:
        """Return the tokens that the request of a turn lacked of those before the position ``at``."""
        record = turn.record
        if not at:
            return 0.0
        start = at if record.start == turn.id else min(past.index(record.start), at)
        summary = past.summaries.get(record.summary or "")
        self._extend(past.places, at, NO_TURNS if summary is None else summary.covers)
        before = self._all[start] - self._kept[start]
        within = self._gone[at] - self._gone[start]
        return max(before + within - (0.0 if summary is None else summary_size(summary)), 0.0)

    def _cut(self, turns: int) -> None:
        for sums in (self._all, self._kept, self._gone):
            del sums[turns + 1 :]

    def _extend(self, places: list[Place], at: int, covers: frozenset[str]) -> None:
        """Make the sums reach to a position, with the turns that are summarised now."""
        if covers is not self._covers:
            changed, self._covers = covers ^ self._covers, covers
            self._cut(min((self._at[turn] for turn in changed if turn in self._at), default=len(places)))
        for place in places[len(self._all) - 1 : at]:
            turn = place.turn
            self._at[turn.id] = len(self._all) - 1
            size = self._size(turn) if turn.reply.strip() else 0.0
            gone = not place.pinned and (place.excluded or turn.id in covers)
            self._all.append(self._all[-1] + size)
            self._kept.append(self._kept[-1] + size * place.pinned)
            self._gone.append(self._gone[-1] + size * gone)
