"""OpenAI's SDK, as both of its adapters use it."""

from __future__ import annotations

from typing import Any

from ..context.usage import Usage
from .adapter import Endpoint
from .encoding import count
from .refusals import Refusal


def new_client(at: Endpoint, http: Any) -> Any:
    """A client of the SDK that leaves retries to us."""
    import openai

    return openai.OpenAI(
        base_url=at.base_url, api_key=at.api_key, http_client=http, timeout=http.timeout, max_retries=0
    )


def refusal_of(error: Exception) -> Refusal | None:
    """What the SDK's error says. In a stream it has no status, and its text may be in the body alone."""
    import openai

    if isinstance(error, openai.APIStatusError):
        body = error.body if error.body is not None else error.response.text
        return Refusal(error.status_code, body, error.response.headers)
    elsewhere = openai.APIConnectionError | openai.APIResponseValidationError
    if isinstance(error, openai.APIError) and not isinstance(error, elsewhere):
        return Refusal(None, error.body if error.body is not None else error.message)
    return None


def usage_of(reported: Any, sent: str, said: str) -> Usage | None:
    """Cached tokens are inside what was sent, reasoning inside what was said, whatever an API calls those two."""
    if not count(reported, f"{sent}_tokens"):
        return None
    inside = getattr(reported, f"{sent}_tokens_details", None)
    outside = getattr(reported, f"{said}_tokens_details", None)
    return Usage(
        count(reported, f"{sent}_tokens"),
        count(reported, f"{said}_tokens"),
        cache_read_tokens=count(inside, "cached_tokens"),
        cache_write_tokens=count(inside, "cache_write_tokens"),
        reasoning_tokens=count(outside, "reasoning_tokens"),
    )
