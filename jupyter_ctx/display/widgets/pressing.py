"""Do what the buttons of a conversation say, wherever they are drawn.

Presses may arrive in any thread, also while a cell runs. A summary is written in a thread of its own;
every other action runs at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ...context.context_info import ContextInfo, Plan
from ...runtime.interrupts import Stopper
from ..answer.waiting import TICK_SECONDS, Ticker
from .clicks import tried
from .gauge_page import PressResult

WRITING = "A summary is being written: Cancel ends it."
TWICE_SECONDS = 0.6  # within which a second press of the button that begins and ends a summary is none


@dataclass(frozen=True, slots=True)
class Controls:
    """What is read of a conversation, and what the buttons do to it."""

    read: Callable[[], ContextInfo]
    plans: Callable[[], Mapping[str, Plan]]  # by command, such as "trim"
    act: Callable[[str], object]  # does what a command says, such as "trim"
    summarise: Callable[[Stopper], object]  # may take long; the Stopper ends it
    writer: Callable[[], str]  # the model that writes summaries, or ""
    name: Callable[[], str] = str  # the conversation's, or "" where it is the only one


class Pressing:
    """Does what a button says, and tells ``listeners`` each result, error and progress: no cell would show it.

    A listener takes the line and whether to announce it; it is called with ``lock`` held.
    """

    def __init__(self, controls: Controls) -> None:
        self.controls, self.lock = controls, threading.RLock()
        self.listeners: list[Callable[[PressResult, bool], object]] = []
        self._work: Stopper | None = None
        self._turned = 0.0  # when a summary was begun or ended

    @property
    def writing(self) -> bool:
        """Whether a summary is being written."""
        return self._work is not None

    def press(self, name: str) -> None:
        """Do what a button does."""
        if name == "Summarise":
            self._begin_or_end()
        elif self.writing:
            self._tell(WRITING, button=name)
        else:
            self._tell(*tried(lambda: self.controls.act(name.lower())), name)

    def _tell(self, text: str, role: str = "status", button: str = "", *, aloud: bool = True) -> None:
        with self.lock:
            for listener in self.listeners:
                listener(PressResult(text, role, button), aloud)

    def _begin_or_end(self) -> None:
        """Write a summary in a thread of its own; cancel the one that is being written."""
        with self.lock:
            twice, self._turned = time.monotonic() - self._turned < TWICE_SECONDS, time.monotonic()
            if twice:
                return
            if self._work is not None:
                self._work.stop()
                return
            self._work = Stopper()
            self._tell("Summarising…", button="Summarise")
        threading.Thread(target=self._summarise, args=(self._work,), name="jupyter_ctx summary", daemon=True).start()

    def _summarise(self, stopper: Stopper) -> None:
        ticker = Ticker(partial(self._show_progress, time.monotonic()), lambda: TICK_SECONDS)
        ticker.start()
        result, role = tried(lambda: self.controls.summarise(stopper))
        ticker.stop()
        with self.lock:
            self._work, self._turned = None, time.monotonic()
            self._tell(result, role, "Summarise")

    def _show_progress(self, begun: float) -> None:
        """Show the seconds that the summary has taken."""
        seconds, writer = time.monotonic() - begun, self.controls.writer()
        by = f" with {writer}" if writer else ""
        with self.lock:
            if self.writing and seconds >= TICK_SECONDS:
                self._tell(f"Summarising{by}… {seconds:.0f} s", button="Summarise", aloud=False)
