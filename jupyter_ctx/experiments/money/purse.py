"""The money of a run, and a cap that is never passed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...wording import dollars

PARTS_OF_A_DOLLAR = 10**12  # parts of a US dollar in which money is added up: whole numbers have no rounding errors
SURPRISE = 1.1  # by how much more than the last surprise a worst case is reserved from then on
LEAST_ANSWER = 50  # tokens: shorter answers are not recommended for the sake of a cap


class Purse:
    """The money of a run: what every request on its way may cost at most is reserved before it is sent.

    ``cap``: US dollars that are never passed; ``None``: there is no cap. Where a request costs more than its worst
    case, which a server that ignores ``max_tokens`` brings about, as much more is reserved for all others.
    """

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._cap = None if cap is None else math.floor(cap * PARTS_OF_A_DOLLAR)
        self._spent = self._reserved = 0
        self._factor = 1.0
        self._is_priced = False

    @property
    def spent(self) -> float | None:
        """US dollars spent; ``None``: no price was known."""
        return self._spent / PARTS_OF_A_DOLLAR if self._is_priced else None

    @property
    def reserved(self) -> float:
        """US dollars that the requests on their way may cost at most."""
        return self._reserved * self._factor / PARTS_OF_A_DOLLAR

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most, before it is sent; ``False``: that might pass the cap.

        Money that others have reserved may come back when they settle; where none is on its way, the run ends.
        """
        if self._cap is not None:
            if worst is None:
                return False
            if self._spent + math.ceil((self._reserved + _parts(worst)) * self._factor) > self._cap:
                return False
        self._reserved += _parts(worst)
        return True

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Charge what a request did cost instead of what was reserved for it; ``None``: unknown, the worst is charged.

        A request that was certainly not billed, such as a refused one, costs 0.
        """
        most = _parts(worst)
        self._reserved -= most
        if actual is None or not math.isfinite(actual) or actual < 0:
            self._is_priced |= worst is not None
            self._spent += math.ceil(most * self._factor)
            return
        self._is_priced |= actual > 0 or worst is not None
        self._spent += _parts(actual)
        if most and _parts(actual) > most * self._factor:
            self._factor = SURPRISE * _parts(actual) / most

    def said(self, worst: float | None) -> str:
        """Return why the run ends where nothing is on its way and no more can be reserved."""
        spent = dollars(self._spent / PARTS_OF_A_DOLLAR)
        next_one = "any amount" if worst is None else dollars(worst * self._factor)
        return (
            f"max_cost is {dollars(self.cap or 0.0)}: {spent} of it are spent, and the next request may cost up to "
            f"{next_one}. Raise max_cost, or lower max_tokens."
        )


@dataclass(frozen=True, slots=True)
class CapRoom:
    """How many requests to a model a cap has room for, each reserved at its worst case.

    fits: how many at once; 0: not one
    wanted: how many would go at once without a cap
    worst: US dollars that the cheapest may cost
    limit: the longest answer in tokens with which all that are wanted go at once; 0: that is too short for an answer
    """

    fits: int
    wanted: int
    worst: float
    limit: int

    @classmethod
    def of(cls, cap: float, worst: float, usual: float, answer: float, price: float, wanted: int) -> CapRoom:
        """Return the room in a cap for ``wanted`` requests with an ``answer`` of so many tokens, at a ``price`` each.

        ``worst``: what the cheapest may cost, ``usual``: one of the usual size.
        """
        fits = math.floor(cap / usual) if usual else wanted
        if not fits and worst <= cap:
            fits = 1
        limit = (cap / wanted - usual) / price + answer if price else 0.0
        return cls(min(fits, wanted), wanted, worst, _round_down(limit) if limit >= LEAST_ANSWER else 0)

    def __str__(self) -> str:
        """Return how many go at once, and what would let all go; nothing where they do."""
        if self.fits == self.wanted:
            return ""
        fit = {0: f"one request may cost up to {dollars(self.worst)}", 1: "one request at a time fits"}
        said = fit.get(self.fits, f"{self.fits} requests at once fit")
        go = "it go" if self.wanted == 1 else f"{self.wanted} go at once"
        return f"{said}; {f'max_tokens {self.limit:,}' if self.limit else 'a higher cap'} lets {go}"


def _round_down(tokens: float) -> int:
    """Return tokens with two digits that are not 0."""
    whole = math.floor(tokens)
    step: int = 10 ** (len(str(whole)) - 2)
    return whole // step * step


def _parts(cost: float | None) -> int:
    """Return dollars in whole parts, rounded up."""
    return math.ceil((cost or 0.0) * PARTS_OF_A_DOLLAR)
