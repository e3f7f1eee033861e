"""Show an answer while it grows, and as it stays in the cell."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from threading import Lock

from ..text import note_html, note_plain, to_plain
from .attachment_summary import CallShown, step_bundles
from .footer import Footer, footer_line, remarks
from .growing import TICK_SECONDS, WAITING, GrowingAnswer, LiveOutput, Ticker, WaitLine
from .markdown import bundle, is_json_like, json_bundle

ERASE_TO_END = "\x1b[K"  # of the line
NO_LINE: WaitLine = ("", "")


class NotebookView(GrowingAnswer):
    """One output of the cell, where an answer is shown piece by piece, with notices above and below.

    ``above`` are notices before the answer. ``streaming=False`` shows the answer once, at its end, because
    headless runs keep every update. ``is_json``: the answer is a value, and shown as code until its forms are known.
    Nothing is shown after ``close``.
    """

    def __init__(
        self,
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        plain: bool = False,
        is_json: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock, is_json=is_json)
        self._above, self._streaming, self._plain = above, streaming, plain
        self._output = LiveOutput([self], self._growing, clock)

    def begin(self) -> None:
        """Show the notices above the answer, before the request is sent."""
        if self._above:
            self.tick()

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Say after a while that a model is waited for, and how long; from now on, draw what comes."""
        super().sent(model, why, verb)
        if self._streaming and model:
            self._output.start()
        self.tick()

    def tick(self) -> None:
        """Show what is due: pieces that have arrived, or who is waited for."""
        if self._streaming:
            self._output.tick()

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """Show the whole answer in all its forms, and the notices ``below`` it; without anything, leave nothing."""
        self.leave()
        has_notices = self._above and self._output.handle is not None
        is_there = self.started or self.thinking or below or remarks(footer) or has_notices
        self._output.end(self._whole(below, footer) if is_there else {})

    def leave(self) -> None:
        """Show nothing more by itself, whatever has ended the answer."""
        self._output.leave()

    def _growing(self) -> dict[str, str]:
        """Return the answer so far in one form only, because it is soon replaced."""
        words, seconds = self.line
        if not (words or self.length or self._above):
            return {}
        if self._plain:
            waits = [note_plain(f"{words} {seconds}".rstrip())] if words else []
            return {"text/plain": "\n".join([*map(note_plain, self._above), to_plain(self.text), *waits])}
        return {"text/html": "".join([*map(note_html, self._above), self.html()])}

    def _whole(self, below: Sequence[str], footer: Footer | None) -> dict[str, str]:
        shown = self.forms or self.text
        if self._is_json and isinstance(shown, str) and is_json_like(shown) and not self._plain:
            shown = json_bundle(shown)  # broken off, or invalid
        steps = step_bundles(self.steps)
        whole = bundle(shown, self._above, below, thought=self.thinking, footer=footer, steps=steps)
        return {"text/plain": whole["text/plain"]} if self._plain else whole


class TerminalView(GrowingAnswer):
    """An answer printed to a terminal as it arrives.

    Until it begins, the last line says who is waited for, where lines can be erased.
    """

    def __init__(self, above: Sequence[str] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._above = above
        self._lock = Lock()  # the thread that counts seconds prints, too
        self._line = NO_LINE  # as it is shown
        self._erases = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._ticker = Ticker(self.tick, TICK_SECONDS / 4)
        self._is_in_text = False

    def begin(self) -> None:
        """Print the notices above the answer, once."""
        self._say(self._above)
        self._above = ()

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Say after a while that a model is waited for, and how long, until text arrives."""
        super().sent(model, why, verb)
        if self._erases and model:
            self._ticker.start()
            self.tick()

    def tick(self) -> None:
        """Print who is waited for in place of the last line, where that has changed."""
        with self._lock:
            if not self._is_in_text:
                self._overwrite(self.line)

    def leave(self) -> None:
        """Print nothing more by itself, and erase who is waited for."""
        self._ticker.stop()
        with self._lock:
            self._overwrite(NO_LINE)

    def feed(self, piece: str) -> None:
        """Print a piece of the answer."""
        super().feed(piece)
        with self._lock:
            self._is_in_text = True
            self._overwrite(NO_LINE)
        print(to_plain(piece.replace("\r", "")), end="", flush=True)

    def think(self, piece: str) -> None:
        """Print once that the model is thinking; the thinking text would push the answer off the screen."""
        if piece and not self.thinking:
            self._say(["Thinking…"])
        super().think(piece)

    def calling(self, call: str) -> None:
        """Say after a while that a function is called, and how long, below what the model wrote so far."""
        self._end_text()
        super().calling(call)

    def called(self, call: CallShown) -> None:
        """Print the line of a call that has ended."""
        super().called(call)
        self._end_text()
        self._say([call.line])

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """End the line, and print the notices below and the footer's remarks and figures."""
        self.leave()
        self._end_text()
        if self.forms is not None and self.forms.beside_text:
            print(f"\n{self.forms.beside_text}")
        self._say([*below, *remarks(footer)])
        figures = footer_line(footer) if footer is not None else ""
        if figures:
            print(f"\x1b[2m{figures}\x1b[0m" if self._erases else figures)

    def _end_text(self) -> None:
        """End the line of text that is printed, if there is one."""
        if self._is_in_text:
            print()
            self._is_in_text = False

    def _say(self, lines: Sequence[str]) -> None:
        with self._lock:
            self._overwrite(NO_LINE)
            for line in lines:
                print(note_plain(line))

    def _overwrite(self, line: WaitLine) -> None:
        """Print a line in place of the one that says who is waited for, cut where it would fill the terminal's."""
        if line != self._line:
            self._line = line
            text = to_plain(" ".join(filter(None, line)))[: max(1, shutil.get_terminal_size().columns - 1)]
            print(f"\r{text}{ERASE_TO_END}", end="", flush=True)


AnswerView = NotebookView | TerminalView
