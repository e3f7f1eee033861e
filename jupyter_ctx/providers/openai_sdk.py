"""What both adapters of OpenAI's SDK share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context.usage import Usage
from .adapter import Endpoint
from .content_parts import count
from .stream_events import dict_at


def new_client(at: Endpoint, http: Any) -> Any:
    """Return a client of the SDK with retries off."""
    import openai

    return openai.OpenAI(
        base_url=at.base_url, api_key=at.api_key, http_client=http, timeout=http.timeout, max_retries=0
    )


def usage_of(reported: Mapping[str, Any]) -> Usage | None:
    """Return the usage that OpenAI's two APIs and compatible servers report, or ``None``.

    Cached tokens are inside what was sent, and reasoning inside what was said, except where the
    total shows that it stands beside it (xAI).
    """
    sent = count(reported, "prompt_tokens", "input_tokens") if reported else 0
    if not sent:
        return None
    said, total = count(reported, "completion_tokens", "output_tokens"), count(reported, "total_tokens")
    inside = dict_at(reported, "prompt_tokens_details") or dict_at(reported, "input_tokens_details")
    outside = dict_at(reported, "completion_tokens_details") or dict_at(reported, "output_tokens_details")
    thought = count(outside, "reasoning_tokens") or count(reported, "reasoning_tokens")
    if thought and (thought > said or total == sent + said + thought):
        said += thought
    read = count(inside, "cached_tokens") or count(
        reported,
        "prompt_cache_hit_tokens",  # DeepSeek
        "cached_tokens",  # Moonshot
        "cache_read_input_tokens",  # gateways to Anthropic
    )
    written = count(inside, "cache_write_tokens") or count(reported, "cache_creation_input_tokens")
    read = min(read, sent)
    return Usage(sent, said, read, min(written, sent - read), thought)
