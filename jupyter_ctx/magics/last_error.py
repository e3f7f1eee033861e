"""The last exception that a cell of the user's has shown, for ``%%chat --error`` and ``%chat fix``."""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from dataclasses import replace
from types import TracebackType
from typing import Any

from ..attachments.tracebacks import IN_A_CELL, Failure, TracebackFrame, TypedCell, failure_of

REGISTRATION = f"{__package__}.registration"  # whose Door.chat every use of %%chat passes through


def failure_in(shell: Any, error: BaseException, result: Any = None) -> Failure | None:
    """Return an exception that a cell showed, as a light value; ``None`` for those of %%chat itself and of exit().

    ``result`` is IPython's of the cell; without it, the cell is found by the traceback.
    """
    if _is_no_error(error) or _is_ours(error.__traceback__):
        return None
    running = None if result is None else TypedCell(_number_of(shell, error, result), str(result.info.raw_cell))
    found = failure_of(error, lambda file: _cell_of(shell, file, running))
    if running is None:
        number = _first_cell(found)
        running = TypedCell(number, _typed(shell, number))
    others = tuple(source for source in found.sources if source.where != running.where)
    return replace(found, cell=running.source, number=running.number, sources=others)


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


def _cell_of(shell: Any, file: str, running: TypedCell | None) -> TypedCell | None:
    """Return the cell that a file name of compiled code stands for; ``None`` for any other file."""
    if file in IN_A_CELL:
        return running
    number = _number(shell, file)
    if number is None:
        return None
    return running if running is not None and running.number == number else TypedCell(number, _typed(shell, number))


def _number(shell: Any, file: str) -> int | None:
    named = shell.compile.format_code_name(file)
    found = re.search(r"\d+", named[1]) if named else None
    return int(found.group()) if found else None


def _number_of(shell: Any, error: BaseException, result: Any) -> int | None:
    """Return the number of the cell that ran; IPython may not tell that of a cell outside its history."""
    number: int | None = result.execution_count
    step = error.__traceback__
    while number is None and step is not None:
        number, step = _number(shell, step.tb_frame.f_code.co_filename), step.tb_next
    return number


def _first_cell(failure: Failure) -> int | None:
    """Return the number of the cell at the top of a traceback."""
    places = [frame.where for frame in failure.frames if isinstance(frame, TracebackFrame)]
    for where in (*places, failure.syntax.where if failure.syntax is not None else ""):
        found = re.fullmatch(r"Cell \[(\d+)\]", where)
        if found:
            return int(found[1])
    return None


def _typed(shell: Any, number: int | None) -> str:
    """Return the text of a cell that ran, as typed; empty where it is not kept."""
    typed = shell.history_manager.input_hist_raw
    return str(typed[number]) if number is not None and number < len(typed) else ""
