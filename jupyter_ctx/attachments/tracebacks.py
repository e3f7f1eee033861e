"""An exception as a light value: its traceback with frames of libraries folded, and the user's code that it passed."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from traceback import FrameSummary, TracebackException
from typing import NamedTuple

from ..conversation.text_safety import lasting
from ..wording import counted

MOST_MESSAGE, MOST_STATEMENT = 4_000, 6  # characters, lines
FIRST_FRAMES, LAST_FRAMES = 4, 8  # of the user's, in a longer traceback
MOST_CAUSES, MOST_MEMBERS = 5, 4  # errors in a chain, errors of a group
MOST_PLACES, MOST_SOURCES = 50, 8  # frames that are looked at for sources, and sources
IN_A_CELL = frozenset({"<timed exec>", "<magic-timeit>", "<stdin>"})  # code that a magic compiles, without its own line
FAILED_CELL = "the cell that failed"
_PACKAGE = Path(__file__).parents[1]
_LIBRARY = re.compile(  # what comes before the name of a library, or of what made the code
    rf".*/(?:site|dist)-packages/|{re.escape(sysconfig.get_path('stdlib'))}/|{re.escape(str(_PACKAGE.parent))}/"
    rf"(?={_PACKAGE.name}/)|<(?!ipython-input)(?:frozen )?|(?:src/)?(?=[^/].*\.(?:pyx|pxi|pxd)$)"
)

Cell = tuple[int | None, str]  # its number, where that is known, and its text
CellOf = Callable[[str], Cell | None]  # returns the cell that was compiled under a file name


class TracebackPiece(NamedTuple):
    """Lines of a traceback: ``text`` may hold secrets, the ``label`` before it does not."""

    depth: int
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A cell, or a function in a file, of the user's.

    name, label: how it is named to the user, and to the model, for whom a cell has no number: a restart changes it
    line: of ``text``, from 1: the innermost one that was running
    """

    name: str
    label: str
    text: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was raised, and no object of the notebook.

    kind: the name of its class
    sources: what it passed through: the cell that failed first, then the innermost
    number: of the cell that failed
    """

    kind: str
    traceback: tuple[TracebackPiece, ...]
    sources: tuple[FrameSource, ...] = ()
    number: int | None = None


def failure_of(error: BaseException, cell_of: CellOf = lambda _: None, failed: Cell | None = None) -> Failure:
    """Return an exception as a light value; ``failed``: the cell that ran, ``cell_of``: any cell by its file name."""
    try:
        raised = TracebackException.from_exception(error, compact=True)
        reader = _Reader(cell_of, failed)
        return Failure(_parts(raised)[1], tuple(reader.chain(raised)), reader.sources(), failed and failed[0])
    except Exception:  # of a class that overrides even what Python stores in an exception
        kind = type(error).__name__
        return Failure(kind, (TracebackPiece(0, "(the error cannot be read)", f"{kind}: "),))


class _Reader:
    """Reads an exception, and notes the ``sources`` that its frames lie in by their places."""

    def __init__(self, cell_of: CellOf, failed: Cell | None) -> None:
        self._cell_of, self._failed = cell_of, failed
        self._others: list[Cell] = []
        self._sources: dict[str, FrameSource] = {}

    def chain(self, raised: TracebackException) -> Iterator[TracebackPiece]:
        """Yield a traceback, what led to the error first; a KeyError within pandas, which says no more, is left out."""
        self._note_sources(raised)
        errors = [raised]
        cause = raised.__cause__ or raised.__context__
        while cause is not None and len(errors) < MOST_CAUSES:
            self._note_sources(cause)
            if self._own(cause) or _parts(cause)[2] != _parts(errors[0])[2]:
                errors.insert(0, cause)
            cause = cause.__cause__ or cause.__context__
        for error in errors:
            if error is not errors[0]:
                yield TracebackPiece(0, "\nThe error above led to this one:\n")
            yield from self._error(error)

    def _error(self, raised: TracebackException) -> Iterator[TracebackPiece]:
        syntax, kind, message, notes = _parts(raised)
        yield from self._frames(raised)
        if syntax:
            yield TracebackPiece(1, f"{self._name(raised.filename or '<string>')}, line {raised.lineno}")
            yield TracebackPiece(2, syntax)
        yield TracebackPiece(0, message, kind + (": " if message else ""))
        if notes:
            yield TracebackPiece(0, notes)
        members = raised.exceptions or []
        for number, member in enumerate(members[:MOST_MEMBERS], 1):
            yield TracebackPiece(1, f"[{number}]")
            yield from (piece._replace(depth=piece.depth + 1) for piece in self.chain(member))
        if len(members) > MOST_MEMBERS:
            yield TracebackPiece(1, f"… {counted(len(members) - MOST_MEMBERS, 'more error')}")

    def _own(self, raised: TracebackException) -> list[int]:
        """Return which frames are of the user's code, each line once."""
        first: dict[tuple[str, int | None], int] = {}
        for number, frame in enumerate(raised.stack):
            if self._cell(frame.filename) or not _library(frame.filename):
                first.setdefault((frame.filename, frame.lineno), number)
        return list(first.values())

    def _frames(self, raised: TracebackException) -> Iterator[TracebackPiece]:
        """Yield the user's frames, and behind the first of them a line for each run of others."""
        shown = self._own(raised)
        if not shown:
            return
        yield TracebackPiece(0, "Traceback (most recent call last):")
        if len(shown) > FIRST_FRAMES + LAST_FRAMES:
            shown = shown[:FIRST_FRAMES] + shown[-LAST_FRAMES:]
        for is_shown, numbers in groupby(range(shown[0], len(raised.stack)), set(shown).__contains__):
            run = [raised.stack[number] for number in numbers]
            if is_shown:
                yield from (piece for frame in run for piece in self._frame(frame))
            elif others := [frame for frame in run if not frame.name.endswith(("comp>", "expr>"))]:
                yield self._folded(others, is_last=others[-1] is raised.stack[-1])

    def _frame(self, frame: FrameSummary) -> Iterator[TracebackPiece]:
        """Yield where a frame is, and the lines of its statement."""
        start = _line(frame)
        end = start + max((frame.end_lineno or 0) - (frame.lineno or 0), 0)
        inside = "" if frame.name == "<module>" else f", in {frame.name}"
        yield TracebackPiece(1, f"{self._name(frame.filename)}, line {start}{inside}")
        cell = self._cell(frame.filename)
        lines = cell[1].splitlines() if cell else _lines(frame.filename)
        statement = dedent("\n".join(lines[start - 1 : end][:MOST_STATEMENT]))
        if statement:
            yield TracebackPiece(2, statement)

    def _folded(self, frames: list[FrameSummary], *, is_last: bool) -> TracebackPiece:
        files = [frame.filename for frame in frames]
        libraries = dict.fromkeys("own code" if self._cell(file) else _library(file) or "own code" for file in files)
        text = f"… {counted(len(frames), 'frame')} in {', '.join(list(libraries)[:3])}{' …' * (len(libraries) > 3)}"
        code = f": {frames[-1].line}" if frames[-1].line else ""
        return TracebackPiece(1, f"{text}, the last in {frames[-1].name}{code}" if is_last else text)

    def _cell(self, file: str) -> Cell | None:
        cell = self._cell_of(file)
        if cell and cell != self._failed and cell not in self._others:
            self._others.append(cell)
        return cell

    def _name(self, file: str) -> str:
        """Return how a file or a cell is named in a traceback."""
        cell = self._cell(file)
        if cell is None:
            return _short(file)
        return "Cell" if cell == self._failed else f"Cell {chr(ord('A') + self._others.index(cell))}"

    def _note_sources(self, raised: TracebackException) -> None:
        """Note the cells and functions that an exception passed through, the innermost first."""
        places = [(frame.filename, _line(frame)) for frame in map(raised.stack.__getitem__, self._own(raised)[::-1])]
        if line := getattr(raised, "lineno", None):  # of a syntax error
            places.insert(0, (raised.filename or "", int(line)))
        for file, line in places[:MOST_PLACES]:
            cell, where = self._cell(file), self._name(file)
            if cell:
                self._sources.setdefault(where, _source(where, cell, line))
            elif function := _function(file, line):
                name = f"{function.name} of {where}"
                text = dedent("\n".join(_lines(file)[function.lineno - 1 : function.end_lineno]))
                source = FrameSource(name, f"the function {name}", text, line - function.lineno + 1)
                self._sources.setdefault(name, source)

    def sources(self) -> tuple[FrameSource, ...]:
        """Return the cell that failed, where it is known, and the other sources."""
        cell = self._sources.pop("Cell", None) or (self._failed and _source("Cell", self._failed, 1))
        return tuple(filter(None, [cell, *self._sources.values()]))[:MOST_SOURCES]


