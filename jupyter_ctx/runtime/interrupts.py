"""Shield short critical sections from Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
