"""Finding where a view begins, for one turn, in conversations of 100 to 100,000 messages.

LangChain's trim_messages counts the messages each time (here with its approximate counter,
the fast one); we keep running sums from turn to turn and look the cut up. Both are asked
for the newest messages that fit in half of the conversation.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.compaction import fit
from jupyter_ctx.context.tokens import Ledger, estimate_tokens
from jupyter_ctx.context.windows import ContextWindow

SIZES = (100, 1_000, 10_000, 100_000)
TEXT = "The quick brown fox jumps over the lazy dog and goes on to the next page. " * 4
RUNS = 7


def median_ms(work: Callable[[], Any], repeat: int) -> float:
    """The median of some runs, each of so many calls, in milliseconds a call."""
    runs = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        for _ in range(repeat):
            work()
        runs.append((time.perf_counter() - begun) / repeat * 1_000)
    return statistics.median(runs)


def ours(messages: int, share: float) -> float:
    """Our cut, with sums that are kept between turns."""
    ledger = Ledger()
    for number in range(messages // 2):
        ledger.append(2 * estimate_tokens(TEXT), pinned=number % 50 == 7)
    total = ledger.between(0, len(ledger)) + ledger.pinned(len(ledger))
    budget = Budget(ContextWindow(int(total * share)), 0)
    return median_ms(lambda: fit(ledger, budget, 20.0, start=0, end=len(ledger)), 200)


def langchain(messages: int) -> float:
    """LangChain's trimmer on the same texts."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.messages.utils import count_tokens_approximately, trim_messages

    history = [(HumanMessage if number % 2 == 0 else AIMessage)(TEXT) for number in range(messages)]
    half = count_tokens_approximately(history) // 2
    count = count_tokens_approximately
    return median_ms(lambda: trim_messages(history, max_tokens=half, token_counter=count, start_on="human"), 1)


def main() -> None:
    """Print the table."""
    peer = importlib.util.find_spec("langchain_core") is not None
    print(f"ms for one turn, medians of {RUNS}; a pin in every 50 turns; budget as a share of the whole")
    print(f"{'messages':>9}{'ours 1 %':>10}{'50 %':>8}{'99 %':>8}" + ("  LangChain 50 %     ratio" if peer else ""))
    for messages in SIZES:
        times = [ours(messages, share) for share in (0.01, 0.5, 0.99)]
        row = f"{messages:>9,}{times[0]:>10.4f}{times[1]:>8.4f}{times[2]:>8.4f}"
        if peer:
            theirs = langchain(messages)
            row += f"{theirs:>16.2f}{theirs / times[1]:>10,.0f}"
        print(row)


if __name__ == "__main__":
    main()
