"""Measure how often 95 % intervals hold the true value, and how often a difference is shown where there is none.

``python -m benchmarks.coverage [SIMULATIONS]`` measures the first, ``python -m benchmarks.coverage false`` the second,
through ``compare()``.

Each simulation draws a table of scores from a distribution whose rate, mean or difference is known, and asks
``jupyter_ctx.experiments.statistics.significance`` for the interval. Beside them stand what others print: the normal
approximation of a rate (Wald), ± 1.96 standard errors, and errors that ignore groups.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from statistics import fmean, stdev

from jupyter_ctx import Reply, compare
from jupyter_ctx.experiments.statistics.significance import (
    clustered,
    clustered_rate,
    mean_interval,
    paired_rates,
    t_interval,
    wilson,
)
from jupyter_ctx.experiments.table.results import Result

SIMULATIONS, SEED, Z = 5_000, 20_261, 1.959964
Ends = tuple[float, float]
Draw = Callable[[random.Random], tuple[float, Ends, Ends]]  # the truth, our interval, and another one


def rate(shown: float | None, n: int) -> Draw:
    """A rate; ``None``: another one in each simulation."""

    def draw(rng: random.Random) -> tuple[float, Ends, Ends]:
        p = shown or rng.uniform(0.5, 0.95)
        hits = sum(rng.random() < p for _ in range(n))
        ours, share = wilson(hits, n), hits / n
        half = Z * math.sqrt(share * (1 - share) / n)
        return p, (ours.low, ours.high), (share - half, share + half)

    return draw


def mean(n: int, sample: Callable[[random.Random], float], truth: float) -> Draw:
    """The mean of scores, or of differences on the same rows."""

    def draw(rng: random.Random) -> tuple[float, Ends, Ends]:
        values = [sample(rng) for _ in range(n)]
        ours, half = mean_interval(values), Z * stdev(values) / math.sqrt(n)
        return truth, (ours.low, ours.high), (fmean(values) - half, fmean(values) + half)

    return draw


def paired(only_first: float, only_second: float, n: int) -> Draw:
    def draw(rng: random.Random) -> tuple[float, Ends, Ends]:
        seen = rng.choices((0, 1, 2), (only_first, only_second, 1 - only_first - only_second), k=n)
        b, c = seen.count(0), seen.count(1)
        ours, change = paired_rates(b, c, n), (c - b) / n
        half = Z * math.sqrt((b + c) / n - change**2) / math.sqrt(n)
        return only_second - only_first, (ours.low, ours.high), (change - half, change + half)

    return draw


def grouped(groups: int, size: int, share: float) -> Draw:
    """Scores whose variance belongs to the group by this share."""

    def draw(rng: random.Random) -> tuple[float, Ends, Ends]:
        shifts = [rng.gauss(0, math.sqrt(share)) for _ in range(groups)]
        rows = [
            (group, shift + rng.gauss(0, math.sqrt(1 - share)))
            for group, shift in enumerate(shifts)
            for _ in range(size)
        ]
        values = [value for _, value in rows]
        ours, naive = clustered(values, [group for group, _ in rows]), t_interval(values)
        return 0.0, (ours.low, ours.high), (naive.low, naive.high)

    return draw


def repeated(p: float, n: int, repeats: int) -> Draw:
    """Yes/no answers, each row of a difficulty of its own, asked so many times."""

    def draw(rng: random.Random) -> tuple[float, Ends, Ends]:
        rows = []
        for _ in range(n):
            easy = rng.betavariate(2 * p, 2 * (1 - p))
            rows.append(sum(rng.random() < easy for _ in range(repeats)) / repeats)
        ours, student = clustered_rate(rows, range(n)), t_interval(rows)
        return p, (ours.low, ours.high), (student.low, student.high)

    return draw


def grade(rng: random.Random) -> float:
    """A grade from 1 to 5."""
    return float(rng.choices((1, 2, 3, 4, 5), (5, 10, 20, 35, 30))[0])


def better_grade(rng: random.Random) -> float:
    """Grades from 1 to 5 of two prompts."""
    return grade(rng) - rng.choices((1, 2, 3, 4, 5), (10, 15, 30, 30, 15))[0]


def averages(rng: random.Random) -> float:
    """Right answers of three each, with two prompts."""
    easy = rng.betavariate(2, 1)
    better = easy + 0.1 * (1 - easy)
    return sum((rng.random() < better) - (rng.random() < easy) for _ in range(3)) / 3


def gains(rng: random.Random) -> float:
    """Differences that are mostly 0, and sometimes large."""
    better = rng.expovariate(1) if rng.random() < 0.4 else 0.0
    return better - (rng.expovariate(1 / 0.3) if rng.random() < 0.2 else 0.0)


def seconds(rng: random.Random) -> float:
    """Seconds of two prompts, log-normal."""
    return rng.lognormvariate(0.2, 0.75) - rng.lognormvariate(0, 0.75)


SPREAD = math.exp(0.75**2 / 2)  # the mean of a log-normal distribution
CASES: dict[str, dict[str, Draw]] = {
    "a rate (Wilson; beside it Wald)": {
        f"{f'{100 * p:.0f}' if p else '50 to 95'} %, {n} rows": rate(p, n)
        for p in (None, 0.5, 0.8, 0.9)
        for n in (10, 20, 30, 50, 100)
    },
    "a mean (t, wider on the side of the longer tail; beside it ± 1.96 standard errors)": {
        f"{name}, {n} rows": mean(n, *drawn)
        for name, drawn in {
            "normal": (lambda rng: rng.gauss(3, 2), 3.0),
            "log-normal": (lambda rng: rng.lognormvariate(0, 0.75), SPREAD),
            "exponential": (lambda rng: rng.expovariate(1), 1.0),
            "grades of 1 to 5": (grade, 3.75),
        }.items()
        for n in (10, 20, 30, 50)
    },
    "two rates on the same rows (Tango; beside it Wald)": {
        f"{100 * b:.0f} and {100 * c:.0f} % alone, {n} rows": paired(b, c, n)
        for b, c in ((0.10, 0.20), (0.05, 0.25), (0.20, 0.30))
        for n in (10, 20, 30, 50, 100)
    },
    "rows in groups of five (clustered; beside it groups ignored)": {
        f"{100 * share:.0f} % of the variance, {groups} groups": grouped(groups, 5, share)
        for share in (0.1, 0.5, 0.9)
        for groups in (5, 10, 20, 30)
    },
    "a rate of rows asked three times (Wilson at the effective number; beside it Student)": {
        f"{100 * p:.0f} %, {n} rows": repeated(p, n, 3) for p in (0.5, 0.8, 0.9) for n in (10, 20, 30, 50)
    },
    "mean differences on the same rows (paired t; beside it ± 1.96 standard errors)": {
        f"{name}, {n} rows": mean(n, *drawn)
        for name, drawn in {
            "normal": (lambda rng: rng.gauss(0.3, 1), 0.3),
            "grades": (better_grade, 0.5),
            "averages of three": (averages, 0.1 / 3),
            "gains": (gains, 0.34),
            "seconds": (seconds, (math.exp(0.2) - 1) * SPREAD),
        }.items()
        for n in (10, 20, 30, 50)
    },
}


Scores = Callable[[random.Random], tuple[list[float], list[float]]]  # of one row with two prompts: one each repeat


def answers_of(draw: Callable[[random.Random], float], repeats: int = 1) -> Scores:
    """Scores of two prompts that are equally good."""
    return lambda rng: ([draw(rng) for _ in range(repeats)], [draw(rng) for _ in range(repeats)])


def ties(rng: random.Random) -> tuple[list[float], list[float]]:
    """A grade that one prompt in ten changes by 1."""
    base = grade(rng)
    return [base], [base + rng.choices((-1, 0, 1), (5, 90, 5))[0]]


def asked_thrice(rng: random.Random) -> tuple[list[float], list[float]]:
    """Right answers of three each, of rows of different difficulty."""
    easy = rng.betavariate(2, 1)
    first, second = ([float(rng.random() < easy) for _ in range(3)] for _ in range(2))
    return first, second


def skewed_change(rng: random.Random) -> tuple[list[float], list[float]]:
    """A score that the second prompt changes by log-normal amounts whose mean is 0."""
    return [10.0], [10.0 + rng.lognormvariate(0, 0.75) - SPREAD]


EQUAL: dict[str, Scores] = {
    "yes/no, 80 % right": answers_of(lambda rng: float(rng.random() < 0.8)),
    "yes/no, 95 % right": answers_of(lambda rng: float(rng.random() < 0.95)),
    "three repeats of yes/no": asked_thrice,
    "grades of 1 to 5": answers_of(grade),
    "grades, nine in ten tied": ties,
    "log-normal scores": answers_of(lambda rng: rng.lognormvariate(0, 0.75)),
    "changes skewed to one side": skewed_change,
}


def results_of(scores: list[list[float]]) -> list[Result]:
    """Return what a run would have of these scores, which are those of each row, one each repeat."""
    return [
        Result(row, "", repeat, {"row": row}, {}, f"Row {row}", Reply(f"{score}, {repeat}"), scores={"score": score})
        for row, repeats in enumerate(scores)
        for repeat, score in enumerate(repeats)
    ]


def shares_of_verdicts(draw: Scores, n: int, simulations: int) -> tuple[float, float]:
    """Return how many of 100 comparisons show a difference, and how many known intervals hold 0."""
    rng, shown, known, held = random.Random(SEED), 0, 0, 0
    for _ in range(simulations):
        first, second = zip(*(draw(rng) for _ in range(n)), strict=True)
        (row,) = compare(results_of(list(first)), results_of(list(second)))
        shown += row.p_holm is not None and row.p_holm < 0.05
        if row.low is not None:
            known += 1
            held += row.low - 1e-12 <= 0 <= row.high + 1e-12
    return 100 * shown / simulations, 100 * held / max(1, known)


def verdicts(simulations: int) -> None:
    """Print how often two equal prompts are told apart."""
    print(
        f"{simulations:,} simulations each of up to 30 rows, a third of more; differences shown, intervals with 0, in %"
    )
    for name, draw in EQUAL.items():
        for n in (10, 30, 100, 500):
            shown, held = shares_of_verdicts(draw, n, max(simulations // 3, simulations * 30 // max(30, n)))
            print(f"  {name:<30} {n:4} rows {shown:5.1f} {held:6.1f}", flush=True)


def share_covered(draw: Draw, simulations: int) -> tuple[float, float]:
    """Return how many of 100 intervals hold the truth, ours and the others."""
    rng, ours, others = random.Random(SEED), 0, 0
    for _ in range(simulations):
        truth, mine, other = draw(rng)
        ours += mine[0] - 1e-12 <= truth <= mine[1] + 1e-12
        others += other[0] - 1e-12 <= truth <= other[1] + 1e-12
    return 100 * ours / simulations, 100 * others / simulations


def main(simulations: int) -> None:
    print(f"{simulations:,} simulations each; 95 % intervals that hold the true value, in %")
    for title, cases in CASES.items():
        print(f"\n{title}\n")
        found = {}
        for name, draw in cases.items():
            found[name] = share_covered(draw, simulations)
            print(f"  {name:<40} {found[name][0]:5.1f} {found[name][1]:7.1f}", flush=True)
        ours = [each[0] for each in found.values()]
        inside = sum(93 <= share <= 97 for share in ours)
        print(f"  from {min(ours):.1f} to {max(ours):.1f}; {inside} of {len(ours)} within 93 to 97")


if __name__ == "__main__":
    is_false, numbers = sys.argv[1:2] == ["false"], [int(each) for each in sys.argv[1:] if each.isdigit()]
    (verdicts if is_false else main)(numbers[0] if numbers else SIMULATIONS)
