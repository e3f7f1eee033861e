"""Render an answer while it grows: few bytes an update, and each finished block rendered once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from .footer import growing_html
from .json_block import is_json_like
from .markdown import answer_html, to_html
from .partial_markdown import completed, finished_length
from .waiting import WAITING, Wait, WaitLine, waiting_html

# marks HTML that is soon replaced: the JupyterLab extension then changes only what differs on the page
GROWING = {"application/vnd.jupyter-ctx.growing": ""}
MAX_HIGHLIGHTED_PARTIAL = 2_000  # characters of code: every update carries their colours again
MAX_PARTIAL_FORMULAS = 12  # the page typesets all of them after every update, at a millisecond each
GROWING_JSON = "`````json\n"  # a block that is still open

# what blocks of code, cells and headings look like when the answer is whole; saved answers, which may be shown without
# a sheet, have it in their own attributes
SHEET = (
    "<style>.jctx-answer.jctx-answer.jctx-answer{pre{overflow-x:auto;white-space:pre;margin:.5em 0 1em;"
    "padding:8px 12px;background:var(--jp-cell-editor-background);border:1px solid #80808040;border-radius:4px}"
    "th,td{text-align:left}h4,h5,h6{margin:1em 0 .4em;font-size:1em;font-weight:600}h4{font-size:1.2em}"
    "h5{font-size:1.1em}}</style>"
)
STYLED = ("<pre", "<table", "<h")
_TAG = re.compile(r"<(/?)(\w+)([^<>]*)>\n?")  # any other "<" is escaped
_OPTIONAL_ENDS = {"p", "li", "tr", "td", "th", "thead", "tbody"}  # browsers add these end tags
_SHORTER = {"strong": "b", "em": "i"}  # they look the same
_BLOCKS = _OPTIONAL_ENDS | {"ul", "ol", "table", "blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
# styles that a live page has from SHEET
_IN_SHEET = re.compile(r' style="(?:overflow-x:auto;background|font-size:1(?:\.[12])?em;margin|text-align:left)[^"]*"')
_QUOTES = re.compile(r'="([\w:;.%#(),-]+)"')
_ESCAPED = re.compile(r'="([^"\']*)"')  # the message escapes each double quote


class GrowingAnswer:
    """The text and the thinking text of an answer so far, and the wait for more.

    One thread adds to it while another draws it. ``answers`` grow on the same page; ``is_json``: the answer is a value,
    and shown as code.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, answers: int = 1, is_json: bool = False) -> None:
        self._clock, self._count, self._is_json = clock, answers, is_json
        self._pieces: list[str] = []
        self._thought: list[str] = []
        self._page = PartialPage(answers)
        self.wait = Wait()
        self.length = 0  # characters of the text and the thinking text
        self.is_open = True

    @property
    def started(self) -> bool:
        """Whether any text has arrived."""
        return bool(self._pieces)

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

    def settle(self, text: str, thinking: str) -> None:
        """Replace text and thinking text, of which no more pieces come."""
        self.is_open = False
        self.wait.sent(self._clock(), "")
        self._pieces = [text] if text else []
        self._thought = [thinking] if thinking else []
        self._page = PartialPage(self._count)

    def html(self, line: WaitLine, *, colourful: bool, spoken: bool = False) -> str:
        """Return what is there so far, and below it the ``line`` that says who is waited for."""
        text, (words, seconds) = self.text, line
        parts = [growing_html(self.thinking, bool(text))]
        if text:
            source = f"{GROWING_JSON}{text}" if self._is_json and is_json_like(text) else text
            parts.append(answer_html(self._page.page(source, colourful=colourful)))
        if words:
            parts.append(waiting_html(words, seconds, spoken=spoken))
        return "".join(parts)

    def _add(self, pieces: list[str], piece: str) -> None:
        if self.is_open:
            pieces.append(piece)
            self.length += len(piece)
            if piece:
                self.wait.arrived(self._clock())


class PartialPage:
    """The HTML of an answer that grows, with what is finished kept from one update to the next.

    ``answers`` grow on the same page: together they have the colours and formulas of one.
    """

    def __init__(self, answers: int = 1) -> None:
        self._done = 0
        self._page = ""
        self._left: dict[str, float] = {
            "coloured": MAX_HIGHLIGHTED_PARTIAL // answers,
            "formulas": MAX_PARTIAL_FORMULAS // answers,
        }

    def page(self, text: str, *, colourful: bool = True) -> str:
        """Return the HTML of the text so far; ``colourful`` highlights code finished since the last update."""
        end = self._done + finished_length(text[self._done :])
        if end > self._done:
            left = {**self._left} if colourful else {**self._left, "coloured": 0}
            self._page += minified(to_html(text[self._done : end], left))
            self._left = left if colourful else {**left, "coloured": self._left["coloured"]}
            self._done = end
        page = self._page + minified(to_html(completed(text[end:]), {**self._left, "coloured": 0}))
        return SHEET + page if any(block in page for block in STYLED) else page


def minified(page: str) -> str:
    """Return HTML without line ends, end tags, quotes and fonts that a live page does not need."""
    return _TAG.sub(_short, page)


def _short(match: re.Match[str]) -> str:
    end, name, attributes = match.groups()
    name = _SHORTER.get(name, name)
    if end and name in _OPTIONAL_ENDS:
        return ""
    line = "" if name in _BLOCKS else "\n" * match[0].endswith("\n")
    if attributes:
        attributes = _QUOTES.sub(r"=\1", _IN_SHEET.sub("", attributes))
        attributes = _ESCAPED.sub(r"='\1'", attributes)
    return f"<{end}{name}{attributes}>{line}"
