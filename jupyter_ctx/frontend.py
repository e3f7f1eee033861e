"""Where a cell runs: in which front end, and which cell in which execution."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["notebook", "headless", "terminal"]


@dataclass(frozen=True, slots=True)
class Where:
    """``cell`` and ``run`` are ``None`` where the front end does not tell (nbclient, terminals)."""

    kind: Kind
    cell: str | None = None
    run: str | None = None


def where(shell: Any) -> Where:
    """From the message that asked for this execution; call it from the cell, not a callback."""
    if not hasattr(shell, "kernel"):
        return Where("terminal")
    parent = shell.get_parent() or {}
    cell = parent.get("metadata", {}).get("cellId") or None
    run = parent.get("header", {}).get("msg_id")
    asks = parent.get("content", {}).get("allow_stdin", True)
    voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
    return Where("headless" if cell is None and not asks and not voila else "notebook", cell, run)
