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
from typing import Any

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
    busy: Callable[[], bool] = bool  # whether a turn is running


class Pressing:
    """Does what a button says, and tells ``say`` each result, error and progress: no cell would show it.

    ``say`` takes the line and whether to announce it; it is called with ``lock`` held. ``pressed`` is the button that
    was pressed last, ``widget`` the one in a cell that has it; ``None``: it is in no cell.
    """

    def __init__(self, controls: Controls, lock: Any, say: Callable[[PressResult, bool], object]) -> None:
        self.pressed = ""
        self.widget: Any = None
        self._controls, self._lock, self._say = controls, lock, say
        self._work: Stopper | None = None
        self._turned = 0.0  # when a summary was begun or ended

    @property
    def writing(self) -> bool:
        """Whether a summary is being written."""
        return self._work is not None

    def press(self, name: str) -> None:
        """Do what a button does."""
        with self._lock:
            self.pressed = name
            if self.writing and name != "Summarise":
                self._tell(WRITING, button=name)
                return
        if name == "Summarise":
            self._begin_or_end()
            return
        result, role = tried(lambda: self._controls.act(name.lower()), self.widget)
        with self._lock:
            self._tell(result, role, name)

    def _tell(self, text: str, role: str = "status", button: str = "") -> None:
        self._say(PressResult(text, role, button), True)

    def _begin_or_end(self) -> None:
        """Write a summary in a thread of its own; cancel the one that is being written."""
        with self._lock:
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
        result, role = tried(lambda: self._controls.summarise(stopper), self.widget)
        ticker.stop()
        with self._lock:
            self._work, self._turned = None, time.monotonic()
            self._tell(result, role, "Summarise")

    def _show_progress(self, begun: float) -> None:
        """Show the seconds that the summary has taken."""
        seconds, writer = time.monotonic() - begun, self._controls.writer()
        by = f" with {writer}" if writer else ""
        with self._lock:
            if self.writing and seconds >= TICK_SECONDS:
                self._say(PressResult(f"Summarising{by}… {seconds:.0f} s", button="Summarise"), False)
