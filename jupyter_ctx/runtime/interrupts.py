"""Cancel long-running work, and shield short critical sections from Ctrl-C.

Work that may hang runs in a thread of its own; the caller waits for it up to a time limit, and until Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

from ..errors import ChatError

T = TypeVar("T")

POLL_SECONDS = 0.05  # between checks for Ctrl-C
GRACE_SECONDS = 0.3  # that work may still take after Ctrl-C within an uninterrupted block

_held: list[tuple[int, FrameType | None]] = []  # interrupts held back until the end of an uninterrupted block
_outside: list[Any] = []  # what handles Ctrl-C outside of the uninterrupted block


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block; outside the main thread, do nothing."""
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or handler in (None, _hold):  # None: not set by Python, so it could not be restored
        yield
        return
    _outside[:] = [handler]
    signal.signal(signal.SIGINT, _hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _deliver(handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C through again within an uninterrupted block, for what may take long; elsewhere, do nothing."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not _hold:
        yield
        return
    try:
        signal.signal(signal.SIGINT, _outside[0])
        _deliver(_outside[0])
        yield
    finally:
        signal.signal(signal.SIGINT, _hold)


def _deliver(handler: Any) -> None:
    """Handle the interrupt that was held back, where there is one."""
    waiting = _held[:1]
    _held.clear()
    if waiting and callable(handler):
        handler(*waiting[0])


def _hold(number: int, frame: FrameType | None) -> None:
    _held.append((number, frame))


class StoppedError(Exception):
    """Ctrl-C was pressed while an uninterrupted block waited for work."""


class Job(Generic[T]):
    """Work in a thread of its own, which may outlive the wait for it; then ``leave`` is called at its end."""

    def __init__(self, work: Callable[[Job[T]], T], leave: Callable[[], object] = lambda: None) -> None:
        self._work, self._leave = work, leave
        self._done = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        self.given_up = False

    def wait(self, seconds: float) -> T:
        """Return the work's result. Raises its exception, or TimeoutError, StoppedError or KeyboardInterrupt."""
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
        """Wait up to ``seconds``, and return whether the work has ended."""
        return self._done.wait(seconds)

    def _begin(self) -> None:
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:  # at its exit, Python may refuse to start a thread
            self._run()

    def _run(self) -> None:
        try:
            self._result.append(self._work(self))
        except BaseException as error:  # raised by wait()
            self._error = error
        self._done.set()
        if self.given_up:
            self._leave()

    def _await(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        stop: float | None = None
        while not self._done.wait(max(0.0, min(POLL_SECONDS, end - time.monotonic()))):
            now = time.monotonic()
            if _held and threading.current_thread() is threading.main_thread():
                stop = stop or now + GRACE_SECONDS
            if stop is not None and now >= stop:
                raise StoppedError
            if now >= end:
                raise TimeoutError


class Stopper:
    """A switch that stops a request to a model from another thread."""

    def __init__(self) -> None:
        self.stopped = False
        self._end: Callable[[], object] | None = None

    def stop(self) -> None:
        """Stop the request, now or as soon as it begins."""
        self.stopped = True
        end = self._end
        if end is not None:
            end()

    def check(self) -> None:
        """Raise ChatError if stopped."""
        if self.stopped:
            raise ChatError("Stopped.")

    @contextmanager
    def ends(self, end: Callable[[], object]) -> Iterator[None]:
        """Let ``stop`` call ``end`` while the block runs."""
        self._end = end
        try:
            yield
        finally:
            self._end = None
