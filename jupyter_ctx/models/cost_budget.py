"""Money that is reserved before it is spent, and caps that hold."""

from __future__ import annotations

import math
import threading

from ..context.context_info import MoneyLeft
from ..storage.spending import PARTS_OF_A_DOLLAR, Sum, parts_of
from ..wording import lack_line

SURPRISE = 1.1  # by how much more than the last surprise a worst case is reserved from then on


class CostBudget:
    """The money of a run or a notebook: what a request may cost at most is reserved before it is sent.

    Several threads may pay of it. Where a request costs more than its worst case, which a server that ignores
    ``max_tokens`` brings about, as much more is reserved for all others.

    cap: most US dollars that may be spent; ``None``: there is no cap
    within: the budget that pays too, so that its cap holds as well; ``None``: none does
    total: where the money is added up
    """

    def __init__(self, cap: float | None = None, within: CostBudget | None = None, total: Sum | None = None) -> None:
        self.cap, self.within = cap, within
        self._sum = Sum() if total is None else total
        self._spent = 0
        self._reserved: dict[int, list[int]] = {}  # what is reserved for each request on its way, by its worst case
        self._factor = 1.0
        self._is_priced = False
        self._lock = threading.Lock()

    @property
    def spent(self) -> float | None:
        """US dollars that were paid of it here; ``None``: no price was known."""
        return self._spent / PARTS_OF_A_DOLLAR if self._is_priced else None

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap that holds."""
        return self.cap is not None or (self.within is not None and self.within.is_capped)

    @property
    def left(self) -> float | None:
        """US dollars that may still be spent under all caps, less what is reserved; ``None``: there is no cap."""
        around = None if self.within is None else self.within.left
        own = None if self.allowance is None else self.allowance.left
        return min((each for each in (own, around) if each is not None), default=None)

    @property
    def allowance(self) -> MoneyLeft | None:
        """What is left of its own cap, less what is reserved."""
        return None if self.cap is None else MoneyLeft(max(0.0, self.cap - self._charged), self.cap)

    @property
    def _charged(self) -> float:
        return self._sum.total / PARTS_OF_A_DOLLAR

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most, before it is sent; ``False``: that might pass a cap.

        Money that others have reserved may come back when they settle; where none is on its way, a run ends.
        """
        if worst is None:
            return not self.is_capped
        amount = self._amount(parts_of(worst))
        if amount and not self._sum.add(amount, self._most):
            return False
        if self.within is not None and not self.within.reserve(worst):
            self._sum.add(-amount)
            return False
        with self._lock:
            self._reserved.setdefault(parts_of(worst), []).append(amount)
        return True

    def needed(self, worst: float) -> float:
        """Return the US dollars that are reserved for a request with this worst case, after the surprises so far."""
        return worst * self._factor

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Charge what a request did cost instead of what was reserved for it; ``None``: unknown, the worst is charged.

        A request that was certainly not billed, such as a refused one, costs 0.
        """
        is_known = actual is not None and math.isfinite(actual) and actual >= 0
        if worst is None and not (is_known and actual):
            return
        most = parts_of(worst)
        with self._lock:
            amount = self._taken(most)
            charge = parts_of(actual) if is_known else math.ceil(most * self._factor)
            self._is_priced |= worst is not None or charge > 0
            self._spent += charge
            change, is_last = charge - amount, not self._reserved
            if is_known and most and charge > most * self._factor:
                self._factor = SURPRISE * charge / most
                change += self._raised()
        self._sum.add(change)
        if is_last:
            self._sum.write()
        if self.within is not None:
            self.within.settle(worst, actual if is_known else None)

    def said(self, worst: float | None) -> str:
        """Return why no more can be reserved, and what to do."""
        if self.within is not None and self._has_room(worst):
            return self.within.said(worst)
        if self._sum.trouble:
            return f"max_cost cannot be kept: {self._sum.trouble.rstrip('.')}. max_cost none goes on without it."
        return lack_line(self.cap or 0.0, self._charged, None if worst is None else self.needed(worst))

    @property
    def _most(self) -> int:
        return math.floor((self.cap or 0.0) * PARTS_OF_A_DOLLAR)

    def _amount(self, most: int) -> int:
        """Return what is to be reserved for a request with this worst case; without a cap nothing is."""
        return 0 if self.cap is None else math.ceil(most * self._factor)

    def _taken(self, most: int) -> int:
        """Return what was reserved for a request with this worst case, which is reserved no more."""
        amounts = self._reserved.get(most)
        if not amounts:  # of a request whose worst case nobody knew
            return 0
        amount = amounts.pop()
        if not amounts:
            del self._reserved[most]
        return amount

    def _raised(self) -> int:
        """Reserve as much more for the requests on their way, too, and return how much that is."""
        before = sum(map(sum, self._reserved.values()))
        self._reserved = {most: [self._amount(most)] * len(amounts) for most, amounts in self._reserved.items()}
        return sum(map(sum, self._reserved.values())) - before

    def _has_room(self, worst: float | None) -> bool:
        if self.cap is None or worst == 0:
            return True
        return (
            worst is not None
            and not self._sum.trouble
            and self._sum.total + self._amount(parts_of(worst)) <= self._most
        )
