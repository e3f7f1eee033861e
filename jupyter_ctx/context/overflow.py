"""Is this refusal an overflow, and what does it say of the limit?

First what only looks like one is ruled out (rate limits speak of tokens too), then machine
codes are believed, then narrow patterns over the message; the numbers are read last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Overflow:
    """What a refusal says, in tokens; ``None`` where it does not.

    ``context_window`` is whatever limit is stated, ``max_input_tokens`` too where it is the
    input's; ``input_tokens`` and ``output_tokens`` what was sent and asked for; ``excess``
    how much too much. ``input_is_bound``: the input is at least that, not exactly.
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    excess: int | None = None
    input_is_bound: bool = False


VETO_STATUS = frozenset({401, 402, 403, 404, 408, 429, 502, 504, 529})
VETO_CODES = frozenset(
    {
        "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "tokens",
        "max_tokens_per_request", "unsupported_parameter", "array_above_max_length",
    }
)  # fmt: skip
VETO_TEXT = r"per[ -]min(?:ute)?\b|\btpm\b|rate.?limit|quota|credits?\b|can only afford|throttl|billing"
CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, Cerebras, llama-cpp-python
        "exceed_context_size_error",  # llama.cpp, with numbers as fields
        "model_max_prompt_tokens_exceeded",  # GitHub Copilot
        "tokens_limit_reached",  # GitHub Models
        "invalid_request_prompt_too_long",  # Mistral
    }
)
TEXT = (
    r"(?:maximum|max|model'?s?|allowed|available|configured|model's maximum)"
    r"[^.]{0,30}context (?:length|window|size|limit)"
    r"|exceeds? (?:the )?(?:available )?context (?:size|window|length|limit)"
    r"|context (?:size|window|length|limit) (?:has been |was |is )?exceed"
    r"|exceed context limit"
    r"|prompt (?:is )?too long|input (?:is )?too long for"
    r"|input tokens? exceed"
    r"|input token count[^.]{0,30}exceeds the maximum"
    r"|(?:prompt|input)[^.]{0,40}exceeds?[^.]{0,40}(?:limit|maximum)[^.]{0,20}tokens?"
    r"|maximum prompt length is"
    r"|reduce the length of the messages"
)
# Each reads the numbers of one wording; the groups are named as the fields of Overflow.
READERS = (
    r"request \((?P<input_tokens>#) tokens\) exceeds the available context size \((?P<context_window>#)",
    r"maximum context length is (?P<context_window>#) tokens.*?(?P<input_tokens>#) in (?:the messages|your prompt)"
    r".*?(?P<output_tokens>#) (?:in|for) the completion",
    r"maximum context length is (?P<context_window>#) tokens.*?resulted in (?P<input_tokens>#) tokens",
    r"maximum context length is (?P<context_window>#) tokens.*?request has (?P<input_tokens>#) input tokens",
    r"passed (?P<input_tokens>#) input tokens and requested (?P<output_tokens>#) output tokens"
    r".*?context length is only (?P<context_window>#)",
    r"configured limit of (?P<max_input_tokens>#) tokens.*?resulted in (?P<input_tokens>#) tokens",
    r"context limit: (?P<input_tokens>#) \+ (?P<output_tokens>#) > (?P<context_window>#)",
    r"(?P<input_tokens>#) tokens > (?P<context_window>#)",
    r"input token count \(?(?P<input_tokens>#)\)? exceeds the maximum number of tokens allowed"
    r" \(?(?P<max_input_tokens>#)",
    r"maximum context length is (?P<context_window>#)",
)


def classify_overflow(status: int | None, body: Any) -> Overflow | None:
    """What a refusal with this HTTP status and body says of the context, or ``None``.

    ``body`` is whatever came: an object, a list, JSON in a string, plain text.
    """
    if status in VETO_STATUS:
        return None
    objects = list(_objects(body))
    codes = {str(o[k]) for o in objects for k in ("code", "type") if isinstance(o.get(k), str | int)}
    text = " ".join(_texts(body))
    if codes & VETO_CODES or _pattern(VETO_TEXT).search(text):
        return None
    if not (codes & CODES or _pattern(TEXT).search(text)):
        return None
    fields = _fields(objects)
    return fields or _numbers(text)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when it is first needed, which for most users is never."""
    return re.compile(text.replace("#", r"\d[\d,_]*"), re.I | re.S)


def _objects(body: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every object in a body, outermost first, JSON inside strings included."""
    if depth > 6:
        return
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return
    if isinstance(body, dict):
        yield body
        for value in body.values():
            yield from _objects(value, depth + 1)
    elif isinstance(body, list):
        for value in body[:20]:
            yield from _objects(value, depth + 1)


def _texts(body: Any) -> Iterator[str]:
    """Every text of a body that may say what was wrong."""
    if isinstance(body, str):
        yield body[:20_000]
    for found in _objects(body):
        for key in ("message", "error", "detail", "param", "raw"):
            if isinstance(found.get(key), str):
                yield found[key][:20_000]


def _fields(objects: list[dict[str, Any]]) -> Overflow | None:
    """llama.cpp says its numbers as fields."""
    for found in objects:
        window, size = found.get("n_ctx"), found.get("n_prompt_tokens")
        if isinstance(window, int) and isinstance(size, int):
            return Overflow(context_window=window, input_tokens=size)
    return None


def _numbers(text: str) -> Overflow:
    for reader in READERS:
        match = _pattern(reader).search(text)
        if match:
            said = {k: int(re.sub(r"\D", "", v)) for k, v in match.groupdict().items()}
            said.setdefault("context_window", said.get("max_input_tokens", 0))
            return Overflow(**said)  # type: ignore[arg-type]
    return Overflow()
