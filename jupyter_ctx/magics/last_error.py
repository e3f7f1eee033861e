"""The last exception that a cell of the user's has shown, for ``%%chat --error`` and ``%chat fix``."""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from dataclasses import replace
from string import ascii_uppercase
from types import TracebackType
from typing import Any

from ..attachments.tracebacks import FAILED_CELL, IN_A_CELL, Failure, TypedCell, failure_of

REGISTRATION = f"{__package__}.registration"  # whose Door.chat every use of %%chat passes through


def failure_in(shell: Any, error: BaseException, result: Any = None) -> Failure | None:
    """Return an exception that a cell showed, as a light value; ``None`` for those of %%chat itself and of exit().

    ``result`` is IPython's of the cell; without it, the cell is found by the traceback.
    """
    if _is_no_error(error) or _is_ours(error.__traceback__):
        return None
    cells = _Cells(shell)
    if result is not None:
        cells.running = TypedCell(_number_of(shell, error, result), str(result.info.raw_cell))
    failure = failure_of(error, cells.of)
    running = cells.running or TypedCell(None, "")
    others = tuple(source for source in failure.sources if source.where != running.where)
    return replace(failure, cell=running.source, number=running.number, sources=others)


class _Cells:
    """The cells that a traceback passes through, named in its order: numbers are others after a restart.

    running: the cell that failed; where that is not known, the first one of the traceback
    """

    def __init__(self, shell: Any) -> None:
        self.running: TypedCell | None = None
        self._shell, self._others = shell, dict[int, TypedCell]()

    def of(self, file: str) -> TypedCell | None:
        """Return the cell that a file name of compiled code stands for; ``None`` for any other file."""
        if file in IN_A_CELL:
            return self.running
        number = _number(self._shell, file)
        if number is None:
            return None
        if self.running is None:
            self.running = TypedCell(number, _typed(self._shell, number))
        if number == self.running.number:
            return self.running
        if number not in self._others:
            before = len(self._others)
            letter = ascii_uppercase[before % 26] * (before // 26 + 1)
            self._others[number] = TypedCell(number, _typed(self._shell, number), f"{FAILED_CELL} {letter}")
        return self._others[number]


def last_failure(shell: Any, noted: Failure | None) -> Failure | None:
    """Return the last error: what was ``noted`` with a cell, else what Python keeps from before the extension."""
    if noted is not None:
        return noted
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return failure_in(shell, error) if isinstance(error, BaseException) else None


def _is_no_error(error: BaseException) -> bool:
    """Return whether an exception only ends something, as exit() and the debugger's quit do."""
    return isinstance(error, BdbQuit | GeneratorExit) or (isinstance(error, SystemExit) and not error.code)


def _is_ours(step: TracebackType | None) -> bool:
    """Return whether a traceback passes through %%chat."""
    while step is not None:
        if step.tb_frame.f_globals.get("__name__") == REGISTRATION:
            return True
        step = step.tb_next
    return False


def _number(shell: Any, file: str) -> int | None:
    named = shell.compile.format_code_name(file)
    number = re.search(r"\d+", named[1]) if named else None
    return int(number.group()) if number else None


def _number_of(shell: Any, error: BaseException, result: Any) -> int | None:
    """Return the number of the cell that ran; IPython may not tell that of a cell outside its history."""
    number: int | None = result.execution_count
    step = error.__traceback__
    while number is None and step is not None:
        number, step = _number(shell, step.tb_frame.f_code.co_filename), step.tb_next
    return number


def _typed(shell: Any, number: int | None) -> str:
    """Return the text of a cell that ran, as typed; empty where it is not kept."""
    typed = shell.history_manager.input_hist_raw
    return str(typed[number]) if number is not None and number < len(typed) else ""
