"""Answers that grow in one output of the cell, which is drawn again at intervals that grow with their text."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from IPython.display import display

from ...runtime.interrupts import uninterrupted
from ..text import text_html
from .attachment_summary import CALLING, AnswerStep, CallShown, step_bundles
from .footer import duration, growing_html
from .markdown import MAX_HIGHLIGHTED, MimeBundle, answer_html, is_json_like, to_html

FASTEST, SLOWEST = 0.125, 0.75  # seconds between two drawings: at most 8 in a second, and of very long answers
PER_CHARACTER = 2e-5  # seconds added for each, since a drawing holds the whole text again
MAX_GROWING_FORMULAS = 50  # without the labextension, the page typesets all of them after every drawing
GROWING_JSON = "`````json\n"  # a block that is still open

SILENT_SECONDS = 1.0  # before the first piece, until the line is shown
STALLED_SECONDS = 3.0  # after a piece: most models pause now and then
WAITING = "Waiting for"
JOIN_SECONDS = 1.0  # to wait for the thread, which may be held up by the connection
WaitLine = tuple[str, str]  # who is waited for, and the seconds
# only a CSS variable gives a muted colour that is readable on both white and black
WAITING_STYLE = "font-size:90%;margin:.4em 0;color:var(--jp-ui-font-color2,inherit)"


def interval(length: int) -> float:
    """Return the seconds between two drawings of answers with so many characters in all."""
    return min(SLOWEST, FASTEST + PER_CHARACTER * length)


def waiting_html(words: str, seconds: str) -> str:
    """Return the line as HTML, of which screen readers announce the words and never the seconds."""
    if not words:
        return ""
    ticking = f'<span aria-hidden="true"> {seconds}</span>' if seconds else ""
    spoken = f'<span role="status">{text_html(words)}</span>'
    return f'<div class="jctx-waiting" style="{WAITING_STYLE}">{spoken}{ticking}</div>'


class GrowingAnswer:
    """An answer so far: its text, its thinking text, the calls before it, and the wait for more.

    One thread adds to it while another draws it. ``is_json``: it is a value, and shown as code. ``steps``: calls of
    functions, and what the model wrote before them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, is_json: bool = False) -> None:
        self._clock, self._is_json = clock, is_json
        self._pieces, self._thoughts = list[str](), list[str]()
        self._model, self._verb, self._why = "", WAITING, ""  # who is waited for; empty: nobody
        self._since, self._flows = 0.0, False  # when that was, or the last piece arrived; whether one has since
        self.steps: tuple[AnswerStep, ...] = ()
        self.forms: MimeBundle | None = None
        self.length = 0  # characters that have come, and calls
        self.is_open = True

    @property
    def started(self) -> bool:
        """Whether any text has arrived, or a function was called."""
        return bool(self._pieces or self.steps)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    @property
    def thinking(self) -> str:
        """The thinking text so far."""
        return "".join(self._thoughts)

    @property
    def line(self) -> WaitLine:
        """Who is waited for now, and how long; both empty where there is nothing to say yet."""
        silent = self._clock() - self._since
        patience = STALLED_SECONDS if self._flows else SILENT_SECONDS
        if not self._model or (not self._why and silent < patience):
            return "", ""
        if silent < SILENT_SECONDS:
            return f"{self._why}…", ""
        whom = f"{self._verb} {'more from ' if self._flows else ''}{self._model}…"
        return f"{self._why}. {whom}" if self._why else whom, duration(silent)

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Say after a while that a model is waited for, and how long; ``why`` this time, at once.

        An empty name: nobody is waited for now. ``verb``: what is done meanwhile.
        """
        if not self.is_open:
            return
        if self._flows or not self._model:  # else it is waited on
            self._since = self._clock()
        self._model, self._verb, self._why, self._flows = model, verb, why, False

    def feed(self, piece: str) -> None:
        """Add a piece of the text."""
        self._add(self._pieces, piece)

    def think(self, piece: str) -> None:
        """Add a piece of the thinking text."""
        self._add(self._thoughts, piece)

    def calling(self, call: str) -> None:
        """Say after a while that a function is called, and how long; what the model wrote so far stands above."""
        if self.text:
            self.steps, self._pieces = (*self.steps, self.text), []
        self.sent("")
        self.sent(call, verb=CALLING)

    def called(self, call: CallShown) -> None:
        """Add a call that has ended."""
        self.sent("")
        self.steps = (*self.steps, call)
        self.length += 1

    def correct(
        self, text: str, thinking: str, forms: MimeBundle | None = None, steps: Sequence[AnswerStep] = ()
    ) -> None:  # fmt: skip
        """Replace text and thinking text, of which no more pieces come: only the end of a reply tells them apart.

        ``forms`` are shown in place of the text; ``steps``: what the model wrote and called before it.
        """
        self.sent("")
        self.is_open = False
        self.forms, self.steps = forms, tuple(steps)
        self._pieces = [text] if text else []
        self._thoughts = [thinking] if thinking else []

    def html(self) -> str:
        """Return what is there so far, and below it who is waited for."""
        text = self.text
        parts = [growing_html(self.thinking, self.started)]
        parts += [step.html for step in step_bundles(self.steps, is_growing=True)]
        if text:
            is_code = self._is_json and is_json_like(text)
            left: dict[str, float] = {"coloured": MAX_HIGHLIGHTED, "formulas": MAX_GROWING_FORMULAS}
            parts.append(answer_html(to_html(f"{GROWING_JSON}{text}" if is_code else text, left)))
        return "".join([*parts, waiting_html(*self.line)])

    def _add(self, pieces: list[str], piece: str) -> None:
        if self.is_open and piece:
            pieces.append(piece)
            self.length += len(piece)
            self._since, self._flows, self._why = self._clock(), True, ""


class LiveOutput:
    """One output of the cell, drawn in a thread of its own while answers grow: silence is drawn, too.

    ``draw`` returns the forms of the answers so far, and none where nothing is there to show; ``streaming=False``: only
    the end is shown, because headless runs keep every update.
    """

    def __init__(
        self, answers: Sequence[GrowingAnswer], draw: Callable[[], dict[str, str]], clock: Callable[[], float],
        *, streaming: bool,
    ) -> None:  # fmt: skip
        self._answers, self._draw, self._clock, self._streaming = answers, draw, clock, streaming
        self._screen = threading.RLock()  # guards the output
        self._state: object = None  # of the answers, when they were drawn last
        self._drawn = -inf
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.handle: Any = None  # of the output; None: the cell does not have it

    def start(self) -> None:
        """Start the thread, once; what it displays belongs to the cell that runs now."""
        if not self._streaming or self._thread is not None or self._ended.is_set():
            return
        run = contextvars.copy_context().run
        with uninterrupted(), suppress(RuntimeError):  # at its exit, Python may refuse to start a thread
            thread = threading.Thread(target=run, args=(self._run,), name="jupyter_ctx drawing", daemon=True)
            thread.start()
            self._thread = thread

    def tick(self) -> None:
        """Draw where something has changed, and the last drawing is long enough ago."""
        with self._screen:
            length = sum(answer.length for answer in self._answers)
            state = [(answer.length, answer.is_open, answer.line) for answer in self._answers]
            is_due = self._clock() >= self._drawn + interval(length)
            if self._streaming and is_due and state != self._state and not self._ended.is_set():
                self._state = state
                self._show(self._draw())
                self._drawn = self._clock()

    def leave(self) -> None:
        """Draw nothing more by itself."""
        with self._screen:
            self._ended.set()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def end(self, forms: dict[str, str]) -> None:
        """Show these forms from now on."""
        self.leave()
        self._show(forms)

    def _run(self) -> None:
        while not self._ended.wait(FASTEST / 2):
            with suppress(Exception):  # a page that is gone ends no answer
                self.tick()

    def _show(self, forms: dict[str, str]) -> None:
        """Show these forms in place of what is shown; none: nothing."""
        with self._screen:
            if self.handle is not None:
                self.handle.update(forms, raw=True)
                self.handle = self.handle if forms else None
            elif forms:
                with uninterrupted():  # an output without its handle could never be updated
                    self.handle = display(forms, raw=True, display_id=True)
