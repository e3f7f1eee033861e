"""Simulate runs with a cap, pilots and tables of prompts: is the cap kept and used, are ranges and sizes right?

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
from jupyter_ctx.experiments.money.estimate import count_tokens, total_range
from jupyter_ctx.experiments.money.purse import Purse
from jupyter_ctx.models.registry import Models

RUNS, TABLES, ROWS = 1_000, 500, 1_000
MOST = 4_096  # max_tokens
OPENAI_TEMPLATE, OTHER_TEMPLATE = 7, 4  # tokens around a prompt
INPUT_PRICE, OUTPUT_PRICE = 1.75e-6, 14e-6  # US dollars a token
LENGTHS: dict[str, Callable[[random.Random], float]] = {
    "lognormal, 0.3": lambda chance: chance.lognormvariate(5, 0.3),
    "lognormal, 1": lambda chance: chance.lognormvariate(5.5, 1),
    "lognormal, 1.5": lambda chance: chance.lognormvariate(5.5, 1.5),
    "reasoning: lognormal around 1,800": lambda chance: chance.lognormvariate(7.5, 1.2),
    "exponential": lambda chance: chance.expovariate(1 / 300),
    "gamma, shape 0.5": lambda chance: chance.gammavariate(0.5, 600),
    "uniform": lambda chance: chance.uniform(50, 600),
    "Pareto, 1.5": lambda chance: 100 * chance.paretovariate(1.5),
    "Pareto, 1.1": lambda chance: 100 * chance.paretovariate(1.1),
    "yes or no": lambda chance: chance.choice((1, 1, 1, 2, 3)),
    "every fifth as long as it may be": lambda chance: MOST if chance.random() < 0.2 else chance.uniform(80, 200),
    "every tenth ten times as long": lambda chance: chance.uniform(80, 200) * (10 if chance.random() < 0.1 else 1),
    "every twentieth as long as it may be": lambda chance: MOST if chance.random() < 0.05 else chance.uniform(80, 200),
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


def coverage(length: Callable[[random.Random], float]) -> tuple[float, float]:
    """Return the share of tables whose answers lie in the range after ten pilots, and how wide it is: to over from."""
    right, widths = 0, list[float]()
    for seed in range(TABLES):
        chance = random.Random(seed)
        count = chance.choice((50, 200, 1_000))
        lengths = [max(1, min(MOST, round(length(chance)))) for _ in range(count)]
        low, high = total_range(lengths[:10], count - 10, MOST)
        assert high is not None
        right += low <= sum(lengths[10:]) <= high
        widths.append(high / max(low, 1.0))
    return right / TABLES, statistics.median(widths)


def inputs() -> None:
    """Print how far the estimated input of tables is off, before any report and after a pilot of ten rows."""
    kinds = load(random.Random(4))
    texts = [text for kind in ("English", "code", "JSON") for text in kinds[kind]]
    for name, (model, count) in tokenizers().items():
        full = {"smollm2": "local/smollm2"}.get(model) or (
            f"openai/{model}" if model.startswith("gpt") else f"ollama/{model}"
        )
        template = OPENAI_TEMPLATE if model.startswith("gpt") else OTHER_TEMPLATE
        before, after, seconds = list[float](), list[float](), list[float]()
        for seed in range(9):
            meter, table = Models().target(Settings(model=full), ask=False).meter, random.Random(seed)
            head = message(texts, table) if seed % 2 else ""
            prompts = [f"{head}\n{message(texts, table)[:1_500]}" for _ in range(ROWS if name == "o200k" else 100)]
            begun = time.perf_counter()
            first = count_tokens(meter, prompts)
            seconds.append((time.perf_counter() - begun) * ROWS / len(prompts))
            sizes = [count(prompt) + template for prompt in prompts]
            reported = sum(sizes[:10]) / sum(map(meter.message, prompts[:10]))
            before.append(100 * abs(first / sum(sizes) - 1))
            after.append(100 * abs(first * reported / sum(sizes) - 1))
        figures = [statistics.median(before), max(before), statistics.median(after), max(after)]
        print(f"{name:<24}" + "".join(f"{each:>8.2f} %" for each in figures) + f"{statistics.median(seconds):>8.2f} s")


def main() -> None:
    """Print the tables."""
    print(f"max_cost of $1 in {RUNS:,} simulated runs: the most spent, and the least and the median")
    for at_once in (1, 20, 100):
        found = [spent(at_once, seed) for seed in range(RUNS)]
        print(f"{at_once:>4} at once  {max(found):.4f}  {min(found):.3f}  {statistics.median(found):.3f}", flush=True)
    print(f"\nThe range after a pilot of ten: right in {TABLES} tables of 50, 200 or 1,000 rows; how wide")
    for name, length in LENGTHS.items():
        share, width = coverage(length)
        print(f"{name:<38}{100 * share:>6.1f} %{width:>7.1f}", flush=True)
    print(
        "\nInput of tables: median and greatest error before any report, after a pilot of ten; seconds for 1,000 rows"
    )
    inputs()


if __name__ == "__main__":
    main()
