"""An error as it goes with a prompt: its traceback with frames of libraries folded, and the cell that failed.

No values of variables are read.
"""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from textwrap import dedent, indent
from traceback import FrameSummary, StackSummary, TracebackException
from typing import Any

from ..context.summary_facts import fenced
from ..conversation.text_safety import lasting
from ..runtime.redaction import Redactor
from ..wording import counted, visible
from .attached import Attached, TextRoom, attached_redacted
from .notebook_cells import shortened_lines

DRAFT_SIZES = ((16_000, 400), (4_000, 20), (1_000, 0))  # characters of a traceback, lines of a cell
MOST_PART, MOST_STATEMENT = 4_000, 6  # characters; lines
FAILED_CELL, OTHER_CELL = "Cell", "Another cell"  # without numbers, which a restart changes
IN_A_CELL = frozenset({"<timed exec>", "<magic-timeit>", "<stdin>"})  # code that a magic compiles, without its own line
_LIBRARY = re.compile(  # a library, or what made the code, behind what comes before its name
    rf"(?:.*/(?:site|dist)-packages/|{re.escape(sysconfig.get_path('stdlib'))}/|<(?!ipython-input)(?:frozen )?"
    r"|(?:src/)?(?=[^/].*\.(?:pyx|pxi|pxd)$))([^/.>]*)"
)
_LABEL = re.compile(r"[ |+]*(?:[\w.<>]+: )?")  # before a message


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was raised, and no object of the notebook.

    parts: of its traceback: frames and messages, those of causes first
    cell: the cell that failed, as typed; empty where none is known
    number: of the cell
    """

    kind: str
    parts: tuple[str, ...]
    cell: str = ""
    number: int | None = None


def failure_of(
    error: BaseException, cell_name: Callable[[str], str] = lambda _: "", cell: str = "", number: int | None = None
) -> Failure:
    """Return an exception as a light value; ``cell_name`` returns the name of the cell in a file, empty for others."""
    raised = TracebackException.from_exception(error, compact=True)
    lines, own_name = cell.splitlines(), cache(lambda file: cell_name(file) or _own_name(file))
    errors = [raised]
    for each in errors:  # which grows by what led to it, and by the errors of a group
        errors += filter(None, (each.__cause__, each.__context__, *(each.exceptions or ())))
        each.stack = _FoldedStack(each.stack, own_name, lines)
        if file := getattr(each, "filename", None):  # of a syntax error
            each.filename = own_name(file) or file
    return Failure(type(error).__name__, tuple(raised.format()), cell, number)


class _FoldedStack(StackSummary):
    """The user's frames with their statements, each line once, and behind the first a line for each run of others.

    It is empty where none is the user's. ``own_name`` returns how their files and cells are named.
    """

    def __init__(self, frames: Iterable[FrameSummary], own_name: Callable[[str], str], cell: list[str]) -> None:
        first = dict[object, FrameSummary]()
        for frame in frames:
            is_own = bool(own_name(frame.filename))
            first.setdefault((frame.filename, frame.lineno) if is_own else len(first), frame)
        self._texts = list[str]()
        for is_own, run in groupby(first.values(), lambda frame: bool(own_name(frame.filename))):
            shown = list(run)
            if is_own:
                self._texts += (_statement(frame, own_name(frame.filename), cell) for frame in shown)
            elif self._texts:
                libraries = ", ".join(dict.fromkeys(_library(frame.filename) for frame in shown))
                folded = f"{counted(len(shown), 'frame')} in {libraries}, the last in {shown[-1].name}"
                self._texts.append(f"  … {folded}\n")
        super().__init__(frames if self._texts else ())

    def format(self, **_: Any) -> list[str]:
        """Return the frames as text."""
        return self._texts


def _statement(frame: FrameSummary, name: str, cell: list[str]) -> str:
    """Return where a frame of the user's is, and its statement below that."""
    first = (frame.lineno or 1) + (frame.filename in IN_A_CELL)
    end = first + max((frame.end_lineno or 0) - (frame.lineno or 0), 0)
    lines = cell if name == FAILED_CELL else linecache.getlines(frame.filename)
    code = "".join(f"{line.rstrip()}\n" for line in lines[first - 1 : end][:MOST_STATEMENT])
    inside = "" if frame.name == "<module>" else f", in {frame.name}"
    return f'  File "{name}", line {first}{inside}\n{indent(dedent(code), "    ")}'


def _library(file: str) -> str:
    """Return the library that a file belongs to; empty for the user's own."""
    inside = _LIBRARY.match(file.replace(os.sep, "/"))
    return inside[1] if inside else ""


def _own_name(file: str) -> str:
    """Return a file of the user's as seen from the working folder, with ~ for the home folder; empty for others."""
    if _library(file):
        return ""
    path = file if file.startswith("<") else os.path.abspath(file).removeprefix(os.getcwd() + os.sep)
    return path.replace(os.path.expanduser("~") + os.sep, f"~{os.sep}", 1)


def attached_error(failure: Failure, room: TextRoom, redactor: Redactor, name: str = "") -> Attached:
    """Return an error as it goes with a prompt, in twice the room of one text; 1,000 characters of it in any case."""
    redactor.blanked = 0
    traceback = "".join(_safe(part, redactor) for part in failure.parts).rstrip("\n")
    cell = redactor.masked(visible(failure.cell)).rstrip()

    text = ""
    for characters, lines in DRAFT_SIZES:
        text = f"The error, without the values of variables:\n{fenced(_shortened(traceback, characters))}"
        text += f"\n\nThe cell that failed:\n{fenced(shortened_lines(cell, lines))}" if cell and lines else ""
        if room.count(text) <= 2 * room.tokens:
            break
    is_whole = cell in text and "left out …" not in text
    what = f"{failure.kind}, {'' if is_whole else 'shortened, '}about {round(room.count(text)):,} tokens"
    text = f"{name}:\n{text}" if name else text
    name = name or ("error" if failure.number is None else f"error of cell [{failure.number}]")
    return attached_redacted(name, text, redactor, what=what)


def _safe(part: str, redactor: Redactor) -> str:
    """Return a part of a traceback without keys, of which some are known by their place behind the label."""
    start = _LABEL.match(part)
    end = start.end() if start else 0
    return part[:end] + _shortened(redactor.masked(visible(lasting(part[end:]))), MOST_PART)


def _shortened(text: str, most: int) -> str:
    """Return a text without its middle where it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most // 2]} … left out … {text[-most // 2 :]}"
