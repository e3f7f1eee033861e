"""The fingerprint of a request, so that a stored answer to the same request is found."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import NamedTuple

from ..conversation.messages import Message
from ..models.registry import Target
from ..providers.base import Request
from .byte_limit import request_bytes
from .recent import Recent


class Fingerprint(NamedTuple):
    """What identifies a request, and its size.

    ``digest``: equal for equal views that are sent to the same endpoint with the same settings.
    ``size``: about how many bytes its messages take.
    """

    digest: str
    size: int


class _Begun:
    """A fingerprint of which some messages are read."""

    def __init__(self, settings: bytes) -> None:
        self._found = hashlib.blake2b(settings, digest_size=16)
        self._size = 0
        self.messages: list[Message] = []

    def read_to(self, messages: list[Message]) -> None:
        """Read those of the messages that it has not read; these objects are compared with the next time."""
        new = messages[len(self.messages) :]
        for message in new:
            _read(self._found, message)
        self._size += request_bytes(new)
        self.messages = messages

    def ended(self, last: Message) -> Fingerprint:
        """Return the fingerprint with this message as the last."""
        found = self._found.copy()
        _read(found, last)
        return Fingerprint(found.hexdigest(), self._size + request_bytes([last]))


class Fingerprints:
    """Reads of a request only what the one before, to the same endpoint with the same settings, did not have."""

    def __init__(self) -> None:
        self._kept = Recent[bytes, _Begun]()
        self._lock = threading.Lock()

    def of(self, target: Target, request: Request) -> Fingerprint:
        """Return the fingerprint of a request to this target."""
        settings = target.settings
        asked: tuple[object, ...] = (
            target.provider.endpoint, settings.max_tokens, settings.temperature, dict(request.parameters),
        )  # fmt: skip
        if request.schema is not None:
            asked = (*asked, dict(request.schema.json))
        key, before = json.dumps(asked, sort_keys=True, default=str).encode(), list(request.messages[:-1])
        with self._lock:
            begun = self._kept.get(key)
            if begun is None or begun.messages != before[: len(begun.messages)]:
                begun = _Begun(key)
            begun.read_to(before)
            self._kept[key] = begun
            return begun.ended(request.messages[-1])


def _read(found: hashlib.blake2b, message: Message) -> None:
    found.update(f"\0{message.role}\0{message.content}".encode())
    for attachment in message.attachments:
        found.update(b"\0" + attachment.data)
