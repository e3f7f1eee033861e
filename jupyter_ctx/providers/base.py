"""The shape that every provider has: a request goes in, thoughts, text pieces and one reply come out."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..conversation.messages import Message, StopReason

REPR_CHARACTERS = 60  # characters of a text in a terminal's one line


@dataclass(frozen=True, slots=True)
class Request:
    """One request: ``messages`` begin with the system prompt where there is one.

    ``max_tokens`` and ``temperature`` are sent only where they are not ``None``;
    ``parameters`` are passed on as given. ``cache_key`` names the conversation to a prompt
    cache (``None``: nothing is to be cached), ``cache_ttl`` says how long that is kept.
    """

    messages: tuple[Message, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cache_key: str | None = None
    cache_ttl: Literal["5m", "1h"] | None = "5m"

    @property
    def system(self) -> str:
        """The system prompt, or nothing."""
        return self.messages[0].content if self.messages and self.messages[0].role == "system" else ""

    @property
    def said(self) -> tuple[Message, ...]:
        """The messages without the system prompt."""
        return self.messages[1:] if self.system else self.messages


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what a model thought before it answered. It is shown apart, and not sent again."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its text, the tokens it took, why it ended and who gave it.

    ``detail`` is the provider's own reason for a refusal; ``receipts`` says, a line each,
    what was done to make the request fit; ``cost`` is in US dollars, ``None`` where unknown;
    ``stored``: it was there already, and nothing was sent. ``thinking`` is what the model thought,
    where the provider sends that; ``seconds`` is how long the answer took from the request
    being sent to its end, ``None`` where nobody measured.
    """

    text: str
    usage: Usage | None = None
    stop_reason: StopReason = "stop"
    model: str = ""
    receipts: tuple[str, ...] = ()
    detail: str = ""
    cost: float | None = None
    stored: bool = False
    thinking: str = ""
    seconds: float | None = None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        tokens = f", {self.usage.input_tokens:,} → {self.usage.output_tokens:,} tokens" if self.usage else ""
        text = self.text if len(self.text) <= REPR_CHARACTERS else f"{self.text[: REPR_CHARACTERS - 1]}…"
        return f"Reply({text!r}, {self.model}, {self.stop_reason}{tokens})"


@dataclass(frozen=True, slots=True)
class Card:
    """A model in a provider's list: the window it is served with, and the one it is said to have."""

    id: str
    served: ContextWindow | None = None
    stated: ContextWindow | None = None


class Provider(Protocol):
    """A model somewhere. Nothing of its SDK leaves the adapter.

    ``endpoint`` names who enforces the window, ``tokenizer`` who counts tokens;
    ``sends_reserve``: the room kept for the reply is sent as max_tokens; ``takes`` are the
    kinds of attachments it can be sent; ``truncates`` is what ends its silent truncation;
    ``catalogue`` names its list of models, empty where that changes from one hour to the next.
    """

    endpoint: str
    tokenizer: str
    sends_reserve: bool
    takes: frozenset[str]
    truncates: str
    catalogue: str

    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        """Thoughts and text pieces as they come, then exactly one Reply.

        Raises ContextOverflowError where the provider says so, else another ChatError.
        """
        ...

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """What the server itself reports; without ``ask`` only what is known already."""
        ...

    def forget_window(self) -> None:
        """Ask the server again the next time: what it said was not so, or is not any more."""
        ...

    def cards(self) -> tuple[Card, ...]:
        """The models there are, asked for in one request. Raises a ChatError."""
        ...

    def count_tokens(self, request: Request) -> int | None:
        """Tokens of a request as the provider counts them, asked for; ``None`` where it does not say."""
        ...

    def close(self) -> None:
        """End every open response and close the connections, from any thread; may be done twice."""
        ...
