"""Conversations as JSON: messages in OpenAI's form, with the marks beside them."""

from __future__ import annotations

from ..conversation.events import Added
from ..errors import InvalidRequestError
from ..providers.content_parts import as_part, content
from .metadata import EXPORT_KEY, EXPORT_VERSION, file_marks, together, turn_marks
from .openai_messages import joined
from .values import dumped, find, found_in, parse_json


def write(added: Added) -> str:
    """Return a conversation as JSON."""
    messages = [{"role": "system", "content": added.system}] if added.system is not None else []
    messages += [{"role": m.role, "content": content(m, as_part)} for turn in added.turns for m in turn.messages]
    ours = {**file_marks(added), "turns": turn_marks(added)}
    return dumped({"messages": messages, EXPORT_KEY: ours})


def read(text: str) -> Added:
    """Return the conversation in exported JSON, or in a list of messages. Raises InvalidRequestError."""
    found = parse_json(text)
    listed = found.get("messages") if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise InvalidRequestError('There are no messages in it: a list of {"role": …, "content": …} is needed.')
    messages, ours = list(joined(listed)), find(dict, found, EXPORT_KEY)
    turns = find(list, ours, "turns")
    fit = ours.get("version") == EXPORT_VERSION and len(turns) == sum(message.role == "user" for message in messages)
    marks = iter(turns if fit else ())  # those of other turns are left out
    said = [(message, find(dict, next(marks, None)) if message.role == "user" else {}) for message in messages]
    return together(said, ours.get("summary"))


def is_ours(text: str) -> bool:
    """Return whether JSON is an export."""
    return "version" in found_in(text, EXPORT_KEY)
