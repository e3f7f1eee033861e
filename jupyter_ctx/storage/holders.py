"""Which process holds a conversation, and whether that process is still alive."""

from __future__ import annotations

import os
import platform
import time
from typing import NamedTuple

from .store import ConversationRow

GONE = 120.0  # seconds without a sign of life from another machine


class Holder(NamedTuple):
    """A process that holds conversations: its machine, its number there, and when it began (seconds since 1970)."""

    host: str
    pid: int
    started: float


def this_process() -> Holder:
    """Return this process as a holder."""
    return Holder(platform.node(), os.getpid(), _started(os.getpid()) or 0.0)


def is_held_here(row: ConversationRow) -> bool:
    """Return whether the row names this process as the holder."""
    return (row.host, row.pid) == (platform.node(), os.getpid())


def is_held_elsewhere(row: ConversationRow) -> bool:
    """Return whether another live process holds this; on another machine, one with recent signs of life."""
    if row.pid is None or row.started is None or is_held_here(row):
        return False
    if row.host != platform.node():
        return time.time() - row.seen < GONE
    return abs((_started(row.pid) or 0.0) - row.started) < 2


def _started(pid: int) -> float | None:
    """Return when a process began; ``None`` where there is none, or one that has ended and was not waited for."""
    import psutil

    try:
        process = psutil.Process(pid)
        return float(process.create_time()) if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None
