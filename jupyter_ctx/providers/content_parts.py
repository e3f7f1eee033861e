"""Files and numbers on their way to and from a provider."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from ..conversation.messages import Attachment, Message


def as_base64(attachment: Attachment) -> str:
    """Return a file's bytes in base64."""
    return base64.b64encode(attachment.data).decode()


def data_url(attachment: Attachment) -> str:
    """Return a file as a data URL."""
    return f"data:{attachment.media_type};base64,{as_base64(attachment)}"


def as_part(attachment: Attachment) -> dict[str, Any]:
    """Return a file as a part of a message of Chat Completions."""
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": attachment.name, "file_data": url}}


def content(message: Message, part: Callable[[Attachment], dict[str, Any]], text: str = "text") -> Any:
    """Return a message's text, or with files a list of parts; ``text`` is what a part of text is called."""
    if not message.attachments:
        return message.content
    said = [{"type": text, "text": message.content}] if message.content else []
    return [*map(part, message.attachments), *said]


def count(reported: Mapping[str, Any], *names: str) -> int:
    """Return the first positive whole number under these names, else 0; servers send values of every type."""
    values = (reported.get(name) for name in names)
    return next((value for value in values if type(value) is int and value > 0), 0)
