"""Keep answers in memory until the store has them: no answer is lost while the store fails, and it is said once.

The one thread that coordinates a run calls this; each call writes what waits, at most ``CALM`` seconds after a failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import islice

from ..errors import StoreError
from .answers import AnswerKey, Answers, StoredAnswer

CALM = 2.0  # seconds without an attempt after the first failure; doubled by each further one
MOST_CALM = 30.0
AT_MOST = 1_000  # answers in one transaction


class AnswerKeeper:
    """Writes answers to the store as they come, and again where that failed.

    ``notices`` are lines to be shown once.
    """

    def __init__(self, answers: Answers, *, now: Callable[[], float] = time.monotonic) -> None:
        self.answers = answers
        self.notices: list[str] = []
        self._waiting: dict[AnswerKey, StoredAnswer] = {}
        self._now = now
        self._calm, self._calm_until = 0.0, 0.0
        self._trouble = ""

    @property
    def waiting(self) -> int:
        """Return how many answers are in memory only."""
        return len(self._waiting)

    def find(self, keys: Iterable[AnswerKey], *, failed: bool = True) -> dict[AnswerKey, StoredAnswer]:
        """Return what is stored or waits under these keys. Raises StoreError: a run would pay again for the rest."""
        asked = list(keys)
        found = self.answers.find(asked, failed=failed)
        for key in asked if self._waiting else ():
            answer = self._waiting.get(key)
            if answer is not None and (failed or not answer.failed):
                found[key] = answer
        self._collect()
        return found

    def keep(self, rows: Iterable[tuple[AnswerKey, StoredAnswer]]) -> None:
        """Write these answers and those that wait; where the store fails, all wait. Never raises StoreError."""
        for key, answer in rows:
            before = self._waiting.get(key)
            if before is None or before.failed or not answer.failed:
                self._waiting[key] = answer
        if self._now() >= self._calm_until:
            self.settle()

    def settle(self) -> bool:
        """Write what waits, now; return whether nothing waits any more. Never raises StoreError."""
        try:
            while part := list(islice(self._waiting.items(), AT_MOST)):
                self.answers.write(part)
                for key, _ in part:
                    del self._waiting[key]
        except StoreError as error:
            self._failed(error)
            return False
        self._worked()
        return True

    def _failed(self, error: StoreError) -> None:
        self._collect()
        self._calm = min(MOST_CALM, 2 * self._calm or CALM)
        self._calm_until = self._now() + self._calm
        trouble = str(error).partition(": ")[0]  # what follows a driver may say in other words each time
        if trouble != self._trouble:
            self.notices.append(f"{error} Answers are kept in memory, and are saved when that can be done.")
        self._trouble = trouble

    def _worked(self) -> None:
        self._collect()
        if self._trouble:
            self.notices.append(f"Saved again in {self.answers.database.shown}: no answer was lost.")
        self._calm, self._calm_until, self._trouble = 0.0, 0.0, ""

    def _collect(self) -> None:
        self.notices += self.answers.notices()
