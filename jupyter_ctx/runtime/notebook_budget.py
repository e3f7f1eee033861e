"""What pays for requests apart from conversations: the budget of the notebook whose kernel asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_finders: list[Callable[[], Any]] = []  # one, while the extension is loaded


def pay_with(find: Callable[[], Any] | None) -> None:
    """Let the budget that is found pay from now on; ``None``: none does."""
    _finders[:] = [] if find is None else [find]


def notebook_budget() -> Any:
    """Return the budget of the notebook that runs here; ``None``: there is none, or it has not begun to spend."""
    return _finders[0]() if _finders else None
