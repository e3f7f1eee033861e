"""What a run will cost, expected and at most: told before it begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..context.budget import MARGIN
from ..context.tokens import OVERHEAD_AT_MOST, Meter
from ..context.usage import Usage
from ..models.pricing import GIVE_PRICES, price_of, worst_case
from ..models.registry import Models
from ..models.target import Target
from ..providers.base import Reply
from ..session.ask import Ask, Asker
from ..wording import counted, dollars
from .judges import Judge
from .table.plan import AnswerPlace, RunPlan
from .table.results import Result

COUNTED_ROWS, COUNTED_VERDICTS = 1_000, 100  # texts that are counted; the others are taken to be as dense
TRIAL_ROWS = 20  # requests that are sent unasked where nobody knows what they cost
EXPECTED_ANSWER = 500  # tokens of an answer, where it may be as long or longer


@dataclass(frozen=True, slots=True)
class Part:
    """The requests of a run to one model.

    target: where they go
    rows: how many they are
    input_tokens: of all of them together, estimated
    longest: the tokens of the longest, estimated
    worst: US dollars that the shortest may cost; 0 where nobody knows, or bills it
    tries: how often each may be asked: one for a structured answer twice
    """

    target: Target
    rows: int
    input_tokens: float
    longest: float = 0.0
    worst: float = 0.0
    tries: int = 1


def run_parts(asker: Asker, plan: RunPlan, missing: Sequence[AnswerPlace], judges: Iterable[Judge]) -> Iterator[Part]:
    """Yield what the missing answers take: a part for each arm, and one for each of its judges."""
    judges = list(judges)
    for number, arm in enumerate(plan.arms):
        rows = [place.row for place in missing if place.arm == number]
        if not rows:
            continue
        texts, tries = [plan.prompts[row, number].text for row in rows], 1 if plan.schema is None else 2
        yield _part(asker, plan.ask(rows[0], number), texts, len(rows), tries)
        few = _spread(rows, COUNTED_VERDICTS)
        for judge in judges:  # as if every answer were as long as its prompt
            texts = [plan.prompts[row, number].text for row in few]
            results = [
                Result(row, arm.label, 0, plan.rows[row], arm.values, text, Reply(text))
                for row, text in zip(few, texts, strict=True)
            ]
            asks = list(map(judge.ask, results))
            yield _part(asker, asks[0], [ask.messages[-1].content for ask in asks], len(rows))


def _part(asker: Asker, ask: Ask, texts: Sequence[str], count: int, tries: int = 1) -> Part:
    """Return requests to one model like ``ask``, of which these are the texts or some of them, evenly spread."""
    target = asker.target(ask, server=False)
    around = target.meter.message(ask.system) + (target.meter.overhead or 0.0)
    tokens = count_tokens(target.meter, texts) / len(texts) + around
    longest = target.meter.message(max(texts, key=len)) + around
    shortest = replace(ask.messages[-1], content=min(texts, key=len))
    messages = (*ask.messages[:-1], shortest)
    least = target.meter.message(shortest.content) + around
    worst = worst_case(asker.models, target, least, messages, tries=tries)
    return Part(target, count, tokens * count, longest, worst or 0.0, tries)


def count_tokens(meter: Meter, texts: Sequence[str]) -> float:
    """Return the estimated tokens of all texts, as a message each; of many, a part is counted, evenly spread."""
    sample = _spread(texts, COUNTED_ROWS)
    length = sum(map(len, sample))
    return sum(map(meter.message, sample)) * sum(map(len, texts)) / length if length else 0.0


def _spread(items: Sequence[Any], most: int) -> Sequence[Any]:
    """Return about so many of some items at most, evenly spread."""
    return items[:: max(1, -(-len(items) // most))]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost, told before it begins.

    rows: requests
    models: their names
    input_tokens: of all requests, estimated
    expected: US dollars, with answers of a usual length; ``None``: the price of a model is unknown
    most: US dollars that they cannot pass: the cap, or what all answers cost at ``max_tokens``; ``None``: unbounded
    unpriced: the models whose price is unknown
    is_free: whether nobody bills any of it
    cap: most US dollars that may be spent, where that is below what the answers could cost
    worst: US dollars that the shortest request to the dearest model may cost, where the cap has no room for it; else 0
    bounded: the ``max_tokens`` with which it has room for one; 0: there is none
    """

    rows: int
    models: tuple[str, ...]
    input_tokens: int
    expected: float | None
    most: float | None = None
    unpriced: tuple[str, ...] = ()
    is_free: bool = False
    cap: float | None = None
    worst: float = 0.0
    bounded: int = 0

    @classmethod
    def of(
        cls, models: Models, parts: Iterable[Part], cap: float | None = None, whole: float | None = None
    ) -> Estimate:
        """Return the estimate for all parts of a run; ``cap``: US dollars that may be spent, of ``whole`` at first."""
        parts = list(parts)
        names = tuple(dict.fromkeys(part.target.model for part in parts))
        costs = [_costs(models, part) for part in parts]
        unpriced = dict.fromkeys(part.target.model for part, cost in zip(parts, costs, strict=True) if cost is None)
        known = [cost for cost in costs if cost is not None]
        expected = None if unpriced else sum(usual for usual, _ in known)
        bounds = [most for _, most in known if most is not None]
        most = sum(bounds) if len(bounds) == len(parts) else None
        rows, tokens = sum(part.rows for part in parts), sum(part.input_tokens for part in parts)
        is_free = all(part.target.is_free for part in parts)
        estimate = cls(rows, names, round(tokens), expected, most, tuple(unpriced), is_free)
        if cap is None or not parts or (most is not None and most <= cap):
            return estimate
        estimate = replace(estimate, most=cap, cap=cap)
        dearest = max(parts, key=lambda part: part.worst)
        if dearest.worst <= cap:
            return estimate
        return replace(estimate, worst=dearest.worst, bounded=_fitting(models, dearest, whole or cap))

    def is_above(self, most: float | None) -> bool:
        """Return whether one should ask before the run begins: it is dear, or nobody knows and it is no trial.

        most: US dollars that need no question; ``None``: any amount does
        """
        if most is None:
            return False
        if self.expected is None:
            return self.rows > TRIAL_ROWS
        return min(self.expected, self.most or self.expected) > most

    @property
    def lack(self) -> str:
        """What the cap has no room for, and what would help; empty where it has room for a request."""
        if not self.worst:
            return ""
        remedy = f"set --max-tokens {self.bounded:,}" if self.bounded else "raise the limit"
        return f"A full-length answer could cost {dollars(self.worst)}: {remedy}."

    def __str__(self) -> str:
        if not self.rows:
            return "All answers are stored: nothing has to be sent."
        where = " and ".join(self.models) if len(self.models) <= 2 else f"{len(self.models)} models"
        requests = f"{counted(self.rows, 'request')} to {where}: {self.input_tokens:,} tokens in"
        if self.is_free:
            return f"{requests}. Free."
        if self.expected is None:
            return f"{requests}; the price of {' and '.join(self.unpriced)} is unknown. {GIVE_PRICES}"
        return " ".join(filter(None, [f"{requests}. {self._price(self.expected)}", self.lack]))

    def _price(self, expected: float) -> str:
        about = f"Expected about {dollars(expected)}"
        if self.most is None:
            return f"{about}; --max-tokens or --max-cost sets a limit."
        if self.cap is None:
            return f"{about}, at most {dollars(self.most)}."
        if expected > self.cap:
            return f"{about}, and your limit of {dollars(self.cap)} ends it before all rows are asked."
        return f"{about}, at most {dollars(self.cap)} (your limit)."


