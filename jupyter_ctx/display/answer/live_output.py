"""Show answers that grow in one output of the cell, drawn again at intervals that grow with the text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf
from threading import RLock
from typing import Any

from IPython.display import display

from ...runtime.interrupts import uninterrupted
from .streaming_answer import StreamingAnswer
from .waiting import Ticker, WaitLine

FASTEST = 0.125  # seconds between two drawings: at most 8 in a second
SLOWEST = 1.25  # of very long answers
PER_CHARACTER = 5e-5  # seconds added for each, since a drawing holds the whole text again


def interval(length: int) -> float:
    """Return the seconds between two drawings of answers with so many characters in all."""
    return min(SLOWEST, FASTEST + PER_CHARACTER * length)


class LiveOutput:
    """One output of the cell, drawn in a thread of its own while answers grow, so that no request waits for the page.

    ``draw`` returns the forms of the answers so far, and none where nothing is there to show; it is given the lines
    that say who is waited for.
    """

    def __init__(
        self,
        answers: Sequence[StreamingAnswer],
        draw: Callable[[Sequence[WaitLine]], dict[str, str]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers, self._draw, self._clock = answers, draw, clock
        self._screen = RLock()  # guards the output
        self._shown: object = None  # how long the answers were, and the lines, when they were drawn last
        self._drawn = -inf
        self._ended = False
        self._handle: Any = None
        self._ticker = Ticker(self.tick, FASTEST)

    @property
    def is_shown(self) -> bool:
        """Whether the cell has this output."""
        return self._handle is not None

    def start(self) -> None:
        """Draw in a thread from now on; what it displays belongs to the cell that runs now."""
        self._ticker.start()

    def tick(self) -> None:
        """Draw where a drawing is due: for a change, or for a line that says who is waited for."""
        with self._screen:
            length = sum(answer.length for answer in self._answers)
            is_due = self._clock() >= self._drawn + interval(length)
            if is_due and (self._shown is None or self._shown != self._state()):
                self.draw()

    def draw(self) -> None:
        """Draw the answers as they are now, unless they have ended."""
        with self._screen:
            if self._ended:
                return
            self._shown = self._state()
            forms = self._draw(self._lines())
            if forms:
                self.show(forms)
            else:
                self.withdraw()
            self._drawn = self._clock()

    def end(self) -> None:
        """Draw nothing more by itself."""
        with self._screen:
            self._ended = True
        self._ticker.stop()

    def show(self, forms: dict[str, str]) -> None:
        """Show these forms in place of what is shown."""
        with self._screen:
            if self._handle is not None:
                self._handle.update(forms, raw=True)
                return
            with uninterrupted():  # an output without its handle could never be updated
                self._handle = display(forms, raw=True, display_id=True)

    def withdraw(self) -> None:
        """Take what is shown from the page."""
        with self._screen:
            handle, self._handle = self._handle, None
            if handle is not None:
                handle.update({}, raw=True)

    def _state(self) -> object:
        return [(answer.length, answer.is_open) for answer in self._answers], self._lines()

    def _lines(self) -> list[WaitLine]:
        now = self._clock()
        return [answer.wait.line(now) for answer in self._answers]
