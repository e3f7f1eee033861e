"""Bound the time and memory of a call whose code may do anything."""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, TypeVar, cast

from .interrupts import uninterrupted
from .thread_timer import start_timer

if sys.platform == "linux":
    import resource

T = TypeVar("T")

CALL_MEMORY = 400_000_000  # bytes by which the process may grow during a call
AGAIN_SECONDS = 0.3  # until code that went on after it was stopped is stopped again
NEXT_SECONDS = 0.02  # and then until the next attempts
STOP_ATTEMPTS = 5  # to stop a call in a thread of its own
LOOK_SECONDS = 0.1  # between looks at the memory, where the system sets no limit


class TooSlowError(BaseException):
    """The time of a call is over; no Exception, because code that is stuck may catch all of these."""


class _Stop(int):
    """A signal whose attribute ``again`` lets it arrive once more, at the main thread's next step.

    An attribute, because a signal is handled at once where a function that raises it returns.
    """

    again = property(_thread.interrupt_main)


_STOP = _Stop(getattr(signal, "SIGURG", 0))  # ignored unless a handler is set, so one that comes late is harmless
_watches: list[_Watch] = []  # of the main thread, the outermost first
_handlers: list[Any] = []  # what handled the signal before the outermost
_limited: set[_Watch] = set()  # of all threads: the limit is that of the process
_limits: list[tuple[int, int]] = []  # of the process before the first
_limits_lock = threading.Lock()


def bounded_call(seconds: float, call: Callable[[], T], *, memory: int | None = CALL_MEMORY) -> T:
    """Return what ``call`` returns. Raises TooSlowError after ``seconds``, and MemoryError when it takes too much.

    In the main thread the call is stopped between two steps of Python code, also while it sleeps or waits, and on Linux
    in compiled code that looks for signals, as for Ctrl-C; when it catches the exception it is stopped again, at last
    at every step. Nothing is raised outside of the call: what it leaves is freed in its own time. Elsewhere, and on
    Windows, the call runs in a thread of its own, which is left behind when it cannot be stopped.

    On Linux, allocations fail beyond ``memory`` bytes more than the process had, in processes that the call starts,
    too; where there is no such limit, the memory is looked at while the call runs.

    Compiled code that never looks (``sum(range(10**11))``) cannot be stopped, not by Ctrl-C either; ``os._exit`` ends
    the process, and so do libraries in Rust (Polars) when an allocation fails. Only a process of its own could hold
    these.
    """
    watch = _Watch(sys._getframe(), seconds, memory)
    try:
        watch.begin()
        return call() if watch.by_signal else watch.apart(call)
    except TooSlowError:
        if not watch.fired:  # that of a call around this one
            raise
    finally:
        watch.end()
    raise MemoryError if watch.is_large else TooSlowError


