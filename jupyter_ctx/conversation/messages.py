"""What one cell's exchange consists of: messages, attachments, the turn and the summary that may stand for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from ..context.usage import Usage

Role = Literal["system", "user", "assistant"]
StopReason = Literal["stop", "max_tokens", "context_window", "refusal", "interrupted", "cut"]


def new_id() -> str:
    """A short random name for a turn or a summary."""
    return os.urandom(6).hex()


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or a PDF that goes with a prompt; ``tokens`` is our guess of its size."""

    name: str
    media_type: str
    data: bytes = field(repr=False)
    tokens: int = 0

    @property
    def kind(self) -> str:
        """``image`` or ``pdf``, as providers tell them apart."""
        return "image" if self.media_type.startswith("image/") else "pdf"


def _tokens_of(attachments: tuple[Attachment, ...]) -> int:
    return sum(attachment.tokens for attachment in attachments)


@dataclass(frozen=True, slots=True)
class Message:
    """One side's text, and the files that go with it."""

    role: Role
    content: str
    attachments: tuple[Attachment, ...] = ()

    @property
    def attached(self) -> int:
        """Our guess of the tokens of its attachments."""
        return _tokens_of(self.attachments)


@dataclass(frozen=True, slots=True)
class Turn:
    """One cell's exchange, as it was sent and answered.

    ``start`` names the place at which the view it was sent with began (``None``: at the first
    turn), ``summary`` the one that stood in it; ``digest`` tells that request from any other.
    ``window`` is what the model was believed to hold, in tokens; ``cell``, ``run`` and
    ``execution`` are the notebook cell, its execution and the number that it shows, where the
    front end tells, and ``source`` tells that cell's text from any other; ``cost`` is in US
    dollars, ``None`` where unknown. ``thinking`` is what the model thought before it answered,
    which no later request carries; ``seconds`` is how long the answer took. ``stored``: it was
    there already, in another turn, and nothing was sent.
    """

    prompt: str
    reply: str
    model: str
    stop_reason: StopReason = "stop"
    usage: Usage | None = None
    start: str | None = None
    window: int = 0
    cell: str | None = None
    run: str | None = None
    attachments: tuple[Attachment, ...] = ()
    cost: float | None = None
    execution: int | None = None
    summary: str | None = None
    digest: str = ""
    thinking: str = ""
    seconds: float | None = None
    stored: bool = False
    source: str | None = None
    id: str = field(default_factory=new_id)

    @property
    def messages(self) -> tuple[Message, Message]:
        """The two messages that a later request carries."""
        return Message("user", self.prompt, self.attachments), Message("assistant", self.reply)

    @property
    def attached(self) -> int:
        """Our guess of the tokens of its attachments."""
        return _tokens_of(self.attachments) if self.attachments else 0


@dataclass(frozen=True, slots=True)
class Summary:
    """A shorter text that stands for the turn versions in ``covers`` (turn ids)."""

    text: str
    covers: frozenset[str]
    method: Literal["extractive", "model"]
    id: str = field(default_factory=new_id)
