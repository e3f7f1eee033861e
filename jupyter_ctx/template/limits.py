"""What an expression may take: time, memory and length, checked while it is evaluated."""

from __future__ import annotations

import time

TEXT = 4_000_000  # characters of any text, in total
ITEMS = 200_000  # members of any collection, in total
INTEGER_BITS = 14_000  # of a whole number: Python writes no longer ones
STEPS = 1_000_000  # of one expression: most operations go through the values of a collection several times
DEPTH = 50  # of a value in a value
CPU_SECONDS = 2.0  # of this thread's own time for all expressions of a prompt


class RefusedError(Exception):
    """An expression does what a prompt may not do; says what, and what is allowed in a few words."""


class MissingError(Exception):
    """A value has no such attribute or item."""


class Allowance:
    """What is left of the time for a prompt, and of the work for one expression."""

    def __init__(self, seconds: float = CPU_SECONDS) -> None:
        self._end = time.thread_time() + seconds
        self._steps, self._characters = STEPS, TEXT

    def renew(self) -> None:
        """Begin another expression: its own size, and the time that is left."""
        self._steps, self._characters = STEPS, TEXT

    def spend(self, steps: int = 1, characters: int = 0) -> None:
        """Take some of it, or raise RefusedError where it does not suffice."""
        self._steps -= steps
        self._characters -= characters
        if self._steps < 0:
            raise RefusedError(f"it takes more than {STEPS:,} steps")
        if self._characters < 0:
            raise RefusedError(f"it makes more than {TEXT:,} characters")
        if time.thread_time() > self._end:
            raise RefusedError("it takes too long")


def at_most(size: float, most: int, what: str) -> None:
    """Raise RefusedError where something would become larger than ``most``."""
    if size > most:
        raise RefusedError(f"it takes more than {most:,} {what}")
