"""Show an answer while it grows, and as it stays in the cell."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

from ..text import note_html, note_plain, to_plain
from .attachment_summary import CallShown, step_bundles
from .footer import Footer, footer_line, remarks
from .growing import WAITING, GrowingAnswer, LiveOutput
from .markdown import bundle, is_json_like, json_bundle


class NotebookView(GrowingAnswer):
    """One output of the cell, where an answer is shown piece by piece, with notices above and below.

    ``above`` are notices before the answer. ``streaming=False`` shows the answer once, at its end. ``is_json``: the
    answer is a value, and shown as code until its forms are known. Nothing is shown after ``close``.
    """

    def __init__(
        self,
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        is_json: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock, is_json=is_json)
        self._above = above
        self._output = LiveOutput([self], self._growing, clock, streaming=streaming)
        self.tick, self.leave = self._output.tick, self._output.leave

    def begin(self) -> None:
        """Show the notices above the answer, before the request is sent."""
        if self._above:
            self.tick()

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Say after a while that a model is waited for, and how long; from now on, draw what comes."""
        super().sent(model, why, verb)
        if model:
            self._output.start()
        self.tick()

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """Show the whole answer in all its forms, and the notices ``below`` it; without anything, leave nothing."""
        self.leave()
        has_notices = self._above and self._output.handle is not None
        is_there = self.started or self.thinking or below or remarks(footer) or has_notices
        self._output.end(self._whole(below, footer) if is_there else {})

    def _growing(self) -> dict[str, str]:
        """Return the answer so far in one form only, because it is soon replaced."""
        words, _ = self.line
        if not (words or self.length or self._above):
            return {}
        return {"text/html": "".join([*map(note_html, self._above), self.html()])}

    def _whole(self, below: Sequence[str], footer: Footer | None) -> dict[str, str]:
        shown = self.forms or self.text
        if self._is_json and isinstance(shown, str) and is_json_like(shown):
            shown = json_bundle(shown)  # broken off, or invalid
        steps = step_bundles(self.steps)
        return bundle(shown, self._above, below, thought=self.thinking, footer=footer, steps=steps)


class TerminalView(GrowingAnswer):
    """An answer printed to a terminal as it arrives."""

    def __init__(self, above: Sequence[str] = ()) -> None:
        super().__init__()
        self._above = above
        self._is_in_text = False

    def begin(self) -> None:
        """Print the notices above the answer, once."""
        self._say(self._above)
        self._above = ()

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Print why a model is waited for, if it is for more than its answer."""
        super().sent(model, why, verb)
        self._say([f"{why}…"] if why else ())

    def leave(self) -> None:
        """Print nothing more by itself, which a terminal never does."""

    def feed(self, piece: str) -> None:
        """Print a piece of the answer."""
        super().feed(piece)
        self._is_in_text = True
        print(to_plain(piece.replace("\r", "")), end="", flush=True)

    def think(self, piece: str) -> None:
        """Print once that the model is thinking; the thinking text would push the answer off the screen."""
        if piece and not self.thinking:
            self._say(["Thinking…"])
        super().think(piece)

    def called(self, call: CallShown) -> None:
        """Print the line of a call that has ended."""
        super().called(call)
        self._say([call.line])

    def close(self, below: Sequence[str] = (), footer: Footer | None = None) -> None:
        """End the line, and print the notices below and the footer's remarks and figures."""
        self._say(())
        if self.forms is not None and self.forms.beside_text:
            print(f"\n{self.forms.beside_text}")
        self._say([*below, *remarks(footer)])
        figures = footer_line(footer) if footer is not None else ""
        if figures:
            takes_colours = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
            print(f"\x1b[2m{figures}\x1b[0m" if takes_colours else figures)

    def _say(self, notices: Sequence[str]) -> None:
        """End the line of text that is printed, if there is one, and print notices below it."""
        if self._is_in_text:
            print()
            self._is_in_text = False
        for notice in notices:
            print(note_plain(notice))


AnswerView = NotebookView | TerminalView
