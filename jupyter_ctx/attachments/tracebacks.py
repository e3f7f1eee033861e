"""An exception as a light value: its message, the frames that matter, its causes; no locals, and no object of it."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from inspect import getblock
from itertools import islice
from textwrap import dedent
from types import TracebackType

from ..errors import InvalidRequestError
from .guarded import guarded

MOST_MESSAGE = 4_000  # characters of a message
TEXT_SECONDS = 1.0  # that an exception's own code may take to tell its message
MOST_LINE = 300  # characters of a line of source
MOST_MARKED = 6  # lines of one statement
MOST_CAUSES, MOST_ERRORS, MOST_NESTED = 4, 4, 3  # causes of causes, errors of a group, groups in groups
MOST_FRAMES = 12  # of one traceback
MOST_SOURCES = 8  # cells and functions that are kept besides the cell that was running
MOST_CYCLE = 8  # frames that call each other in turn
LINES_AROUND = 2  # lines shown before and after the one that failed
LEFT_OUT = "… {} characters left out …"
SHELL = frozenset({"IPython", "ipykernel", "traitlets", "tornado", "asyncio"})  # what runs a cell
IN_A_CELL = frozenset({"<timed exec>", "<magic-timeit>", "<stdin>"})  # code of a cell that a magic compiles
NOBODYS = frozenset({"", "__main__", "builtins"})  # modules that are left out of an exception's name


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """One place of a traceback.

    where: ``Cell [5]``, or the path of a file
    line: of the statement that was running
    name: of the function; empty at the top level of a cell
    package: the library that it belongs to; empty for code of the notebook and the user's files
    lines: the source around it by number
    marked: the numbers of the statement's lines
    """

    where: str
    line: int
    name: str
    package: str
    lines: tuple[tuple[int, str], ...] = ()
    marked: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Gap:
    """Frames that are left out, in words."""

    text: str


@dataclass(frozen=True, slots=True)
class SyntaxPlace:
    """The place of a syntax error: its line, and the columns that the caret points at, from 1."""

    where: str
    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A cell, or a function of a file of the user's, in which a frame of a traceback lies.

    where: ``Cell [3]``, or ``load of helpers.py``
    text: its source as typed
    line: of the text, from 1: the one that was running
    names: of the functions in the traceback that it defines
    """

    where: str
    text: str
    line: int
    names: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """How it is named in a sentence."""
        return self.where.replace("Cell", "cell", 1) if self.where.startswith("Cell") else self.where


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was raised.

    kind, message, notes: as Python prints them, within bounds
    frames: the frames of the notebook and the last of a library, with what is left out between them
    depth: how many frames there were
    syntax: where the text of a program is wrong
    cause: what it was raised from or during; ``direct``: from, as its author says
    parts: the errors of a group; ``more``: how many others it has
    cell: the source of the cell that was running; empty where it is not known
    number: of that cell
    sources: what else of the user's its frames lie in, and those of its causes: the innermost first
    """

    kind: str
    message: str
    notes: tuple[str, ...] = ()
    frames: tuple[TracebackFrame | Gap, ...] = ()
    depth: int = 0
    syntax: SyntaxPlace | None = None
    cause: Failure | None = None
    direct: bool = False
    parts: tuple[Failure, ...] = ()
    more: int = 0
    cell: str = ""
    number: int | None = None
    sources: tuple[FrameSource, ...] = ()

    @property
    def shown(self) -> int:
        """How many frames are shown."""
        return sum(isinstance(frame, TracebackFrame) for frame in self.frames)


@dataclass(frozen=True, slots=True)
class TypedCell:
    """A cell of the notebook, as typed; ``number`` is ``None`` where it is not known."""

    number: int | None
    source: str

    @property
    def where(self) -> str:
        """How it is named in a traceback."""
        return "Cell" if self.number is None else f"Cell [{self.number}]"


CellOf = Callable[[str], TypedCell | None]  # the cell that a file name of compiled code stands for


def failure_of(error: BaseException, cell_of: CellOf = lambda _: None) -> Failure:
    """Return an exception as a light value; ``cell_of`` tells the cells of a notebook by their file names."""
    try:
        return _Reader(cell_of).failure(error)
    except Exception:  # of a class that overrides even what Python stores in an exception
        return Failure(_kind(type(error)), "(the error cannot be read)")


class _Reader:
    def __init__(self, cell_of: CellOf) -> None:
        self._cell_of = cell_of
        self._seen: set[int] = set()
        self._places: dict[str, tuple[str, str, str, int]] = {}

    def failure(self, error: BaseException, causes: int = MOST_CAUSES, nested: int = MOST_NESTED) -> Failure:
        self._seen.add(id(error))
        calls = [self._call(each) for each in _steps(error.__traceback__)]
        while calls and calls[0].package in (*SHELL, "jupyter_ctx"):
            del calls[0]
        found = Failure(
            _kind(type(error)), _message(error), _notes(error), tuple(self._frames(calls)), len(calls),
            self._syntax(error) if isinstance(error, SyntaxError) else None, sources=tuple(_sources(calls)),
        )  # fmt: skip
        return self._with_others(found, error, causes, nested)

    def _with_others(self, found: Failure, error: BaseException, causes: int, nested: int) -> Failure:
        direct = error.__cause__ is not None
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is not None and id(before) not in self._seen and causes:
            found = replace(found, cause=self.failure(before, causes - 1, nested), direct=direct)
        if isinstance(error, BaseExceptionGroup) and nested:
            new = [part for part in error.exceptions if id(part) not in self._seen]
            parts = tuple(self.failure(part, 1, nested - 1) for part in new[:MOST_ERRORS])
            found = replace(found, parts=parts, more=len(error.exceptions) - len(parts))
        others = (found.cause, *found.parts)
        inside = [*found.sources, *(source for other in others if other is not None for source in other.sources)]
        return replace(found, sources=tuple({source.where: source for source in reversed(inside)}.values())[::-1])

    def _call(self, step: TracebackType) -> _Call:
        file = step.tb_frame.f_code.co_filename
        found = self._places.get(file)
        if found is None:
            found = self._places[file] = self._place(file)
        return _Call(step, *found)

    def _place(self, file: str) -> tuple[str, str, str, int]:
        """Return where code of a file name is, its library, the text of its cell, and lines above it there."""
        cell = self._cell_of(file)
        if cell is not None:  # a magic compiles what is below its own line
            return cell.where, "", cell.source, int(file in IN_A_CELL)
        return *_file(file), "", 0

    def _frames(self, calls: list[_Call]) -> Iterator[TracebackFrame | Gap]:
        """Yield the frames to show: those of the user, folded where they repeat, and the last of a library."""
        runs = list(_folded(calls))
        last = len(runs) - 1
        keep = [i for i, run in enumerate(runs) if isinstance(run, str) or not run.package or i == last]
        if len(keep) > MOST_FRAMES:
            keep = [*keep[: MOST_FRAMES // 3], *keep[-(MOST_FRAMES - MOST_FRAMES // 3) :]]
        after = 0
        for at in keep:
            left_out = [run for run in runs[after:at] if isinstance(run, _Call)]
            if left_out:
                yield Gap(_said_of(left_out))
            after = at + 1
            run = runs[at]
            yield Gap(run) if isinstance(run, str) else _frame(run)

    def _syntax(self, error: SyntaxError) -> SyntaxPlace | None:
        line, text = error.lineno, error.text
        if not isinstance(line, int) or not isinstance(text, str):
            return None
        start = error.offset if isinstance(error.offset, int) else 0
        end = error.end_offset if isinstance(error.end_offset, int) and error.end_lineno == line else 0
        cell = self._cell_of(str(error.filename))
        where = cell.where if cell is not None else _file(str(error.filename))[0]
        return SyntaxPlace(where, line, text.rstrip("\n")[:MOST_LINE], start, end)


@dataclass(frozen=True, slots=True)
class _Call:
    step: TracebackType
    where: str
    package: str
    typed: str = ""  # the cell's text
    above: int = 0  # lines of it that are not counted

    @property
    def place(self) -> tuple[str, int]:
        return self.step.tb_frame.f_code.co_filename, self.step.tb_lineno


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next


def _folded(calls: list[_Call]) -> Iterator[_Call | str]:
    """Yield calls; a line in place of those that repeat the same places in turn, as recursion does."""
    numbers: dict[tuple[str, int], int] = {}
    places = [numbers.setdefault(call.place, len(numbers)) for call in calls]
    at = 0
    while at < len(calls):
        length, times = _cycle(places, at)
        if times > 2:
            yield from calls[at : at + length]
            these = "this frame" if length == 1 else f"these {length} frames"
            yield f"… {these} {times - 1:,} times more …"
            at += length * times
        else:
            yield calls[at]
            at += 1


def _cycle(places: list[int], at: int) -> tuple[int, int]:
    """Return how many places repeat from here on, and how often."""
    for length in range(1, MOST_CYCLE + 1):
        end = at + length
        while end < len(places) and places[end] == places[end - length]:
            end += 1
        times = (end - at) // length
        if times > 2:
            return length, times
    return 1, 1


def _said_of(calls: list[_Call]) -> str:
    packages = list(dict.fromkeys(call.package or "the notebook" for call in calls))
    of = ", ".join(packages[:3]) + (" and others" if len(packages) > 3 else "")
    return f"… {len(calls):,} {'frames' if len(calls) > 1 else 'frame'} of {of} left out …"


def _frame(call: _Call) -> TracebackFrame:
    step, code = call.step, call.step.tb_frame.f_code
    name = "" if code.co_name == "<module>" else code.co_name
    line = step.tb_lineno or 0
    _, end, *_ = next(islice(code.co_positions(), step.tb_lasti // 2, None), (line, line))
    line, end = line + call.above, (end or line) + call.above
    last = min(max(end, line), line + MOST_MARKED - 1)
    around = 0 if call.package else LINES_AROUND
    source = _source(call, line)
    numbers = range(max(line - around, 1), min(last + around, len(source)) + 1)
    lines = tuple((number, source[number - 1].rstrip("\n")[:MOST_LINE]) for number in numbers)
    return TracebackFrame(call.where, line, name, call.package, lines, (line, last))


def _source(call: _Call, line: int) -> list[str]:
    """Return the lines of a file or a cell: as typed where that has the line, else as compiled."""
    typed = call.typed.splitlines()
    if len(typed) >= line:
        return typed
    try:
        frame = call.step.tb_frame
        return linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    except Exception:  # a loader of the user's may raise anything
        return []


def _sources(calls: list[_Call]) -> Iterator[FrameSource]:
    """Yield the cells and the functions of files that calls of the user's lie in, the innermost first."""
    found: dict[str, FrameSource] = {}
    for call in reversed([call for call in calls if not call.package]):
        frame = call.step.tb_frame
        code, line = frame.f_code, (call.step.tb_lineno or 0) + call.above
        name = "" if code.co_name.startswith("<") else code.co_name
        where = call.where if call.typed else f"{name} of {call.where}"
        if where in found:
            names = dict.fromkeys((*found[where].names, *filter(None, [name])))
            found[where] = replace(found[where], names=tuple(names))
        elif len(found) < MOST_SOURCES and (call.typed or name):
            text, start = (call.typed, 1) if call.typed else (_function(call), code.co_firstlineno)
            if text:
                found[where] = FrameSource(where, text, max(line - start + 1, 1), (name,) if name else ())
    yield from found.values()


