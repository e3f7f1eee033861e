"""How many tokens the answers to all rows have together, by the lengths of the answers to a pilot.

Two views of the same few answers are taken, and the wider one is told.

Any lengths: the Bayesian bootstrap (Rubin 1981) weighs the answers seen anew, again and again, beside one that was not
seen: for the lower end that one is empty, for the upper end it is as long as may be expected. With a whole weight and
the longest length possible, the upper end bounds the mean of any distribution (Gaffke 2005; Learned-Miller and Thomas
2019), and where nine of ten answers are alike, it is Clopper's and Pearson's bound on the share of the others. Here the
unseen answer has half a weight, as in Jeffreys' interval, and a length that answers do have: bounded by the longest
possible one, 128,000 tokens for many models, every range would be enormous.

Lognormal lengths, as those of answers of one kind mostly are: the mean and the spread of the logarithms are drawn as
often as the answers seen leave them possible (generalized pivots, Krishnamoorthy and Mathew 2003). Answers of two
lengths are not of that kind, and a lognormal through both would reach further than any model writes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist, fmean, stdev
from typing import TypeAlias

DRAWS, SEED = 400, 14  # of the simulations behind a range
QUANTILES = (0.05, 0.97)  # of the totals, from and to: a run that is dearer than told is worse than a cheaper one
UNSEEN = 0.5  # the weight of the answer that was not seen, where each that was has 1 on average
REACH = 20  # times a typical answer: as long as one may be that was not seen
ESSAY = 1_000  # tokens of it at least: a model that answers in one word may write an essay to some rows
FITTED = 5  # times as long: where fitted lengths are cut, unless the model writes less
APART = 5  # times as long as the next shorter answer: from there on answers have a second length
BRIEF = 20  # tokens below which all answers are alike: one word beside five are not two lengths
LEAST_SPREAD = 0.05  # of the logarithm of answers' lengths: ten equal ones do not prove that all are
STANDARD = NormalDist()
Range: TypeAlias = tuple[float, float | None]  # from and to; None: open upwards


def total_range(seen: Sequence[int], count: int, most: int | None) -> Range:
    """Return the tokens that ``count`` further answers have together, from and to, by the lengths of those seen.

    ``most``: the longest that one may be; ``None``: unknown. The end is ``None`` where nothing was seen either.
    """
    if count <= 0:
        return 0.0, 0.0
    highest = None if most is None else float(count * most)
    if not seen:
        return 0.0, highest
    longest = _longest_expected(seen, most)
    ranges = [_reweighted(seen, 0.0, count), _reweighted(seen, longest, count)]
    if len(seen) > 1 and two_lengths(seen) is None:
        cut = FITTED * longest if most is None else min(FITTED * longest, most)
        ranges.append(_lognormal(seen, count, cut))
    low = min(low for low, _ in ranges)
    high = max(high for _, high in ranges)
    return low, high if highest is None else min(high, highest)


def two_lengths(seen: Sequence[int]) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return the shorter and the longer answers where they are of two lengths, else ``None``.

    They are where the step from one group to the other is larger than any difference within a group.
    """
    lengths = sorted(seen)
    sizes = [max(length, BRIEF) for length in lengths]
    steps = [longer / shorter for shorter, longer in pairwise(sizes)]
    widest = max(steps, default=1.0)
    if widest < APART:
        return None
    at = steps.index(widest) + 1
    spread = max(sizes[at - 1] / sizes[0], sizes[-1] / sizes[at])
    return (lengths[:at], lengths[at:]) if spread < widest else None


def _longest_expected(seen: Sequence[int], most: int | None) -> float:
    """Return the length of an answer that was not seen."""
    typical = math.exp(fmean(math.log(max(length, 1)) for length in seen))
    longest = max(REACH * typical, ESSAY, *seen)
    return longest if most is None else min(longest, most)


def _reweighted(seen: Sequence[int], unseen: float, count: int) -> tuple[float, float]:
    """Return the range of totals where answers are like those seen and one of the length ``unseen``, in any shares."""
    chance, totals = random.Random(SEED), list[float]()
    lengths = [*seen, unseen]
    for _ in range(DRAWS):
        weights = [chance.expovariate(1.0) for _ in seen]
        weights.append(chance.gammavariate(UNSEEN, 1.0))
        whole = sum(weights)
        mean = sum(weight * length for weight, length in zip(weights, lengths, strict=True)) / whole
        square = sum(weight * length**2 for weight, length in zip(weights, lengths, strict=True)) / whole
        totals.append(_total(chance, count, mean, square))
    return _middle(totals)


def _lognormal(seen: Sequence[int], count: int, most: float) -> tuple[float, float]:
    """Return the range of totals where lengths are lognormal, and cut at ``most``."""
    chance, totals = random.Random(SEED), list[float]()
    logs = [math.log(max(length, 1)) for length in seen]
    center = fmean(logs)
    spread = max(stdev(logs), LEAST_SPREAD)
    free = len(logs) - 1
    for _ in range(DRAWS):
        sigma = spread * math.sqrt(free / chance.gammavariate(free / 2, 2))
        mu = center + chance.gauss() * sigma / math.sqrt(len(logs))
        mean, square = _moments(mu, sigma, most)
        totals.append(_total(chance, count, mean, square))
    return _middle(totals)


def _total(chance: random.Random, count: int, mean: float, square: float) -> float:
    """Return the total of so many lengths with this mean, and mean of their squares, as it may come out."""
    variance = max(square - mean**2, 0.0)
    return max(count * mean + chance.gauss() * math.sqrt(count * variance), 0.0)


def _middle(totals: list[float]) -> tuple[float, float]:
    """Return from where to where most of the totals lie."""
    totals.sort()
    low, high = (totals[round(share * (len(totals) - 1))] for share in QUANTILES)
    return low, high


def _moments(mu: float, sigma: float, most: float) -> tuple[float, float]:
    """Return the mean of a lognormal length that is cut at ``most``, and the mean of its square."""
    cut = (math.log(most) - mu) / sigma
    beyond = 1 - STANDARD.cdf(cut)
    mean = _scaled(mu + sigma**2 / 2, STANDARD.cdf(cut - sigma)) + most * beyond
    square = _scaled(2 * mu + 2 * sigma**2, STANDARD.cdf(cut - 2 * sigma)) + most**2 * beyond
    return min(mean, most), min(square, most**2)


def _scaled(log: float, share: float) -> float:
    """Return exp(log) times a share that may be too small for a float where exp(log) is too large."""
    return math.exp(min(log + math.log(share), 100.0)) if share > 0 else 0.0
