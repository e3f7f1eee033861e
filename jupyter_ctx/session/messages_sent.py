"""The messages of a request: which they are, their bytes, which some servers limit, and their digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message
from ..conversation.places import Place
from ..models.registry import Target
from ..providers.base import Request
from .view import Scope, in_view


def messages_before(
    target: Target, past: Conversation, scope: Scope, view: tuple[list[Place], list[Place]]
) -> list[Message]:
    """Return the messages before a prompt as this target may be sent them, the system prompt first.

    Pinned turns from before the ``view`` and the summary stand before the turns that are sent as they are.
    """
    messages = [Message("system", scope.fixed.system)] if scope.fixed.system.strip() else []
    pinned, rest = view
    messages += _messages_of(pinned, target, has_files=bool(past.files))
    if scope.summary is not None:
        messages.append(Message("user", summary_message(scope.summary.text)))
        messages.append(Message("assistant", SUMMARY_ANSWER))
    messages += _messages_of(rest, target, has_files=bool(past.files))
    return messages


def _messages_of(places: Iterable[Place], target: Target, *, has_files: bool) -> Iterable[Message]:
    """Return the messages of these turns, without files that the target cannot be sent."""
    messages = [message for place in places for message in place.messages or place.as_messages()]
    return map(target.sendable, messages) if has_files else messages


def request_in(target: Target, past: Conversation, scope: Scope, start: int, message: Message) -> Request:
    """Return the request for a message in a view that begins at ``start``."""
    before = messages_before(target, past, scope, in_view(past, scope, start))
    return target.request((*before, target.sendable(message)))


ENCODED = 4 / 3  # base64
SETTINGS_DIGEST = 8  # bytes of a digest that are of the settings


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


def request_digest(target: Target, request: Request) -> str:
    """Return a digest that is equal for equal views which are sent to the same endpoint with the same settings."""
    settings = target.settings
    asked: tuple[object, ...] = (
        target.provider.endpoint, settings.max_tokens, settings.temperature, dict(request.parameters),
    )  # fmt: skip
    if settings.effort is not None:
        asked = (*asked, settings.effort)
    if request.schema is not None:
        asked = (*asked, dict(request.schema.json))
    if request.top_logprobs:
        asked = (*asked, request.top_logprobs)
    return digested(asked, request.messages)


def digested(settings: object, messages: Iterable[Message]) -> str:
    """Return a digest of the settings, as JSON, and after it one of the messages that are sent, files included."""
    of_settings = hashlib.blake2b(
        json.dumps(settings, sort_keys=True, default=str).encode(), digest_size=SETTINGS_DIGEST
    )
    of_messages = hashlib.blake2b(digest_size=16)
    for message in messages:
        of_messages.update(f"\0{message.role}\0{message.content}".encode())
        for attachment in message.attachments:
            of_messages.update(b"\0" + attachment.data)
    return of_settings.hexdigest() + of_messages.hexdigest()


def are_same_messages(digest: str, other: str) -> bool:
    """Return whether two digests are of the same messages, whatever settings they were sent with."""
    return digest[2 * SETTINGS_DIGEST :] == other[2 * SETTINGS_DIGEST :]
