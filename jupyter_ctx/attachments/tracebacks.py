"""An exception as a light value: its traceback as text, whole and in brief; no locals, and no object of it."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import getblock
from itertools import groupby, islice, pairwise
from textwrap import dedent, indent
from types import TracebackType
from typing import Any

from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..wording import counted
from .guarded import guarded

MOST_MESSAGE, BRIEF_MESSAGE = 4_000, 200  # characters of a message
MOST_LINE = 300  # characters of a line of source
MOST_MARKED = 6  # lines of one statement
MOST_CAUSES, MOST_ERRORS, MOST_NESTED = 4, 4, 3  # causes of causes, errors of a group, groups in groups
MOST_FRAMES = 12  # of one traceback
MOST_SOURCES = 8  # cells and functions that are kept besides the cell that was running
LINES_AROUND = 2  # lines shown before and after the one that failed
INDENT = "  "
SHELL = frozenset({"IPython", "ipykernel", "traitlets", "tornado", "asyncio"})  # what runs a cell
IN_A_CELL = frozenset({"<timed exec>", "<magic-timeit>", "<stdin>"})  # code of a cell that a magic compiles
FAILED_CELL = "Cell"  # names the cell that failed in a traceback; others have a letter behind that
NOBODYS = frozenset({"", "__main__", "builtins"})  # modules that are left out of an exception's name


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A cell, or a function of a file of the user's, in which a frame of a traceback lies.

    where: ``Cell A``, or ``load of helpers.py``
    text: its source as typed
    line: of the text, from 1: the one that was running
    names: of the functions in the traceback that it defines
    number: of the cell; ``None`` for a function of a file
    """

    where: str
    text: str
    line: int
    names: tuple[str, ...] = ()
    number: int | None = None

    @property
    def users_name(self) -> str:
        """How it is named in a sentence to the user."""
        return self.label if self.number is None else f"cell [{self.number}]"

    @property
    def label(self) -> str:
        """How it is named in a sentence to the model: without the number, which a restart changes."""
        return self.where.replace("Cell", "cell", 1) if self.where.startswith("Cell") else self.where


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was raised.

    kind: the name of its class
    traceback: what Python prints of it, within bounds: causes, frames, message, notes, the errors of a group
    place: the innermost one of the user's
    headline: the name of its class, and its message
    messages: those in the traceback, and notes, of which each may hold secrets by its own lines
    shown, depth: how many of its frames the traceback has, and how many there were
    cell, number: the cell that was running; empty and ``None`` where it is not known
    line: of that cell
    sources: what else of the user's its frames lie in, and those of its causes: the innermost first
    """

    kind: str
    traceback: str
    place: str
    headline: str
    messages: tuple[str, ...] = ()
    shown: int = 0
    depth: int = 0
    cell: str = ""
    number: int | None = None
    line: int = 1
    sources: tuple[FrameSource, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedCell:
    """A cell of the notebook, as typed, and how it is named in a traceback; ``number``: ``None`` if not known."""

    number: int | None
    source: str
    where: str = FAILED_CELL


CellOf = Callable[[str], TypedCell | None]  # the cell that a file name of compiled code stands for


def failure_of(error: BaseException, cell_of: CellOf = lambda _: None) -> Failure:
    """Return an exception as a light value; ``cell_of`` tells the cells of a notebook by their file names."""
    try:
        return _Reader(cell_of).failure(error)
    except Exception:  # of a class that overrides even what Python stores in an exception
        text = f"{_kind(type(error))}: (the error cannot be read)"
        return Failure(_kind(type(error)), text, "", text)


_InFile = tuple[str, str, TypedCell | None, int]


@dataclass(frozen=True, slots=True)
class _Call:
    """A frame of a traceback: where it is, the library that it belongs to, and its cell.

    above: lines of the cell that are not counted
    """

    step: TracebackType
    where: str
    package: str
    cell: TypedCell | None
    above: int

    @property
    def typed(self) -> str:
        return "" if self.cell is None else self.cell.source

    @property
    def line(self) -> int:
        return (self.step.tb_lineno or 0) + self.above

    @property
    def place(self) -> tuple[str, int]:
        return self.step.tb_frame.f_code.co_filename, self.line


class _Reader:
    """Reads one exception, with what led to it.

    sources: what of the user's its frames lie in
    messages: of the exceptions, and their notes
    """

    def __init__(self, cell_of: CellOf) -> None:
        self._cell_of = cell_of
        self._places: dict[str, _InFile] = {}
        self._headlines: dict[int, str] = {}  # by the id of each exception that was met
        self.sources: dict[str, FrameSource] = {}
        self.messages: list[str] = []

    def failure(self, error: BaseException) -> Failure:
        traceback = "\n".join(self._lines(error, MOST_CAUSES, MOST_NESTED))
        calls = self._calls(error)
        users = [call for call in calls if not call.package]
        inner = next(iter(users[-1:] or calls[-1:]), None)
        place = [] if inner is None else list(_frame(inner, around=0))[:2]
        line = next((call.line for call in reversed(users) if call.where == FAILED_CELL), 1)
        if isinstance(error, SyntaxError):
            place = list(self._syntax(error)) or place
            is_of_cell = place[:1] and place[0].startswith(f"{FAILED_CELL}, line ")
            line = error.lineno if is_of_cell and isinstance(error.lineno, int) else line
        return Failure(
            _kind(type(error)),
            traceback,
            "\n".join(place),
            self._headlines[id(error)],
            tuple(self.messages),
            len(_shown(_runs(calls))),
            len(calls),
            line=line,
            sources=tuple(self.sources.values()),
        )

    def _lines(self, error: BaseException, causes: int, nested: int) -> Iterator[str]:
        """Yield the lines of a traceback, its causes first, as Python writes them."""
        kind, message, notes = _kind(type(error)), _message(error), tuple(_notes(error))
        self._headlines[id(error)] = f"{kind}: {message}" if message else kind
        self.messages += message, *notes
        calls = self._calls(error)
        self._add_sources(calls)
        is_direct = error.__cause__ is not None
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is not None and id(cause) not in self._headlines and causes:
            yield from self._lines(cause, causes - 1, nested)
            yield (
                "\nThe error above led to this one:\n" if is_direct else "\nWhile it was handled, this one happened:\n"
            )
        if calls:
            yield "Traceback (most recent call last):"
            yield from _frames(calls)
        if isinstance(error, SyntaxError):
            yield from self._syntax(error)
        yield self._headlines[id(error)]
        yield from notes
        if isinstance(error, BaseExceptionGroup) and nested:
            yield from self._group(error, nested)

    def _group(self, error: BaseExceptionGroup[BaseException], nested: int) -> Iterator[str]:
        """Yield the lines of the errors in a group."""
        members = [member for member in error.exceptions if id(member) not in self._headlines]
        for number, member in enumerate(members[:MOST_ERRORS], 1):
            yield f"{INDENT}[{number}]"
            yield indent("\n".join(self._lines(member, 1, nested - 1)), INDENT)
        if len(members) > MOST_ERRORS:
            yield f"{INDENT}… {counted(len(members) - MOST_ERRORS, 'more error')} left out …"

    def _calls(self, error: BaseException) -> list[_Call]:
        """Return the frames of an exception, without those that run a cell."""
        calls = [self._call(step) for step in _steps(error.__traceback__)]
        while calls and calls[0].package in (*SHELL, "jupyter_ctx"):
            del calls[0]
        return calls

    def _call(self, step: TracebackType) -> _Call:
        file = step.tb_frame.f_code.co_filename
        if file not in self._places:
            self._places[file] = self._place(file, step.tb_frame.f_globals)
        return _Call(step, *self._places[file])

    def _place(self, file: str, variables: Mapping[str, Any]) -> _InFile:
        """Return where code of a file name is, its library, its cell, and lines above it there."""
        cell = self._cell_of(file)
        if cell is not None:  # a magic compiles what is below its own line
            return cell.where, "", cell, int(file in IN_A_CELL)
        where, package = _file(file)
        return where, package or _compiled_package(file, variables), None, 0

    def _syntax(self, error: SyntaxError) -> Iterator[str]:
        """Yield the place of a syntax error, its line, and a caret below what is wrong."""
        line, text = error.lineno, error.text
        if not isinstance(line, int) or not isinstance(text, str):
            return
        text = text.rstrip("\n")[:MOST_LINE].expandtabs(1)
        cell = self._cell_of(str(error.filename))
        yield _heading(cell.where if cell is not None else _file(str(error.filename))[0], line)
        yield f"{INDENT}{text}"
        start = error.offset if isinstance(error.offset, int) else 0
        end = error.end_offset if isinstance(error.end_offset, int) and error.end_lineno == line else 0
        if 0 < start <= len(text) + 1:
            yield INDENT + " " * (start - 1) + "^" * max(min(end, len(text) + 1) - start, 1)

    def _add_sources(self, calls: list[_Call]) -> None:
        """Note the cells and the functions of files that calls of the user's lie in, the innermost first."""
        for call in reversed([call for call in calls if not call.package]):
            code = call.step.tb_frame.f_code
            name = "" if code.co_name.startswith("<") else code.co_name
            where = call.where if call.typed else f"{name} of {call.where}"
            if where in self.sources:
                known = self.sources[where]
                names = tuple(dict.fromkeys((*known.names, *filter(None, [name]))))
                self.sources[where] = replace(known, names=names)
            elif len(self.sources) < MOST_SOURCES and (call.typed or name):
                text, start = (call.typed, 1) if call.typed else (_function(call), code.co_firstlineno)
                if text:
                    number = None if call.cell is None else call.cell.number
                    names = (name,) if name else ()
                    self.sources[where] = FrameSource(where, text, max(call.line - start + 1, 1), names, number)


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next


