"""Money that is reserved before it is spent, and caps that are never passed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from ..context.context_info import MoneyLeft
from ..storage.day_spending import PARTS_OF_A_DOLLAR, SURPRISE, DayPurse, parts_of
from ..wording.budget_line import lack_line


class Purse:
    """The money of a run or a conversation: what a request may cost at most is reserved before it is sent.

    Several threads may pay of it. Where a request costs more than its worst case, which a server that ignores
    ``max_tokens`` brings about, as much more is reserved for all others.

    cap: US dollars that are never passed; ``None``: there is no cap
    within: what pays too, so that its cap holds as well; ``None``: nothing does
    keep: called with each reservation under a cap, before the request is sent: it counts when this process is killed
    """

    def __init__(
        self,
        cap: float | None = None,
        within: Purse | DayPurse | None = None,
        *,
        spent: float = 0.0,
        keep: Callable[[], object] = lambda: None,
    ) -> None:
        self.cap, self.within, self._keep = cap, within, keep
        self._spent, self._reserved = parts_of(spent), 0
        self._factor = 1.0
        self._is_priced = spent > 0
        self._lock = threading.Lock()

    @property
    def spent(self) -> float | None:
        """US dollars spent; ``None``: no price was known."""
        return self._spent / PARTS_OF_A_DOLLAR if self._is_priced else None

    @property
    def reserved(self) -> float:
        """US dollars that the requests on their way may cost at most."""
        return self._reserved * self._factor / PARTS_OF_A_DOLLAR

    @property
    def charged(self) -> float:
        """US dollars spent, with what is reserved: what a kernel that ends now has to answer for."""
        return (self.spent or 0.0) + self.reserved

    @property
    def allowances(self) -> tuple[MoneyLeft, ...]:
        """What may still be spent of each cap that holds, less what is reserved."""
        around = self.within.allowances if self.within is not None else ()
        if self.cap is None:
            return around
        return (MoneyLeft(max(0.0, self.cap - self.charged), self.cap, place="in this conversation"), *around)

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most, before it is sent; ``False``: that might pass a cap.

        Money that others have reserved may come back when they settle; where none is on its way, a run ends.
        """
        with self._lock:
            if not self._has_room(worst):
                return False
            self._reserved += parts_of(worst)
        if self.within is not None and not self.within.reserve(worst):
            with self._lock:
                self._reserved -= parts_of(worst)
            return False
        if self.cap is not None and worst:
            self._keep()
        return True

    def needed(self, worst: float) -> float:
        """Return the US dollars that are reserved for a request with this worst case, after the surprises so far."""
        return worst * self._factor

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Charge what a request did cost instead of what was reserved for it; ``None``: unknown, the worst is charged.

        A request that was certainly not billed, such as a refused one, costs 0.
        """
        most = parts_of(worst)
        with self._lock:
            self._reserved -= most
            if actual is None or not math.isfinite(actual) or actual < 0:
                actual = None
                self._is_priced |= worst is not None
                self._spent += math.ceil(most * self._factor)
            else:
                self._is_priced |= actual > 0 or worst is not None
                self._spent += parts_of(actual)
                if most and parts_of(actual) > most * self._factor:
                    self._factor = SURPRISE * parts_of(actual) / most
        if self.within is not None:
            self.within.settle(worst, actual)

    def said(self, worst: float | None) -> str:
        """Return why no more can be reserved, and what to do."""
        with self._lock:
            is_here = not self._has_room(worst)
        if not is_here and self.within is not None:
            return self.within.said(worst)
        return lack_line("max_cost", self.cap or 0.0, self.charged, None if worst is None else self.needed(worst))

    def _has_room(self, worst: float | None) -> bool:
        if self.cap is None or worst == 0:
            return True
        if worst is None:
            return False
        on_their_way = math.ceil((self._reserved + parts_of(worst)) * self._factor)
        return self._spent + on_their_way <= math.floor(self.cap * PARTS_OF_A_DOLLAR)
