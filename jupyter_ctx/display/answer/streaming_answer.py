"""An answer while it grows: what is there so far, the wait for more, and its HTML."""

from __future__ import annotations

import time
from collections.abc import Callable

from .calls import CALLING, AnswerStep, CallShown, steps_html
from .footer import growing_html
from .json_block import is_json_like
from .markdown import answer_html, to_html
from .waiting import WAITING, Wait, WaitLine, waiting_html

# marks the HTML of an answer: the JupyterLab extension then changes only what differs on the page
ANSWER_TYPE = {"application/vnd.jupyter-ctx.answer": ""}
MAX_HIGHLIGHTED_PARTIAL = 2_000  # characters of code: every update carries their colours again
MAX_PARTIAL_FORMULAS = 12  # the page typesets all of them after every update, at a millisecond each
GROWING_JSON = "`````json\n"  # a block that is still open


class StreamingAnswer:
    """The text and the thinking text of an answer so far, and the wait for more.

    One thread adds to it while another draws it. ``answers`` grow on the same page, and together they have the colours
    and formulas of one; ``is_json``: the answer is a value, and shown as code. ``steps``: calls of functions,
    and what the model wrote before them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, answers: int = 1, is_json: bool = False) -> None:
        self._clock, self._count, self._is_json = clock, answers, is_json
        self._pieces: list[str] = []
        self._thought: list[str] = []
        self.steps: tuple[AnswerStep, ...] = ()
        self.wait = Wait()
        self.length = 0  # characters of the text and the thinking text
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
        return "".join(self._thought)

    def sent(self, model: str, why: str = "", verb: str = WAITING) -> None:
        """Wait for a model from now on; an empty name ends the wait."""
        if self.is_open:
            self.wait.sent(self._clock(), model, why, verb)

    def feed(self, piece: str) -> None:
        """Add a piece of the text."""
        self._add(self._pieces, piece)

    def think(self, piece: str) -> None:
        """Add a piece of the thinking text."""
        self._add(self._thought, piece)

    def calling(self, call: str) -> None:
        """Wait for a function that the model calls: what it wrote so far stands above the call."""
        if self.text:
            self.steps, self._pieces = (*self.steps, self.text), []
        self.wait.sent(self._clock(), "")
        self.sent(call, verb=CALLING)

    def called(self, call: CallShown) -> None:
        """Add a call that has ended."""
        self.wait.sent(self._clock(), "")
        self.steps = (*self.steps, call)
        self.length += 1

    def settle(self, text: str, thinking: str, steps: tuple[AnswerStep, ...] = ()) -> None:
        """Replace text and thinking text, of which no more pieces come, and the steps before them."""
        self.is_open = False
        self.steps = steps
        self.wait.sent(self._clock(), "")
        self._pieces = [text] if text else []
        self._thought = [thinking] if thinking else []

    def html(self, line: WaitLine, *, spoken: bool = False) -> str:
        """Return what is there so far, and below it the ``line`` that says who is waited for."""
        text, (words, seconds) = self.text, line
        parts = [growing_html(self.thinking, self.started), steps_html(self.steps, is_growing=True)]
        if text:
            source = f"{GROWING_JSON}{text}" if self._is_json and is_json_like(text) else text
            left: dict[str, float] = {
                "coloured": MAX_HIGHLIGHTED_PARTIAL // self._count,
                "formulas": MAX_PARTIAL_FORMULAS // self._count,
            }
            parts.append(answer_html(to_html(source, left)))
        if words:
            parts.append(waiting_html(words, seconds, spoken=spoken))
        return "".join(parts)

    def _add(self, pieces: list[str], piece: str) -> None:
        if self.is_open:
            pieces.append(piece)
            self.length += len(piece)
            if piece:
                self.wait.arrived(self._clock())
