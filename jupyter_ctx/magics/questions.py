"""What is told to the user and asked of them while a cell runs."""

from __future__ import annotations

import threading
from typing import Any

from IPython.core.error import StdinNotImplementedError
from IPython.core.getipython import get_ipython

from ..display.text import to_plain


def say(*lines: object) -> None:
    """Print lines that may come from others, without the escapes that a terminal would obey."""
    for line in lines:
        print(to_plain(str(line)))


def typed_answer(question: str) -> str | None:
    """Return what the user types; ``None``: nobody can be asked here."""
    try:
        return input(question).strip()
    except (StdinNotImplementedError, EOFError, OSError, RuntimeError):  # the last two: there is no standard input
        return None


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