def _function(call: _Call) -> str:
    """Return the source of a function in a file of the user's; empty where it cannot be read."""
    frame = call.step.tb_frame
    try:
        lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
        return dedent("".join(getblock(lines[frame.f_code.co_firstlineno - 1 :])))
    except Exception:  # a loader of the user's may raise anything, and a file may have changed since
        return ""


def _file(file: str) -> tuple[str, str]:
    """Return the path of a file as it is shown, and the library that it belongs to; empty for the user's own."""
    if file.startswith("<"):
        package = file.strip("<>").removeprefix("frozen ").partition(".")[0]
        return file, package or "generated code"
    path = os.path.abspath(file)
    parts = path.replace(os.sep, "/").split("/")
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            inside = parts[len(parts) - parts[::-1].index(folder) :]
            return "/".join(inside), inside[0].removesuffix(".py")
    for home, package in ((_STDLIB, ""), (os.path.dirname(_HERE), "jupyter_ctx")):
        if path.startswith(home + os.sep):
            inside = path[len(home) + 1 :].replace(os.sep, "/").split("/")
            return "/".join(filter(None, [package, *inside])), package or inside[0].removesuffix(".py")
    return _short(path), ""


_STDLIB = sysconfig.get_path("stdlib")
_HERE = os.path.dirname(os.path.abspath(__file__))


