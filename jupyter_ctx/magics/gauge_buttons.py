"""What the buttons of a gauge do to the conversation, wherever they are drawn.

Presses may arrive in any thread, also while a cell runs. A summary is written in a thread of its own;
every other action runs at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..chat import Chat
from ..context.context_info import ContextInfo, Plan
from ..display.widgets.gauge import BUTTONS, ButtonResult
from ..display.widgets.gauge_panel import WRITING
from ..display.widgets.live import tried
from ..runtime.interrupts import Stopper
from ..session import actions

TWICE_SECONDS = 0.6  # within which a second press of the button that begins and ends a summary is none
OF_A_TURN = ("pin", "unpin", "exclude", "include")


class GaugeButtons:
    """Does what a button says to the conversation that ``chat`` returns, and tells each result: no cell would show it.

    ``listeners`` take the line; they are called with ``lock`` held.
    """

    def __init__(self, chat: Callable[[], Chat]) -> None:
        self.chat, self.lock = chat, threading.RLock()
        self.listeners: list[Callable[[ButtonResult], object]] = []
        self._work: Stopper | None = None
        self._turned = 0.0  # when a summary was begun or ended

    @property
    def writing(self) -> bool:
        """Whether a summary is being written."""
        return self._work is not None

    def read(self) -> tuple[ContextInfo, dict[str, Plan]]:
        """Return how full the context is, and by button what that would do."""
        session = self.chat().session
        plans = actions.plans(session)
        return session.latest().info, {name: plans[name.lower()] for name in BUTTONS}

    def press(self, name: str) -> None:
        """Do what a button of the gauge does."""
        if name == "Summarise":
            self._begin_or_end()
        else:
            self._act(name, lambda: getattr(self.chat(), name.lower())())

    def press_turn(self, name: str, number: int) -> None:
        """Do what a button beside a turn does."""
        if name in OF_A_TURN:
            self._act(name.capitalize(), lambda: getattr(self.chat(), name)(number))

    def _act(self, name: str, act: Callable[[], object]) -> None:
        result = (WRITING, "status") if self.writing else tried(act)
        self._tell(ButtonResult(*result, name))

    def _tell(self, result: ButtonResult) -> None:
        with self.lock:
            for listener in self.listeners:
                listener(result)

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
            self._tell(ButtonResult("Summarising…", button="Summarise"))
        threading.Thread(target=self._summarise, args=(self._work,), name="jupyter_ctx summary", daemon=True).start()

    def _summarise(self, stopper: Stopper) -> None:
        result, role = tried(lambda: self.chat().session.act(actions.summarize, stopper=stopper))
        with self.lock:
            self._work, self._turned = None, time.monotonic()
            self._tell(ButtonResult(result, role, "Summarise"))
