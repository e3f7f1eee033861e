"""Bounds on the time, memory and length of an expression, checked while it is evaluated."""

from __future__ import annotations

import time

TEXT = 4_000_000  # characters of any text, in total
ITEMS = 100_000  # members of any collection, in total
INTEGER_BITS = 14_000  # of an integer: Python prints no longer ones
STEPS = 500_000  # of one expression: most operations go through the values of a collection several times
DEPTH = 50  # levels of values nested in values
CPU_SECONDS = 1.0  # this thread's CPU time for all expressions of a prompt


class RefusedError(Exception):
    """An expression does something that a prompt may not do; the message says what."""


class KeyFoundError(RefusedError):
    """A value contains a key."""


class MissingError(Exception):
    """A value has no such attribute or item."""


class Allowance:
    """The CPU time left for a prompt, and the steps and characters left for one expression."""

    def __init__(self, seconds: float = CPU_SECONDS) -> None:
        self._seconds, self._end = seconds, time.thread_time() + seconds
        self.renew()

    def renew(self) -> None:
        """Begin another expression: restore its steps and characters, but not the prompt's time."""
        self._steps, self._characters = STEPS, TEXT

    def seconds_left(self) -> float:
        """Return the time that is left for the prompt."""
        return max(0.01, self._end - time.thread_time())

    def spend(self, steps: int = 1, characters: int = 0) -> None:
        """Take steps and characters off the allowance. Raises RefusedError when it is used up."""
        self._steps -= steps
        self._characters -= characters
        if self._steps < 0:
            raise RefusedError(f"the limit of {STEPS:,} steps is exceeded")
        if self._characters < 0:
            raise RefusedError(f"the limit of {TEXT:,} characters is exceeded")
        if time.thread_time() > self._end:
            raise RefusedError(f"the prompt's expressions take longer than {self._seconds:g} s")


def at_most(size: float, most: int, what: str) -> None:
    """Raise RefusedError when ``size`` exceeds ``most``; ``what`` names the unit in the message."""
    if size > most:
        raise RefusedError(f"the limit of {most:,} {what} is exceeded")
