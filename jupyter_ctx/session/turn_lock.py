"""One turn at a time: what is asked for meanwhile happens after it, in order.

Button callbacks run beside a cell on some kernels (ipykernel 7.0 to 7.3 give them threads).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..errors import InvalidRequestError

T = TypeVar("T")


class TurnQueue:
    """A lock around a turn, with a queue for actions that arrive while it is held."""

    def __init__(self) -> None:
        self._lock, self._gate = threading.RLock(), threading.Lock()
        self._waiting: deque[Callable[[], object]] = deque()
        self._running = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the conversation for one turn, then do what was asked for meanwhile.

        Raises InvalidRequestError for a turn within a turn of the same thread.
        """
        with self._lock:
            if self._running:
                raise InvalidRequestError("A turn is running: ask when it has ended.")
            self._running = True
            try:
                yield
            finally:
                with self._gate:
                    self._running = False
                    waiting, self._waiting = self._waiting, deque()
                for action in waiting:
                    action()

    def wait(self, action: Callable[[], T]) -> T:
        """Do it as soon as no turn runs: for threads of their own, where nobody minds the waiting."""
        with self._lock:
            return action()

    def do(self, action: Callable[[], T], late: Callable[[], object], later: T) -> T:
        """Do it now and give its result; while a turn runs, do ``late`` after that and give ``later``."""
        with self._gate:
            if self._running:
                self._waiting.append(late)
                return later
        with self._lock:
            return action()
