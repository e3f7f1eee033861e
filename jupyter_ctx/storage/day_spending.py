"""What all of a user's kernels spend in a day: one sum in the store, reserved before it is spent.

A day ends at this machine's midnight. What nobody settles stays charged at its worst case, such as the requests of a
kernel that was killed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any

from ..context.context_info import MoneyLeft
from ..errors import StoreError, in_words
from ..wording.budget_line import lack_line
from .connection import Connection
from .database_tables import SPENDING
from .journal import store_at

PARTS_OF_A_DOLLAR = 10**12  # in which money is added up: whole numbers have no rounding errors
SURPRISE = 1.1  # by how much more than the last surprise a worst case is reserved from then on
OF_A_DAY = "WHERE day = :day"


def parts_of(cost: float | None) -> int:
    """Return dollars in whole parts, rounded up."""
    return math.ceil((cost or 0.0) * PARTS_OF_A_DOLLAR)


class DayPurse:
    """The money of a day, up to a cap in US dollars; ``None``: there is no cap, and nothing is added up.

    ``address``: that of the store with the sum. ``today``: the calendar.
    """

    def __init__(self, address: str, cap: float | None = None, today: Callable[[], date] = date.today) -> None:
        self.cap = cap
        self._address, self._today = address, today
        self._known = (date.min, 0)  # the newest sum that was read
        self._reserved: dict[int, list[tuple[date, int]]] = {}  # on which days and how much, by the worst case
        self._factor = 1.0
        self._trouble = ""
        self._lock = threading.Lock()

    @property
    def allowances(self) -> tuple[MoneyLeft, ...]:
        """What is left of the day, as this kernel has read it last: nothing where the store cannot be read."""
        if self.cap is None:
            return ()
        today, left = self._today(), 0.0
        with suppress(StoreError):
            if self._known[0] != today:
                self._add(today, 0)
            left = max(0.0, self.cap - self._known[1] / PARTS_OF_A_DOLLAR)
        midnight = datetime.combine(today + timedelta(days=1), time.min)
        return (MoneyLeft(left, self.cap, midnight.timestamp(), "today"),)

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most; ``False``: that might pass the cap, or nobody knows."""
        if self.cap is None or worst == 0:
            return True
        if worst is None:
            return False
        amount, today, self._trouble = math.ceil(parts_of(worst) * self._factor), self._today(), ""
        try:
            is_added = self._add(today, amount, math.floor(self.cap * PARTS_OF_A_DOLLAR))
        except StoreError as error:
            is_added, self._trouble = False, in_words(error)
        if is_added:
            with self._lock:
                self._reserved.setdefault(parts_of(worst), []).append((today, amount))
        return is_added

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Charge what a request did cost to the day on which it was reserved; ``None``: the worst."""
        most = parts_of(worst)
        with self._lock:
            reserved = self._reserved.get(most)
            if reserved is None:
                return
            day, amount = reserved.pop(0)
            if not reserved:
                del self._reserved[most]
            if actual is not None and parts_of(actual) > most * self._factor:
                self._factor = SURPRISE * parts_of(actual) / most
        if actual is not None and parts_of(actual) != amount:
            with suppress(StoreError):
                self._add(day, parts_of(actual) - amount)

    def said(self, worst: float | None) -> str:
        """Return why no more can be reserved, and what to do."""
        if self._trouble:
            return f"max_cost_day cannot be kept: {self._trouble.rstrip('.')}. max_cost_day none goes on without it."
        needed = None if worst is None else worst * self._factor
        return lack_line("max_cost_day", self.cap or 0.0, self._known[1] / PARTS_OF_A_DOLLAR, needed)

    def _add(self, day: date, change: int, most: int | None = None) -> bool:
        """Add to the sum of a day; return whether that is not more than ``most``. Raises StoreError."""
        values = {"day": day.isoformat(), "change": change, "most": most}
        is_added, total = store_at(self._address).database.run(lambda connection: _added(connection, values))
        self._known = (day, total)
        return is_added


def _added(connection: Connection, values: Mapping[str, Any]) -> tuple[bool, int]:
    """Add to a sum where that is allowed, in one statement, which others wait for; return whether, and the sum."""
    connection.execute(
        f"INSERT INTO {SPENDING} (day, spent) VALUES (:day, 0) ON CONFLICT (day) DO NOTHING",
        values,
    )
    limit = "" if values["most"] is None else " AND spent + :change <= :most"
    done = connection.execute(f"UPDATE {SPENDING} SET spent = spent + :change {OF_A_DAY}{limit}", values).rowcount
    total = connection.scalar(f"SELECT spent FROM {SPENDING} {OF_A_DAY}", values)
    return done == 1, int(total or 0)
