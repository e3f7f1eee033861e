"""Questions that are put to the user while a cell runs."""

from __future__ import annotations

import threading
from getpass import getpass
from typing import Any

from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.core.getipython import get_ipython

from ..errors import InvalidRequestError


def typed_answer(question: str) -> str | None:
    """Return what the user types; ``None``: nobody can be asked here."""
    try:
        return input(question).strip()
    except (StdinNotImplementedError, EOFError, OSError, RuntimeError):  # the last two: there is no standard input
        return None


def typed_key(owner: str) -> str:
    """Return a key that the user types without its being shown. Raises UsageError where nobody can be asked."""
    try:
        key = getpass(f"Key for {owner} (kept in memory only): ").strip()
    except (StdinNotImplementedError, EOFError):
        raise UsageError(
            "A key cannot be typed here: set the provider's environment variable, such as OPENAI_API_KEY."
        ) from None
    if not key:
        raise InvalidRequestError("No key was typed; nothing has changed.")
    return key


def asked_first(question: str) -> bool | None:
    """Return whether the user agrees to what costs money, which takes a yes; ``None``: nobody can be asked here.

    A front end shows the question of a running cell only: that of a button, or of a thread, would wait for ever.
    """
    shell: Any = get_ipython()
    parent = shell.get_parent() or {} if hasattr(shell, "kernel") else {}
    is_in_a_cell = parent.get("header", {}).get("msg_type", "execute_request") == "execute_request"
    if not is_in_a_cell or threading.current_thread() is not threading.main_thread():
        return None
    answer = typed_answer(f"{question} [y/N] ")
    return None if answer is None else answer.lower() in ("y", "yes")
