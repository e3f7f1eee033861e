"""Simulate runs with a cap and tables of prompts: is the cap kept and used, are sizes right?

``python -m benchmarks.money``. Input is compared with what the vocabularies of OpenAI make of the prompts, and with
what llama.cpp makes of them for SmolLM2 where that is installed; the meters have seen no report.
"""

from __future__ import annotations

import heapq
import random
import statistics
import time
from collections.abc import Callable

from benchmarks.counting import tokenizers
from benchmarks.texts import load, message
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.experiments.money import count_tokens
from jupyter_ctx.models.purse import Purse
from jupyter_ctx.models.registry import Models

RUNS, ROWS = 1_000, 1_000
MOST, LONGEST = 4_096, 128_000  # max_tokens, and the longest answer of a model without it
OPENAI_TEMPLATE, OTHER_TEMPLATE = 7, 4  # tokens around a prompt
INPUT_PRICE, OUTPUT_PRICE = 1.75e-6, 14e-6  # US dollars a token
Length = Callable[[random.Random], float]


def two(share: float, factor: float, spread: float = 0.3) -> Length:
    """Return lengths of which a share is so many times as long as the others."""
    return lambda chance: 150 * chance.lognormvariate(0, spread) * (factor if chance.random() < share else 1)


def essays(share: float, tokens: float = 700) -> Length:
    """Return lengths of single words, beside a share of essays."""
    return lambda chance: (
        tokens * chance.lognormvariate(0, 0.4) if chance.random() < share else chance.choice((1, 1, 1, 2, 3))
    )


LENGTHS: dict[str, Length] = {
    "lognormal, 0.3": lambda chance: chance.lognormvariate(5, 0.3),
    "lognormal, 1": lambda chance: chance.lognormvariate(5.5, 1),
    "lognormal, 1.5": lambda chance: chance.lognormvariate(5.5, 1.5),
    "reasoning: lognormal around 1,800": lambda chance: chance.lognormvariate(7.5, 1.2),
    "exponential": lambda chance: chance.expovariate(1 / 300),
    "gamma, shape 0.5": lambda chance: chance.gammavariate(0.5, 600),
    "uniform": lambda chance: chance.uniform(50, 600),
    "Pareto, 1.5": lambda chance: 100 * chance.paretovariate(1.5),
    "yes or no": essays(0),
    "5 % twenty times as long": two(0.05, 20),
    "10 % ten times as long": two(0.1, 10),
    "10 % twenty times as long": two(0.1, 20),
    "10 % twenty times, alike": two(0.1, 20, 0.1),
    "20 % twenty times as long": two(0.2, 20),
    "50 % twenty times as long": two(0.5, 20),
    "90 % twenty times as long": two(0.9, 20),
    "every fifth as long as it may be": lambda chance: LONGEST if chance.random() < 0.2 else chance.uniform(80, 200),
    "one word, 2 % essays": essays(0.02),
    "one word, 3 % essays": essays(0.03),
    "one word, 5 % essays": essays(0.05),
    "one word, 5 % of 1,500 tokens": essays(0.05, 1_500),
    "one word, 50 % essays": essays(0.5),
    "as long as the input": lambda chance: chance.lognormvariate(5, 1) * chance.uniform(0.7, 1.3),
}


def spent(at_once: int, seed: int, cap: float = 1.0) -> float:
    """Return the US dollars that a simulated run spends under a cap."""
    chance, purse, now = random.Random(seed), Purse(cap), 0.0
    length = chance.choice(list(LENGTHS.values()))
    on_their_way: list[tuple[float, float, float]] = []
    for _ in range(200_000):
        tokens = chance.lognormvariate(5.5, 0.5)
        worst = tokens * 1.25 * 1.25 * INPUT_PRICE + MOST * OUTPUT_PRICE
        while len(on_their_way) >= at_once or not purse.reserve(worst):
            if not on_their_way:
                return purse.spent or 0.0
            now, worst_before, cost = heapq.heappop(on_their_way)
            purse.settle(worst_before, cost)
        output = max(1, min(MOST, round(length(chance))))
        cost = tokens * INPUT_PRICE + output * OUTPUT_PRICE
        heapq.heappush(on_their_way, (now + 0.5 + output / 80, worst, cost))
    while on_their_way:
        _, worst, cost = heapq.heappop(on_their_way)
        purse.settle(worst, cost)
    return purse.spent or 0.0


def inputs() -> None:
    """Print how far the estimated input of tables is off, before any report."""
    kinds = load(random.Random(4))
    texts = [text for kind in ("English", "code", "JSON") for text in kinds[kind]]
    for name, (model, count) in tokenizers().items():
        full = {"smollm2": "local/smollm2"}.get(model) or (
            f"openai/{model}" if model.startswith("gpt") else f"ollama/{model}"
        )
        template = OPENAI_TEMPLATE if model.startswith("gpt") else OTHER_TEMPLATE
        errors, seconds = list[float](), list[float]()
        for seed in range(9):
            meter, table = Models().target(Settings(model=full), ask=False).meter, random.Random(seed)
            head = message(texts, table) if seed % 2 else ""
            prompts = [f"{head}\n{message(texts, table)[:1_500]}" for _ in range(ROWS if name == "o200k" else 100)]
            begun = time.perf_counter()
            estimated = count_tokens(meter, prompts)
            seconds.append((time.perf_counter() - begun) * ROWS / len(prompts))
            sizes = [count(prompt) + template for prompt in prompts]
            errors.append(100 * abs(estimated / sum(sizes) - 1))
        figures = [statistics.median(errors), max(errors)]
        print(f"{name:<24}" + "".join(f"{each:>8.2f} %" for each in figures) + f"{statistics.median(seconds):>8.2f} s")


def main() -> None:
    """Print the tables."""
    print(f"max_cost of $1 in {RUNS:,} simulated runs: the most spent, and the least and the median")
    for at_once in (1, 20, 100):
        found = [spent(at_once, seed) for seed in range(RUNS)]
        print(f"{at_once:>4} at once  {max(found):.4f}  {min(found):.3f}  {statistics.median(found):.3f}", flush=True)
    print("\nInput of tables: median and greatest error before any report; seconds for 1,000 rows")
    inputs()


if __name__ == "__main__":
    main()
