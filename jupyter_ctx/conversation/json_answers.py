"""Read the one JSON object of an answer: alone, in a code fence, or with words around it."""

from __future__ import annotations

import json
from typing import Any

from .text_safety import clean


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in an answer. Raises ValueError, in words for the model, where it is not clear which."""
    whole = text.strip()
    if not whole:
        raise ValueError("it is empty")
    begin = whole.find("{")
    if begin < 0 or whole.startswith("["):
        raise ValueError("it is no JSON object")
    try:
        value, end = DECODER.raw_decode(whole, begin)
    except json.JSONDecodeError as error:
        unfinished = error.pos >= len(whole) or error.msg.startswith("Unterminated")
        where = "it breaks off" if unfinished else f"character {error.pos + 1:,}"
        raise ValueError(f"it is no valid JSON ({error.msg}: {where})") from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    before, after = whole[:begin].rstrip(), whole[end:].lstrip()
    if "}" in before or "{" in after or "}" in after:
        raise ValueError("there is more than one JSON object in it, or braces beside it")
    if before.endswith("[") or after.startswith("]"):
        raise ValueError("it is a JSON array, not an object")
    found: dict[str, Any] = json.loads(clean(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError where a name is there twice: either value may be meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is in it twice")
    return found


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused)
