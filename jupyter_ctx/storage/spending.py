"""What a notebook has spent: one sum in the store for all its conversations and kernels, reserved before it is spent.

What nobody settles stays charged at its worst case, such as the requests of a kernel that was killed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import suppress

from ..errors import StoreError, in_words
from .database import Connection, Database
from .database_tables import SPENDING

PARTS_OF_A_DOLLAR = 10**12  # in which money is added up: whole numbers have no rounding errors
ADD = f"""
    INSERT INTO {SPENDING} (notebook, spent) VALUES (:notebook, :amount)
    ON CONFLICT (notebook) DO UPDATE SET spent = {SPENDING}.spent + :amount
"""
SPENT = f"SELECT spent FROM {SPENDING} WHERE notebook = :notebook"


def parts_of(cost: float | None) -> int:
    """Return dollars in whole parts, rounded up."""
    return math.ceil((cost or 0.0) * PARTS_OF_A_DOLLAR)


class Sum:
    """Money that is spent or reserved, in parts of a dollar, added up in this process.

    trouble: why nothing could be added last, in words
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._total = 0
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """The sum, as far as this process knows it."""
        return self._total

    def add(self, change: int, most: int | None = None) -> bool:
        """Add an amount, unless the sum would then be more than ``most``; return whether it was added."""
        with self._lock:
            if most is not None and self._total + change > most:
                return False
            self._total += change
            return True

    def write(self) -> None:
        """Write down what was added."""


class NotebookSum(Sum):
    """The sum of a notebook in its store, which other kernels add to as well.

    What has no bound is added in memory, and written with the next amount that has one, or by :meth:`write`.

    database: opens the store; may raise StoreError
    notebook: whose sum it is
    """

    def __init__(self, database: Callable[[], Database], notebook: str) -> None:
        super().__init__()
        self._database, self._notebook = database, notebook
        self._is_read = False
        self._unwritten = 0

    @property
    def total(self) -> int:
        """The sum, as it was read last here."""
        with self._lock, suppress(StoreError):
            if not self._is_read:
                self._write(0, None)
        return self._total + self._unwritten

    def add(self, change: int, most: int | None = None) -> bool:
        """Add an amount as :class:`Sum` does; under a bound, nothing is added where the store fails."""
        with self._lock:
            if most is None:
                self._unwritten += change
                return True
            try:
                return self._write(change, most)
            except StoreError as error:
                self.trouble = in_words(error)
                return False

    def write(self) -> None:
        """Write what was added without a bound; it waits for the next time where the store fails."""
        with self._lock, suppress(StoreError):
            if self._unwritten:
                self._write(0, None)

    def _write(self, change: int, most: int | None) -> bool:
        """Write what is not written yet, and the change where that is allowed; return whether it was."""
        unwritten = self._unwritten

        def add(connection: Connection) -> tuple[bool, int]:
            total = add_to_sum(connection, self._notebook, unwritten)
            if most is not None and total + change > most:
                return False, total
            return True, add_to_sum(connection, self._notebook, change)

        is_added, self._total = self._database().run(add)
        self._is_read, self._unwritten, self.trouble = True, 0, ""
        return is_added


def add_to_sum(connection: Connection, notebook: str, amount: int) -> int:
    """Add to a notebook's sum, in this transaction, and return the sum."""
    connection.execute(ADD, {"notebook": notebook, "amount": amount})
    return int(connection.scalar(SPENT, {"notebook": notebook}))


def move_sum(connection: Connection, before: str, now: str) -> None:
    """Let the sum of a notebook follow it to another path, where it is added to what was spent there."""
    spent = connection.scalar(SPENT, {"notebook": before})
    if spent and before != now:
        add_to_sum(connection, now, int(spent))
        connection.execute(f"DELETE FROM {SPENDING} WHERE notebook = :notebook", {"notebook": before})
