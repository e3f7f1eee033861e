"""What a run will cost: expected, and at most; told before it begins, and asked about where it is high."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...config.settings import Settings
from ...context.tokens import Meter
from ...context.usage import Usage
from ...errors import BudgetExceededError, InvalidRequestError
from ...models.registry import Models, Target
from ...models.request_price import GIVE_PRICES, TIERED, price_of, with_unknown_price, worst_case
from ...providers.base import Reply
from ...session.ask import Ask, Asker
from ...wording import counted, dollars
from ..judges import Judge
from ..run_options import Options
from ..table.plan import AnswerPlace, Looked, RunPlan
from ..table.results import Result

COUNTED_ROWS = 4_000  # texts that are counted; where there are more, the others are as dense as these
TRIAL_ROWS = 20  # requests that are sent unasked where nobody knows what they cost
SHARED = 1_000  # characters that all texts begin with, from which they are counted once
EXPECTED_ANSWER = 500  # tokens of an answer, where it may be as long or longer


def with_limit(models: Models, settings: Settings) -> Settings:
    """Return settings with the ``max_tokens`` that is planned with, where none would be sent."""
    target = models.target(settings, ask=False)
    return settings if target.max_tokens is not None else settings.changed({"max_tokens": target.reserve})


def quoted(
    plan: RunPlan,
    looked: Looked,
    asker: Asker,
    missing: Sequence[AnswerPlace],
    judges: Mapping[str, Judge],
    *,
    cap: float | None = None,
    at_once: int = 1,
) -> Estimate:
    """Return what the missing answers may take.

    ``cap``: US dollars that are never passed. ``at_once``: requests that go at once where no cap prevents it.
    """
    parts = list[Part]()
    for number in range(len(plan.arms)):
        places = [place for place in missing if place.arm == number]
        if not places:
            continue
        asks = [plan.ask(place.row, place.arm) for place in _spread(places)]
        part = _part(asker, asks, len(places))
        shared = part.input_tokens * _cached_share(looked, places, asks)
        parts.append(replace(part, shared_tokens=shared))
        parts += [_judged(asker, plan, places, judge) for judge in judges.values()]
    return Estimate.of(asker.models, parts, cap=cap, at_once=at_once)


def check_price(models: Models, settings: Sequence[Settings], cap: float | None) -> None:
    """Raise InvalidRequestError where there is a cap and a model has no known price, naming the model."""
    if cap is None:
        return
    targets = [models.target(each, ask=False) for each in settings]
    unknown = [target.model for target in targets if not target.is_free and price_of(models, target) is None]
    if unknown:
        raise with_unknown_price(unknown)


def check_room(estimate: Estimate, cap: float | None) -> None:
    """Raise BudgetExceededError where a cap has no room for a single request to one of the models."""
    if cap is not None and estimate.at_once == 0:
        raise BudgetExceededError(f"{dollars(cap)} is left of max_cost. {estimate.advice} Nothing was sent.")


def check_agreed(estimate: Estimate, settings: Settings, options: Options) -> None:
    """Ask the user where a run is dear, or nobody knows, unless a cap was given for it.

    Raises InvalidRequestError unless the user agrees.
    """
    if options.yes or options.max_cost is not None or not estimate.is_above(settings.confirm_cost):
        return
    if options.agree is None:
        raise InvalidRequestError(
            f"{estimate} That is above confirm_cost, and nobody can be asked here: "
            "yes=True (--yes in a cell) begins it; nothing was sent."
        )
    if not options.agree(f"{estimate} Begin?"):
        raise InvalidRequestError("Not begun: nothing was sent.")


def _part(asker: Asker, asks: Sequence[Ask], count: int) -> Part:
    """Return the requests to one model, of which ``asks`` are some, evenly spread."""
    target = asker.target(asks[0], server=False)
    texts = [ask.messages[-1].content for ask in asks]
    system = target.meter.message(asks[0].system)
    template = target.meter.learned.overhead or 0.0  # of the model's, as far as reports have shown it
    tokens = count_tokens(target.meter, texts) + (system + template) * len(asks)
    longest = target.meter.message(max(texts, key=len)) + system
    shortest = min(asks, key=lambda ask: len(ask.messages[-1].content)).messages
    worst = worst_case(asker.models, target, target.meter.message(shortest[-1].content) + system, shortest) or 0.0
    return Part(target, count, tokens / len(asks) * count, longest, worst)


def _judged(asker: Asker, plan: RunPlan, places: Sequence[AnswerPlace], judge: Judge) -> Part:
    """Return the requests of a judge, as if every answer were as long as its prompt."""
    asks = list[Ask]()
    for place in _spread(places)[:100]:
        prompt = plan.prompt(place.row, place.arm)
        arm = plan.arms[place.arm]
        asks.append(judge.ask(Result(place.row, arm.label, 0, plan.rows[place.row], arm.values, prompt, Reply(prompt))))
    return _part(asker, asks, len(places))


def _spread(places: Sequence[AnswerPlace]) -> Sequence[AnswerPlace]:
    """Return at most as many places as are counted, evenly spread."""
    return places[:: -(-len(places) // COUNTED_ROWS)]


def _cached_share(looked: Looked, places: Sequence[AnswerPlace], asks: Sequence[Ask]) -> float:
    """Return the share of the input that a prompt cache holds once the first request of each group was answered."""
    whole = sum(len(message.content) for ask in asks for message in ask.messages)
    groups, shared = set[int | None](), 0
    for place in _spread(places):
        length, group = looked.shared(place.row, place.arm), looked.groups[place.arm][place.row]
        if length is not None:
            shared += length if group in groups else 0
            groups.add(group)
    return shared / whole if whole else 0.0


# the figures


def count_tokens(meter: Meter, texts: Sequence[str]) -> float:
    """Return the estimated tokens of all texts, as a message each.

    What all texts begin with is counted once. Of many thousands a part is counted, evenly spread, and the others are
    taken to be as dense.
    """
    if not texts:
        return 0.0
    shared = _shared(texts)
    head = meter.tokens(texts[0][:shared]) if shared else 0.0
    step = -(-len(texts) // COUNTED_ROWS)
    sample = texts[::step]
    counted = sum(meter.message(text[shared:]) for text in sample)
    length = sum(len(text) - shared for text in sample)
    if step > 1:
        counted *= sum(len(text) - shared for text in texts) / length if length else len(texts) / len(sample)
    return head * len(texts) + counted


def _shared(texts: Sequence[str]) -> int:
    """Return how many characters all texts begin with, up to the end of a word; 0 where they are few."""
    first, last = min(texts), max(texts)
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    while length and not first[length - 1].isspace():
        length -= 1
    return length - 1 if length > SHARED and len(texts) > 1 else 0


@dataclass(frozen=True, slots=True)
class Part:
    """The requests of a run to one model.

    target: where they go
    rows: how many they are
    input_tokens: of all of them together, estimated
    longest: the tokens of the longest, estimated
    worst: US dollars that the shortest may cost; 0 where nobody knows, or bills it
    shared_tokens: of the input of all, those that may be read from a prompt cache
    """

    target: Target
    rows: int
    input_tokens: float
    longest: float = 0.0
    worst: float = 0.0
    shared_tokens: float = 0.0


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
    cap: US dollars that are never passed, where that is below what the answers could cost
    worst: US dollars that the shortest request to the dearest model may cost
    at_once: requests that the cap lets go at once, each reserved at ``worst``; ``None``: all that would without it
    fitting: the ``max_tokens`` with which all would go at once; 0: none
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
    at_once: int | None = None
    fitting: int = 0

    @classmethod
    def of(cls, models: Models, parts: Sequence[Part], *, cap: float | None = None, at_once: int = 1) -> Estimate:
        """Return the estimate for all parts of a run together."""
        costs = [_costs(models, part) for part in parts]
        unpriced = dict.fromkeys(part.target.model for part, cost in zip(parts, costs, strict=True) if cost is None)
        expected = sum(cost[0] for cost in costs if cost is not None)
        bounds = [cost[1] for cost in costs if cost is not None]
        most = None if unpriced or None in bounds else sum(bound for bound in bounds if bound is not None)
        is_cut = cap is not None and (most is None or most > cap)
        rows, dearest = sum(part.rows for part in parts), max(parts, key=lambda part: part.worst, default=None)
        wanted, worst = max(1, min(at_once, rows)), dearest.worst if dearest is not None else 0.0
        fits = math.floor(cap / worst) if cap is not None and worst else rows
        return cls(
            rows=rows,
            models=tuple(dict.fromkeys(part.target.model for part in parts)),
            input_tokens=round(sum(part.input_tokens for part in parts)),
            expected=None if unpriced else expected,
            most=cap if is_cut else most,
            unpriced=tuple(unpriced),
            is_free=all(part.target.is_free for part in parts),
            cap=cap if is_cut else None,
            worst=worst,
            at_once=fits if fits < min(at_once, rows) else None,
            fitting=0 if cap is None or dearest is None else _fitting(models, dearest, cap / wanted),
        )

    def is_above(self, most: float | None) -> bool:
        """Return whether one should ask before the run begins: it is dear, or nobody knows and it is no trial.

        most: US dollars that need no question; ``None``: any amount does
        """
        if most is None:
            return False
        if self.expected is None:
            return self.rows > TRIAL_ROWS
        likely = self.expected if self.most is None else min(self.expected, self.most)
        return likely > most

    @property
    def advice(self) -> str:
        """What the cap has no room for, and what would help; empty where as many go at once as without it."""
        if self.at_once is None:
            return ""
        remedy = f"set --max-tokens {self.fitting:,}" if self.fitting else "raise the limit"
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
        return " ".join(filter(None, [f"{requests}. {self._price()}", self.advice]))

    def _price(self) -> str:
        expected = f"Expected about {dollars(self.expected or 0.0)}"
        if self.most is None:
            return f"{expected}; --max-tokens or --max-cost sets a limit."
        if self.cap is None:
            return f"{expected}, at most {dollars(self.most)}."
        if (self.expected or 0.0) > self.cap:
            return f"{expected}, and your limit of {dollars(self.cap)} ends it before all rows are asked."
        return f"{expected}, at most {dollars(self.cap)} (your limit)."


def _costs(models: Models, part: Part) -> tuple[float, float | None] | None:
    """Return the US dollars of a part, expected and at most; ``None``: unknown."""
    if part.target.is_free:
        return 0.0, 0.0
    price = price_of(models, part.target)
    if price is None:
        return None
    longest = part.target.max_tokens
    usual = min(longest or EXPECTED_ANSWER, EXPECTED_ANSWER)
    read = (part.input_tokens - part.shared_tokens) * price.input + part.shared_tokens * price.read
    expected = read + part.rows * usual * price.output
    if longest is None:
        return expected, None
    written = price.written if part.target.cache_key is not None else price.input
    most = part.input_tokens * max(price.input, written) + part.rows * longest * price.output
    return expected, most * _dearer(models, part, price.input)


def _dearer(models: Models, part: Part, price: float) -> float:
    """Return how much dearer the longest request is than at the usual price of its tokens: 1 for most models."""
    tokens = math.ceil(part.longest)
    if tokens < TIERED or not price:
        return 1.0
    return max(1.0, (models.cost(part.target, Usage(tokens, 0)) or 0.0) / (tokens * price))


def _fitting(models: Models, part: Part, room: float) -> int:
    """Return the ``max_tokens`` with which a request may cost no more than so many US dollars; 0: none."""
    price = price_of(models, part.target)
    if price is None or not price.output:
        return 0
    planned = part.target.max_tokens or part.target.reserve
    most = math.floor(planned - (part.worst - room) / price.output)
    digits = 10 ** max(0, len(str(most)) - 2)
    return most // digits * digits if most > 0 else 0
