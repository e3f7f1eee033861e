"""The fingerprint of a request, so that a stored answer to the same request is found."""

from __future__ import annotations

import hashlib
import json

from ..models.registry import Target
from ..providers.base import Request


def digest_of(target: Target, request: Request) -> str:
    """Return a fingerprint: equal for equal views that are sent to the same endpoint with the same settings."""
    settings = target.settings
    asked = (target.provider.endpoint, settings.max_tokens, settings.temperature, dict(request.parameters))
    found = hashlib.blake2b(json.dumps(asked, sort_keys=True, default=str).encode(), digest_size=16)
    for message in request.messages:
        found.update(f"\0{message.role}\0{message.content}".encode())
        for attachment in message.attachments:
            found.update(b"\0" + attachment.data)
    return found.hexdigest()
