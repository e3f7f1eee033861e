"""What stops long work, and what must not be stopped: a few lines that run whole.

Work that may hang is done in a thread of its own, and waited for: up to a limit, and until Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

from ..errors import ChatError

T = TypeVar("T")

LOOK = 0.05  # seconds between looks at whether the user has pressed Ctrl-C
GRACE = 0.3  # seconds that work may still take once Ctrl-C was pressed within a block that runs whole

_held: list[tuple[int, FrameType | None]] = []  # interrupts that wait until a block has run


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the block has run; only the main thread ever gets one."""
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or handler in (None, _hold):  # None: it was not set by Python, and could not be set back
        yield
        return
    signal.signal(signal.SIGINT, _hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        waiting = _held[:1]
        _held.clear()
        if waiting and callable(handler):
            handler(*waiting[0])


def _hold(number: int, frame: FrameType | None) -> None:
    _held.append((number, frame))


class StoppedError(Exception):
    """Ctrl-C was pressed while work was waited for in a block that runs whole."""


class Job(Generic[T]):
    """Work in a thread of its own, which may outlive the wait for it; ``leave`` is called after it then."""

    def __init__(self, work: Callable[[Job[T]], T], leave: Callable[[], object] = lambda: None) -> None:
        self._work, self._leave = work, leave
        self._done = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        self.given_up = False

    def wait(self, seconds: float) -> T:
        """The result. Raises what the work has raised, TimeoutError, StoppedError or KeyboardInterrupt."""
        try:
            self._begin()
            self._await(seconds)
        except BaseException:
            self.given_up = True
            if self._done.is_set():
                self._leave()
            raise
        if self._error is not None:
            raise self._error
        return self._result[0]

    def ends_within(self, seconds: float) -> bool:
        """Whether the work has ended by then."""
        return self._done.wait(seconds)

    def _begin(self) -> None:
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:  # some Pythons begin no thread any more once they are ending
            self._run()

    def _run(self) -> None:
        try:
            self._result.append(self._work(self))
        except BaseException as error:  # it is raised where the work is waited for
            self._error = error
        self._done.set()
        if self.given_up:
            self._leave()

    def _await(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        stop: float | None = None
        while not self._done.wait(max(0.0, min(LOOK, end - time.monotonic()))):
            now = time.monotonic()
            if _held and threading.current_thread() is threading.main_thread():
                stop = stop or now + GRACE
            if stop is not None and now >= stop:
                raise StoppedError
            if now >= end:
                raise TimeoutError


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
