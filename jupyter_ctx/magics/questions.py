"""Questions that are put to the user while a cell runs."""

from __future__ import annotations

from IPython.core.error import StdinNotImplementedError


def typed_answer(question: str) -> str | None:
    """Return what the user types; ``None``: nobody can be asked here."""
    try:
        return input(question).strip()
    except (StdinNotImplementedError, EOFError, OSError, RuntimeError):  # the last two: there is no standard input
        return None


def asked_first(question: str) -> bool | None:
    """Return whether the user agrees to what costs money, which takes a yes; ``None``: nobody can be asked here."""
    said = typed_answer(f"{question} [y/N] ")
    return None if said is None else said.lower() in ("y", "yes")
