"""What simulated providers have in common: they say nothing of themselves."""

from __future__ import annotations

from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.providers.base import Card, Request


class Quiet:
    """A provider without a list of models, a window of its own or a count of tokens."""

    sends_reserve, takes, truncates, catalogue = False, frozenset[str](), "", ""

    def __init__(self, name: str) -> None:
        self.endpoint = self.tokenizer = name

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """It does not say."""
        return None

    def forget_window(self) -> None:
        """It never said one."""

    def cards(self) -> tuple[Card, ...]:
        """It has no list."""
        return ()

    def count_tokens(self, request: Request) -> int | None:
        """It counts nothing that it does not answer."""
        return None

    def close(self) -> None:
        """Nothing is open."""
