"""What a run may cost: a range told before it begins, and asked about where it is high."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean, stdev

from ...config.settings import Settings
from ...context.tokens import Meter
from ...context.usage import Usage
from ...errors import InvalidRequestError
from ...models.registry import Models, Target
from ...models.request_price import GIVE_PRICES, TIERED, Price, is_free, price_of
from ...providers.base import Reply
from ...providers.batch_services import batches_of
from ...session.ask import Ask, Asker
from ...wording import counted, dollars
from ..judges import Judge
from ..run_options import Options
from ..table.plan import AnswerPlace, Looked, RunPlan
from ..table.results import Result

COUNTED_ROWS = 4_000  # texts that are counted; where there are more, the others are as dense as these
SHARED = 1_000  # characters that all texts begin with, from which they are counted once
PILOT_DRAWS, PILOT_SEED = 400, 14  # of the simulation behind a pilot's range
RANGE = (0.03, 0.97)  # the quantiles it goes from and to
UNSEEN = 0.1  # of the answers may be as long as REACH times the longest of ten: every other time none is among them
REACH = 20
LEAST_SPREAD = 0.05  # of the logarithm of answers' lengths: ten equal ones do not prove that all are
STANDARD = NormalDist()


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
    pilots: Sequence[Result] = (),
    *,
    batch: bool = False,
) -> Estimate:
    """Return what the missing answers may take.

    ``batch``: providers that take batches are asked in them.
    """
    parts = list[Part]()
    for number, arm in enumerate(plan.arms):
        places = [place for place in missing if place.arm == number]
        if not places:
            continue
        asks = [plan.ask(place.row, place.arm) for place in _spread(places)]
        outputs = [each for each in pilots if each.arm == arm.label and each.reply is not None]
        part = _part(asker, asks, len(places))
        part = replace(part, input_tokens=part.input_tokens * _reported(part.target, asks[0].system, outputs))
        spent = sum(each.reply.cost or 0.0 for each in outputs if each.reply is not None)
        shared = part.input_tokens * _cached_share(looked, places, asks)
        written = [tokens for each in outputs if (tokens := _written(each)) is not None]
        parts.append(replace(part, shared_tokens=shared, spent=spent, outputs=written, is_capped=arm.is_capped))
        parts += [_judged(asker, plan, places, judge) for judge in judges.values()]
    return Estimate.of(asker.models, [_in_a_batch(part) for part in parts] if batch else parts)


def _in_a_batch(part: Part) -> Part:
    """Return the requests of a part as they are asked in batches, where nothing is written to prompt caches."""
    try:
        batches_of(part.target.provider)
    except InvalidRequestError:
        return part
    return replace(part, is_batch=True, shared_tokens=0.0)


def check_price(models: Models, settings: Sequence[Settings], options: Options) -> None:
    """Raise InvalidRequestError where there is a cap and a model has no known price, naming the model."""
    if options.max_cost is None:
        return
    targets = [models.target(each, ask=False) for each in settings]
    unknown = [target.model for target in targets if not is_free(target) and price_of(models, target) is None]
    if unknown:
        raise InvalidRequestError(
            f"max_cost is {dollars(options.max_cost)}, and the price of {' and of '.join(dict.fromkeys(unknown))} is "
            f"unknown: the cap cannot be kept, and nothing was sent. {GIVE_PRICES}"
        )


def check_agreed(estimate: Estimate, settings: Settings, options: Options) -> None:
    """Ask the user where a run is dear or large. Raises InvalidRequestError unless the user agrees."""
    if options.yes or not estimate.is_above(settings.confirm_cost, settings.confirm_rows):
        return
    sent = "only the pilot was asked, and its answers are kept" if estimate.pilots else "nothing was sent"
    if options.agree is None:
        raise InvalidRequestError(
            f"{estimate} That is above confirm_cost or confirm_rows, and nobody can be asked here: "
            f"yes=True (--yes in a cell) begins it; {sent}."
        )
    if not options.agree(f"{estimate} Begin?"):
        raise InvalidRequestError(f"Not begun: {sent}.")


def _part(asker: Asker, asks: Sequence[Ask], count: int) -> Part:
    """Return the requests to one model, of which ``asks`` are some, evenly spread."""
    target = asker.target(asks[0], server=False)
    texts = [ask.messages[-1].content for ask in asks]
    system = target.meter.message(asks[0].system) * len(asks)
    tokens = count_tokens(target.meter, texts) + system + _overhead(target) * len(asks)
    longest = target.meter.message(max(texts, key=len)) + system / len(asks)
    return Part(target, count, tokens / len(asks) * count, longest)


def _reported(target: Target, system: str, pilots: Sequence[Result]) -> float:
    """Return how many times their estimated input the answered pilots had, as reported: 1 where nothing was."""
    seen = [
        (each.prompt, each.reply.usage) for each in pilots if each.reply is not None and each.reply.usage is not None
    ]
    always = target.meter.message(system) + _overhead(target)
    estimated = sum(target.meter.message(prompt) + always for prompt, _ in seen)
    return sum(usage.input_tokens for _, usage in seen) / estimated if estimated else 1.0


def _overhead(target: Target) -> float:
    """Return the tokens that the model's template adds, as far as reports have shown them."""
    return target.meter.learned.overhead or 0.0


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


