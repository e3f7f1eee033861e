"""The one number that all readers share: how full the next request is, and what it may hold."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .windows import ContextWindow

FillState = Literal["ok", "half", "high", "full", "over"]

HALF, HIGH, FULL = 0.50, 0.75, 0.90
MARGIN = 0.20  # kept free of every estimated token, never of a counted one
PROMPT_MARGIN = 0.10  # where all but the new prompt was counted, and so much is known of the tokenizer
RESERVE = 4_096
REASONING_RESERVE = 25_000
EFFORT_RESERVES = {"none": RESERVE, "minimal": 8_000, "low": 8_000, "medium": 25_000, "high": 40_000, "max": 64_000}


def whole(tokens: float) -> int:
    """Round up to whole tokens: a request of 40.2 does not fit in 40."""
    return math.ceil(tokens - 1e-6)


def default_reserve(window: ContextWindow, *, reasoning: bool | None = False, effort: str | None = None) -> int:
    """Return the tokens kept free for a reply where ``max_tokens`` is not set; models that reason get more.

    ``effort``: how much; of no weight for a model that is known not to reason.
    """
    most = REASONING_RESERVE if reasoning else RESERVE
    if effort is not None and reasoning is not False:
        most = EFFORT_RESERVES[effort]
    return max(1, min(most, window.tokens // 4, window.max_output_tokens or most))


def prompt_limit(window: ContextWindow, reserve: int, share: float = 1.0) -> int:
    """Return the tokens a prompt may have, beside a reply of ``reserve`` tokens, in a share of the window."""
    room, cap = window.tokens - reserve, window.max_input_tokens
    if cap is not None:
        room = min(room, cap)
    return max(0, math.floor(room * share))


@dataclass(frozen=True)
class Budget:
    """What the next request may hold and what it holds, in tokens.

    ``fixed`` (system, memory, pins, summary) is always sent; ``used`` is the next request
    with an empty prompt; ``exact``: the provider counted all of it.
    """

    window: ContextWindow
    reserve: int
    fixed: int = 0
    used: int = 0
    exact: bool = False
    share: float = 1.0

    @cached_property
    def limit(self) -> int:
        """Tokens a prompt may have."""
        return prompt_limit(self.window, self.reserve, self.share)

    @property
    def fill(self) -> float:
        """Used share of the limit; above 1 the next request leaves something out."""
        return self.used / self.limit if self.limit else math.inf

    @property
    def state(self) -> FillState:
        """ok, half, high, full or over."""
        states: tuple[FillState, ...] = ("ok", "half", "high", "full")
        fill = self.fill
        return "over" if fill > 1 else states[bisect((HALF, HIGH, FULL), fill)]
