"""What a run may cost: a range told before it begins, and asked about where it is high."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...config.settings import Settings
from ...context.tokens import Meter
from ...context.usage import Usage
from ...errors import BudgetExceededError, InvalidRequestError
from ...models.registry import Models, Target
from ...models.request_price import GIVE_PRICES, TIERED, Price, is_free, price_of, with_unknown_price, worst_case
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
Range: TypeAlias = tuple[float, float | None]  # US dollars, from and to; None: open upwards


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
    for number, arm in enumerate(plan.arms):
        places = [place for place in missing if place.arm == number]
        if not places:
            continue
        asks = [plan.ask(place.row, place.arm) for place in _spread(places)]
        part = _part(asker, asks, len(places))
        shared = part.input_tokens * _cached_share(looked, places, asks)
        parts.append(replace(part, shared_tokens=shared, is_capped=arm.is_capped))
        parts += [_judged(asker, plan, places, judge) for judge in judges.values()]
    return Estimate.of(asker.models, parts, cap=cap, at_once=at_once)


def check_price(models: Models, settings: Sequence[Settings], cap: float | None) -> None:
    """Raise InvalidRequestError where there is a cap and a model has no known price, naming the model."""
    if cap is None:
        return
    targets = [models.target(each, ask=False) for each in settings]
    unknown = [target.model for target in targets if not is_free(target) and price_of(models, target) is None]
    if unknown:
        raise with_unknown_price(unknown)


def check_room(estimate: Estimate, cap: float | None) -> None:
    """Raise BudgetExceededError where a cap has no room for a single request to one of the models."""
    if cap is not None and estimate.at_once == 0:
        raise BudgetExceededError(f"{dollars(cap)} is left of max_cost: {estimate.room}. Nothing was sent.")


def check_agreed(estimate: Estimate, settings: Settings, options: Options) -> None:
    """Ask the user where a run is dear, or nobody knows. Raises InvalidRequestError unless the user agrees."""
    if options.yes or not estimate.is_above(settings.confirm_cost):
        return
    if options.agree is None:
        raise InvalidRequestError(
            f"{estimate} That may be above confirm_cost, and nobody can be asked here: "
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


# the range


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
    is_capped: whether ``max_tokens`` is sent for the sake of a cap only
    """

    target: Target
    rows: int
    input_tokens: float
    longest: float = 0.0
    worst: float = 0.0
    shared_tokens: float = 0.0
    is_capped: bool = False

    @property
    def longest_answer(self) -> int | None:
        """The tokens that one answer may have: ``max_tokens``, else all that the model writes; ``None``: unknown."""
        window = self.target.window
        known = window.max_output_tokens or (None if window.source == "assumed" else window.tokens)
        return self.target.max_tokens or known

    @property
    def most_output(self) -> int | None:
        """The tokens that all answers may have together; ``None``: unknown."""
        return None if self.longest_answer is None else self.rows * self.longest_answer


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run may take, told before it begins.

    rows: requests
    models: their names
    input_tokens: of all requests, estimated
    output_tokens: of all answers, at most; ``None``: nobody knows
    cost: US dollars, from and to, the cap at most; ``None`` instead: unknown; as its end: open upwards
    unpriced: the models whose price is unknown
    is_free: whether nobody bills any of it
    longest: the longest answer in tokens, where that is the same for all; ``None``: it differs, or nobody knows
    is_limited: whether ``max_tokens`` is sent with all requests
    is_capped: whether it is sent for the sake of a cap only
    is_cut: whether the cap is below what the run might cost without it
    worst: US dollars that the shortest request to the dearest model may cost
    at_once: requests that the cap lets go at once, each reserved at ``worst``; ``None``: all that would without it
    """

    rows: int
    models: tuple[str, ...]
    input_tokens: int
    output_tokens: int | None
    cost: tuple[float, float | None] | None
    unpriced: tuple[str, ...] = ()
    is_free: bool = False
    longest: int | None = None
    is_limited: bool = True
    is_capped: bool = False
    is_cut: bool = False
    worst: float = 0.0
    at_once: int | None = None

    @classmethod
    def of(cls, models: Models, parts: Sequence[Part], *, cap: float | None = None, at_once: int = 1) -> Estimate:
        """Return the estimate for all parts of a run together."""
        costs = [_cost(models, part) for part in parts]
        outputs = [part.most_output for part in parts]
        low, high = _sum_of([cost for cost in costs if cost is not None])
        is_cut = False
        if cap is not None and (high is None or high > cap):
            low, high, is_cut = min(low, cap), cap, True
        names = dict.fromkeys(part.target.model for part in parts)
        unpriced = dict.fromkeys(part.target.model for part, cost in zip(parts, costs, strict=True) if cost is None)
        longest = {part.longest_answer for part in parts}
        worst = max((part.worst for part in parts), default=0.0)
        rows = sum(part.rows for part in parts)
        fits = math.floor(cap / worst) if cap is not None and worst else rows
        return cls(
            rows=rows,
            models=tuple(names),
            input_tokens=round(sum(part.input_tokens for part in parts)),
            output_tokens=None if None in outputs else sum(filter(None, outputs)),
            cost=None if unpriced else (low, high),
            unpriced=tuple(unpriced),
            is_free=all(is_free(part.target) for part in parts),
            longest=next(iter(longest)) if len(longest) == 1 else None,
            is_limited=all(part.target.max_tokens is not None for part in parts),
            is_capped=any(part.is_capped for part in parts),
            is_cut=is_cut,
            worst=worst,
            at_once=fits if fits < min(at_once, rows) else None,
        )

    def is_above(self, most: float | None) -> bool:
        """Return whether one should ask before the run begins: it may cost more, or nobody knows and it is no trial.

        most: US dollars that need no question; ``None``: any amount does
        """
        if most is None:
            return False
        low, high = self.cost or (0.0, None)
        return low > most or (self.rows > TRIAL_ROWS if high is None else high > most)

    @property
    def room(self) -> str:
        """What the cap has no room for, and what would help; empty where as many go at once as without it."""
        if self.at_once is None:
            return ""
        if not self.at_once:
            return f"one request may cost up to {dollars(self.worst)}; a lower max_tokens or a higher cap lets it go"
        return f"only {counted(self.at_once, 'request')} at once; a lower max_tokens lets more go"

    def __str__(self) -> str:
        if not self.rows:
            return "All answers are stored: nothing has to be sent."
        where = " and ".join(self.models) if len(self.models) <= 2 else f"{len(self.models)} models"
        requests = counted(self.rows, "request")
        return f"{requests} to {where}: {self.input_tokens:,} tokens in, {self._output()}: {self._price()}"

    def _output(self) -> str:
        most = "any number" if self.output_tokens is None else f"at most {self.output_tokens:,}"
        limit = self._limit()
        return f"{most} out ({limit})" if limit else f"{most} out"

    def _limit(self) -> str:
        """Return how long an answer may be."""
        each = "" if self.longest is None else f"{self.longest:,}"
        if not self.is_limited:
            return f"no max_tokens, each up to {each}" if each else "no max_tokens"
        said = [f"max_tokens {each}"] if each else []
        said += ["sent because of max_cost"] if self.is_capped else []
        return ", ".join(said)

    def _price(self) -> str:
        if self.is_free:
            return "no price, nobody bills it."
        if self.cost is None:
            return f"the price of {' and '.join(self.unpriced)} is unknown. {GIVE_PRICES}"
        low, high = self.cost
        if high is None:
            return f"{dollars(low)} or more, open upwards: set max_tokens."
        told = dollars(high) if dollars(low) == dollars(high) else f"{dollars(low)} to {dollars(high)}"
        if self.is_cut:
            told += " (max_cost)" if low < high else " (max_cost), which ends it before all rows are asked"
        elif not self.is_limited:
            told += "; max_tokens narrows that"
        return f"{told}: {self.room}." if self.room else f"{told}."


def _cost(models: Models, part: Part) -> Range | None:
    """Return the US dollars of a part, from and to; ``None``: unknown."""
    if is_free(part.target):
        return 0.0, 0.0
    price = price_of(models, part.target)
    if price is None:
        return None
    written = price.written if part.target.cache_key is not None else price.input
    low = (part.input_tokens - part.shared_tokens) * price.input + part.shared_tokens * price.read
    high = part.input_tokens * max(price.input, written)
    if part.most_output is None:
        return low, None
    return low, _dearer(models, part, price) * (high + part.most_output * price.output)


def _dearer(models: Models, part: Part, price: Price) -> float:
    """Return how much dearer the longest request is than at the usual price of its tokens: 1 for most models."""
    tokens = math.ceil(part.longest)
    if tokens < TIERED:
        return 1.0
    cost = models.cost(part.target, Usage(tokens, 0))
    return max(1.0, (cost or 0.0) / (tokens * price.input)) if price.input else 1.0


def _sum_of(ranges: Sequence[Range]) -> Range:
    """Return ranges added up; one that is open upwards opens the whole."""
    highs = [high for _, high in ranges]
    most = None if None in highs else sum(high for high in highs if high is not None)
    return sum(low for low, _ in ranges), most
