"""Say who is waited for, and how long, while nothing arrives."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ...runtime.interrupts import uninterrupted
from ..text import text_html

SILENT_SECONDS = 1.0  # before the first piece, until the line is shown
STALLED_SECONDS = 3.0  # after a piece: most models pause now and then
TICK_SECONDS = 1.0
WAITING = "Waiting for"
JOIN_SECONDS = 1.0  # to wait for the thread, which may be held up by the connection
WaitLine = tuple[str, str]  # who is waited for, and the seconds
# only a CSS variable gives a muted colour that is readable on both white and black
WAITING_STYLE = "font-size:90%;margin:.4em 0;color:var(--jp-ui-font-color2,inherit)"


@dataclass(slots=True)
class Wait:
    """The wait for one reply, or for what a prompt reads; times are the caller's, in seconds.

    model: who is asked, or what is read; empty: nothing is waited for
    verb: what is done meanwhile
    why: what is different this time, such as "Too long; sending again without turns 1 to 14"
    since: when the request was sent, or the last piece arrived
    flows: whether a piece has arrived since
    """

    model: str = ""
    why: str = ""
    since: float = 0.0
    flows: bool = False
    verb: str = WAITING

    def sent(self, now: float, model: str, why: str = "", verb: str = WAITING) -> None:
        """Begin to wait for a model, or go on where nothing has arrived since; an empty name ends the wait."""
        if self.flows or not self.model:
            self.since = now
        self.model, self.why, self.flows, self.verb = model, why, False, verb

    def arrived(self, now: float) -> None:
        """Note that a piece has arrived."""
        self.since, self.flows, self.why = now, True, ""

    def line(self, now: float) -> WaitLine:
        """Return who is waited for and the seconds, both empty where there is nothing to say yet."""
        silent = now - self.since
        if not self.model or (not self.why and silent < (STALLED_SECONDS if self.flows else SILENT_SECONDS)):
            return "", ""
        if silent < SILENT_SECONDS:
            return f"{self.why}…", ""
        whom = f"{self.verb} {'more from ' if self.flows else ''}{self.model}…"
        return f"{self.why}. {whom}" if self.why else whom, duration(silent)


def duration(seconds: float) -> str:
    """Return a time in whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:,} min {rest:02} s" if minutes else f"{rest} s"


def waiting_html(words: str, seconds: str) -> str:
    """Return the line as HTML, of which screen readers announce the words and never the seconds."""
    if not words:
        return ""
    ticking = f'<span aria-hidden="true"> {seconds}</span>' if seconds else ""
    spoken = f'<span role="status">{text_html(words)}</span>'
    return f'<div class="jctx-waiting" style="{WAITING_STYLE}">{spoken}{ticking}</div>'


class Ticker:
    """Calls ``tick`` in a thread of its own, every few ``seconds``, until :meth:`stop`."""

    def __init__(self, tick: Callable[[], object], seconds: float) -> None:
        self._tick, self._seconds = tick, seconds
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, once; what it displays belongs to the cell that runs now."""
        if self._thread is not None or self._ended.is_set():
            return
        run = contextvars.copy_context().run
        with uninterrupted(), suppress(RuntimeError):  # at its exit, Python may refuse to start a thread
            thread = threading.Thread(target=run, args=(self._run,), name="jupyter_ctx ticker", daemon=True)
            thread.start()
            self._thread = thread

    def stop(self) -> None:
        """Stop for good; the caller holds no lock that ``tick`` takes."""
        self._ended.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            with suppress(Exception):  # a page that is gone ends no answer
                self._tick()
