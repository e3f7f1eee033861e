"""Simulate conversations: how many more turns fit, beside what was said, and what a prompt costs, beside its range.

``python -m benchmarks.forecasts``. A scripted provider counts the tokens; prices are those of a model of Anthropic.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable

from jupyter_ctx import Chat
from jupyter_ctx.testing import Answer, ScriptedProvider

CONVERSATIONS, WINDOW, SEED = 40, 16_000, 15
MODEL = "anthropic/claude-sonnet-4-5"
WORDS = "the sea was calm and a steady wind came from the west over the harbour with boats"
SIZES: dict[str, Callable[[random.Random, int], float]] = {  # words of a prompt, of the turn with this number
    "all alike": lambda _, __: 60,
    "lognormal, 0.3": lambda chance, _: 60 * chance.lognormvariate(0, 0.3),
    "lognormal, 1": lambda chance, _: 60 * chance.lognormvariate(0, 1),
    "2 % longer each turn": lambda _, turn: 30 * 1.02**turn,
    "every tenth ten times as long": lambda _, turn: 400 if turn % 10 == 9 else 40,
}
COUNTS: dict[str, Callable[[str], int]] = {
    "4 characters a token": lambda text: -(-len(text) // 4),
    "5 characters a token": lambda text: -(-len(text) // 5),
    "2.5 characters a token": lambda text: -(-len(text) * 2 // 5),
}


class Priced(ScriptedProvider):
    """A scripted provider whose tokens have a listed price."""

    catalogue = "anthropic"


def text(chance: random.Random, words: float) -> str:
    """Return so many words."""
    return " ".join(chance.choices(WORDS.split(), k=max(3, round(words))))


def misses(size: Callable[[random.Random, int], float], chance: random.Random) -> list[tuple[float, float]]:
    """Return the share of the limit in use and the relative error of each forecast in one conversation."""
    provider = ScriptedProvider(lambda _: text(chance, 120))
    chat, said = Chat(provider=provider, window=WINDOW, max_tokens=1_000), list[tuple[float, int]]()
    for turn in range(1_000):
        info = chat.info()
        if info.left_out:
            break
        said.append((info.fill, -1 if info.more_turns is None else info.more_turns))
        chat.send(text(chance, size(chance, turn)))
    last = len(said) - 1  # the send that left turns out
    return [(fill, (more - (last - i)) / max(last - i, 1)) for i, (fill, more) in enumerate(said[:last]) if more >= 0]


def forecasts() -> None:
    """Print how far off forecasts are, by the share of the limit in use."""
    print("| turns | at 25-50 %: median | p95 | at 50-75 %: median | p95 | at 75-100 %: median | p95 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, size in SIZES.items():
        chance, found = random.Random(SEED), list[tuple[float, float]]()
        for _ in range(CONVERSATIONS):
            found += misses(size, chance)
        cells = list[str]()
        for low in (0.25, 0.5, 0.75):
            off = sorted(abs(miss) for fill, miss in found if low <= fill < low + 0.25)
            cells += [f"{100 * statistics.median(off):.0f} %", f"{100 * off[int(0.95 * len(off))]:.0f} %"]
        print(f"| {name} | {' | '.join(cells)} |")


def ranges() -> None:
    """Print how often the cost of a prompt lies in the range that was told before."""
    print("\n| the provider counts | prompts | below the range | above it | median width: high / low |")
    print("|---|---:|---:|---:|---:|")
    for name, count in COUNTS.items():
        chance, below, above, widths = random.Random(SEED), 0, 0, list[float]()
        for _ in range(CONVERSATIONS):
            reply = text(chance, chance.uniform(5, 300))
            chat = Chat(provider=Priced(Answer(reply), count=count, model=MODEL, sends_reserve=True), max_tokens=500)
            for _ in range(10):
                prompt = text(chance, 60 * chance.lognormvariate(0, 1.5))
                price, cost = chat.preview(prompt).price, chat.send(prompt).cost
                assert price.low
                assert price.high
                assert cost
                below, above = below + (cost < price.low), above + (cost > price.high)
                widths.append(price.high / price.low)
        print(f"| {name} | {len(widths):,} | {below} | {above} | {statistics.median(widths):.1f} |")


def main() -> None:
    """Print both tables."""
    forecasts()
    ranges()


if __name__ == "__main__":
    main()