def _costs(models: Models, part: Part) -> tuple[float, float | None] | None:
    """Return the US dollars of a part, expected and at most; ``None``: unknown."""
    target, tokens = part.target, part.input_tokens
    if target.is_free:
        return 0.0, 0.0
    price = price_of(models, target)
    if price is None:
        return None
    usual = min(target.max_tokens or EXPECTED_ANSWER, EXPECTED_ANSWER)
    expected = tokens * price.input + part.rows * usual * price.output
    if target.max_tokens is None:
        return expected, None
    longest = math.ceil(part.longest) or 1
    dearest = (models.cost(target, Usage(longest, 0)) or 0.0) / longest  # long requests may cost more a token
    written = price.written if target.cache_key is not None else price.input
    answers = part.rows * target.max_tokens
    template = OVERHEAD_AT_MOST if target.meter.overhead is None else 0.0
    sent = tokens / (1 - MARGIN) + part.rows * template  # as estimates are kept apart from the limit
    again = (part.tries - 1) * answers * max(dearest, written)  # the first answer goes with the second request
    return expected, part.tries * (sent * max(dearest, written) + answers * price.output) + again


def _fitting(models: Models, part: Part, room: float) -> int:
    """Return the ``max_tokens`` with which a request may cost no more than so many US dollars; 0: none."""
    price = price_of(models, part.target)
    if price is None or not price.output:
        return 0
    planned = part.target.max_tokens or part.target.reserve
    token = part.tries * price.output + (part.tries - 1) * price.written
    most = math.floor(planned - (part.worst - room) / token)
    digits = 10 ** max(0, len(str(most)) - 2)
    return most // digits * digits if most > 0 else 0