def _runs(calls: list[_Call]) -> list[list[_Call]]:
    """Return calls, those that repeat the same place as one, as recursion does."""
    return [list(run) for _, run in groupby(calls, key=lambda call: call.place)]


def _shown(runs: list[list[_Call]]) -> list[int]:
    """Return which calls are shown: those of the user, and the last of a library; of many, the first and the last."""
    shown = [at for at, run in enumerate(runs) if not run[0].package or at == len(runs) - 1]
    head = MOST_FRAMES // 3
    return shown if len(shown) <= MOST_FRAMES else [*shown[:head], *shown[head - MOST_FRAMES :]]


def _frames(calls: list[_Call]) -> Iterator[str]:
    """Yield the lines of the frames to show, with a line in place of others."""
    runs = _runs(calls)
    for before, at in pairwise([-1, *_shown(runs)]):
        others = [call for run in runs[before + 1 : at] for call in run]
        if others:
            yield _left_out(others)
        first, *again = runs[at]
        yield from _frame(first, around=0 if first.package else LINES_AROUND)
        if again:
            yield f"… this frame {len(again):,} times more …"


def _left_out(calls: list[_Call]) -> str:
    packages = list(dict.fromkeys(call.package or "the notebook" for call in calls))
    of = ", ".join(packages[:3]) + (" and others" if len(packages) > 3 else "")
    return f"… {counted(len(calls), 'frame')} of {of} left out …"