class _Watch:
    """A watch over one call.

    by_signal: whether the call runs in the main thread, and a signal stops it; else it runs in a thread of its own
    fired: how often the call was stopped
    is_large: whether its memory was the reason
    """

    def __init__(self, marker: FrameType, seconds: float, memory: int | None) -> None:
        self._marker, self._seconds, self._end = marker, seconds, time.monotonic() + seconds
        self._memory = memory  # to be looked at; None: unlimited, or limited by the system
        self._running = _thread.allocate_lock()
        self._end_timer: Callable[[], object] | None = None
        self.by_signal = (
            bool(_STOP)
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(_STOP) is not None  # None: not set by Python, so it could not be restored
        )
        self.fired, self.is_large = 0, False

    def begin(self) -> None:
        """Limit the memory, and start the thread that watches the main thread."""
        with uninterrupted():
            if self._memory is not None and _limit(self, self._memory):
                self._memory = None
            self._running.acquire()
            if self.by_signal:
                if not _watches:
                    _handlers.append(signal.signal(_STOP, _stopped))
                _watches.append(self)
                _thread.start_new_thread(self._watch, (partial(self._signal, threading.get_ident()),))
                self._end_timer = start_timer(_STOP, self._seconds, AGAIN_SECONDS)

    def end(self) -> None:
        """Undo all of it, in any case."""
        with uninterrupted():
            _unlimit(self)
            if self.by_signal:
                if self._end_timer is not None:
                    self._end_timer()
                self._running.release()
                _watches.remove(self)
                if not _watches:
                    signal.signal(_STOP, _handlers.pop())

    def apart(self, call: Callable[[], T]) -> T:
        """Return what the call returns in a thread of its own. Raises what it raises, and TooSlowError."""
        outcome: list[tuple[T | None, BaseException | None]] = []

        def run() -> None:
            try:
                outcome.append((call(), None))
            except BaseException as error:
                outcome.append((None, error))
            self._running.release()

        reader = _thread.start_new_thread(contextvars.copy_context().run, (run,))
        self._watch(partial(self._raise_in, reader), STOP_ATTEMPTS)
        if not outcome:
            raise TooSlowError
        found, error = outcome.pop()
        if error is not None:
            raise error
        return cast(T, found)

    def is_due(self) -> bool:
        """Return whether the call has taken its time or its memory."""
        return self.is_large or time.monotonic() >= self._end

    def is_inside(self, frame: FrameType | None) -> bool:
        """Return whether a frame is one of the call's: not of this module, and called from it."""
        own = frame is not None and frame.f_code.co_filename == __file__
        while frame is not None and frame is not self._marker:
            own = own or frame.f_code in _GUARDS
            frame = frame.f_back
        return frame is not None and not own

    def _watch(self, stop: Callable[[], object], attempts: float = math.inf) -> None:
        """Wait for the end of the call, and from when it is due, stop it; give up after some attempts."""
        most = None if self._memory is None else _resident() + self._memory
        pause = self._seconds
        while not self._running.acquire(timeout=pause if most is None else min(pause, LOOK_SECONDS)):
            self.is_large = self.is_large or (most is not None and _resident() > most)
            pause = max(self._end - time.monotonic(), 0)
            if self.is_due():
                if attempts <= 0:
                    return
                stop()
                attempts -= 1
                pause = AGAIN_SECONDS if self.fired < 2 else NEXT_SECONDS

    def _signal(self, thread: int) -> None:
        """Raise TooSlowError in the main thread, also where the call has put another handler in place."""
        if signal.getsignal(_STOP) is _stopped:
            signal.pthread_kill(thread, _STOP)
        elif self.is_inside(sys._current_frames().get(thread)):
            self._raise_in(thread)

    def _raise_in(self, thread: int) -> None:
        """Raise TooSlowError in a thread at its next step."""
        self.fired += 1
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooSlowError))


_GUARDS = (_Watch.begin.__code__, _Watch.end.__code__)


def _stopped(_: int, frame: FrameType | None) -> None:
    """Raise TooSlowError where the main thread is, if that is inside a call whose time is over."""
    for watch in _watches:
        if watch.is_due() and watch.is_inside(frame):
            watch.fired += 1
            if watch.fired > 1:  # the call caught the exception
                _STOP.again  # noqa: B018
            raise TooSlowError


def _resident() -> int:
    """Return the bytes of memory that the process uses."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def _limit(watch: _Watch, memory: int) -> bool:
    """Limit what the process may allocate while a call runs; return whether the system can."""
    if sys.platform != "linux":
        return False
    writable = _writable()
    if not writable:
        return False
    with _limits_lock:
        if not _limited:
            soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            given = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_DATA, (min(writable + memory, *given, sys.maxsize), hard))
            _limits.append((soft, hard))
        _limited.add(watch)
    return True


def _unlimit(watch: _Watch) -> None:
    with _limits_lock:
        _limited.discard(watch)
        if not _limited and _limits:
            resource.setrlimit(resource.RLIMIT_DATA, _limits.pop())


def _writable() -> int:
    """Return the bytes of private and writable memory, which the limit is on; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0
