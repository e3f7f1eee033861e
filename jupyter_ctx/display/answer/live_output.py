"""Show answers that grow in one output of the cell, drawn again by time and by size, and not for each piece."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from threading import RLock
from typing import Any

from IPython.display import display

from ...runtime.interrupts import uninterrupted
from .growing_answer import GrowingAnswer
from .waiting import Ticker, WaitLine

MAX_BYTES_PER_SECOND = 190_000  # below the promised 200 kB, because each update is larger than the one before
MIN_INTERVAL = 0.084  # seconds between updates: at most 12 in a second
MAX_PIECE_WAIT = 0.46  # seconds until a piece is shown; the page needs the rest of the promised 0.5 s
TYPICAL_LENGTH = 8_800  # characters of an answer of 2,000 tokens
TYPICAL_BYTES = 805_000  # of all updates of such an answer; with the final one below 1 MB
FIRST_BYTES = 5_000  # allowed at once, so that a slow answer is shown often at its beginning
LONG_ANSWER = 50_000  # characters from which MAX_BYTES_PER_SECOND outweighs MAX_PIECE_WAIT
MAX_PATIENT_SIZE = 60_000  # bytes of an update: three larger ones in a second would be too many
PAUSE_PER_RENDERING = 1  # so that rendering takes at most half of the time


@dataclass(frozen=True, slots=True)
class SentUpdate:
    """The last update: when it was sent, its bytes, those of all updates so far, and the seconds rendering took."""

    at: float = -inf
    size: int = 0
    total: int = 0
    seconds: float = 0.0

    def then(self, at: float, size: int, seconds: float) -> SentUpdate:
        """Return the state after one more update."""
        return SentUpdate(at, size, self.total + size, seconds)


def due(sent: SentUpdate, waiting: float, length: int, answers: int = 1) -> float:
    """Return when to send the next update, for a piece ``waiting`` since then and ``length`` characters in all.

    ``answers`` share the page. Each update holds the whole text again, so the next one is assumed to be as large
    as the last, and to take as long.
    """
    # the next update counts towards the same second as the last, so no second may exceed the rate with both
    rate = sent.at + sent.size / max(MAX_BYTES_PER_SECOND - sent.size, MAX_BYTES_PER_SECOND / 2)
    wanted = min(rate if is_frugal(sent, length, answers) else inf, waiting + MAX_PIECE_WAIT - sent.seconds)
    if length > LONG_ANSWER:
        wanted = max(wanted, rate)
    return max(wanted, sent.at + MIN_INTERVAL, sent.at + PAUSE_PER_RENDERING * sent.seconds)


def is_frugal(sent: SentUpdate, length: int, answers: int = 1) -> bool:
    """Return whether one more update keeps the bytes of all updates within what ``answers`` this long may take.

    The bytes of regular updates grow with the square of the length. So a slow answer is not shown more often
    at its beginning than the total allows at its end.
    """
    share = length / answers / TYPICAL_LENGTH
    return sent.total + sent.size <= answers * (FIRST_BYTES + TYPICAL_BYTES * min(share * share, share))


class LiveOutput:
    """One output of the cell, drawn in a thread of its own while answers grow, so that no request waits for the page.

    ``draw`` returns the forms of the answers so far, and none where nothing is there to show; it is given the lines
    that say who is waited for, and whether new code may be highlighted.
    """

    def __init__(
        self,
        answers: Sequence[GrowingAnswer],
        draw: Callable[[Sequence[WaitLine], bool], dict[str, str]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers, self._draw, self._clock = answers, draw, clock
        self._screen = RLock()  # guards the output
        self._waiting: float | None = None  # when the first change that is not shown yet arrived
        self._lines = self._current_lines()  # as they are shown
        self._sent = SentUpdate()
        self._ended = False
        self._handle: Any = None
        self._ticker = Ticker(self.tick, self._pause)

    @property
    def is_shown(self) -> bool:
        """Whether the cell has this output."""
        return self._handle is not None

    def start(self) -> None:
        """Draw in a thread from now on; what it displays belongs to the cell that runs now."""
        self._ticker.start()

    def grown(self) -> None:
        """Note a change of the answers, which is shown when the next update is due."""
        if self._waiting is None:  # the thread sets it to None before it reads the answers
            self._waiting = self._clock()
            self._ticker.wake()

    def tick(self) -> None:
        """Draw where an update is due: for a change, or for a line that says who is waited for."""
        with self._screen:
            now = self._clock()
            if self._waiting is None and self._lines != self._current_lines():
                self._waiting = now
            if self._waiting is not None and self._due(self._waiting) <= now:
                self.draw()

    def draw(self) -> None:
        """Draw the answers as they are now, unless they have ended."""
        with self._screen:
            if self._ended:
                return
            begun, self._waiting = self._clock(), None
            self._lines = self._current_lines()
            forms = self._draw(self._lines, is_frugal(self._sent, self._length, len(self._answers)))
            if forms:
                self.show(forms)
            else:
                self.withdraw()
            ended = self._clock()
            size = sum(len(form.encode("utf-8", "replace")) for form in forms.values())
            self._sent = self._sent.then(ended, size, ended - begun)

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

    @property
    def _length(self) -> int:
        return sum(answer.length for answer in self._answers)

    def _current_lines(self) -> list[WaitLine]:
        now = self._clock()
        return [answer.wait.line(now) for answer in self._answers]

    def _due(self, waiting: float) -> float:
        """Return when the next update is due, as for one answer with all the text; its markup may be longer."""
        length = self._length
        if self._sent.size > MAX_PATIENT_SIZE:
            length = max(length, LONG_ANSWER + 1)
        return due(self._sent, waiting, length, len(self._answers))

    def _pause(self) -> float:
        """Return the seconds until an update may be due."""
        now, waiting = self._clock(), self._waiting
        pauses = [answer.wait.pause(now) for answer in self._answers]
        if waiting is not None:
            pauses.append(max(0.0, self._due(waiting) - now))
        return min(pauses)
