"""Run one turn at a time; actions requested meanwhile run afterwards, in order.

On some kernels (ipykernel 7.0 to 7.3) button callbacks run in threads beside a cell.
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
        self.watchers: list[Callable[[], object]] = []  # called when a turn begins, and when it has ended

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._running

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the conversation for one turn, then run the actions that were requested meanwhile.

        Raises InvalidRequestError for a turn inside a turn of the same thread.
        """
        with self._lock:
            if self._running:
                raise InvalidRequestError("A turn is running: send this prompt when it has ended.")
            self._running = True
            try:
                self._tell()
                yield
            finally:
                with self._gate:
                    self._running = False
                    waiting, self._waiting = self._waiting, deque()
                for action in waiting:
                    action()
                self._tell()

    def _tell(self) -> None:
        for watcher in tuple(self.watchers):
            watcher()

    def wait(self, action: Callable[[], T]) -> T:
        """Wait until no turn runs, then act. For background threads, which may block."""
        with self._lock:
            return action()

    def do(self, action: Callable[[], T], late: Callable[[], object], later: T) -> T:
        """Run ``action`` and return its result; during a turn, queue ``late`` for after it and return ``later``."""
        with self._gate:
            if self._running:
                self._waiting.append(late)
                return later
        with self._lock:
            return action()
