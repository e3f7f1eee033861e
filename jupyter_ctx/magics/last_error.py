"""The last exception that a cell of the user's has shown, for ``%%chat --error`` and ``%chat fix``."""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from traceback import walk_tb
from typing import Any

from ..attachments.errors import FAILED_CELL, IN_A_CELL, OTHER_CELL, Failure, failure_of

REGISTRATION = f"{__package__}.registration"  # whose ChatMagics.chat every use of %%chat passes through


def failure_in(shell: Any, error: BaseException, result: Any = None) -> Failure | None:
    """Return an exception that a cell showed; ``None`` for those of %%chat itself, and those that only end something.

    ``result`` is IPython's of the cell; without it, the cell is the first one in the traceback.
    """
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    is_ours = any(frame.f_globals.get("__name__") == REGISTRATION for frame in frames)
    is_exit = isinstance(error, SystemExit) and not error.code
    if is_ours or is_exit or isinstance(error, BdbQuit | GeneratorExit):
        return None

    def number_of(file: str) -> int | None:
        named = shell.compile.format_code_name(file)
        digits = re.search(r"\d+", named[1]) if named else None
        return int(digits.group()) if digits else None

    numbers = (number_of(frame.f_code.co_filename) for frame in frames)
    number = getattr(result, "execution_count", None) or next(filter(None, numbers), None)
    typed = [] if number is None else shell.history_manager.input_hist_raw[number : number + 1]
    cell = "".join(typed) if result is None else str(result.info.raw_cell)

    def cell_name(file: str) -> str:
        other = number if file in IN_A_CELL else number_of(file)
        return "" if other is None else FAILED_CELL if number in (None, other) else OTHER_CELL

    cell = re.sub(r"^(\s*\n)+", "", cell)  # from its first line on that is not empty IPython counts
    return failure_of(error, cell_name, cell, number)


def last_failure(shell: Any, noted: Failure | None) -> Failure | None:
    """Return the last error: what was ``noted`` with a cell, else what Python keeps from before the extension."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return noted or (failure_in(shell, error) if isinstance(error, BaseException) else None)
