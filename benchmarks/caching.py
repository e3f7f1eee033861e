"""Measure what rare cuts save with prompt caches, beside a cut on every turn.

On the local model's server, which reports what it had cached: a conversation of 60 turns in
a window of 1,024 tokens, each way on a fresh server whose cache for other prompts is off.
With Anthropic's prices (a cached token costs 0.1, one that is written to the cache 1.25) in a
simulation: 5,000 turns at a limit of 20,000 tokens, 100 to 2,000 tokens each (a tenth of the
limit), log-uniform and uniform, where a request that does not begin like the last one has
nothing cached.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import jupyter_ctx.context.compaction
from jupyter_ctx import Chat
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.compaction import TRIM_TO, Ledger, RequestSize, decide
from jupyter_ctx.providers import local

TURNS, WINDOW, REPLY = 60, 1_024, 40
READ, WRITE = 0.1, 1.25
LIMIT, SYSTEM, SIMULATED, SEED = 20_000, 1_000, 5_000, 3
TOPICS = (
    "harbours",
    "lighthouses",
    "tides",
    "whales",
    "knots",
    "sails",
    "storms",
    "maps",
    "islands",
    "ferries",
    "gulls",
)


@dataclass(frozen=True)
class Work:
    """The prompt tokens sent, those not cached, and the number of requests that left turns out."""

    sent: int
    processed: int
    cuts: int


def cut_to(share: float) -> None:
    """Set the share of the limit that cuts go down to."""
    jupyter_ctx.context.compaction.TRIM_TO = share  # type: ignore[misc]


def on_the_local_model(share: float) -> Work:
    """Run one conversation on a new server."""
    local.CACHE_RAM_MIB = 0
    chat = Chat("local/smollm2", window=WINDOW, max_tokens=REPLY, system="You are a brief and friendly guide.")
    sent = processed = cuts = 0
    cut_to(share)
    try:
        for turn in range(TURNS):
            topic = TOPICS[turn % len(TOPICS)]
            reply = chat.send(f"Question {turn + 1}: tell me in a sentence or two something worth knowing of {topic}.")
            assert reply.usage is not None
            sent += reply.usage.input_tokens
            processed += reply.usage.input_tokens - reply.usage.cache_read_tokens
            cuts += bool(reply.notices)
    finally:
        cut_to(TRIM_TO)
        local.stop_servers()
    return Work(sent, processed, cuts)


def log_uniform(rng: random.Random) -> float:
    """Return the tokens of a turn: most are short."""
    return math.exp(rng.uniform(math.log(LIMIT / 200), math.log(LIMIT / 10)))


def uniform(rng: random.Random) -> float:
    """Return the tokens of a turn: as many are long as short."""
    return rng.uniform(LIMIT / 200, LIMIT / 10)


def at_anthropics_prices(share: float, draw: Callable[[random.Random], float]) -> tuple[float, float]:
    """Return the input cost as a share of the uncached price, and the mean share of the limit used."""
    rng, ledger, start = random.Random(SEED), Ledger(), 0
    cut_to(share)
    paid = whole = 0.0
    cached, fill = 0.0, []
    settings = Settings()
    for _ in range(SIMULATED):
        turn = draw(rng)
        prompt = turn / 4
        cut = decide(RequestSize(ledger, LIMIT, start, len(ledger), fixed=SYSTEM, prompt=prompt), settings).cut
        if cut.start != start:
            start, cached = cut.start, 0.0
        size = cut.tokens + prompt
        paid += READ * cached + WRITE * (size - cached)
        whole += size
        cached = size
        fill.append(size / LIMIT)
        ledger.append(turn)
    cut_to(TRIM_TO)
    return paid / whole, statistics.mean(fill[50:])


def main() -> None:
    """Print the tables."""
    print(f"{TURNS} turns on local/smollm2 in a window of {WINDOW:,}, {REPLY} tokens a reply")
    ours, sliding = on_the_local_model(TRIM_TO), on_the_local_model(1.0)
    for name, work in (("down to 0.6", ours), ("on every turn", sliding)):
        print(f"{name:>14}: {work.cuts:>3} cuts, {work.sent:>7,} prompt tokens sent, {work.processed:>7,} processed")
    print(f"processed: {ours.processed / sliding.processed:.3f} of what a cut on every turn takes")
    print(f"Anthropic's prices, {SIMULATED:,} turns, a limit of {LIMIT:,}, seed {SEED}")
    for share in (1.0, 0.9, 0.75, TRIM_TO, 0.5, 0.3):
        figures = [at_anthropics_prices(share, draw) for draw in (log_uniform, uniform)]
        texts = [f"{cost:.3f} of the uncached price, {fill:.0%} of the limit filled" for cost, fill in figures]
        print(f"  cut to {share:.2f}: {texts[0]}; uniform {texts[1]}")


if __name__ == "__main__":
    main()
