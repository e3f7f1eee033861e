"""Counts in words, and text without characters that a terminal or a page would obey."""

from __future__ import annotations

import re

# left-to-right and right-to-left marks stay: they turn nothing round and some names need them
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Text with a sign instead of each control character: front ends colour, and terminals obey, escapes."""
    return CONTROL_CHARACTERS.sub("�", text.replace("\r\n", "\n"))


def turns(count: int) -> str:
    """So many turns."""
    return "1 turn" if count == 1 else f"{count:,} turns"


def notebooks(count: int) -> str:
    """So many notebooks."""
    return "1 notebook" if count == 1 else f"{count:,} notebooks"


def messages(count: int) -> str:
    """So many messages."""
    return "1 message" if count == 1 else f"{count:,} messages"


def ago(seconds: float) -> str:
    """How long ago, in words."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // size)
        if count:
            return f"{count:,} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
