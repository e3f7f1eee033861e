"""Measure the recovery of random conversations that a provider refuses.

The provider is simulated, all else is the product: a Chat takes a conversation in, sends one
more prompt, is refused, and recovers. ``python -m benchmarks.recovery [CASES [KIND]]``.

A case is drawn like this: the true limit log-uniform from 1,000 to 8,000 tokens; turns
log-uniform from 0.5 to 25 % of it, a third of each the prompt; the refused view 1.0 to 1.3
times the limit in 80 % of the cases, 1.3 to 3 times in 15 %, 3 to 20 times in 5 %. Half of
the conversations have had one turn accepted before the rest was taken in. The provider
counts each text 5 % off our estimate (standard deviation), a whole conversation up to 10 %.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
import sys
from dataclasses import dataclass
from typing import Literal, get_args

from jupyter_ctx import Chat, ContextOverflowError, Overflow, Usage
from jupyter_ctx.context.tokens import estimate_tokens
from jupyter_ctx.testing import Answer, ScriptedProvider

SEED = 20_261
CASES = 10_000
Kind = Literal["full numbers", "window only", "size only", "none", "lower bounds", "wrong window", "tokenizer"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Lie = Literal["excess", "contradiction", "what is left"]  # an excess alone; a limit against its size; what is left
STATED = {"full numbers", "window only", "lower bounds", "wrong window", "tokenizer"}
SIZES = (("1.0–1.3", 0.80, 1.0, 1.3), ("1.3–3", 0.15, 1.3, 3.0), ("3–20", 0.05, 3.0, 20.0))
WORDS = "the ship sailed on through a night of storm and rain while Anna wrote 17 letters (home) about it. "
BOOK = WORDS * 9_000
PER_TOKEN = len(WORDS) / estimate_tokens(WORDS)
BELIEVED, RESERVE = 128_000, 64


class Simulated(ScriptedProvider):
    """A provider with a true limit that refuses what is larger, in its own way of saying so."""

    def __init__(self, kind: Kind | Lie, limit: int, factor: float, rng: random.Random) -> None:
        super().__init__(
            lambda request: Answer("Yes.", usage=Usage(self.size(request), 2)),
            window=limit + RESERVE, refusal=self.overflow, count=self.noisy, sends_reserve=True,
        )  # fmt: skip
        self.kind, self.limit, self.factor, self.rng = kind, limit, factor, rng
        self._texts: dict[str, int] = {}

    @property
    def sizes(self) -> list[int]:
        """Tokens of each request."""
        return [self.size(request) for request in self.requests]

    def noisy(self, text: str) -> int:
        """Count a text's tokens, the same each time."""
        if text not in self._texts:
            self._texts[text] = max(1, round(estimate_tokens(text) * self.factor * self.rng.gauss(1, 0.05)))
        return self._texts[text]

    def overflow(self, size: int) -> Overflow:
        """Return the text of this kind of refusal."""
        window = self.limit + RESERVE
        match self.kind:
            case "window only":
                return Overflow(context_window=window)
            case "size only":
                return Overflow(input_tokens=size)
            case "none":
                return Overflow()
            case "lower bounds":
                return Overflow(context_window=window, input_tokens=self.limit + 1, input_is_bound=True)
            case "excess":
                return Overflow(excess=size - self.limit)
            case "contradiction":
                return Overflow(context_window=3 * self.limit, input_tokens=size)
            case "what is left":
                return Overflow(context_window=3, input_tokens=size)
            case _:
                return Overflow(context_window=window, input_tokens=size)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case: the group of its size, retries, and the share of the limit that was sent."""

    group: str
    retries: int
    kept: float
    recovered: bool
    whole: bool  # every turn is still in the conversation
    goes_on: bool  # the conversation is not stuck
    smaller: bool  # each try sent less than the one before


def prose(tokens: float, rng: random.Random) -> str:
    """Return a text of a number of tokens by our estimate."""
    begin = rng.randrange(0, 40 * len(WORDS))
    return BOOK[begin : begin + max(8, int(tokens * PER_TOKEN))]


def conversation(provider: Simulated, size: float, rng: random.Random) -> list[dict[str, str]]:
    """Return turns that make a view of a number of the provider's tokens."""
    messages: list[dict[str, str]] = []
    total = 0.0
    while total < size:
        turn = math.exp(rng.uniform(math.log(0.005), math.log(0.25))) * provider.limit
        for role, share in (("user", 1 / 3), ("assistant", 2 / 3)):
            text = prose(turn * share / provider.factor, rng)
            messages.append({"role": role, "content": text})
            total += provider.count(text) + 4
    return messages


