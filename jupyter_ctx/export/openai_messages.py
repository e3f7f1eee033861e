"""Messages as OpenAI's tools have them, which most others read, too."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from reprlib import repr as short_repr
from typing import Any, get_args

from ..conversation.attachments import FILE_SIGNATURES, guessed_tokens
from ..conversation.events import Added
from ..conversation.messages import Attachment, Message, Role, Turn
from ..conversation.text_safety import checked, clean
from ..errors import InvalidRequestError
from ..providers.content_parts import as_part
from .metadata import MarkedMessage, TurnMarks, together, turn_marks
from .values import find

MEDIA_TYPES = frozenset(media_type for _, media_type in FILE_SIGNATURES)


def from_messages(messages: Iterable[object]) -> Added:
    """A conversation from messages in OpenAI's form; neighbours of one role are joined.

    Raises InvalidRequestError for what is no message, and for a prompt that cannot be sent.
    """
    return together((message, {}) for message in joined(messages))


def joined(messages: Iterable[object]) -> Iterator[Message]:
    """Messages as values. Raises InvalidRequestError."""
    if not isinstance(messages, Iterable):
        raise InvalidRequestError(f"{messages!r} is not a list of messages, each with a role and its text.")
    for role, group in groupby(map(_message, messages), lambda message: message.role):
        same = list(group)
        files = tuple(file for message in same for file in message.attachments)
        yield Message(role, "\n\n".join(message.content for message in same), files)


def turns_with_files(added: Added) -> Iterator[tuple[Turn, TurnMarks]]:
    """The turns, each with marks that hold its files whole, for where only text can be shown."""
    for turn, marks in zip(added.turns, turn_marks(added), strict=True):
        yield turn, {**marks, "parts": [as_part(file) for file in turn.attachments]}


def marked(role: str, text: str, marks: TurnMarks) -> MarkedMessage:
    """A message of a text, and the files that its marks hold."""
    return _message({"role": role, "content": [*find(list, marks, "parts"), text]}), marks


def _message(message: object) -> Message:
    """A message that may be sent: what a model said is mended, anything else refused."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError(f"{type(message).__name__} is no message: a role and its text.")
    held, called = message.get("content"), message.get("role")
    role: Any = "system" if called == "developer" else called
    parts = [held] if isinstance(held, str) else held
    if role not in get_args(Role) or not isinstance(parts, list):
        raise InvalidRequestError(f"{short_repr(role)} with {type(held).__name__} is no message: a role and its text.")
    texts = [_text(part) for part in parts]
    if None in texts and role != "user":
        raise InvalidRequestError(f"A message of role {role!r} holds more than text: take that out.")
    whole = "\n\n".join(text for text in texts if text is not None)
    files = tuple(_file(part) for part, text in zip(parts, texts, strict=True) if text is None)
    return Message(role, clean(whole) if role == "assistant" else checked(whole), files)


def _text(part: object) -> str | None:
    """The text of a part, which other tools call input_text or output_text, too."""
    if isinstance(part, str):
        return part
    text = find(dict, part).get("text")
    return text if find(str, part, "type").endswith("text") and isinstance(text, str) else None


def _file(part: object) -> Attachment:
    """The file in a part, with our guess of its size."""
    url = find(str, part, "image_url", "url") or find(str, part, "file", "file_data")
    head, _, encoded = url.partition(";base64,")
    media_type = head.removeprefix("data:")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        media_type = ""
    if media_type not in MEDIA_TYPES:
        raise InvalidRequestError(
            "A message holds something that is neither text nor, as a data URL, a PNG, JPEG, GIF or WebP image "
            "or a PDF: take it out."
        )
    name = clean(find(str, part, "file", "filename")) or media_type.replace("/", ".")
    return Attachment(name, media_type, data, guessed_tokens(media_type, data))
