"""Counts in words."""

from __future__ import annotations


def turns(count: int) -> str:
    """So many turns."""
    return "1 turn" if count == 1 else f"{count:,} turns"


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
