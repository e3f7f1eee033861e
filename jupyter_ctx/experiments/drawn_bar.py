"""What every bar of a run is: drawn at intervals, by tqdm, in the run's own thread."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any, Protocol

from .progress import Progress

REDRAW = 0.1  # seconds between drawings of the bar


class Bar(Protocol):
    """What shows how far a run has come; the run's own thread calls it."""

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Draw how far the run has come; ``last``: it has ended."""


class DrawnBar:
    """A bar of tqdm, drawn at intervals."""

    def __init__(self) -> None:
        self._tqdm: Any = None
        self._drawn = 0.0

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Draw how far the run has come; not more often than the eye can follow."""
        now = time.monotonic()
        if not last and now - self._drawn < REDRAW:
            return
        self._drawn = now
        with suppress(Exception):  # a bar that cannot be drawn must not end a run
            bar = self._tqdm
            bar.n, bar.initial = progress.done, progress.cached  # stored answers came at no pace
            bar.set_postfix_str(progress.beside, refresh=False)
            bar.refresh()
            if last:
                bar.close()


def quiet_kind(kind: Any) -> Any:
    """Return a kind of tqdm that starts no thread of its own, and shares no lock with other processes."""
    quiet: Any = type(kind.__name__, (kind,), {"monitor_interval": 0})
    quiet.set_lock(threading.RLock())
    return quiet
