"""Compare what simpler ways of learning how a tokenizer counts would miss.

Conversations in eight languages mixed, as in benchmarks/counting.py, with the same meter; only what
it learns by differs. From the fourth turn on, the error of the estimate of the request, in percent:
median and 95th percentile over all tokenizers, and the worst tokenizer's; how often the estimate was
below by more than the margin. For each of them with a model's name that tells the family, with one that
does not, and with one that does not and a vocabulary that is not among the known ones ("left out").

``python -m benchmarks.calibration``: needs what benchmarks/counting.py needs.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from benchmarks.counting import SEED, Count, cases, quantile, talk, tokenizers
from jupyter_ctx.context.budget import MARGIN
from jupyter_ctx.context.calibration import MESSAGE, Calibration, Vector
from jupyter_ctx.context.families import ALL_RATIOS, UNKNOWN, family_of
from jupyter_ctx.context.tokens import Meter

CONVERSATIONS = 40
FIRST = 30.0  # tokens that the ratio before any report counts as
Make = Callable[[Sequence[Vector], Sequence[Vector]], Any]


class OneRatio:
    """One factor on the family's ratios: all reported tokens by all estimated ones."""

    def __init__(self, likely: Sequence[Vector], others: Sequence[Vector]) -> None:
        """Start from the mean of the likely vocabularies."""
        self.ratios = (*map(statistics.geometric_mean, zip(*likely, strict=True)), MESSAGE)
        self.weights = self.ratios  # of turns that no report has counted: here each one is
        self.reported, self.estimated = dict[int, float](), dict[int, float]()

    def kind(self, text: Vector) -> int:
        """Return the kind of text whose factor is used."""
        return 0

    def parts(self, text: Vector) -> list[float]:
        """Return the tokens of each kind by the family's ratios."""
        return [ratio * count for ratio, count in zip(self.ratios, text, strict=True)]

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        kind = self.kind(text)
        factor = (self.reported.get(kind, 0.0) + FIRST) / (self.estimated.get(kind, 0.0) + FIRST)
        return factor * sum(self.parts(text))

    def learned(self, text: Vector, tokens: float) -> OneRatio:
        """Return what is known after a report."""
        kind = self.kind(text)
        self.reported[kind] = self.reported.get(kind, 0.0) + max(tokens, 0.0)
        self.estimated[kind] = self.estimated.get(kind, 0.0) + sum(self.parts(text))
        return self

    def margin(self, text: Vector) -> float:
        """Return the share of an estimate to keep free."""
        return MARGIN


class RatioOfAKind(OneRatio):
    """One factor for each kind of text: the script that most of it is in, or words."""

    def kind(self, text: Vector) -> int:
        """Return the kind of which the text has the most tokens, messages aside."""
        parts = self.parts(text)[:-1]
        return parts.index(max(parts))


WAYS: dict[str, Make] = {
    "one ratio a model": OneRatio,
    "one ratio a model and kind of text": RatioOfAKind,
    "a ratio, and the vocabularies that agree (ours)": Calibration.of,
}
NAMES = ("named", "no name", "left out")


def ratios_for(name: str, model: str) -> tuple[Sequence[Vector], Sequence[Vector]]:
    """Return the ratios of likely vocabularies and of others, as a meter starts with them."""
    likely = family_of(model).ratios
    if name == "named":
        return likely, ALL_RATIOS
    if name == "no name" or len(likely) > 1:
        return UNKNOWN.ratios, ()
    return [ratios for ratios in ALL_RATIOS if ratios not in likely], ()


def measure(make: Make, name: str, counters: dict[str, tuple[str, Count]], kinds: list[list[str]]) -> str:
    """Return one cell of the table: median and 95th percentile, of all and of the worst tokenizer, and short."""
    every, worst, short = list[float](), list[tuple[float, float]](), list[bool]()
    for model, count in counters.values():
        rng, own = random.Random(SEED), list[float]()
        for _ in range(CONVERSATIONS):
            meter = Meter()
            meter.calibration = make(*ratios_for(name, model))
            misses = talk(count, meter, kinds, rng)
            own += [miss.whole for miss in misses]
            short += [miss.short for miss in misses]
        worst.append((quantile(own, 0.5), quantile(own, 0.95)))
        every += own
    half, most = (max(each) for each in zip(*worst, strict=True))
    return (
        f"{quantile(every, 0.5):.2f} / {quantile(every, 0.95):.1f}, worst {half:.2f} / {most:.1f}, "
        f"short {100 * statistics.mean(short):.2f}"
    )


def main() -> None:
    """Print the table."""
    kinds = cases(random.Random(SEED))["eight"]
    counters = {
        name: (model, lru_cache(100_000)(count))
        for name, (model, count) in tokenizers().items()
        if not family_of(model).vocabulary
    }
    print(f"{CONVERSATIONS} conversations with each of {', '.join(counters)}; percent")
    for way, make in WAYS.items():
        for name in NAMES:
            print(f"{way:47} {name:9} {measure(make, name, counters, kinds)}", flush=True)


if __name__ == "__main__":
    main()
