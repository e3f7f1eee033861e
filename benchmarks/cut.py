"""Measure finding where a view begins, for one turn, in conversations of 100 to 100,000 messages.

The others count the messages anew each time, with the fastest counter that each offers; we
keep running sums from turn to turn and look the cut up. All are asked for the newest messages
that fit in half of the conversation. What is slower than quadratic patience allows is left
out of the longer rows. Memory: the peak of one call, and what we keep a message.
"""

from __future__ import annotations

import logging
import os
import time
import tracemalloc
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from benchmarks.measuring import is_installed, median_ms
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.compaction import Ledger, RequestSize, decide
from jupyter_ctx.context.tokens import estimate_tokens

SIZES = (100, 1_000, 10_000, 100_000)
TEXT = "The quick brown fox jumps over the lazy dog and goes on to the next page. " * 4
RUNS = 7
PATIENCE = 20.0  # seconds for one call; the next size, ten times as long, is not tried above a tenth of it
Work = Callable[[], Any]


def peak_kb(work: Work) -> float:
    """Return the peak memory of one call, in kB."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1_000


def ledger(messages: int) -> Ledger:
    """Return our prefix sums of a conversation with a pin in every 50 turns."""
    sums = Ledger()
    for number in range(messages // 2):
        sums.append(2 * estimate_tokens(TEXT), pinned=number % 50 == 7)
    return sums


def ours(messages: int, share: float) -> Work:
    """Cut as the package does, with sums kept between turns."""
    sums = ledger(messages)
    total = sums.between(0, len(sums)) + sums.pinned(len(sums))
    return lambda: decide(RequestSize(sums, int(total * share), 0, len(sums), prompt=20.0), Settings())


def append_us(messages: int) -> float:
    """Time one more turn in a long conversation, in microseconds."""
    sums = ledger(messages)
    return 1_000 * median_ms(lambda: sums.append(80.0), RUNS, repeat=200)


def plain(messages: int) -> list[dict[str, str]]:
    """Return a conversation in OpenAI's format."""
    return [{"role": "user" if number % 2 == 0 else "assistant", "content": TEXT} for number in range(messages)]


def langchain(messages: int) -> Work:
    """Cut by langchain's trim_messages with its approximate counter."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.messages.utils import count_tokens_approximately as count
    from langchain_core.messages.utils import trim_messages

    history = [(HumanMessage if number % 2 == 0 else AIMessage)(TEXT) for number in range(messages)]
    half = count(history) // 2
    return lambda: trim_messages(history, max_tokens=half, token_counter=count, start_on="human")


def litellm(messages: int) -> Work:
    """Cut by litellm's trim_messages, which counts with tiktoken."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    logging.disable(logging.WARNING)
    from litellm.utils import token_counter, trim_messages

    history: Any = plain(messages)
    half = messages * token_counter(messages=history[:10]) // 20
    return lambda: trim_messages(history, max_tokens=half, trim_ratio=1.0)


def contexttrim(messages: int) -> Work:
    """Cut by RecencyDrop."""
    from contexttrim import ContextManager
    from contexttrim.strategies import RecencyDrop

    manager = ContextManager(token_budget=messages * len(TEXT) // 8, strategy=RecencyDrop())
    for said in plain(messages):
        manager.add(said)
    return manager.fit


PEERS: dict[str, tuple[str, str, Callable[[int], Work]]] = {
    "LangChain": ("langchain_core", "langchain-core", langchain),
    "litellm": ("litellm", "litellm", litellm),
    "contexttrim": ("contexttrim", "contexttrim", contexttrim),
}


def main() -> None:
    """Print the tables."""
    print(f"ms for one turn, medians of {RUNS}; a pin in every 50 turns; budget as a share of the whole")
    print(f"{'messages':>9}{'1 %':>9}{'50 %':>9}{'99 %':>9}{'append, µs':>12}{'peak kB':>9}{'kept B/message':>16}")
    half: dict[int, float] = {}
    for messages in SIZES:
        works = [ours(messages, share) for share in (0.01, 0.5, 0.99)]
        times = [median_ms(work, RUNS, repeat=200) for work in works]
        half[messages] = times[1]
        tracemalloc.start()
        kept = ledger(messages)
        size = tracemalloc.get_traced_memory()[0] / messages
        tracemalloc.stop()
        del kept
        row = "".join(f"{figure:>9.4f}" for figure in times)
        print(f"{messages:>9,}{row}{append_us(messages):>12.2f}{peak_kb(works[1]):>9.1f}{size:>16.0f}", flush=True)
    for name, (module, package, make) in PEERS.items():
        if not is_installed(module):
            print(f"{name}: not installed")
            continue
        for messages in SIZES:
            work = make(messages)
            begun = time.perf_counter()
            work()
            once = time.perf_counter() - begun
            milliseconds = once * 1_000 if once > PATIENCE / 10 else median_ms(work, RUNS)
            peak = f"{peak_kb(work):,.0f} kB" if once < PATIENCE / 10 else "–"
            ratio = milliseconds / half[messages]
            print(f"{name} {version(package)}: {messages:>8,} {milliseconds:>10,.2f} ms {ratio:>10,.0f}× {peak:>12}")
            if once > PATIENCE / 10:
                break


if __name__ == "__main__":
    main()
