"""From a try to what the store keeps of it, and back."""

from __future__ import annotations

from ..providers.base import Reply
from ..storage.answers import StoredAnswer
from .ask import AskReply
from .work import Tried

OF_A_REPLY = ("text", "thinking", "usage", "stop_reason", "detail", "model", "cost", "seconds", "notices")


def as_stored(tried: Tried) -> StoredAnswer:
    """Return what became of a request as it is stored."""
    if tried.answered is None:
        return StoredAnswer(error=tried.error, answered=False)
    reply, truncated = tried.answered
    return StoredAnswer(**{name: getattr(reply, name) for name in OF_A_REPLY}, truncated=truncated, error=tried.error)


def as_tried(stored: StoredAnswer) -> Tried:
    """Return what the store keeps of a request as what became of it."""
    if not stored.answered:
        return Tried(None, stored.error, "row")
    reply = Reply(**{name: getattr(stored, name) for name in OF_A_REPLY}, stored=True)
    return Tried(AskReply(reply, stored.truncated), stored.error)
