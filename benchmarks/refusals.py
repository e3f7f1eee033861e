"""Measure how often a conversation of forty turns is refused, and whether a cell ever fails for it.

The provider is simulated (``recovery.Simulated``), all else is the product. The window is given as
128,000 tokens and is 8,000; prompts are drawn evenly from a share of it: short 2 to 6 %, middling
10 to 20 %, long 30 to 60 %, mixed 2 to 60 %. ``python -m benchmarks.refusals [CONVERSATIONS]``.
"""

from __future__ import annotations

import random
import statistics
import sys

from benchmarks.recovery import RESERVE, Kind, Lie, Simulated, prose
from jupyter_ctx import Chat, ContextOverflowError

CONVERSATIONS, TURNS, LIMIT = 24, 40, 8_000
SHARES = {"short": (0.02, 0.06), "middling": (0.1, 0.2), "long": (0.3, 0.6), "mixed": (0.02, 0.6)}
KINDS: tuple[Kind | Lie, ...] = (
    "full numbers", "window only", "size only", "none", "lower bounds", "excess", "contradiction", "what is left",
)  # fmt: skip


def run(kind: Kind | Lie, low: float, high: float, seed: int) -> tuple[int, int, float]:
    """Return refusals, failed cells, and the share of the limit that requests use from the 16th turn on."""
    rng = random.Random(f"{kind} {low} {high} {seed}")
    provider = Simulated(kind, LIMIT, rng.uniform(0.9, 1.1), rng)
    chat = Chat("openai/simulated", provider=provider, window=128_000, max_tokens=RESERVE)
    failed, used = 0, []
    for turn in range(TURNS):
        try:
            chat.send(prose(rng.uniform(low, high) * LIMIT, rng))
        except ContextOverflowError:
            failed += 1
        if turn >= 15:
            used.append(provider.taken / LIMIT)
    return len(provider.refused), failed, statistics.median(used)


def main() -> None:
    """Print the table."""
    conversations = int(sys.argv[1]) if len(sys.argv) > 1 else CONVERSATIONS
    print(f"{conversations} conversations of {TURNS} turns: refusals median, most | failed cells | limit used")
    for kind in KINDS:
        for name, (low, high) in SHARES.items():
            refusals, failed, used = zip(*(run(kind, low, high, seed) for seed in range(conversations)), strict=True)
            figures = f"{statistics.median(refusals):>4.1f} {max(refusals):>3} | {sum(failed):>3}"
            print(f"{kind:14} {name:9}{figures} | {statistics.median(used):.2f}", flush=True)


if __name__ == "__main__":
    main()