def run(kind: Kind, number: int) -> Outcome:
    """Run one case."""
    rng = random.Random(f"{SEED} {kind} {number}")
    limit = int(math.exp(rng.uniform(math.log(1_000), math.log(8_000))))
    factor = math.exp(rng.uniform(math.log(0.6), math.log(1.9))) if kind == "tokenizer" else rng.uniform(0.9, 1.1)
    draw = rng.random()
    group, _, low, high = SIZES[0 if draw < 0.80 else 1 if draw < 0.95 else 2]
    times = rng.uniform(low, high) if low < 3 else math.exp(rng.uniform(math.log(low), math.log(high)))
    provider = Simulated(kind, limit, factor, rng)
    believed = limit + RESERVE if kind != "wrong window" and rng.random() < 0.3 else BELIEVED * 8
    chat = Chat("openai/simulated", provider=provider, max_tokens=RESERVE, window=believed)
    if rng.random() < 0.5:
        chat.send(prose(rng.uniform(0.005, 0.1) * limit / factor, rng))
    prompt = prose(rng.uniform(0.005, 0.1) * limit / factor, rng)
    said = conversation(provider, times * limit - provider.count(prompt) - provider.taken, rng)
    chat.add_messages(said)
    turns = len(chat.turns)
    provider.requests.clear()
    try:
        chat.send(prompt)
        recovered, kept = True, provider.taken / limit
    except ContextOverflowError:
        recovered, kept = False, 0.0
    smaller = all(later < earlier for earlier, later in itertools.pairwise(provider.sizes))
    whole = len(chat.turns) == turns + recovered
    tries = len(provider.refused)
    return Outcome(group if tries else "none", tries, kept, recovered, whole, goes_on(chat, rng), smaller)


def goes_on(chat: Chat, rng: random.Random) -> bool:
    """Return whether the conversation goes on: one of the next two short prompts is answered."""
    for _ in range(2):
        try:
            chat.send(prose(10, rng))
            return True
        except ContextOverflowError:
            continue
    return False


def table(kind: Kind, cases: int) -> str:
    """Return a row for each group of sizes."""
    outcomes = [run(kind, number) for number in range(cases)]
    refused = [o for o in outcomes if o.retries]
    rows = []
    for group, *_ in SIZES:
        these = [o for o in refused if o.group == group]
        if not these:
            continue
        one, two = (sum(o.recovered and o.retries <= n for o in these) / len(these) for n in (1, 2))
        rows.append(f"{group:>8} {len(these):>6,} {one:>8.2%} {two:>8.2%}")
    kept = statistics.median(o.kept for o in refused if o.recovered)
    stuck, lost = sum(not o.goes_on for o in outcomes), sum(not o.whole for o in outcomes)
    one = sum(o.recovered and o.retries == 1 for o in refused) / len(refused)
    tail = f"  all in one {one:.2%}; kept {kept:.2f} of the limit; not refused {len(outcomes) - len(refused):,}; "
    return "\n".join([kind, *rows, f"{tail}stuck {stuck}, lost {lost}"])


def main() -> None:
    """Print the table."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    kinds = [kind for kind in KINDS if kind in sys.argv[2:]] or KINDS
    drawn = (__doc__ or "").split("\n\n")[2]
    print(f"{cases:,} conversations of each kind, seed {SEED}. {' '.join(drawn.split())}")
    print(f"{'':>8} {'cases':>6} {'in one':>8} {'in two':>8}")
    for kind in kinds:
        print(table(kind, cases), flush=True)


if __name__ == "__main__":
    main()