def _short(path: str) -> str:
    """Return a path as it is written from the working folder, else from the home folder."""
    for home, sign in ((os.getcwd(), ""), (os.path.expanduser("~"), "~" + os.sep)):
        if path.startswith(home + os.sep):
            return sign + path[len(home) + 1 :]
    return path


def _kind(kind: type[BaseException]) -> str:
    """Return the name of an exception's class as Python prints it, without asking its metaclass."""
    module, name = (type.__dict__[each].__get__(kind) for each in ("__module__", "__qualname__"))
    return str(name) if module in NOBODYS else f"{module}.{name}"


def _message(error: BaseException) -> str:
    """Return the text of an exception; it is code of the user's that may do anything, and take any time."""
    if type(error).__str__ in _BUILT_IN and all(type(each) in (str, int, float) for each in error.args):
        return without_middle(str(error))
    try:
        with guarded("the error", TEXT_SECONDS):
            return without_middle(_own_text(error))
    except InvalidRequestError:  # of the guard
        return f"(its text cannot be read: that takes more than {TEXT_SECONDS:g} s)"


def _own_text(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        return str(error)
    except (Exception, SystemExit, GeneratorExit) as failed:
        return f"(its text cannot be read: {type(failed).__name__})"


_BUILT_IN = tuple(each.__str__ for each in (BaseException, KeyError, OSError))


def _notes(error: BaseException) -> tuple[str, ...]:
    found = getattr(error, "__notes__", None)
    notes = found[:MOST_ERRORS] if type(found) is list else []
    return tuple(without_middle(note) for note in notes if isinstance(note, str))


def without_middle(text: str, most: int = MOST_MESSAGE) -> str:
    """Return a text without its middle where it is longer than ``most`` characters, cut at spaces if possible."""
    text = str.__getitem__(text, slice(None))
    if len(text) <= most:
        return text
    kept = max(most - len(LEFT_OUT), 8)
    head, tail = text[: kept * 3 // 4], text[-kept // 4 :]
    head = head.rsplit(maxsplit=1)[0] if " " in head[-200:] else head
    tail = tail.split(maxsplit=1)[-1] if " " in tail[:200] else tail
    middle = text[len(head) : len(text) - len(tail)]
    before = re.search(LEFT_OUT.format("([0-9,]+)"), middle)  # the text was shortened already
    count = len(middle) + (int(before[1].replace(",", "")) - len(before[0]) if before else 0)
    return f"{head}\n{LEFT_OUT.format(f'{count:,}')}\n{tail}"
