"""The shape that every provider has: a request goes in, text pieces and one reply come out."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..conversation import Message, StopReason

UNSENDABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Request:
    """One request: ``messages`` begin with the system prompt where there is one.

    ``max_tokens`` and ``temperature`` are sent only where they are not ``None``.
    """

    messages: tuple[Message, ...]
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its text, the tokens it took, why it ended and who gave it.

    ``receipts`` says, a line each, what was done to make the request fit.
    """

    text: str
    usage: Usage | None = None
    stop_reason: StopReason = "stop"
    model: str = ""
    receipts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        tokens = f", {self.usage.input_tokens:,} → {self.usage.output_tokens:,} tokens" if self.usage else ""
        return f"Reply({self.text!r}, {self.model}, {self.stop_reason}{tokens})"


class Provider(Protocol):
    """A model somewhere. Nothing of its SDK leaves the adapter.

    ``endpoint`` names who enforces the window, ``tokenizer`` who counts tokens;
    ``sends_reserve``: the room kept for the reply is sent as max_tokens.
    """

    endpoint: str
    tokenizer: str
    sends_reserve: bool

    def stream(self, request: Request) -> Generator[str | Reply, None, None]:
        """Text pieces as they come, then exactly one Reply.

        Raises ContextOverflowError where the provider says so, else another ChatError.
        """
        ...

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """What the server itself reports; without ``ask`` only what is known already."""
        ...

    def close(self) -> None:
        """End every open response, from any thread."""
        ...


def clean(text: str) -> str:
    """Text as it may be kept and sent again: what no server takes becomes U+FFFD."""
    return UNSENDABLE.sub("�", text)
