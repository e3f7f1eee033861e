"""Render a growing answer: few bytes an update, and each finished block rendered once."""

from __future__ import annotations

from .markdown import to_html
from .minify import SHEET, minified
from .partial_markdown import completed, finished_length

# marks HTML that is soon replaced: the JupyterLab extension then changes only what differs on the page
GROWING = {"application/vnd.jupyter-ctx.growing": ""}
MAX_HIGHLIGHTED_PARTIAL = 2_000  # characters of code: every update carries their colours again
STYLED = ("<pre", "<table", "<h")
MAX_PARTIAL_FORMULAS = 12  # the page typesets all of them after every update, at a millisecond each


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
