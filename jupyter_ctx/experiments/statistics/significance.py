"""Intervals and tests for rates, means and paired differences, with the standard library alone.

A row of a table is one observation: repeats of a row are averaged first (:func:`averaged`), and rows that belong
together, such as the questions about one document, are clustered. What each function does is in its source:

- Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22
- Student's t interval, and its distribution by the continued fraction in Numerical Recipes, 3rd ed., 6.4
- Cluster-robust standard errors: Liang & Zeger (1986), Biometrika 73, with the correction C/(C−1) and C−1 degrees of
  freedom as in Cameron & Miller (2015), "A practitioner's guide to cluster-robust inference", and, for prompts,
  Miller (2024), "Adding error bars to evals", arXiv 2411.00640
- Skewness: Johnson (1978), "Modified t tests and confidence intervals for asymmetrical populations", JASA 73
- Wilson's interval at the effective number of rows: Korn & Graubard (1998), Survey Methodology 24, and Dean & Pagano
  (2015), Journal of Survey Statistics and Methodology 3
- McNemar (1947), Psychometrika 12, exact: the binomial distribution of the discordant rows
- Tango (1998), Statistics in Medicine 17: a score interval for the difference of two paired rates
- Holm (1979), Scandinavian Journal of Statistics 6
- Rows needed: Connor (1987), Biometrics 43, with the correction for exact tests in Fleiss, Levin & Paik (2003),
  "Statistical methods for rates and proportions", 4.2; for means Guenther (1981), The American Statistician 35

``benchmarks/coverage.py`` measures how often these intervals hold the true value.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

CONFIDENCE, ALPHA, POWER = 0.95, 0.05, 0.80
HIDDEN_SKEWNESS = 40  # rows show about n / (n + 40) of it: measured with log-normal and exponential scores
FEW_ROWS = 10  # below, no rows needed are told
_STEPS, _TINY, _PRECISE = 10_000, 1e-300, 1e-15
_ROUNDING = 1e-12  # of a value, beyond which its digits say nothing
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval.

    value: the estimate
    low, high: the ends of the interval; ``nan`` where there are too few rows for one, or all have the same value
    n: the number of rows
    p: the p value of no difference, where the interval is of one: how often chance alone leads as far from 0; else
    ``nan``
    """

    value: float
    low: float
    high: float
    n: int
    p: float = math.nan

    @property
    def is_known(self) -> bool:
        """Whether the rows are enough for an interval, and differ."""
        return not math.isnan(self.low)

    def within(self, least: float, most: float) -> Interval:
        """Return the same interval, cut off where no value can be."""
        return replace(self, low=max(self.low, least), high=min(self.high, most)) if self.is_known else self


# one rate, one mean


