"""Show an answer while it grows, and as it stays in the cell."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from threading import Lock, Timer
from typing import Any, Protocol

from IPython.display import display

from ...runtime.interrupts import uninterrupted
from ..text import note_html, note_plain, settled_length, to_plain
from .footer import Footer, remarks
from .markdown import AnswerForms, answer_html, bundle, plain_bundle
from .partial_page import GROWING, PartialPage
from .structured import is_json_like, json_code
from .thinking import growing_html
from .throttle import MIN_INTERVAL, SentUpdate, due, is_frugal
from .waiting import Ticker, Wait, waiting_html

ERASE_TO_END = "\x1b[K"  # of the line
GROWING_JSON = "`````json\n"  # a block that is still open


class AnswerView(Protocol):
    """The place where an answer is shown, piece by piece, with notices above and below."""

    @property
    def started(self) -> bool:
        """Whether any text of the answer has arrived."""
        ...

    def begin(self) -> None:
        """Show the notices above the answer, before the request is sent."""
        ...

    def sent(self, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once.

        An empty name: nobody is waited for now.
        """
        ...

    def feed(self, piece: str) -> None:
        """Add a piece of the answer."""
        ...

    def think(self, piece: str) -> None:
        """Add a piece of the model's thinking text."""
        ...

    def correct(self, text: str, thought: str, forms: AnswerForms | None = None) -> None:
        """Replace answer and thinking text, when only the end of a reply tells them apart.

        ``forms`` are shown in place of the text.
        """
        ...

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """Show the whole answer and the notices ``below`` it; without either, leave nothing in the cell."""
        ...

    def leave(self) -> None:
        """Show nothing more by itself, whatever has ended the answer."""
        ...


