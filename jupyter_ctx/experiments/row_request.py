"""One request of a run, and what becomes of it, as it is stored and read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..providers.base import Reply
from ..session.ask import Ask, AskReply
from ..storage.stored_answers import AnswerKey, StoredAnswer

Fault = Literal["", "row", "busy", "limited", "run"]
OF_A_REPLY = ("text", "thinking", "usage", "stop_reason", "detail", "model", "cost", "seconds", "notices")  # stored


@dataclass(slots=True, eq=False)
class RowRequest:
    """One request of a run.

    key: what its answer is stored under
    lane: whose rate limiter lets it start
    ask: the request
    worst: returns the US dollars that it may cost at most
    done: is called with what became of it, and whether it was stored, in the coordinator's thread
    group: of the requests that share a long prefix; one goes first, so that a prompt cache is written once
    tries: how often it was sent
    """

    key: AnswerKey
    lane: str
    ask: Ask
    worst: Callable[[Ask], float | None]
    done: Callable[[Tried, bool], object]
    group: int | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one try.

    answered: the answer; ``None`` where there is none
    error: what went wrong, in words
    fault: whose fault that is: "row": this request alone fails, "busy": another try may succeed, "limited": the
    same, and the server asks for fewer requests, "run": no other request would succeed either
    retry_after: seconds after which the server wants to be asked again; ``None``: it does not say
    billed: whether it may have been billed although no answer came
    """

    answered: AskReply | None = None
    error: str = ""
    fault: Fault = ""
    retry_after: float | None = None
    billed: bool = False


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
    reply = Reply(**{name: getattr(stored, name) for name in OF_A_REPLY}, source="store")
    return Tried(AskReply(reply, stored.truncated), stored.error)
