"""A value of the notebook as it goes with a prompt: a picture, a brief of a table, or text."""

from __future__ import annotations

from typing import Any

from ..context.summary_facts import fenced
from ..template.keys import Keys
from .attached import Attached, TextRoom


def attached_value(name: str, value: Any, room: TextRoom, keys: Keys) -> Attached:
    """Return a value as it goes with a prompt; ``name`` is how the user wrote it. Raises InvalidRequestError."""
    text = keys.masked(repr(value))
    tokens = round(room.count(text))
    return Attached(name, f"{name}:\n{fenced(text)}", what=f"about {tokens:,} tokens")
