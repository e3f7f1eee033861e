"""The package of a class, which tells what comes from a library without importing it."""

from __future__ import annotations


def module_of(kind: type) -> str:
    """Return the top-level package of a class."""
    return str(kind.__module__).partition(".")[0]