def _source(where: str, cell: Cell, line: int) -> FrameSource:
    name = "the failed cell" if cell[0] is None else f"cell [{cell[0]}]"
    return FrameSource(name, FAILED_CELL if where == "Cell" else where.replace("C", "c", 1), cell[1], line)


def _parts(raised: TracebackException) -> tuple[str, str, str, str]:
    """Return the line of a syntax error with a caret below it, the name of a class, its message, and its notes."""
    lines = [line.removesuffix("\n") for line in raised.format_exception_only()]
    at = next(number for number, line in enumerate(lines) if not line.startswith("  "))
    kind, _, message = lines[at].partition(": ")
    syntax = dedent("\n".join(lines[1:at]))
    return syntax, kind, _without_middle(lasting(message)), _without_middle(lasting("\n".join(lines[at + 1 :])))


def _without_middle(text: str) -> str:
    """Return a message without its middle where it is very long, cut at spaces if possible."""
    if len(text) <= MOST_MESSAGE:
        return text
    head = re.sub(r"\s\S{0,200}$", "", text[: MOST_MESSAGE * 3 // 4])
    tail = re.sub(r"^\S{0,200}\s", "", text[-MOST_MESSAGE // 4 :])
    return f"{head}\n… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"


def _line(frame: FrameSummary) -> int:
    return (frame.lineno or 1) + (frame.filename in IN_A_CELL)


def _lines(file: str) -> list[str]:
    return "".join(linecache.getlines(file)).splitlines()


def _function(file: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function that a line of a file is in."""
    try:
        nodes = reversed(list(ast.walk(ast.parse("\n".join(_lines(file))))))  # the inner ones first
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the file may have changed since
        return None
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((node for node in functions if node.lineno <= line <= (node.end_lineno or 0)), None)


def _library(file: str) -> str:
    """Return the library that a file belongs to; empty for the user's own."""
    inside = _LIBRARY.match(file.replace(os.sep, "/"))
    return re.split(r"[/.>]", file[inside.end() :].replace(os.sep, "/"))[0] if inside else ""


def _short(file: str) -> str:
    """Return a path as it is written from the working folder, else from the home folder."""
    path = file if file.startswith("<") else os.path.abspath(lasting(file))
    for home, sign in ((os.getcwd(), ""), (os.path.expanduser("~"), "~" + os.sep)):
        if path.startswith(home + os.sep):
            return sign + path[len(home) + 1 :]
    return path
