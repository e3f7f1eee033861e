"""Let Linux send a signal to one thread at a time, also while compiled code holds the interpreter.

A thread of Python that waits cannot do that: it first needs the interpreter. Regular expressions and arithmetic with
long numbers keep it for minutes, but look for signals meanwhile. See timer_create(2), and sigevent(3type).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable

MONOTONIC_CLOCK = 1
TO_A_THREAD = 4  # SIGEV_THREAD_ID


class _Event(ctypes.Structure):
    """What happens when the time is over: struct sigevent, of 64 bytes."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("padding", ctypes.c_int * 11),
    )


class _Times(ctypes.Structure):
    """The time between signals, and that until the first, each in seconds and nanoseconds: struct itimerspec."""

    _fields_ = (("interval", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


def start_timer(signal: int, first: float, interval: float) -> Callable[[], object]:
    """Send a signal to this thread after ``first`` seconds and then at intervals; return what ends that.

    Nothing is sent where the system has no such timers.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return _nothing
    system, timer = ctypes.CDLL(None), ctypes.c_void_p()
    event = _Event(None, signal, TO_A_THREAD, threading.get_native_id())
    times = _Times(_parts(interval), _parts(first))
    try:
        if system.timer_create(MONOTONIC_CLOCK, ctypes.byref(event), ctypes.byref(timer)):
            return _nothing
        system.timer_settime(timer, 0, ctypes.byref(times), None)
    except AttributeError:  # a C library without them
        return _nothing
    return lambda: system.timer_delete(timer)


def _parts(seconds: float) -> tuple[int, int]:
    """Return whole seconds and nanoseconds."""
    return int(seconds), int(seconds % 1 * 1e9)


def _nothing() -> None:
    """End a timer that was not started."""
