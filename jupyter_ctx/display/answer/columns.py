"""Show the answers of several models side by side while they grow, and as they stay in the cell.

All answers are in one output, so that the page can put them beside each other. Requests feed their columns
from threads of their own; one more thread draws, so that no request waits for the page.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from IPython.display import display

from ...runtime.interrupts import uninterrupted
from ..text import note_plain
from .column_page import (
    Column,
    Frame,
    answer_plain,
    choice_line,
    columns_forms,
    columns_html,
    columns_plain,
)
from .footer import Footer
from .markdown import AnswerForms, answer_html
from .partial_page import GROWING, PartialPage
from .thinking import growing_html
from .throttle import LONG_ANSWER, SentUpdate, due, is_frugal
from .waiting import JOIN_SECONDS, TICK_SECONDS, Wait, waiting_html

NOT_WHOLE = "Stopped before the answer was whole."
MAX_PATIENT_SIZE = 60_000  # bytes of an update: three larger ones in a second would be too many
NOTHING_YET = ("Waiting for the answer…", "")


class ColumnsView(Protocol):
    """The place where several answers are shown; ``column`` and ``chosen`` are indexes from 0.

    Methods may be called in several threads at once, and raise nothing.
    """

    def begin(self) -> None:
        """Show the notices above and the heads of the columns; call this in the cell's own thread."""
        ...

    def sent(self, column: int, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once."""
        ...

    def feed(self, column: int, piece: str) -> None:
        """Add a piece of an answer."""
        ...

    def think(self, column: int, piece: str) -> None:
        """Add a piece of a model's thinking text."""
        ...

    def done(
        self,
        column: int,
        text: str,
        thinking: str,
        footer: Footer | None,
        notices: Sequence[str],
        forms: AnswerForms | None = None,
    ) -> None:
        """Show a whole answer in place of its pieces, with its figures and notices; ``forms`` in place of its text."""
        ...

    def failed(self, column: int, message: str) -> None:
        """Say in its column why there is no whole answer; its text so far stays."""
        ...

    def close(self, chosen: int | None, below: Sequence[str] = ()) -> None:
        """Show all answers in all forms, with the one that the conversation uses."""
        ...

    def choose(self, chosen: int | None) -> None:
        """Show that the conversation uses another answer now, or none."""
        ...

    def mark(self, on: bool) -> None:
        """Mark the words in which the answers differ, or take the marks away."""
        ...


class NotebookColumns:
    """One output of the cell with a column for each answer, updated at intervals and not for each piece.

    ``heads`` name the models and options, without numbers; ``above`` are notices before the answers.
    ``streaming=False`` shows the answers once, at their end, because headless runs keep every update.
    ``plain`` shows plain text only.
    """

    def __init__(
        self,
        heads: Sequence[str],
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        plain: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers = _Answers(heads, clock)
        self._frame = Frame(above)
        self._streaming, self._plain, self._clock = streaming, plain, clock
        self._marks = False
        self._waiting: float | None = None  # when the first change that is not shown yet arrived
        self._changed = threading.Condition()  # guards the answers and _waiting
        self._screen = threading.Lock()  # guards the output
        self._drafts = defaultdict[tuple[int, bool], PartialPage](lambda: PartialPage(len(heads)))
        self._sent = SentUpdate()
        self._drawer: threading.Thread | None = None
        self._closed = False
        self._handle: Any = None

    def begin(self) -> None:
        """Show the notices above and the heads of the columns."""
        if not self._streaming or self._closed or self._drawer is not None:
            return
        with suppress(Exception):
            with self._screen:
                self._show_growing(self._answers.columns())
            with uninterrupted():  # a thread that is interrupted while it starts is lost
                self._drawer = threading.Thread(target=self._draw_when_due, name="jupyter_ctx columns", daemon=True)
                self._drawer.start()

    def sent(self, column: int, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once."""
        if why:
            self._change(lambda: self._answers.sent(column, model, why))
            return
        with suppress(Exception), self._changed:
            self._answers.sent(column, model)
            self._changed.notify_all()

    def feed(self, column: int, piece: str) -> None:
        """Add a piece of an answer, and show it when the next update is due."""
        self._change(lambda: self._answers.feed(column, piece))

    def think(self, column: int, piece: str) -> None:
        """Add a piece of a model's thinking text."""
        self._change(lambda: self._answers.think(column, piece))

    def done(
        self,
        column: int,
        text: str,
        thinking: str,
        footer: Footer | None,
        notices: Sequence[str],
        forms: AnswerForms | None = None,
    ) -> None:
        """Show a whole answer in place of its pieces, with its figures and notices."""
        self._change(lambda: self._answers.done(column, text, thinking, footer, notices, forms))

    def failed(self, column: int, message: str) -> None:
        """Say in its column why there is no whole answer; its text so far stays."""
        self._change(lambda: self._answers.failed(column, message))

    def close(self, chosen: int | None, below: Sequence[str] = ()) -> None:
        """Show all answers in all forms, with the one that the conversation uses; no update follows by itself."""
        with uninterrupted():  # else Ctrl-C might leave an output that is never whole
            with self._changed:
                self._closed, drawer, self._drawer = True, self._drawer, None
                self._answers.end()
                self._changed.notify_all()
            if drawer is not None:
                drawer.join(JOIN_SECONDS)
            self._frame = Frame(self._frame.above, below, chosen)
            self._show_whole()

    def choose(self, chosen: int | None) -> None:
        """Show that the conversation uses another answer now, or none; a page loaded anew is not reached."""
        if self._closed and chosen != self._frame.chosen:
            self._frame = replace(self._frame, chosen=chosen)
            self._show_whole()

    def mark(self, on: bool) -> None:
        """Mark the words in which the answers differ, or take the marks away."""
        if self._closed and on != self._marks:
            self._marks = on
            self._show_whole()

    # while the answers grow

    def _change(self, change: Callable[[], None]) -> None:
        with suppress(Exception), self._changed:
            if self._closed:
                return
            change()
            if self._waiting is None:
                self._waiting = self._clock()
                self._changed.notify_all()

    def _draw_when_due(self) -> None:
        while (columns := self._next()) is not None:
            with suppress(Exception), self._screen:
                if not self._closed:
                    self._show_growing(columns)

    def _next(self) -> list[Column] | None:
        """Wait until an update is due, and return what it shows; ``None`` once the view is closed."""
        with self._changed:
            while not self._closed:
                wait = self._answers.pause()
                if self._waiting is not None:
                    wait = min(wait, self._due() - self._clock())
                    if wait <= 0:
                        self._waiting = None
                        return self._answers.columns()
                if not self._changed.wait(wait) and self._waiting is None and self._answers.ticked():
                    self._waiting = self._clock()
            return None

    def _due(self) -> float:
        """Return when the next update is due, as for one answer with all the text; its markup may be longer."""
        length = self._answers.length
        if self._sent.size > MAX_PATIENT_SIZE:
            length = max(length, LONG_ANSWER + 1)
        return due(self._sent, self._waiting or 0.0, length, self._answers.count)

    def _show_growing(self, columns: Sequence[Column]) -> None:
        begun = self._clock()
        forms = self._growing(columns)
        self._show(forms)
        ended = self._clock()
        size = sum(len(form.encode("utf-8", "replace")) for form in forms.values())
        self._sent = self._sent.then(ended, size, ended - begun)

    def _growing(self, columns: Sequence[Column]) -> dict[str, str]:
        """Return the answers so far in one form only, because it is soon replaced."""
        if self._plain:
            return columns_plain(columns, self._frame, figures=True)
        colourful = is_frugal(self._sent, sum(len(column.text) for column in columns), len(columns))
        bodies = [self._body(number, column, colourful) for number, column in enumerate(columns)]
        return {"text/html": columns_html(columns, self._frame, bodies), **GROWING}

    def _body(self, number: int, column: Column, colourful: bool) -> str:
        words, seconds = column.waits if column.state != "waiting" or column.waits[0] else NOTHING_YET
        below = waiting_html(words, seconds) if words else ""
        thought = growing_html(column.thinking, bool(column.text))
        if not column.text:
            return thought + below
        draft = self._drafts[number, column.state == "growing"]  # the end of a reply may correct its pieces
        return thought + answer_html(draft.page(column.text, colourful=colourful)) + below

    # once all are there

    def _show_whole(self) -> None:
        with suppress(Exception), self._screen:
            self._show(self._whole(self._answers.columns()))

    def _whole(self, columns: Sequence[Column]) -> dict[str, str]:
        if self._plain:
            return columns_plain(columns, self._frame, figures=True)
        try:
            return columns_forms(columns, self._frame, marks=self._marks)
        except Exception:  # the answers must be shown even where they cannot be drawn
            return columns_plain(columns, self._frame)

    def _show(self, forms: dict[str, str]) -> None:
        if self._handle is None:
            with uninterrupted():  # an output without its handle could never be updated
                self._handle = display(forms, raw=True, display_id=True)
        else:
            self._handle.update(forms, raw=True)


class TextColumns:
    """Answers printed to a terminal one after the other, each when it and all before it are whole."""

    def __init__(self, heads: Sequence[str], above: Sequence[str] = ()) -> None:
        self._answers = _Answers(heads)
        self._above = above
        self._printed = 0
        self._lock = threading.Lock()
        self._closed = False

    def begin(self) -> None:
        """Print the notices above, and how many answers are on their way."""
        with suppress(Exception):
            _say([*self._above, f"Waiting for {self._answers.count} answers…"])

    def sent(self, column: int, model: str, why: str = "") -> None:
        """Do nothing: how many answers are waited for was printed."""

    def feed(self, column: int, piece: str) -> None:
        """Keep a piece of an answer, which is printed when the answer is whole."""
        with suppress(Exception), self._lock:
            self._answers.feed(column, piece)

    def think(self, column: int, piece: str) -> None:
        """Do nothing: the thinking text would push the answers off the screen."""

    def done(
        self,
        column: int,
        text: str,
        thinking: str,
        footer: Footer | None,
        notices: Sequence[str],
        forms: AnswerForms | None = None,
    ) -> None:
        """Print a whole answer with its figures, or keep it until those before it are printed."""
        with suppress(Exception), self._lock:
            self._answers.done(column, text, thinking, footer, notices, forms)
            self._print()

    def failed(self, column: int, message: str) -> None:
        """Print why there is no whole answer, and its text so far."""
        with suppress(Exception), self._lock:
            self._answers.failed(column, message)
            self._print()

    def close(self, chosen: int | None, below: Sequence[str] = ()) -> None:
        """Print what is left, which answer the conversation uses, and the notices below."""
        with suppress(Exception), self._lock:
            if not self._closed:
                self._closed = True
                self._answers.end()
                self._print()
                _say([choice_line(chosen, self._answers.count), *below])

    def choose(self, chosen: int | None) -> None:
        """Do nothing: printed text cannot be replaced."""

    def mark(self, on: bool) -> None:
        """Do nothing: printed text cannot be replaced."""

    def _print(self) -> None:
        for column in self._answers.columns()[self._printed :]:
            if column.state in ("waiting", "growing"):
                return
            print(answer_plain(self._printed, column, figures=True), flush=True)
            self._printed += 1


class _Answers:
    """The answers so far; the caller holds a lock."""

    def __init__(self, heads: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._columns = [Column(head) for head in heads]
        self._waits = [Wait() for _ in heads]
        self._pieces: list[list[str]] = [[] for _ in heads]
        self._thought: list[list[str]] = [[] for _ in heads]
        self.count = len(heads)
        self.length = 0  # characters of all answers and thinking texts

    def columns(self) -> list[Column]:
        """Return all columns as they are now."""
        for number, column in enumerate(self._columns):
            if column.state == "growing":
                self._columns[number] = replace(
                    column, text=_join(self._pieces[number]), thinking=_join(self._thought[number])
                )
        lines = self._lines()
        self._columns = [replace(column, waits=line) for column, line in zip(self._columns, lines, strict=True)]
        return list(self._columns)

    def _lines(self) -> list[tuple[str, str]]:
        """Return who is waited for in each column, and the seconds."""
        now = self._clock()
        return [
            wait.line(now) if column.state in ("waiting", "growing") else ("", "")
            for column, wait in zip(self._columns, self._waits, strict=True)
        ]

    def pause(self) -> float:
        """Return the seconds until a line may change that says who is waited for."""
        now = self._clock()
        return min((wait.pause(now) for wait in self._waits), default=TICK_SECONDS)

    def ticked(self) -> bool:
        """Return whether a line has changed since the columns were last shown."""
        return self._lines() != [column.waits for column in self._columns]

    def sent(self, number: int, model: str, why: str = "") -> None:
        self._waits[number].sent(self._clock(), model, why)

    def feed(self, number: int, piece: str) -> None:
        self._grow(number, self._pieces, piece)

    def think(self, number: int, piece: str) -> None:
        self._grow(number, self._thought, piece)

    def done(
        self,
        number: int,
        text: str,
        thinking: str,
        footer: Footer | None,
        notices: Sequence[str],
        forms: AnswerForms | None,
    ) -> None:
        self._columns[number] = Column(
            self._columns[number].head, text, thinking, footer, tuple(notices), forms=forms, state="whole"
        )

    def failed(self, number: int, message: str) -> None:
        self._columns[number] = replace(self.columns()[number], error=message, state="failed")

    def end(self) -> None:
        """Say of each answer that is not whole that it was stopped."""
        for number, column in enumerate(self._columns):
            if column.state in ("waiting", "growing"):
                self.failed(number, NOT_WHOLE)

    def _grow(self, number: int, texts: list[list[str]], piece: str) -> None:
        if self._columns[number].state == "waiting":
            self._columns[number] = replace(self._columns[number], state="growing")
        if self._columns[number].state == "growing":
            texts[number].append(piece)
            self._waits[number].arrived(self._clock())
            self.length += len(piece)


def _join(pieces: list[str]) -> str:
    """Return the text of pieces, and keep them as one: each is copied once for each update."""
    pieces[:] = ["".join(pieces)]
    return pieces[0]


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(note_plain(line), flush=True)
