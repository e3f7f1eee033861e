"""The page of an answer that grows: small, and what is finished is rendered once."""

from __future__ import annotations

from .markdown import to_html
from .minify import lean
from .partial_markdown import completed, finished

MAX_HIGHLIGHTED_PARTIAL = 2_000  # characters of code: every update carries their colours again
FORMULAS = 12  # the page sets all of them again after every update, at a millisecond each


class PartialPage:
    """Takes the text so far, each time longer, and gives its page."""

    def __init__(self) -> None:
        self._done = 0
        self._page = ""
        self._left: dict[str, float] = {"coloured": MAX_HIGHLIGHTED_PARTIAL, "formulas": FORMULAS}

    def page(self, text: str, *, colourful: bool = True) -> str:
        """``colourful``: highlight the code that is finished since; what has colours keeps them."""
        end = self._done + finished(text[self._done :])
        if end > self._done:
            left = {**self._left} if colourful else {**self._left, "coloured": 0}
            self._page += lean(to_html(text[self._done : end], left))
            self._left = left if colourful else {**left, "coloured": self._left["coloured"]}
            self._done = end
        return self._page + lean(to_html(completed(text[end:]), {**self._left, "coloured": 0}))
