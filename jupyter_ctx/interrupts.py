"""What stops long work, and what must not be stopped: a few lines that run whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .errors import ChatError


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the block has run; only the main thread ever gets one."""
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or handler is None:  # None: it was not set by Python, and could not be set back
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting and callable(handler):
            handler(*waiting[0])


class Stopper:
    """Stops work that asks a model, from another thread."""

    def __init__(self) -> None:
        self.stopped = False
        self._end: Callable[[], object] | None = None

    def stop(self) -> None:
        """Stop it now, or before it begins."""
        self.stopped = True
        end = self._end
        if end is not None:
            end()

    def check(self) -> None:
        """Go no further once stopped. Raises ChatError."""
        if self.stopped:
            raise ChatError("Stopped.")

    @contextmanager
    def ends(self, end: Callable[[], object]) -> Iterator[None]:
        """While the block runs, ``end`` is what breaks it off."""
        self._end = end
        try:
            yield
        finally:
            self._end = None
