"""The one number: how full the next request is, and what it may hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .windows import ContextWindow

FillState = Literal["ok", "half", "high", "full", "over"]
SegmentName = Literal["system", "pinned", "summary", "earlier turns", "this turn"]

HALF, HIGH, FULL = 0.50, 0.75, 0.90
TRIM_TO = 0.6  # of the limit: cutting deep keeps the prompt's beginning, and so caches, for long
MARGIN, LEAST_MARGIN = 0.20, 0.03  # kept free of every estimated token, never of a counted one
RESERVE = 4_096
REASONING_RESERVE = 25_000


def whole(tokens: float) -> int:
    """Whole tokens that hold so many: a request of 40.2 does not fit in 40."""
    return math.ceil(tokens - 1e-6)


def default_reserve(window: ContextWindow, *, reasoning: bool = False) -> int:
    """Tokens kept free for a reply where nobody said how long it may be; reasoning takes more."""
    most = REASONING_RESERVE if reasoning else RESERVE
    return max(1, min(most, window.tokens // 4, window.max_output_tokens or most))


def state_of(fill: float) -> FillState:
    """The word for a share of the limit."""
    if fill > 1:
        return "over"
    if fill >= FULL:
        return "full"
    if fill >= HIGH:
        return "high"
    return "half" if fill >= HALF else "ok"


@dataclass(frozen=True, slots=True)
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
    margin: float = MARGIN
    share: float = 1.0

    @property
    def limit(self) -> int:
        """Tokens a prompt may have."""
        window = self.window
        room, cap = window.tokens - self.reserve, window.max_input_tokens
        if cap is not None:
            room = cap if window.is_of_prompts else min(room, cap)
        return max(0, math.floor(room * self.share))

    @property
    def available(self) -> int:
        """Tokens left for turns beside what is always sent."""
        return max(0, self.limit - self.fixed)

    @property
    def target(self) -> int:
        """Tokens of turns that may be planned while nothing has been counted."""
        return math.floor(self.available * (1 - self.margin) + 1e-9)

    @property
    def headroom(self) -> int:
        """Tokens a new prompt may still have; negative when over."""
        return self.limit - self.used

    @property
    def fill(self) -> float:
        """Used share of the limit; above 1 the next request leaves something out."""
        return self.used / self.limit if self.limit else math.inf

    @property
    def state(self) -> FillState:
        """ok, half, high, full or over."""
        return state_of(self.fill)

    def fits(self, counted: float, estimated: float, share: float = 1.0) -> bool:
        """Whether a request fits; the margin is on the estimated part alone."""
        return counted + estimated / (1 - self.margin) <= self.limit * share


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of what the next request carries."""

    name: SegmentName
    tokens: int


def segments_of(sizes: Iterable[tuple[SegmentName, float]]) -> tuple[Segment, ...]:
    """Sizes in whole tokens whose sum is the rounded sum: what a bar shows is what its line says."""
    segments, before, total = list[Segment](), 0, 0.0
    for name, size in sizes:
        total += size
        segments.append(Segment(name, round(total) - before))
        before = round(total)
    return tuple(segments)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an action would do now: the next request's tokens ``before`` and ``after`` it.

    ``possible``: whether it would do anything; where not, ``text`` says why. ``after`` is
    ``None`` where only doing it tells, ``at_most`` where it is an upper bound.
    """

    text: str
    possible: bool = True
    before: int = 0
    after: int | None = None
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class ContextInfo:
    """How full a conversation is: what the gauge, status and the trigger all read.

    ``turns`` is how many were said since the last clear, ``in_view``, ``left_out`` and
    ``will_leave`` (by the next send) are how many of these; ``reported`` is the provider's last
    figure in tokens, or ``None``, ``sent`` the input in it and ``cached`` what of that came from a
    cache; ``cost`` is what all replies so far cost in US dollars, ``None`` where unknown,
    ``unpriced`` how many of them are not in it.
    """

    model: str
    budget: Budget
    segments: tuple[Segment, ...]
    in_view: int
    left_out: int
    turns: int = 0
    will_leave: int = 0
    reported: int | None = None
    cached: int | None = None
    sent: int | None = None
    undo: str | None = None
    redo: str | None = None
    cost: float | None = None
    unpriced: int = 0

    def __repr__(self) -> str:
        about = "" if self.exact or not self.used else "~"
        window, full = self.budget.window, f"{100 * self.fill:,.0f} % full, {self.state}"
        return (
            f"ContextInfo({self.model}: {about}{self.used:,} of {self.limit:,} tokens, {full}; "
            f"window {window.tokens:,} {window.origin}; {self.in_view:,} of {self.turns:,} turns in view)"
        )

    @property
    def used(self) -> int:
        """Tokens the next request carries with an empty prompt."""
        return self.budget.used

    @property
    def limit(self) -> int:
        """Tokens a prompt may have."""
        return self.budget.limit

    @property
    def context_window(self) -> int:
        """Tokens the model can hold, in and out together."""
        return self.budget.window.tokens

    @property
    def source(self) -> str:
        """Where the window comes from."""
        return self.budget.window.source

    @property
    def fill(self) -> float:
        """Used share of the limit."""
        return self.budget.fill

    @property
    def exact(self) -> bool:
        """Whether the provider counted all of ``used``."""
        return self.budget.exact

    @property
    def state(self) -> FillState:
        """ok, half, high, full or over."""
        return self.budget.state
