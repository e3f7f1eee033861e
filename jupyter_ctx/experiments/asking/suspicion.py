"""Whether refusals come from a limit, or by chance from a server that is shared or overloaded.

Each request that was refused or taken changes the odds for a limit by how much likelier that is under one: a cumulative
sum of log-likelihood ratios (E. S. Page, Continuous Inspection Schemes, Biometrika 1954). How likely a refusal by
chance is, is learned from those that were no limit's.
"""

from __future__ import annotations

import math

MOSTLY = 0.6  # of the requests that a limit refuses once it is reached
CHANCE = (0.03, 0.3)  # of a refusal without a limit: at least, and at most
FIRST_CHANCE = (0.1, 15)  # the same at first, and the requests that this stands for
CERTAIN = (math.log(1_000), math.log(100))  # of the odds for a limit: the first one, and one that is known
ACQUITTED_BY = 30  # requests that are taken soon after a limit: it was perhaps none


class Suspicion:
    """The odds that requests are refused because of a limit."""

    def __init__(self) -> None:
        self._odds = 0.0  # their logarithm; never below even ones, so that a limit is noticed soon after a good time
        self._rising = 0  # refusals since they were even
        self._of_limits = 0  # refusals that were taken for a limit's
        self._calm = 0  # requests taken since then
        chance, requests = FIRST_CHANCE
        self._by_chance, self._passed = chance * requests, (1 - chance) * requests

    @property
    def has_passed(self) -> bool:
        """Whether any request was taken."""
        return self._passed > FIRST_CHANCE[1]

    @property
    def is_calm(self) -> bool:
        """Whether nothing speaks for a limit."""
        return self._odds == 0

    def passed(self, *, is_free: bool) -> None:
        """Record a request that was taken; ``is_free``: no limit is known that was kept for it."""
        self._passed += 1
        self._calm += is_free
        if self._calm == ACQUITTED_BY:
            self.acquit()
        self._odds += math.log((1 - MOSTLY) / (1 - self._chance))
        if self._odds <= 0:
            self._odds, self._rising = 0.0, 0

    def refused(self, *, is_free: bool) -> bool:
        """Record a request that was refused, and return whether that is a limit; ``is_free``: none is known yet."""
        self._odds += math.log(MOSTLY / self._chance)
        self._by_chance += 1
        self._rising += 1
        if self._odds < CERTAIN[not is_free]:
            return False
        self._by_chance -= self._rising
        self._of_limits += self._rising
        self._odds, self._rising, self._calm = 0.0, 0, 0
        return True

    def acquit(self) -> None:
        """Take all refusals for chance: what seemed to be a limit was none."""
        self._by_chance += self._of_limits
        self._of_limits = 0

    @property
    def _chance(self) -> float:
        least, most = CHANCE
        return min(max(self._by_chance / (self._by_chance + self._passed), least), most)