def _written(result: Result) -> int | None:
    return result.reply.usage.output_tokens if result.reply is not None and result.reply.usage is not None else None


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
    shared_tokens: of the input of all, those that may be read from a prompt cache
    outputs: tokens of the answers to pilots, which are not among the rows
    spent: US dollars that the pilots cost
    is_capped: whether ``max_tokens`` is sent for the sake of a cap only
    is_batch: whether they are asked in batches
    """

    target: Target
    rows: int
    input_tokens: float
    longest: float = 0.0
    shared_tokens: float = 0.0
    outputs: Sequence[int] = ()
    spent: float = 0.0
    is_capped: bool = False
    is_batch: bool = False

    def output_range(self) -> tuple[float, float | None]:
        """Return the tokens of all answers, from and to; ``None``: open upwards."""
        if self.outputs:
            return total_range(self.outputs, self.rows, self.target.max_tokens)
        return 0.0, None if self.target.max_tokens is None else float(self.rows * self.target.max_tokens)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run may take, told before it begins.

    rows: requests
    models: their names
    input_tokens: of all requests, estimated
    output_tokens: of all answers, from and to; ``None``: open upwards
    cost: US dollars, from and to, pilots included; ``None`` instead: unknown; as its end: open upwards
    unpriced: the models whose price is unknown
    is_free: whether nobody bills any of it
    pilots: answers that the range rests on
    max_tokens: the longest answer, where that is the same for all; ``None``: it differs, or nothing limits it
    is_capped: whether ``max_tokens`` is sent for the sake of a cap only
    is_open: whether nothing limits some answers, so that a range from pilots may be passed
    is_batch: whether some of it is asked in batches
    """

    rows: int
    models: tuple[str, ...]
    input_tokens: int
    output_tokens: tuple[int, int | None]
    cost: tuple[float, float | None] | None
    unpriced: tuple[str, ...] = ()
    is_free: bool = False
    pilots: int = 0
    max_tokens: int | None = None
    is_capped: bool = False
    is_open: bool = False
    is_batch: bool = False

    @classmethod
    def of(cls, models: Models, parts: Sequence[Part]) -> Estimate:
        """Return the estimate for all parts of a run together."""
        ranges = [part.output_range() for part in parts]
        least = sum(low for low, _ in ranges)
        highs = [high for _, high in ranges]
        most = None if None in highs else math.ceil(sum(high for high in highs if high is not None))
        costs = {part.target.model: _cost(models, part) for part in parts}
        unpriced = tuple(dict.fromkeys(model for model, cost in costs.items() if cost is None))
        limits = {part.target.max_tokens for part in parts}
        return cls(
            rows=sum(part.rows for part in parts),
            models=tuple(dict.fromkeys(part.target.model for part in parts)),
            input_tokens=round(sum(part.input_tokens for part in parts)),
            output_tokens=(round(least), most),
            cost=None if unpriced else _together([_cost(models, part) for part in parts]),
            unpriced=unpriced,
            is_free=all(is_free(part.target) for part in parts),
            pilots=sum(len(part.outputs) for part in parts),
            max_tokens=next(iter(limits)) if len(limits) == 1 else None,
            is_capped=any(part.is_capped for part in parts),
            is_open=None in limits,
            is_batch=any(part.is_batch for part in parts),
        )

    def is_above(self, most_dollars: float | None, most_rows: int | None) -> bool:
        """Return whether one should ask before the run begins; an open end or an unknown price counts by its rows."""
        high = self.cost[1] if self.cost is not None else None
        low = self.cost[0] if self.cost is not None else 0.0
        dear = most_dollars is not None and max(low, high or 0.0) > most_dollars
        return dear or (most_rows is not None and self.rows > most_rows)

    def __str__(self) -> str:
        if not self.rows:
            return "All answers are stored: nothing has to be sent."
        where = " and ".join(self.models) if len(self.models) <= 2 else f"{len(self.models)} models"
        where += ", in batches" if self.is_batch else ""
        rows = counted(self.rows, "row")
        return f"{rows} to {where}: {self.input_tokens:,} tokens in, {self._output()}: {self._price()}"

    def _output(self) -> str:
        least, most = self.output_tokens
        said = f"after {self.pilots} answers" if self.pilots else ""
        if most is None:
            return f"{f'{least:,} or more' if self.pilots else 'any number'} out ({_listed('no max_tokens', said)})"
        limit = f"max_tokens {self.max_tokens:,}" if self.max_tokens is not None else ""
        limit += ", sent because of max_cost" if self.is_capped else ""
        note = f" ({_listed(limit, said)})" if limit or said else ""
        return (f"{least:,} to {most:,} out" if self.pilots else f"at most {most:,} out") + note

    def _price(self) -> str:
        if self.is_free:
            return "no price, nobody bills it."
        if self.cost is None:
            return f"the price of {' and '.join(self.unpriced)} is unknown. {GIVE_PRICES}"
        low, high = self.cost
        if high is None:
            return f"{dollars(low)} or more, open upwards: set max_tokens, or ask for a pilot."
        more = ", or more: max_tokens is not set." if self.is_open else "."
        return (f"{dollars(low)} to " if dollars(low) != dollars(high) else "") + dollars(high) + more


