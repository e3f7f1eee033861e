"""From what a provider's error says to one of our errors, in words and without a key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..context.overflow import classify_overflow
from ..errors import (
    AuthenticationError,
    ChatError,
    ContextOverflowError,
    ModelNotFoundError,
    ProviderError,
    RateLimitError,
)

STATUS_OF = {  # an error inside a stream carries a word instead of a status, Gemini's bad key one beside a 400
    "API_KEY_INVALID": 401,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
}
VAGUE = (None, 400)
BUSY = frozenset({408, 409, 500, 502, 503, 504, 529})
PATIENCE = 10.0  # seconds: a longer wait is the user's to decide
WORDS = 300  # characters of a provider's own words
PAGE = r"(?i)<(?:!doctype|html|head|body)\b"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What came instead of an answer: HTTP status where there was one, body, headers."""

    status: int | None
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> int | None:
        """The status; where it says little, what the error's word or number stands for."""
        if self.status not in VAGUE:
            return self.status
        return next((code for code in map(_as_status, _marks(self.body)) if code), self.status)

    @property
    def words(self) -> str:
        """The provider's own words, in one line."""
        text = _message(self.body)
        text = "a web page instead of an answer" if re.search(PAGE, text) else text
        return " ".join(text.split())[:WORDS]

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, where the provider says so."""
        said = self.headers.get("retry-after", "")
        return float(said) if re.fullmatch(r"\d{1,6}(\.\d+)?", said) else None

    def wait(self, delay: float) -> float | None:
        """Seconds after which it is worth asking again by itself, or ``None``: ``delay`` where none is named."""
        if self.retry_after is not None and self.code in {429, *BUSY}:
            return self.retry_after if self.retry_after <= PATIENCE else None
        return delay if self.code in BUSY and classify_overflow(self.status, self.body) is None else None

    def error(self, where: str, model: str) -> ChatError:
        """It as an error of ours."""
        overflow = classify_overflow(self.status, self.body)
        said = self.words or "it said no more"
        if self.code == 413 and not overflow:
            return ContextOverflowError(said, by_bytes=True)
        if overflow:
            return ContextOverflowError(
                said, used=overflow.input_tokens, limit=overflow.context_window, overflow=overflow
            )
        if self.code in (401, 403):
            return AuthenticationError(f"{where} does not take the key ({said}): %chat key sets another.")
        if self.code == 404:
            return ModelNotFoundError(f"{model} is not served at {where} ({said}).", model=model)
        if self.code == 429:
            when = f"in {self.retry_after:.0f} s" if self.retry_after else "later"
            return RateLimitError(f"Too many requests ({said}): try again {when}.", retry_after=self.retry_after)
        again = " Try again later." if self.code in BUSY else ""
        return ProviderError(
            f"{where} refused ({self.status or 'in the stream'}): {said.rstrip('.')}.{again}", status=self.code
        )


def _message(body: Any) -> str:
    """The words in a body: its message, wherever that is, else all of it."""
    while True:
        if isinstance(body, dict):
            raw = body.get("metadata")  # OpenRouter puts there what the provider behind it said
            raw = raw.get("raw") if isinstance(raw, dict) else None
            said = raw or next((body[name] for name in ("error", "message", "detail") if body.get(name)), None)
            if said is None:
                return str(body)
            body = said
        elif isinstance(body, list):
            body = body[0] if body else ""
        elif isinstance(body, str):
            inner = _object(body)
            if inner is None:
                return body
            body = inner
        else:
            return str(body or "")


def _object(text: str) -> dict[str, Any] | None:
    """The object that a text is, where it is one."""
    try:
        found = json.loads(text) if text.lstrip()[:1] == "{" else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _marks(body: Any) -> list[Any]:
    """The codes and types of an error, inside first."""
    found: list[Any] = []
    while isinstance(body, list | dict) and body:
        if isinstance(body, dict):
            details = body.get("details")
            reasons = [d.get("reason") for d in details if isinstance(d, dict)] if isinstance(details, list) else []
            found[:0] = [*reasons, body.get("code"), body.get("type")]
        body = body[0] if isinstance(body, list) else body.get("error")
    return found


def _as_status(mark: Any) -> int | None:
    if isinstance(mark, str):
        return STATUS_OF.get(mark) or (int(mark) if re.fullmatch(r"[45]\d\d", mark) else None)
    return mark if type(mark) is int and 400 <= mark < 600 else None