class NotebookView:
    """One output of the cell, updated at intervals and not for each piece.

    ``above`` are notices before the answer. ``streaming=False`` shows the answer once, at its end, because
    headless runs keep every update. A timer shows a piece that had to wait when no other piece follows;
    nothing is shown after ``close``. ``is_json``: the answer is a value, and shown as code until its forms are known.
    ``erase`` takes all output from the cell and returns ``True`` where that is this output alone; otherwise an output
    of which nothing is left stays, empty.
    """

    def __init__(
        self,
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        plain: bool = False,
        is_json: bool = False,
        clock: Callable[[], float] = time.monotonic,
        erase: Callable[[], bool] = lambda: False,
    ) -> None:
        self._above = above
        self._pieces: list[str] = []
        self._thought: list[str] = []
        self._forms: AnswerForms | None = None
        self._length = 0
        self._streaming, self._plain, self._is_json = streaming, plain, is_json
        self._clock, self._erase = clock, erase
        self._lock = Lock()  # the timer's thread shows updates, too
        self._waiting: float | None = None  # when the first piece that is not shown yet arrived
        self._sent = SentUpdate()
        self._draft = PartialPage()
        self._timer: Timer | None = None
        self._closed = False
        self._handle: Any = None
        self._wait = Wait()
        self._said = ("", "")  # who is waited for, and the seconds, as it is shown
        self._ticker = Ticker(self.tick, lambda: self._wait.pause(self._clock()))

    @property
    def started(self) -> bool:
        """Whether any text of the answer has arrived."""
        return bool(self._pieces)

    def begin(self) -> None:
        """Show the notices above the answer, if there are any."""
        if self._above and self._streaming:
            with self._lock:
                self._show_growing()

    def sent(self, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once."""
        if self._streaming and not self._closed:
            self._ticker.start()
            with self._lock:
                self._wait.sent(self._clock(), model, why)
            self.tick()

    def tick(self) -> None:
        """Show who is waited for where that has changed."""
        with self._lock:
            if self._closed or self._wait.line(self._clock()) == self._said:
                return
            if self._wait.model or self._length or self._above:
                self._show_growing()
            else:
                self._withdraw()

    def feed(self, piece: str) -> None:
        """Add a piece of the answer, and show it when the next update is due."""
        self._pieces.append(piece)
        self._grown(piece)

    def think(self, piece: str) -> None:
        """Add a piece of the model's thinking text."""
        self._thought.append(piece)
        self._grown(piece)

    def correct(self, text: str, thought: str, forms: AnswerForms | None = None) -> None:
        """Replace answer and thinking text; ``close`` shows them."""
        with self._lock:
            self._forms = forms
            self._pieces, self._thought = [text][: bool(text)], [thought][: bool(thought)]

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """Show the whole answer in all its forms."""
        self.leave()
        if self._pieces or self._thought or below or remarks(footer):
            self._show(self._whole(below, footer))
        elif self._above and self._handle is not None:
            self._show({"text/html": "".join(map(note_html, self._above)), **plain_bundle("", self._above)})
        else:
            self._withdraw()

    def leave(self) -> None:
        """Show nothing more by itself, whatever has ended the answer."""
        with self._lock:
            self._closed, timer, self._timer = True, self._timer, None
        if timer is not None and timer.is_alive():
            timer.cancel()
            timer.join(1)
        self._ticker.stop()

    def _grown(self, piece: str) -> None:
        self._length += len(piece)
        if self._streaming:
            with self._lock:
                if piece:
                    self._wait.arrived(self._clock())
                self._waiting = self._clock() if self._waiting is None else self._waiting
                self._show_or_wait(self._waiting)

    def _show_or_wait(self, waiting: float) -> None:
        now = self._clock()
        if self._timer is not None and now < self._sent.at + MIN_INTERVAL:
            return  # no piece is due as soon as that
        wait = due(self._sent, waiting, self._length) - now
        if wait <= 0:
            self._show_growing()
        elif self._timer is None:
            with uninterrupted():  # a thread that is interrupted while it starts is lost
                self._timer = Timer(wait, self._ring)
                self._timer.daemon = True
                self._timer.start()

    def _ring(self) -> None:
        with self._lock:
            self._timer = None
            if self._waiting is not None and not self._closed:
                self._show_or_wait(self._waiting)

    def _show_growing(self) -> None:
        begun, self._waiting = self._clock(), None  # pieces that arrive from now on wait for the next update
        forms = self._growing()
        self._show(forms)
        ended = self._clock()
        size = sum(len(form.encode("utf-8", "replace")) for form in forms.values())
        self._sent = self._sent.then(ended, size, ended - begun)

    def _growing(self) -> dict[str, str]:
        """Return the answer so far in one form only, because it is soon replaced."""
        text, thought = "".join(self._pieces), "".join(self._thought)
        before, self._said = self._said, self._wait.line(self._clock())
        words, seconds = self._said
        if self._plain:
            above = [*self._above, *(["Thinking…"] if thought and not text else [])]
            return plain_bundle(text, above, [f"{words} {seconds}".rstrip()] if words else [])
        parts = [*map(note_html, self._above), growing_html(thought, bool(text))]
        if text:
            text = f"{GROWING_JSON}{text}" if self._is_json and is_json_like(text) else text
            parts.append(answer_html(self._draft.page(text, colourful=is_frugal(self._sent, self._length))))
        if words:
            parts.append(waiting_html(words, seconds, spoken=not before[0]))
        return {"text/html": "".join(parts), **GROWING}

    def _whole(self, below: Sequence[str], footer: Footer | None) -> dict[str, str]:
        shown = self._forms or "".join(self._pieces)
        if self._plain:
            return plain_bundle(shown, self._above, [*below, *remarks(footer)])
        if self._is_json and isinstance(shown, str) and is_json_like(shown):
            shown = json_code(shown)  # broken off, or invalid
        return bundle(shown, self._above, below, thought="".join(self._thought), footer=footer)

    def _show(self, forms: dict[str, str]) -> None:
        if self._handle is None:
            with uninterrupted():  # an output without its handle could never be updated
                self._handle = display(forms, raw=True, display_id=True)
        else:
            self._handle.update(forms, raw=True)

    def _withdraw(self) -> None:
        """Take what is shown from the page."""
        handle, self._handle, self._said = self._handle, None, ("", "")
        if handle is not None and not self._erase():
            handle.update({}, raw=True)


class TerminalView:
    """An answer printed to a terminal as it arrives.

    Until it begins, the last line says who is waited for, where lines can be erased.
    """

    def __init__(self, above: Sequence[str] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        self._above = above
        self._clock, self._wait = clock, Wait()
        self._lock = Lock()  # the thread that counts seconds prints, too
        self._said = ("", "")
        self._erases = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._ticker = Ticker(self.tick, lambda: self._wait.pause(self._clock()))
        self._tail = ""  # characters that may become a [ctx] or a line end
        self._has_thought = False
        self._forms: AnswerForms | None = None
        self.started = False

    def begin(self) -> None:
        """Print the notices above the answer."""
        self._say(self._above)

    def sent(self, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long, until text arrives."""
        if not self._erases or self.started:
            return
        self._ticker.start()
        with self._lock:
            self._wait.sent(self._clock(), model, why)
        self.tick()

    def tick(self) -> None:
        """Print who is waited for in place of the last line, where that has changed."""
        with self._lock:
            line = self._wait.line(self._clock())
            if not self.started and line != self._said:
                self._overwrite(line)

    def leave(self) -> None:
        """Print nothing more by itself, and erase who is waited for."""
        self._ticker.stop()
        with self._lock:
            self._overwrite(("", ""))

    def feed(self, piece: str) -> None:
        """Print a piece of the answer."""
        with self._lock:
            self.started = True
            self._overwrite(("", ""))
        text = self._tail + piece
        end = settled_length(text)
        self._tail = text[end:]
        print(to_plain(text[:end]), end="", flush=True)

    def think(self, piece: str) -> None:
        """Print once that the model is thinking; the thinking text would push the answer off the screen."""
        if piece and not self._has_thought:
            self._has_thought = True
            self._say(["Thinking…"])

    def correct(self, text: str, thought: str, forms: AnswerForms | None = None) -> None:  # noqa: ARG002
        """Keep what ``close`` prints below the text, which cannot be replaced once it is printed."""
        self._forms = forms

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """End the line, print the notices below and the footer's remarks; its figures need a place that folds."""
        self.leave()
        if self.started:
            print(to_plain(self._tail))
            self._tail = ""
        if self._forms is not None:
            print(f"\n{self._forms.plain}")
        self._say([*below, *remarks(footer)])

    def _say(self, lines: Sequence[str]) -> None:
        with self._lock:
            self._overwrite(("", ""))
            for line in lines:
                print(note_plain(line))

    def _overwrite(self, line: tuple[str, str]) -> None:
        """Print a line in place of the one that says who is waited for, cut where it would fill the terminal's."""
        if line != self._said:
            self._said = line
            text = to_plain(" ".join(filter(None, line)))[: max(1, shutil.get_terminal_size().columns - 1)]
            print(f"\r{text}{ERASE_TO_END}", end="", flush=True)
