"""The marks (metadata) beside the messages of a file, and the conversation that both make together.

The marks of a turn are its model, its stop reason, the names and sizes of its files, the names of all that went with
its prompt (sources), how much of the prompt was typed, and whether it is pinned, excluded, or summarized (replaced by
the summary in requests).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias, get_args

from ..conversation.events import Added
from ..conversation.messages import Attachment, Message, StopReason, Summary, Turn, TurnRecord
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from .values import find

EXPORT_KEY, EXPORT_VERSION = "jupyter_ctx", 1
MOST_TOKENS = 10**9  # a file may say anything
TurnMarks: TypeAlias = dict[str, Any]
MarkedMessage: TypeAlias = tuple[Message, TurnMarks]


def turn_marks(added: Added) -> list[TurnMarks]:
    """Return the marks of each turn."""
    summarized = added.summary.covers if added.summary else ()
    return [
        {
            "model": turn.model,
            "stop_reason": turn.stop_reason,
            "pinned": turn.id in added.pinned,
            "excluded": turn.id in added.excluded,
            "summarized": turn.id in summarized,
            "files": [{"name": file.name, "tokens": file.tokens} for file in turn.attachments],
            **({"sources": list(turn.record.sources)} if turn.record.sources else {}),
            **({"typed": turn.record.typed} if turn.record.typed is not None else {}),
        }
        for turn in added.turns
    ]


def file_marks(added: Added) -> TurnMarks:
    """Return the marks of the whole conversation."""
    summary = added.summary
    return {"version": EXPORT_VERSION, "summary": summary and {"text": summary.text, "method": summary.method}}


def together(said: Iterable[MarkedMessage], summary: object = None) -> Added:
    """Return the conversation that messages make; the marks of a turn are those of its prompt."""
    rest, turns = deque(said), list[tuple[Turn, TurnMarks]]()
    system = rest.popleft()[0].content if rest and rest[0][0].role == "system" else None
    while rest:
        asked, marks = rest.popleft()
        if asked.role != "user":
            raise InvalidRequestError(f"A turn begins with a user's message, not with one of role {asked.role!r}.")
        reply = rest.popleft()[0].content if rest and rest[0][0].role == "assistant" else ""
        turns.append((_turn(asked, reply, marks), marks))
    pinned, excluded, summarized = (
        tuple(turn.id for turn, marks in turns if marks.get(name) is True)
        for name in ("pinned", "excluded", "summarized")
    )
    return Added(tuple(turn for turn, _ in turns), system, pinned, excluded, _summary(find(dict, summary), summarized))


def _turn(asked: Message, reply: str, marks: TurnMarks) -> Turn:
    files, reason = find(list, marks, "files"), marks.get("stop_reason")
    ending: Any = reason if reason in get_args(StopReason) else "stop"
    attachments = asked.attachments
    if len(files) == len(attachments):
        attachments = tuple(map(_named, attachments, files))
    sources = tuple(clean(name) for name in find(list, marks, "sources") if isinstance(name, str))
    record = TurnRecord(
        clean(find(str, marks, "model")), ending, sources=sources, typed=_typed(asked.content, marks.get("typed"))
    )
    return Turn(asked.content, reply, attachments, record=record)


def _typed(prompt: str, length: object) -> int | None:
    """Return how much of a prompt was typed; ``None``: all, or the prompt was edited since."""
    return length if type(length) is int and length >= 0 and prompt[length:].startswith("\n\n") else None


def _named(file: Attachment, marks: object) -> Attachment:
    """Return a file with its name and size from the marks: OpenAI's form has no place for them."""
    name, tokens = find(dict, marks).get("name"), find(dict, marks).get("tokens")
    if isinstance(name, str) and type(tokens) is int and 0 <= tokens <= MOST_TOKENS:
        return replace(file, name=clean(name), tokens=tokens)
    return file


def _summary(marks: TurnMarks, covers: tuple[str, ...]) -> Summary | None:
    """Return the summary, or ``None`` if it covers no turn of the file."""
    text, method = marks.get("text"), marks.get("method")
    if not isinstance(text, str) or not covers:
        return None
    return Summary(clean(text), frozenset(covers), "model" if method == "model" else "extractive")
