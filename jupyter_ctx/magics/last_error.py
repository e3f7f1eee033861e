"""The last exception that a cell of the user's has shown, for ``%%chat --error`` and ``%chat fix``."""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from traceback import walk_tb
from typing import Any

from ..attachments.tracebacks import IN_A_CELL, Cell, Failure, failure_of

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
    numbers = (_number(shell, frame.f_code.co_filename) for frame in frames)
    number = getattr(result, "execution_count", None) or next(filter(None, numbers), None)
    failed = _cell(shell, number) if result is None else (number, _without_empty_lines(result.info.raw_cell))

    def cell_of(file: str) -> Cell | None:
        if file in IN_A_CELL:
            return failed
        other = _number(shell, file)
        return None if other is None else failed if other == number else _cell(shell, other)

    return failure_of(error, cell_of, failed)


def last_failure(shell: Any, noted: Failure | None) -> Failure | None:
    """Return the last error: what was ``noted`` with a cell, else what Python keeps from before the extension."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return noted or (failure_in(shell, error) if isinstance(error, BaseException) else None)


def _number(shell: Any, file: str) -> int | None:
    """Return the number of the cell that was compiled under a file name."""
    named = shell.compile.format_code_name(file)
    number = re.search(r"\d+", named[1]) if named else None
    return int(number.group()) if number else None


def _cell(shell: Any, number: int | None) -> Cell:
    """Return a cell as typed; empty where it is not kept."""
    typed = shell.history_manager.input_hist_raw
    return number, _without_empty_lines(typed[number]) if number is not None and number < len(typed) else ""


def _without_empty_lines(cell: str) -> str:
    """Return a cell from its first line on that is not empty: from there IPython counts."""
    return re.sub(r"^(\s*\n)+", "", str(cell))
