"""A request in fewer bytes: some servers refuse by bytes, before they count tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..conversation.messages import Attachment, Message

ENCODED = 4 / 3  # base64


def request_bytes(messages: Sequence[Message]) -> int:
    """Return about how many bytes these messages take in a request."""
    files = sum(_encoded(file) for message in messages for file in message.attachments)
    return files + sum(len(message.content.encode("utf-8", "replace")) for message in messages)


def lightened(messages: tuple[Message, ...], most: int) -> tuple[tuple[Message, ...], tuple[Attachment, ...]]:
    """Leave out the largest files of earlier turns until ``most`` bytes remain; return the messages and those files.

    The files of the last message stay, because it asks about them.
    """
    excess, gone = request_bytes(messages) - most, list[Attachment]()
    for file in sorted((file for message in messages[:-1] for file in message.attachments), key=_encoded, reverse=True):
        if excess <= 0:
            break
        gone.append(file)
        excess -= _encoded(file)
    if not gone:
        return messages, ()
    dropped = set(map(id, gone))  # one file may stand in several turns
    return (*(_without(message, dropped) for message in messages[:-1]), messages[-1]), tuple(gone)


def _without(message: Message, dropped: set[int]) -> Message:
    kept = tuple(file for file in message.attachments if id(file) not in dropped)
    return message if len(kept) == len(message.attachments) else replace(message, attachments=kept)


def _encoded(file: Attachment) -> int:
    return int(len(file.data) * ENCODED)


def megabytes(size: int) -> str:
    """Return a size in bytes in megabytes or kilobytes."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(size, 100) / 1e3:.1f} kB"
