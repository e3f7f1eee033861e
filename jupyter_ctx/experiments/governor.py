"""How many requests one endpoint is sent at once, and how fast: learned from what it answers and refuses."""

from __future__ import annotations

import random
from collections import deque

START_AT_ONCE, MOST_AT_ONCE = 20, 100  # requests at once, where the user does not say
CUT = 0.8  # of the requests at once that stay after a refusal
CUT_EVERY = 15.0  # seconds in which requests at once are cut once
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds, where a refusal names none
WINDOW = 120.0  # seconds in which starts are remembered
TRIES_LIMITED, TRIES_BUSY = 50, 6  # of one request


class Governor:
    """Decides when requests to one endpoint start.

    ``most``: requests at once, at most; ``start``: at the beginning. Times are seconds of one clock.
    """

    def __init__(self, most: int = MOST_AT_ONCE, start: int = START_AT_ONCE) -> None:
        self._most, self._allowed = most, float(min(start, most))
        self._open, self._until, self._refused = 0, 0.0, 0
        self._cut_at = float("-inf")
        self._starts: deque[float] = deque()

    def may_start(self, now: float) -> float:
        """Return 0 where a request may start now, else the time at which to ask again; ``inf``: when one ends."""
        if now < self._until:
            return self._until
        if self._open >= (1 if self._refused else int(self._allowed)):
            return float("inf")
        return 0.0

    def started(self, now: float) -> None:
        """Record that a request starts."""
        self._open += 1
        self._starts.append(now)

    def succeeded(self, now: float) -> None:
        """Record that a request was answered."""
        self._ended(now)
        self._refused = 0
        self._allowed = min(self._most, self._allowed + 1)

    def failed(self, now: float) -> None:
        """Record that a request failed for another reason than a rate limit."""
        self._ended(now)

    def refused(self, now: float, retry_after: float | None = None) -> None:
        """Record that a request was refused because of a rate limit, with the seconds that the server names."""
        self._ended(now)
        if now - self._cut_at >= CUT_EVERY:
            self._allowed, self._cut_at = max(1.0, self._allowed * CUT), now
        self._refused += now >= self._until
        pause = retry_after if retry_after is not None else min(FIRST_PAUSE * 2 ** (self._refused - 1), LONGEST_PAUSE)
        self._until = max(self._until, now + pause)

    def _ended(self, now: float) -> None:
        self._open -= 1
        while self._starts and self._starts[0] < now - WINDOW:
            self._starts.popleft()

    def retry_at(self, tries: int, now: float, chance: random.Random, *, limited: bool = False) -> float | None:
        """Return when a request that was sent ``tries`` times is sent again; ``None``: it is given up."""
        if tries >= (TRIES_LIMITED if limited else TRIES_BUSY):
            return None
        return now if limited else now + chance.uniform(0.5, 1.0) * min(2.0 ** (tries - 1), 30.0)