def _listed(*words: str) -> str:
    return ", ".join(word for word in words if word)


def _cost(models: Models, part: Part) -> tuple[float, float | None] | None:
    """Return the US dollars of a part, from and to; ``None``: unknown."""
    if is_free(part.target):
        return 0.0, 0.0
    price = price_of(models, part.target, batch=part.is_batch)
    if price is None:
        return None
    least, most = part.output_range()
    written = price.written if part.target.cache_key is not None else price.input
    low = (part.input_tokens - part.shared_tokens) * price.input + part.shared_tokens * price.read
    high = part.input_tokens * max(price.input, written)
    scale = _dearer(models, part, price)
    return (
        part.spent + low + least * price.output,
        None if most is None else part.spent + scale * (high + most * price.output),
    )


def _dearer(models: Models, part: Part, price: Price) -> float:
    """Return how much dearer the longest request is than at the usual price of its tokens: 1 for most models."""
    tokens = math.ceil(part.longest)
    if tokens < TIERED:
        return 1.0
    cost = models.cost(part.target, Usage(tokens, 0), batch=part.is_batch)
    return max(1.0, (cost or 0.0) / (tokens * price.input)) if price.input else 1.0


def _together(costs: Sequence[tuple[float, float | None] | None]) -> tuple[float, float | None]:
    known = [cost for cost in costs if cost is not None]
    highs = [high for _, high in known]
    most = None if None in highs else sum(high for high in highs if high is not None)
    return sum(low for low, _ in known), most


def total_range(seen: Sequence[int], count: int, most: int | None) -> tuple[float, float | None]:
    """Return the tokens that ``count`` further answers have together, from and to, by the lengths of those seen.

    Lengths are taken to be lognormal and cut at ``most``. The mean and the spread of their logarithms are drawn as
    often as the answers seen leave them possible (generalized pivots, Krishnamoorthy and Mathew 2003), and the total
    of the further answers for each; the range holds 94 % of the totals. ``None``: open upwards, fewer than two seen.
    """
    if not seen or count <= 0:
        return 0.0, 0.0 if count <= 0 else None if most is None else float(count * most)
    if len(seen) == 1:
        return 0.0, None if most is None else float(count * most)
    logs = [math.log(max(length, 1)) for length in seen]
    mean, spread, chance = fmean(logs), max(stdev(logs), LEAST_SPREAD), random.Random(PILOT_SEED)
    free, totals = len(logs) - 1, list[float]()
    for _ in range(PILOT_DRAWS):
        sigma = spread * math.sqrt(free / chance.gammavariate(free / 2, 2))
        mu = mean + chance.gauss() * sigma / math.sqrt(len(logs))
        first, second = _moments(mu, sigma, most)
        noise = chance.gauss() * math.sqrt(max(second - first * first, 0.0) * count)
        totals.append(max(count * first + noise, 0.0))
    totals.sort()
    low, high = (totals[round(share * (PILOT_DRAWS - 1))] for share in RANGE)
    longest = float(REACH * max(seen) if most is None else min(REACH * max(seen), most))
    high += UNSEEN * count * max(longest - high / count, 0.0)
    return low, high if most is None else min(high, float(count * most))


def _moments(mu: float, sigma: float, most: int | None) -> tuple[float, float]:
    """Return the mean of a lognormal length that is cut at ``most``, and the mean of its square."""
    first, second = mu + sigma * sigma / 2, 2 * mu + 2 * sigma * sigma
    if most is None:
        return math.exp(min(first, 50.0)), math.exp(min(second, 100.0))
    end, above = (math.log(most) - mu) / sigma, 1 - STANDARD.cdf((math.log(most) - mu) / sigma)
    kept = _scaled(first, STANDARD.cdf(end - sigma)), _scaled(second, STANDARD.cdf(end - 2 * sigma))
    return min(kept[0] + most * above, float(most)), min(kept[1] + most * most * above, float(most) ** 2)


def _scaled(log: float, share: float) -> float:
    """Return exp(log) times a share that may be too small for a float where exp(log) is too large."""
    return math.exp(min(log + math.log(share), 100.0)) if share > 0 else 0.0
