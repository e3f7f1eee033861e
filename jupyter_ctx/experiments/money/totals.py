"""How many tokens the answers to all rows have together, by the lengths of the answers to a pilot.

The answers seen are weighed anew, again and again (the Bayesian bootstrap, Rubin 1981), beside one that was not seen:
for the lower end that one is empty, for the upper end it is as long as may be expected. With a whole weight and the
longest length possible, the upper end is Gaffke's bound on the mean of any distribution (Gaffke 2005; Learned-Miller
and Thomas 2019), and for answers that are either empty or the longest, Clopper's and Pearson's on the share of these.
Here the unseen answer has half a weight, as in Jeffreys' interval, and a length that answers do have: with the longest
one possible, 128,000 tokens for many models, every range would be enormous. No kind of distribution is assumed: a
lognormal through answers of two lengths reaches further than any model writes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import TypeAlias

PILOT_DRAWS, PILOT_SEED = 400, 14  # of the simulation behind a range
QUANTILES = (0.05, 0.97)  # of the totals, from and to: a run that is dearer than told is worse than a cheaper one
UNSEEN = 0.5  # the weight of the answer that was not seen, where each that was has 1 on average
REACH = 20  # times a typical answer: as long as one may be that was not seen
ESSAY = 500  # tokens of it at least: a model that answers in one word may write an essay to some rows
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
    low, _ = _reweighted(seen, 0.0, count)
    _, high = _reweighted(seen, _longest_expected(seen, most), count)
    return low, high if highest is None else min(high, highest)


def _longest_expected(seen: Sequence[int], most: int | None) -> float:
    """Return the length of an answer that was not seen."""
    typical = math.exp(fmean(math.log(max(length, 1)) for length in seen))
    longest = max(REACH * typical, ESSAY, *seen)
    return longest if most is None else min(longest, most)


def _reweighted(seen: Sequence[int], unseen: float, count: int) -> tuple[float, float]:
    """Return the range of totals where answers are like those seen and one of the length ``unseen``, in any shares."""
    chance, totals = random.Random(PILOT_SEED), list[float]()
    lengths = [*seen, unseen]
    for _ in range(PILOT_DRAWS):
        weights = [chance.expovariate(1.0) for _ in seen]
        weights.append(chance.gammavariate(UNSEEN, 1.0))
        whole = sum(weights)
        mean = sum(weight * length for weight, length in zip(weights, lengths, strict=True)) / whole
        square = sum(weight * length**2 for weight, length in zip(weights, lengths, strict=True)) / whole
        deviation = math.sqrt(count * max(square - mean**2, 0.0))
        totals.append(max(count * mean + chance.gauss() * deviation, 0.0))
    totals.sort()
    low, high = (totals[round(share * (PILOT_DRAWS - 1))] for share in QUANTILES)
    return low, high
