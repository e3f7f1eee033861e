"""Up to which length of prompt a model's score holds: a posterior distribution over curves of score by length.

The effective length is the longest at which the expected score is at least 0.85 of the score at the shortest length,
the base: NoLiMa's rule (Modarressi et al. 2025, arXiv 2502.05167). A curve has a base b, an effective length, a
steepness s and a floor f, below which it does not fall. With d and D octaves from the shortest length to a length and
to the effective one, the expected score is

    b · (f + (1 − f) / (1 + c · (2^(s·d) − 1) / (2^(s·D) − 1))),  where c makes it 0.85 · b at D:

the logistic curve of the logarithm of the length, scaled to be b at the shortest. Beforehand D is uniform, up to two
octaves beyond the longest length. Questions of one request may be right or wrong together: how many are right is
beta-binomial, with a correlation that is a parameter too. ``benchmarks/probing.py`` measures how often the interval
holds the true length.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import add, mul

from .trial import Trial

HELD_SHARE = 0.85  # of the base
ABLE_SHARE = 0.7  # a base below says that a model cannot do the task
INTERVAL = 0.90

_CAUTION = 0.8  # of each tail: an interval has to hold for curves that are not on the grid, too
_PER_OCTAVE = 8  # effective lengths on the grid
_BEYOND = 2 * _PER_OCTAVE  # of them beyond the longest length
_BASES = (0.1, 0.3, 0.5, 0.62, 0.68, 0.73, 0.78, 0.84, 0.89, 0.94, 0.975, 0.995)
_SHAPES = ((0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (60.0, 0.0), (1.0, 0.5), (3.0, 0.5))  # steepness and floor
_CORRELATIONS = {0.0: 0.4, 0.2: 0.3, 0.6: 0.3}  # of two answers of a request, and how likely it is beforehand
_EACH = len(_BASES) * len(_SHAPES)  # curves of one effective length
_CELLS = 200
_SCORES = tuple((cell + 0.5) / _CELLS for cell in range(_CELLS))


@dataclass(frozen=True, slots=True)
class HeldLength:
    """The effective length of a model in one task.

    low, median, high: tokens; the interval with its middle, none above ``longest``
    shortest, longest: tokens, between which it was looked for
    base: the expected score at the shortest length
    base_is_low: whether the base is likely below 0.7, so that no length says anything
    questions: how many were counted
    """

    low: float
    median: float
    high: float
    shortest: int
    longest: int
    base: float
    base_is_low: bool
    questions: int

    @property
    def octaves(self) -> float:
        """How often the lower end doubles up to the upper one."""
        return math.log2(self.high / self.low)

    @property
    def reached(self) -> bool:
        """Whether the score likely falls below 0.85 of its base before the longest length."""
        return self.median < self.longest

    @property
    def is_known(self) -> bool:
        """Whether the interval spans two octaves at most, or no fall was seen at a length beyond the base."""
        is_asked = self.questions > 0 and self.longest > self.shortest
        return is_asked and not self.base_is_low and (not self.reached or self.octaves < 2.01)

    @property
    def is_narrow(self) -> bool:
        """Whether the interval spans one octave at most."""
        return self.octaves < 1.01

    @property
    def needed(self) -> int:
        """How many more questions would make the interval narrow, roughly: its width falls with their square root."""
        return 0 if self.is_narrow else math.ceil(max(4, self.questions) * (self.octaves**2 - 1))


@dataclass(frozen=True, slots=True)
class Posterior:
    """How likely each curve is after some trials.

    shortest, longest: tokens
    weights: the probability of each curve; those of one effective length stand together
    questions: how many were counted
    """

    shortest: int
    longest: int
    weights: Sequence[float]
    questions: int

    @classmethod
    def of(cls, trials: Iterable[Trial], lengths: Sequence[int]) -> Posterior:
        """Return the posterior after trials of any length; ``lengths`` are those of the probe."""
        shortest, longest = min(lengths), max(lengths)
        counted = [trial for trial in trials if trial.score is not None]
        return cls(shortest, longest, _weights(counted, shortest, _span(shortest, longest)), len(counted))

    def effective(self, confidence: float = INTERVAL) -> HeldLength:
        """Return the effective length with its interval."""
        lowest, *others = _three(self.by_octaves(), confidence)
        low = max(self.shortest, 2 ** (lowest - 1 / _PER_OCTAVE))  # a step stands for the lengths up to it
        median, high = (min(float(self.longest), float(round(2**octaves))) for octaves in others)
        base, is_low = self.base()
        return HeldLength(low, median, high, self.shortest, self.longest, base, is_low > 0.5, self.questions)

    def base(self) -> tuple[float, float]:
        """Return the expected score at the shortest length, and how likely it is below 0.7."""
        by_base = [sum(self.weights[i :: len(_BASES)]) for i in range(len(_BASES))]
        below = sum(weight for base, weight in zip(_BASES, by_base, strict=True) if base < ABLE_SHARE)
        return sum(map(mul, _BASES, by_base)), below

    def score(self, length: int, confidence: float = INTERVAL) -> tuple[float, float, float]:
        """Return the expected score at a length between the ends of its interval: low, mean, high."""
        by_cell = [0.0] * _CELLS
        for cell, weight in zip(self._cells(length), self.weights, strict=True):
            by_cell[cell] += weight
        low, _, high = _three(list(zip(_SCORES, by_cell, strict=True)), confidence)
        return low, sum(map(mul, _SCORES, by_cell)), high

    def information(self, length: int) -> float:
        """Return what one more question at a length is expected to tell about the effective length, in nats."""
        scores = map(_SCORES.__getitem__, self._cells(length))
        right = self._by_length(list(map(mul, self.weights, scores)))
        share, told = sum(right), 0.0
        for part, whole in zip(right, self._by_length(self.weights), strict=True):
            if 0 < part < whole:
                told += part * math.log(part / whole / share)
                told += (whole - part) * math.log((1 - part / whole) / (1 - share))
        return told

    def by_octaves(self) -> list[tuple[float, float]]:
        """Return effective lengths as their log2, ascending, each with its probability; the last: the longest."""
        by_length = self._by_length(self.weights)
        start = math.log2(self.shortest)
        below = [(start + i / _PER_OCTAVE, weight) for i, weight in enumerate(by_length[:-1], 1)]
        return [*below, (math.log2(self.longest), by_length[-1])]

    def _by_length(self, weights: Sequence[float]) -> list[float]:
        each = [sum(weights[i : i + _EACH]) for i in range(0, len(weights), _EACH)]
        last = len(each) - _BEYOND - 1
        return [*each[:last], sum(each[last:])]

    def _cells(self, length: int) -> bytes:
        return _cells(_span(self.shortest, self.longest), _step(length, self.shortest))


def answered_lengths(trials: Iterable[Trial], lengths: Sequence[int]) -> Sequence[int]:
    """Return the lengths up to the longest with an answer that counts: of longer prompts nothing is known."""
    longest = max((trial.wanted for trial in trials if trial.score is not None), default=0)
    return [length for length in lengths if length <= longest] or lengths[:1]


def common_ends(first: Posterior, second: Posterior) -> tuple[int, int]:
    """Return the tokens from which and up to which both models were asked."""
    return max(first.shortest, second.shortest), min(first.longest, second.longest)


def octaves_further(first: Posterior, second: Posterior) -> tuple[float, float, float]:
    """Return how many octaves further the second model holds: low, median, high; between lengths that both were asked.

    The shortest and the longest of them are ``common_ends``.
    """
    least, most = map(math.log2, common_ends(first, second))
    differences = [
        (min(most, max(least, further)) - min(most, max(least, near)), weight * other)
        for near, weight in first.by_octaves()
        for further, other in second.by_octaves()
    ]
    return _three(sorted(differences), INTERVAL)


def _weights(trials: Iterable[Trial], shortest: int, span: int) -> list[float]:
    """Return the probability of each curve, summed over the correlations."""
    requests = defaultdict[tuple[str, int], list[float]](list)
    for trial in trials:
        requests[trial.request, _step(trial.length, shortest)].append(trial.score or 0.0)
    logs = list[list[float]]()
    for correlation, prior in _CORRELATIONS.items():
        tables = defaultdict[int, list[float]](lambda: [0.0] * _CELLS)
        for (_, step), scores in requests.items():
            table = _beta_binomial(round(sum(scores), 3), len(scores), correlation)
            tables[step] = list(map(add, tables[step], table))
        of_curves = [math.log(prior)] * (_EACH * (span + _BEYOND))
        for step, sums in tables.items():
            of_curves = list(map(add, of_curves, map(sums.__getitem__, _cells(span, step))))
        logs.append(of_curves)
    most = max(map(max, logs))
    weights = [sum(math.exp(log - most) for log in of_curve) for of_curve in zip(*logs, strict=True)]
    total = sum(weights)
    return [weight / total for weight in weights]


@lru_cache(maxsize=4096)
def _beta_binomial(right: float, asked: int, correlation: float) -> tuple[float, ...]:
    """Return the log likelihood of a request with so many right answers, for each expected score."""
    wrong = asked - right
    if correlation == 0 or asked == 1:
        return tuple(right * math.log(score) + wrong * math.log(1 - score) for score in _SCORES)
    size = (1 - correlation) / correlation
    every = _rising(asked, size)
    return tuple(_rising(right, score * size) + _rising(wrong, (1 - score) * size) - every for score in _SCORES)


def _rising(count: float, start: float) -> float:
    return math.lgamma(count + start) - math.lgamma(start)


@lru_cache(maxsize=256)
def _cells(span: int, step: int) -> bytes:
    """Return which of the scores each curve expects, so many steps from the shortest length."""
    shares = [
        floor + (1 - floor) / (1 + _fall(floor) * _grown(steepness, step) / _grown(steepness, end))
        for end in range(1, span + _BEYOND + 1)
        for steepness, floor in _SHAPES
    ]
    return bytes(min(_CELLS - 1, int(share * base * _CELLS)) for share in shares for base in _BASES)


def _fall(floor: float) -> float:
    return (1 - floor) / (HELD_SHARE - floor) - 1


def _grown(steepness: float, steps: int) -> float:
    return 2 ** (steepness * steps / _PER_OCTAVE) - 1


def _span(shortest: int, longest: int) -> int:
    """Return the steps from the shortest length to the longest, at least one."""
    return max(1, math.ceil(_PER_OCTAVE * math.log2(longest / shortest) - 1e-9))


def _step(length: int, shortest: int) -> int:
    return max(0, round(_PER_OCTAVE * math.log2(max(1, length) / shortest)))


def _three(weighted: Sequence[tuple[float, float]], confidence: float) -> tuple[float, float, float]:
    """Return the ends of an interval around the median of ascending values with their weights: low, median, high."""
    totals = list(accumulate(weight for _, weight in weighted))
    tail = _CAUTION * (1 - confidence) / 2
    low, median, high = (
        next((value for (value, _), total in zip(weighted, totals, strict=True) if total >= at), weighted[-1][0])
        for at in (tail, 0.5, 1 - tail)
    )
    return low, median, high