def wilson(hits: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval of a rate: 10 of 10 is 72 to 100 %. ``n`` = 0 gives ``nan``."""
    return _score_interval(hits / n, n, _z(confidence), round(n)) if n else _unknown()


def t_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return Student's interval of a mean, and the p value of a mean of 0; ``nan`` for fewer than two values."""
    n = len(values)
    if n < 2:
        return _unknown(fmean(values) if n else math.nan, n)
    return _student(fmean(values), stdev(values) / math.sqrt(n), n - 1, n, confidence)


def clustered(values: Sequence[float], groups: Sequence[Hashable], confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a mean whose values belong to groups: values within a group may resemble each other."""
    if len(set(groups)) < 2:
        return _unknown(fmean(values) if values else math.nan, len(values))
    error, count = _clustered_error(values, groups)
    return _student(fmean(values), error, count - 1, len(values), confidence)


def clustered_rate(values: Sequence[float], groups: Sequence[Hashable], confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a rate over rows that belong to groups, or that are averages of repeats.

    ``values`` are between 0 and 1. The interval is Wilson's, at the number of independent rows that has the same
    standard error, with the quantile of Student's distribution: it stays between 0 and 1, and is no point where all
    values are the same.
    """
    if len(set(groups)) < 2:
        return _unknown(fmean(values) if values else math.nan, len(values))
    rate, (error, count) = fmean(values), _clustered_error(values, groups)
    independent = rate * (1 - rate) / error**2 if error > 1e-12 else count
    return _score_interval(rate, independent, t_quantile((1 + confidence) / 2, count - 1), len(values))


def averaged(scores: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    """Return the mean score of each row from pairs of a row and the score of one repeat."""
    by_row: dict[Hashable, list[float]] = defaultdict(list)
    for row, score in scores:
        by_row[row].append(score)
    return {row: fmean(found) for row, found in by_row.items()}


def are_equal(values: Sequence[float]) -> bool:
    """Return whether all values are the same but for rounding, in the twelfth digit and beyond."""
    low, high = min(values), max(values)
    return high - low <= _ROUNDING * max(abs(low), abs(high))


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return Student's interval of a mean, such as that of differences on the same rows, and the p value of 0.

    On the side of the longer tail it reaches further, as far as Johnson's interval does with the skewness that the
    rows come from: few rows show only a part of it, as their longest tail is seldom among them. The p value is below
    0.05 where the interval excludes 0.
    """
    student = t_interval(values, confidence)
    if not student.is_known:
        return student
    mean, n = student.value, student.n
    error = stdev(values) / math.sqrt(n)
    skewness = _skewness(values) * (1 + HIDDEN_SKEWNESS / n)
    lean = skewness / (6 * math.sqrt(n))
    shift = lean * error * (1 + 2 * t_quantile((1 + confidence) / 2, n - 1) ** 2)
    low, high = student.low + min(0.0, shift), student.high + max(0.0, shift)
    p = student.p
    if lean * mean < 0:  # 0 is on the side that reaches further
        distance, lean = abs(mean) / error, abs(lean)
        quantile = (math.sqrt(max(0.0, 1 + 8 * lean * (distance - lean))) - 1) / (4 * lean)
        p = max(p, 2 * t_cdf(-max(0.0, quantile), n - 1))
    return Interval(mean, low, high, n, p)


def _skewness(values: Sequence[float]) -> float:
    mean = fmean(values)
    second, third = (fmean((value - mean) ** power for value in values) for power in (2, 3))
    return third / (second * math.sqrt(second))


# two prompts on the same rows


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p value of McNemar's exact test, from the rows that one of two prompts alone got right."""
    if only_first == only_second:
        return 1.0
    fewer, more = sorted((only_first, only_second))
    return min(1.0, 2 * _beta(0.5, 0.5, more, fewer + 1))


def paired_rates(only_first: int, only_second: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Tango's interval of the second rate less the first on ``n`` rows, with the p value of McNemar's test.

    Where the exact test, which is the stricter one, shows no difference, the interval reaches to 0.
    """
    if n == 0:
        return _unknown()
    z, difference = _z(confidence), (only_second - only_first) / n
    low = _crossing(lambda at: _tango(only_second, only_first, n, at) - z, -1.0, difference)
    high = _crossing(lambda at: _tango(only_second, only_first, n, at) + z, difference, 1.0)
    p = mcnemar(only_first, only_second)
    if p >= 1 - confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(difference, low, high, n, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values of several comparisons, adjusted so that one in twenty is wrong in all together.

    Values that are ``nan`` stay so, and are not counted.
    """
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted, largest = [math.nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[i] = largest
    return adjusted


# rows needed


def rows_paired(difference: float, discordant: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the rows that two prompts need, on the same rows, to show a difference of two rates.

    ``discordant`` is the share of rows that one prompt alone gets right; ``difference`` cannot be larger. The result
    is ``inf`` without a difference. McNemar's exact test needs more rows than the normal approximation says.
    """
    if not difference:
        return math.inf
    spread = math.sqrt(discordant), math.sqrt(max(0.0, discordant - difference**2))
    rows = _rows(*spread, difference, power, alpha)
    exact = rows / 4 * (1 + math.sqrt(1 + 4 / (rows * abs(difference)))) ** 2
    return math.ceil(exact - 1e-9)


def rows_for_mean(difference: float, deviation: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the rows that show a mean paired difference, given the standard deviation of the differences."""
    if not difference:
        return math.inf
    quantile = _NORMAL.inv_cdf(1 - alpha / 2)
    unknown_deviation = quantile**2 / 2  # rows, for Student's distribution
    return math.ceil(_rows(deviation, deviation, difference, power, alpha) + unknown_deviation - 1e-9)


def rows_by_width(difference: float, width: float, n: int, degrees: int, alpha: float = ALPHA) -> float:
    """Return the rows that show a mean difference, given the width of a 95 % t interval over ``n`` rows."""
    error = width / 2 / t_quantile((1 + CONFIDENCE) / 2, degrees)
    return rows_for_mean(difference, error * math.sqrt(n), alpha=alpha)


def _rows(under_none: float, under_some: float, difference: float, power: float, alpha: float) -> float:
    """Return the rows, from the standard deviations of a row without and with a difference."""
    needed = _NORMAL.inv_cdf(1 - alpha / 2) * under_none + _NORMAL.inv_cdf(power) * under_some
    return (needed / difference) ** 2


# Student's distribution


def t_cdf(t: float, degrees: float) -> float:
    """Return the probability of a value up to ``t`` with so many degrees of freedom."""
    if math.isinf(t):
        return float(t > 0)
    square = t * t
    tail = _beta(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1_000)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the value below which Student's distribution has this probability, between 0 and 1, by bisection."""
    if probability == 0.5:
        return 0.0
    tail = min(probability, 1 - probability)
    high = 1.0
    while t_cdf(-high, degrees) > tail:
        high *= 2
    found = _crossing(lambda t: t_cdf(-t, degrees) - tail, 0.0, high)
    return math.copysign(found, probability - 0.5)


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function at ``x`` = 1 − ``rest``."""
    if x <= 0 or rest <= 0:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):  # where the fraction of the other side is the quick one
        return 1 - _beta(rest, x, b, a)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    value, c, d = _TINY, _TINY, 0.0
    for i in range(_STEPS):
        m = i // 2
        if i == 0:
            part = 1.0
        elif i % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / ((1.0 + part * d) or _TINY)
        c = (1.0 + part / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < _PRECISE:
            break
    return value


# parts


def _z(confidence: float) -> float:
    return _NORMAL.inv_cdf((1 + confidence) / 2)


def _unknown(value: float = math.nan, n: int = 0) -> Interval:
    return Interval(value, math.nan, math.nan, n)


def _score_interval(rate: float, n: float, z: float, rows: int) -> Interval:
    """Return Wilson's interval at ``n`` independent rows; ends that are 0 or 1 are so exactly."""
    square = z * z
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Interval(rate, low if rate > 0 else 0.0, high if rate < 1 else 1.0, rows)


def _student(mean: float, error: float, degrees: int, n: int, confidence: float) -> Interval:
    if error <= _ROUNDING * abs(mean):  # values that are all the same say nothing of others
        return _unknown(mean, n)
    half = t_quantile((1 + confidence) / 2, degrees) * error
    return Interval(mean, mean - half, mean + half, n, 2 * t_cdf(-abs(mean) / error, degrees))


def _clustered_error(values: Sequence[float], groups: Sequence[Hashable]) -> tuple[float, int]:
    """Return the standard error of the mean, and the number of groups."""
    mean, sums = fmean(values), defaultdict[Hashable, float](float)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value - mean
    count = len(sums)
    return math.sqrt(count / (count - 1) * math.fsum(each * each for each in sums.values())) / len(values), count


def _tango(more: int, fewer: int, n: int, at: float) -> float:
    """Return the score statistic of a paired difference ``at``, where ``more`` and ``fewer`` rows are discordant."""
    linear = (2 * n - more + fewer) * at - more - fewer
    root = math.sqrt(max(0.0, linear * linear + 8 * n * fewer * at * (1 - at)))
    variance = n * ((root - linear) / (2 * n) + at * (1 - at))
    distance = more - fewer - n * at
    if variance <= 1e-15:
        return math.copysign(math.inf, distance) if abs(distance) > 1e-12 else 0.0
    return distance / math.sqrt(variance)


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function becomes 0, by bisection until no number is between the ends."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return middle
