"""What the cells of a shell have shown: the last error, and the newest images that were displayed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..attachments.tracebacks import Failure
    from .displays import Displays


class Shown:
    """What was shown in one shell; :meth:`before_cell`, :meth:`after_cell` and :meth:`on_display` are told of it."""

    def __init__(self, shell: Any) -> None:
        self.failure: Failure | None = None
        self._displays: Displays | None = None
        self._shell = shell
        self._error = id(getattr(sys, "last_value", None))  # of the last that IPython has shown, without holding it
        self._number: int | None = None
        self._message: str | None = None  # which asked for the cell that runs

    def before_cell(self, info: Any = None) -> None:
        """Note which cell runs: IPython counts it before it runs since 9.8, and after that before."""
        is_counted = getattr(info, "store_history", True)
        self._number = self._shell.displayhook.prompt_count if is_counted else None
        parent = self._shell.get_parent() if hasattr(self._shell, "kernel") else None
        self._message = ((parent or {}).get("header") or {}).get("msg_id")

    def after_cell(self, result: Any = None) -> None:
        """Note the error that a cell ended with, or showed and survived, as %run does."""
        error, last = _error_of(result), getattr(sys, "last_value", None)
        if error is None and last is not None and id(last) != self._error:
            error = last
        self._error = id(last)
        if error is not None:
            from .last_error import failure_in

            self.failure = failure_in(self._shell, error, result) or self.failure

    def on_display(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note what a cell displays; the message goes on as it is."""
        kind = message.get("msg_type")
        number = self._number if (message.get("parent_header") or {}).get("msg_id") == self._message else None
        if kind == "update_display_data":
            self.displays.update(message["content"])
        elif kind == "display_data" and number is not None:
            self.displays.note(message["content"], number)
        elif kind == "clear_output" and number is not None:
            self.displays.clear(number)
        return message

    @property
    def number(self) -> int | None:
        """The number of the cell that runs, where it is counted."""
        return self._number

    @property
    def dropped(self) -> frozenset[int]:
        """The numbers of cells of whose displays something is no longer kept."""
        return frozenset(self.displays.dropped)

    @property
    def displays(self) -> Displays:
        """The newest of what cells displayed."""
        if self._displays is None:
            from .displays import Displays

            self._displays = Displays()
        return self._displays


def _error_of(result: Any) -> BaseException | None:
    """Return the exception that a cell ended with."""
    found: BaseException | None = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
    return found