def _frame(call: _Call, around: int) -> Iterator[str]:
    """Yield where a call is, and its statement with some lines before and after it."""
    step, code = call.step, call.step.tb_frame.f_code
    yield _heading(call.where, call.line, "" if code.co_name == "<module>" else code.co_name)
    _, end, *_ = next(islice(code.co_positions(), step.tb_lasti // 2, None), (None, None))
    last = min(max((end or 0) + call.above, call.line), call.line + MOST_MARKED - 1)
    source = _source(call)
    width = len(str(last + around))
    for number in range(max(call.line - around, 1), min(last + around, len(source)) + 1):
        mark = "-->" if call.line <= number <= last else "   "
        text = source[number - 1].rstrip("\n")[:MOST_LINE]
        yield f"{mark} {number:>{width}} {text}".rstrip()


def _heading(where: str, line: int, function: str = "") -> str:
    kind = "" if where.startswith(FAILED_CELL) else "File "
    return f"{kind}{where}, line {line}" + (f", in {function}" if function else "")


def _source(call: _Call) -> list[str]:
    """Return the lines of a file or a cell: as typed where that has the line, else as compiled."""
    typed = call.typed.splitlines()
    return typed if len(typed) >= call.line else _compiled_lines(call)


def _compiled_lines(call: _Call) -> list[str]:
    frame = call.step.tb_frame
    try:
        return linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    except Exception:  # a loader of the user's may raise anything
        return []


def _function(call: _Call) -> str:
    """Return the source of a function in a file of the user's; empty where it cannot be read."""
    try:
        return dedent("".join(getblock(_compiled_lines(call)[call.step.tb_frame.f_code.co_firstlineno - 1 :])))
    except Exception:  # a file may have changed since
        return ""


def _file(file: str) -> tuple[str, str]:
    """Return the path of a file as it is shown, and the library that it belongs to; empty for the user's own."""
    file = lasting(file)
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


def _compiled_package(file: str, variables: Mapping[str, Any]) -> str:
    """Return the library of code whose source is not on this machine, as of an extension module; empty: it is."""
    module, origin = variables.get("__name__"), variables.get("__file__")
    if os.path.exists(file) or type(module) is not str or module in NOBODYS:
        return ""
    return _file(origin)[1] if type(origin) is str else module.partition(".")[0]


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
        return _without_middle(lasting(str(error)))
    try:
        return guarded("the error", lambda: _without_middle(lasting(_own_text(error))))
    except InvalidRequestError:  # of the guard
        return "(its text cannot be read)"


def _own_text(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        return str(error)
    except (Exception, SystemExit, GeneratorExit) as failed:
        return f"(its text cannot be read: {type(failed).__name__})"


_BUILT_IN = tuple(each.__str__ for each in (BaseException, KeyError, OSError))


def _notes(error: BaseException) -> Iterator[str]:
    notes = getattr(error, "__notes__", None)
    texts = notes[:MOST_ERRORS] if type(notes) is list else []
    return (_without_middle(lasting(text)) for text in texts if isinstance(text, str))


def _without_middle(text: str) -> str:
    """Return a message without its middle where it is very long, cut at spaces if possible."""
    text = str.__getitem__(text, slice(None))
    if len(text) <= MOST_MESSAGE:
        return text
    head, tail = text[: MOST_MESSAGE * 3 // 4], text[-MOST_MESSAGE // 4 :]
    head = head.rsplit(maxsplit=1)[0] if " " in head[-200:] else head
    tail = tail.split(maxsplit=1)[-1] if " " in tail[:200] else tail
    return f"{head}\n… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"


def shortened_line(text: str, most: int) -> str:
    """Return the beginning of a long text, cut between words so that no key is sent in part."""
    if len(text) <= most:
        return text
    beginning = re.sub(r"[\w.+/=-]+$", "", text[:most])
    return f"{beginning} … {len(text) - len(beginning):,} characters left out …"
