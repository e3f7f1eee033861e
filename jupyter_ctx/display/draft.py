"""The page of an answer that grows: small, and what is finished is rendered once."""

from __future__ import annotations

from .growing import completed, finished
from .lean import lean
from .markdown import to_html

COLOURED = 2_000  # characters of code: every update carries their colours again


class Draft:
    """Takes the text so far, each time longer, and gives its page."""

    def __init__(self) -> None:
        self._done = 0
        self._page = ""
        self._coloured = COLOURED

    def page(self, text: str, *, colourful: bool = True) -> str:
        """``colourful``: highlight the code that is finished since; what has colours keeps them."""
        end = self._done + finished(text[self._done :])
        if end > self._done:
            block = text[self._done : end]
            coloured = self._coloured if colourful else 0
            self._page += lean(to_html(block, coloured=coloured))
            self._coloured -= len(block) if "```" in block or "~~~" in block else 0
            self._done = end
        return self._page + lean(to_html(completed(text[end:]), coloured=0))
