"""Show the answers of several models side by side while they grow, and as they stay in the cell.

All answers are in one output, so that the page can put them beside each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ...runtime.interrupts import uninterrupted
from ..text import note_plain
from .column_page import (
    Column,
    Frame,
    answer_plain,
    choice_line,
    columns_bundle,
    columns_html,
    columns_plain,
)
from .footer import Footer
from .growing import GrowingAnswer, LiveOutput
from .markdown import MimeBundle
from .waiting import WaitLine

NOT_WHOLE = "Stopped before the answer was whole."
NOTHING_YET: WaitLine = ("Waiting for the answer…", "")


class AnswerColumns:
    """One output of the cell with a column for each answer; ``column`` and ``chosen`` are indexes from 0.

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
        self._columns = [Column(head) for head in heads]
        self._answers = [GrowingAnswer(clock, answers=len(heads)) for _ in heads]
        self._frame = Frame(above)
        self._output = LiveOutput(self._answers, self._growing, clock)
        self._streaming, self._plain = streaming, plain
        self._closed = False

    def begin(self) -> None:
        """Show the notices above and the heads of the columns; call this in the cell's own thread."""
        if self._streaming:
            self.tick()
            self._output.start()

    def tick(self) -> None:
        """Show what is due."""
        with suppress(Exception):  # a page that is gone ends no answer
            self._output.tick()

    def sent(self, column: int, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once."""
        self._answers[column].sent(model, why)

    def feed(self, column: int, piece: str) -> None:
        """Add a piece of an answer, and show it when the next update is due."""
        self._answers[column].feed(piece)

    def think(self, column: int, piece: str) -> None:
        """Add a piece of a model's thinking text."""
        self._answers[column].think(piece)

    def done(
        self,
        column: int,
        text: str,
        thinking: str,
        footer: Footer | None,
        notices: Sequence[str],
        forms: MimeBundle | None = None,
    ) -> None:
        """Show a whole answer in place of its pieces, with its figures and notices; ``forms`` in place of its text."""
        self._settle(column, Column(self._columns[column].head, text, thinking, footer, tuple(notices), forms=forms))

    def failed(self, column: int, message: str) -> None:
        """Say in its column why there is no whole answer; its text so far stays."""
        self._settle(column, replace(self._so_far(column), error=message))

    def close(self, chosen: int | None, below: Sequence[str] = ()) -> None:
        """Show all answers in all forms, with the one that the conversation uses; no update follows by itself."""
        with uninterrupted():  # else Ctrl-C might leave an output that is never whole
            for number, answer in enumerate(self._answers):
                if answer.is_open:
                    self.failed(number, NOT_WHOLE)
            self._closed = True
            self._frame = Frame(self._frame.above, below, chosen)
            self._show_whole()

    def choose(self, chosen: int | None) -> None:
        """Show that the conversation uses another answer now, or none; a page loaded anew is not reached."""
        if self._closed and chosen != self._frame.chosen:
            self._frame = replace(self._frame, chosen=chosen)
            self._show_whole()

    def _settle(self, column: int, settled: Column) -> None:
        if not self._closed:
            self._columns[column] = settled
            self._answers[column].correct(settled.text, settled.thinking)

    def _so_far(self, column: int) -> Column:
        answer = self._answers[column]
        return replace(self._columns[column], text=answer.text, thinking=answer.thinking)

    def _growing(self) -> dict[str, str]:
        """Return the answers so far in one form only, because it is soon replaced."""
        if self._plain:
            so_far = [self._so_far(number) for number in range(len(self._columns))]
            return columns_plain(so_far, self._frame, figures=True)
        bodies = [answer.html(_line_of(answer)) for answer in self._answers]
        return {"text/html": columns_html(self._columns, self._frame, bodies)}

    def _show_whole(self) -> None:
        columns, frame = self._columns, self._frame
        with suppress(Exception):  # a page that is gone ends no answer
            self._output.end(
                columns_plain(columns, frame, figures=True) if self._plain else columns_bundle(columns, frame)
            )


class TerminalColumns(AnswerColumns):
    """Answers printed one after the other, each when it and all before it are whole."""

    def __init__(self, heads: Sequence[str], above: Sequence[str] = ()) -> None:
        super().__init__(heads, above, streaming=False, plain=True)
        self._printed = 0

    def begin(self) -> None:
        """Print the notices above, and how many answers are on their way."""
        self._say([*self._frame.above, f"Waiting for {len(self._columns)} answers…"])

    def _settle(self, column: int, settled: Column) -> None:
        super()._settle(column, settled)
        while self._printed < len(self._columns) and not self._answers[self._printed].is_open:
            print(answer_plain(self._printed, self._columns[self._printed], figures=True), flush=True)
            self._printed += 1

    def _show_whole(self) -> None:
        """Print which answer the conversation uses, and the notices below."""
        self._say([choice_line(self._frame.chosen, len(self._columns)), *self._frame.below])

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            print(note_plain(line), flush=True)


def _line_of(answer: GrowingAnswer) -> WaitLine:
    """Return who is waited for; before anything has come of an answer, that it is waited for."""
    is_silent = answer.is_open and not answer.length and not answer.line[0]
    return NOTHING_YET if is_silent else answer.line
