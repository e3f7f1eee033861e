"""Simulate conversations: how many more turns fit, beside what was said, and what a prompt costs, beside its range.

``python -m benchmarks.forecasts``. A scripted provider counts the tokens; prices are those of a model of Anthropic.
The last table times what ``%chat status`` adds up over 10,000 turns.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

from jupyter_ctx import Chat, Usage
from jupyter_ctx.context.tokens import Meter
from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import Event, Said, Summarized
from jupyter_ctx.conversation.messages import Summary, Turn, TurnRecord
from jupyter_ctx.models.request_price import input_cost
from jupyter_ctx.session.savings import savings
from jupyter_ctx.testing import Answer, ScriptedProvider

CONVERSATIONS, WINDOW, SEED = 40, 16_000, 15
MODEL, TURNS, REPEATS = "anthropic/claude-sonnet-4-5", 10_000, 7
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


def events(summaries: int, reruns: int) -> list[Event]:
    """Return a conversation of 10,000 turns, cut all 50, with so many summaries, and so many cells run again."""
    found, turns, summary = list[Event](), list[Turn](), Summary("", frozenset(), "extractive")
    usage = Usage(50_000, 100, cache_read_tokens=40_000, cache_write_tokens=5_000)
    for number in range(TURNS):
        if summaries and number and number % (TURNS // summaries) == 0:
            covers = summary.covers | {turn.id for turn in turns[-TURNS // summaries - 5 : -5]}
            summary = Summary("Facts.", covers, "extractive")
            found.append(Summarized(summary))
        turns.append(_turn(number, usage, turns, summary.id if summaries else None))
        found.append(Said(turns[-1]))
    return [*found, *(Said(_turn(number, usage, turns, None)) for number in range(reruns))]


def _turn(number: int, usage: Usage, turns: Sequence[Turn], summary: str | None) -> Turn:
    start = turns[number // 50 * 50 - 25].id if number >= 50 else None
    record = TurnRecord(
        MODEL, usage=usage, cost=0.05, start=start, digest="d", cell=str(number), run=f"{len(turns)}", summary=summary
    )
    return Turn("What does the wind do today? " * 10, "It blows steadily. " * 10, record=record)


def times() -> None:
    """Print how long the savings of a long conversation take to add up."""
    print(f"\n| {TURNS:,} turns | first, s | again, s |")
    print("|---|---:|---:|")
    for name, summaries, reruns in (
        ("cut all 50 turns", 0, 0), ("and summarised 700 times", 700, 0), ("and every cell run again", 0, TURNS),
    ):  # fmt: skip
        past = Conversation(events(summaries, reruns))
        taken = list[tuple[float, float]]()
        for _ in range(REPEATS):
            meter = Meter()
            begun = time.perf_counter()
            savings(past, meter, input_cost)
            between = time.perf_counter()
            savings(past, meter, input_cost)
            taken.append((between - begun, time.perf_counter() - between))
        first, again = (statistics.median(each) for each in zip(*taken, strict=True))
        print(f"| {name} | {first:.2f} | {again:.2f} |")


def main() -> None:
    """Print all three tables."""
    forecasts()
    ranges()
    times()


if __name__ == "__main__":
    main()
