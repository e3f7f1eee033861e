"""Counts in words."""

from __future__ import annotations


def turns(count: int) -> str:
    """So many turns."""
    return "1 turn" if count == 1 else f"{count:,} turns"
