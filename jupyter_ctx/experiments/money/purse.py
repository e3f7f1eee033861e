"""The money of a run, and a cap that is never passed."""

from __future__ import annotations

import math

from ...wording import dollars

PARTS_OF_A_DOLLAR = 10**12  # parts of a US dollar in which money is added up: whole numbers have no rounding errors
SURPRISE = 1.1  # by how much more than the last surprise a worst case is reserved from then on


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


def _parts(cost: float | None) -> int:
    """Return dollars in whole parts, rounded up."""
    return math.ceil((cost or 0.0) * PARTS_OF_A_DOLLAR)
