"""What a run may cost: a range told before it begins, and a cap that is never passed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from ..context.tokens import Meter
from ..context.usage import Usage
from ..errors import InvalidRequestError
from ..models.registry import Models, Target
from ..models.request_price import TIERED, Price, is_free, price_of
from ..wording import dollars, rows

PARTS_OF_A_DOLLAR = 10**12  # parts of a US dollar in which money is added up: whole numbers have no rounding errors
SURPRISE = 1.1  # by how much more than the last surprise a worst case is reserved from then on
COUNTED_ROWS = 4_000  # texts that are counted; where there are more, the others are as dense as these
SHARED = 1_000  # characters that all texts begin with, from which they are counted once
PILOT_DRAWS, PILOT_SEED = 400, 14  # of the simulation behind a pilot's range
RANGE = (0.03, 0.97)  # the quantiles it goes from and to
UNSEEN = 0.1  # of the answers may be as long as REACH times the longest of ten: every other time none is among them
REACH = 20
LEAST_SPREAD = 0.05  # of the logarithm of answers' lengths: ten equal ones do not prove that all are
STANDARD = NormalDist()


class Purse:
    """The money of a run: what every request on its way may cost at most is reserved before it is sent.

    ``cap``: US dollars that are never passed; ``None``: there is no cap. Where a request costs more than its worst
    case, which a server that ignores ``max_tokens`` brings about, as much more is reserved for all others.
    """

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._cap = None if cap is None else math.floor(cap * PARTS_OF_A_DOLLAR)
        self._spent = self._reserved = 0
        self._factor = 1.0
        self._is_priced = False

    @property
    def spent(self) -> float | None:
        """US dollars spent; ``None``: no price was known."""
        return self._spent / PARTS_OF_A_DOLLAR if self._is_priced else None

    @property
    def reserved(self) -> float:
        """US dollars that the requests on their way may cost at most."""
        return self._reserved * self._factor / PARTS_OF_A_DOLLAR

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most, before it is sent; ``False``: that might pass the cap.

        Money that others have reserved may come back when they settle; where none is on its way, the run ends.
        """
        if self._cap is not None:
            if worst is None:
                return False
            if self._spent + math.ceil((self._reserved + _parts(worst)) * self._factor) > self._cap:
                return False
        self._reserved += _parts(worst)
        return True

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Charge what a request did cost instead of what was reserved for it; ``None``: unknown, the worst is charged.

        A request that was certainly not billed, such as a refused one, costs 0.
        """
        most = _parts(worst)
        self._reserved -= most
        if actual is None or not math.isfinite(actual) or actual < 0:
            self._is_priced |= worst is not None
            self._spent += math.ceil(most * self._factor)
            return
        self._is_priced |= actual > 0 or worst is not None
        self._spent += _parts(actual)
        if most and _parts(actual) > most * self._factor:
            self._factor = SURPRISE * _parts(actual) / most

    def said(self, worst: float | None) -> str:
        """Return why the run ends where nothing is on its way and no more can be reserved."""
        spent, next_one = dollars(self._spent / PARTS_OF_A_DOLLAR), dollars((worst or 0.0) * self._factor)
        return (
            f"max_cost is {dollars(self.cap or 0.0)}: {spent} of it are spent, and the next request may cost up to "
            f"{next_one}. Raise max_cost, or lower max_tokens."
        )


def _parts(cost: float | None) -> int:
    """Return dollars in whole parts, rounded up."""
    return math.ceil((cost or 0.0) * PARTS_OF_A_DOLLAR)


def check_prices(models: Models, targets: Sequence[Target], cap: float | None) -> None:
    """Raise InvalidRequestError where there is a cap and a model has no known price, naming the model."""
    if cap is None:
        return
    unknown = [target.model for target in targets if not is_free(target) and price_of(models, target) is None]
    if unknown:
        raise InvalidRequestError(
            f"max_cost is {dollars(cap)}, and the price of {' and of '.join(dict.fromkeys(unknown))} is unknown: "
            "the cap cannot be kept. Leave max_cost out and set limit=N, or ask a model whose price is known."
        )


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

    @property
    def most_output(self) -> int | None:
        """Tokens of the longest answer; ``None``: nothing limits it."""
        return self.target.max_tokens

    def output_range(self) -> tuple[float, float | None]:
        """Return the tokens of all answers, from and to; ``None``: open upwards."""
        if self.outputs:
            return total_range(self.outputs, self.rows, self.most_output)
        return 0.0, None if self.most_output is None else float(self.rows * self.most_output)


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
        limits = {part.most_output for part in parts}
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
        return f"{rows(self.rows)} to {where}: {self.input_tokens:,} tokens in, {self._output()}: {self._price()}"

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
            return "no price, it is a server of your own."
        if self.cost is None:
            return f"the price of {' and '.join(self.unpriced)} is unknown."
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
