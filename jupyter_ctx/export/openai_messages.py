"""Messages in OpenAI's form, which most tools read."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from reprlib import repr as short_repr
from typing import Any, get_args

from ..attachments.media import FILE_SIGNATURES, guessed_tokens
from ..conversation.events import Added
from ..conversation.messages import Attachment, Message, Role, Turn
from ..conversation.text_safety import checked, clean
from ..errors import InvalidRequestError
from ..providers.content_parts import as_part
from .metadata import MarkedMessage, TurnMarks, together, turn_marks
from .values import find

MEDIA_TYPES = frozenset(media_type for _, media_type in FILE_SIGNATURES)


def from_messages(messages: Iterable[object]) -> Added:
    """Return the conversation of messages in OpenAI's form; consecutive messages of a role are joined.

    Raises InvalidRequestError for an invalid message, and for a prompt that cannot be sent.
    """
    return together((message, {}) for message in joined(messages))


def joined(messages: Iterable[object]) -> Iterator[Message]:
    """Yield messages, with consecutive ones of a role joined. Raises InvalidRequestError."""
    if not isinstance(messages, Iterable):
        raise InvalidRequestError(f"{messages!r} is not a list of messages, each with a role and its text.")
    for role, group in groupby(map(_message, messages), lambda message: message.role):
        same = list(group)
        files = tuple(file for message in same for file in message.attachments)
        yield Message(role, "\n\n".join(message.content for message in same), files)


def turns_with_files(added: Added) -> Iterator[tuple[Turn, TurnMarks]]:
    """Yield each turn with marks that contain its files, for formats that show text only."""
    for turn, marks in zip(added.turns, turn_marks(added), strict=True):
        yield turn, {**marks, "parts": [as_part(file) for file in turn.attachments]}


def marked(role: str, text: str, marks: TurnMarks) -> MarkedMessage:
    """Return a message of a text and the files in its marks."""
    return _message({"role": role, "content": [*find(list, marks, "parts"), text]}), marks


def _message(message: object) -> Message:
    """Return a message with a model's text cleaned. Raises InvalidRequestError for a prompt that cannot be sent."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError(f"{type(message).__name__} is not a message: a message has a role and a text.")
    held, called = message.get("content"), message.get("role")
    role: Any = "system" if called == "developer" else called
    parts = [held] if isinstance(held, str) else held
    if role not in get_args(Role) or not isinstance(parts, list):
        raise InvalidRequestError(f"Role {short_repr(role)} with {type(held).__name__} is not a message with a text.")
    texts = [_text(part) for part in parts]
    if None in texts and role != "user":
        raise InvalidRequestError(f"A message of role {role!r} may contain text only: remove the rest.")
    whole = "\n\n".join(text for text in texts if text is not None)
    files = tuple(_file(part) for part, text in zip(parts, texts, strict=True) if text is None)
    return Message(role, clean(whole) if role == "assistant" else checked(whole), files)


def _text(part: object) -> str | None:
    """Return the text of a content part of type text, input_text or output_text, or ``None``."""
    if isinstance(part, str):
        return part
    text = find(dict, part).get("text")
    return text if find(str, part, "type").endswith("text") and isinstance(text, str) else None


def _file(part: object) -> Attachment:
    """Return the file in a content part, with an estimate of its tokens."""
    url = find(str, part, "image_url", "url") or find(str, part, "file", "file_data")
    head, _, encoded = url.partition(";base64,")
    media_type = head.removeprefix("data:")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        media_type = ""
    if media_type not in MEDIA_TYPES:
        raise InvalidRequestError(
            "A part of a message is neither text nor a PNG, JPEG, GIF or WebP image or a PDF as a data URL: remove it."
        )
    name = clean(find(str, part, "file", "filename")) or media_type.replace("/", ".")
    return Attachment(name, media_type, data, guessed_tokens(media_type, data))
