"""An error as it goes with a prompt: what was raised, where, and the cells and functions it came from; no locals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..context.summary_facts import fenced
from ..conversation.text_safety import clean
from ..template.keys import Keys
from ..wording import visible
from .attached import Attached, TextRoom
from .tracebacks import (
    MOST_FRAMES,
    MOST_LINE,
    MOST_MESSAGE,
    Failure,
    FrameSource,
    Gap,
    SyntaxPlace,
    TracebackFrame,
    without_middle,
)

# a literal whose name says that it is secret
_SECRET = re.compile(
    r"""(?ix)(\b\w*(?:api_?key|access_?key|secret(?:_?key)?|token|passw(?:or)?d|passphrase)["']?\s{0,3}[=:]\s{0,3}
    [rbu]?["'])(?!\*{3}["'])[^"'\n{}\s]{6,}(?=["'])"""
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,40}KEY-----|\Z)"
)
INDENT = "  "
_SOURCE_LINES = (400, 100, 40, 20)  # of a cell or a function that the error came from, the first that fits


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of an error is written: lines around each place, frames, characters of a message, lines of the cell."""

    around: int
    frames: int
    message: int
    cell: int
    others: bool = True  # causes, and the errors of a group


_DETAILS = (
    _Detail(2, MOST_FRAMES, MOST_MESSAGE, 400), _Detail(1, 8, 2_000, 100), _Detail(1, 6, 1_000, 40),
    _Detail(0, 4, 600, 20), _Detail(0, 3, 300, 8), _Detail(0, 2, 200, 0, others=False),
    _Detail(0, 1, 80, 0, others=False),
)  # fmt: skip


def attached_error(failure: Failure, room: TextRoom, keys: Keys) -> Attached:
    """Return an error as it goes with a prompt, in twice the room of one text: its traceback, and what it came from.

    That is the cell that was running, and the other cells and functions of the user's in which its frames lie: the
    innermost first, as far as there is room. At least its type, the beginning of its message and its line are sent,
    however small the room.
    """
    clean = _Cleaning(keys)
    failure = clean.failure(failure)
    detail, text = _fitting(failure, room, clean)
    inside = list(_with_sources(failure, text, room, clean))
    parts = (text, *(part for part, _ in inside if part))
    return _attached(failure, detail, room, clean, "\n\n".join(parts), tuple(said for _, said in inside))


def _fitting(failure: Failure, room: TextRoom, clean: _Cleaning) -> tuple[_Detail, str]:
    """Return the traceback and the cell in the most detail that leaves room for the innermost source, else for none."""
    inner = _source(failure.sources[0], _SOURCE_LINES[0], clean) if failure.sources else ""
    for least, beside in ((8, inner), (0, "")) if inner else ((0, ""),):
        for detail in (each for each in _DETAILS if each.cell >= least):
            text = _text(failure, detail, clean)
            if room.count(f"{text}\n\n{beside}" if beside else text) <= 2 * room.tokens:
                return detail, text
    return detail, text


def _attached(
    failure: Failure, detail: _Detail, room: TextRoom, clean: _Cleaning, text: str, said: tuple[str, ...]
) -> Attached:  # fmt: skip
    name = "error" if failure.number is None else f"error of cell [{failure.number}]"
    notices = ("What looks like a key or a password in the error was sent as ***.",) if clean.blanked else ()
    return Attached(name, text, what=_what(failure, detail, said, round(room.count(text))), notices=notices)


def _what(failure: Failure, detail: _Detail, said: tuple[str, ...], tokens: int) -> str:
    shown = min(failure.shown, detail.frames)
    frames = f"{shown} of {failure.depth:,} frames" if failure.depth > shown else ""
    cell = "the cell shortened" if len(failure.cell.splitlines()) > detail.cell else ""
    return ", ".join(filter(None, (failure.kind.rpartition(".")[2], frames, cell, *said, f"about {tokens:,} tokens")))


def _with_sources(failure: Failure, text: str, room: TextRoom, clean: _Cleaning) -> Iterator[tuple[str, str]]:
    """Yield the text of each cell and function that an error came from, and what to say of it, the innermost first."""
    for source in failure.sources:
        most, part = next(
            (
                (most, part)
                for most in _SOURCE_LINES
                if room.count(f"{text}\n\n{(part := _source(source, most, clean))}") <= 2 * room.tokens
            ),
            (0, ""),
        )
        if not part:
            yield "", f"without {source.said}"
            continue
        text = f"{text}\n\n{part}"
        yield part, f"with {source.said}" + (" shortened" if len(source.text.splitlines()) > most else "")


def _source(source: FrameSource, most: int, clean: _Cleaning) -> str:
    defines = f", which defines {', '.join(source.names)}" if source.names and source.where.startswith("Cell") else ""
    label = source.said if source.where.startswith("Cell") else f"function {source.where}"
    text = clean.text(_lines_of(source.text, source.line, most))
    return f"The {label}{defines}:\n{fenced(text)}"


class _Cleaning:
    """Blanks what looks like a key, and takes out what providers refuse and terminals obey.

    blanked: whether there was a key
    """

    def __init__(self, keys: Keys) -> None:
        self._keys, self.blanked = keys, False

    def text(self, text: str) -> str:
        """Return a text without keys."""
        text = visible(clean(text))
        found = _SECRET.sub(r"\1***", self._keys.masked(_without_private_keys(text)))
        self.blanked |= found != text
        return found

    def failure(self, failure: Failure) -> Failure:
        """Return an error whose texts are without keys; the cell, of which only a part may be sent, may have some."""
        cell = _without_private_keys(failure.cell)
        sources = tuple(replace(source, text=_without_private_keys(source.text)) for source in failure.sources)
        texts = (
            (failure.cell, cell),
            *((old.text, new.text) for old, new in zip(failure.sources, sources, strict=True)),
        )
        pairs = (pair for old, new in texts for pair in zip(old.splitlines(), new.splitlines(), strict=False))
        hidden = {line: blank for line, blank in pairs if line != blank}  # of a key that takes several lines
        self.blanked |= bool(hidden)

        def frame(found: TracebackFrame | Gap) -> TracebackFrame | Gap:
            if isinstance(found, Gap):
                return found
            lines = ((number, self.text(hidden.get(line, line))) for number, line in found.lines)
            return replace(found, lines=tuple(lines))

        return replace(
            failure, message=self.text(failure.message), notes=tuple(map(self.text, failure.notes)), cell=cell,
            frames=tuple(map(frame, failure.frames)),
            syntax=failure.syntax and replace(failure.syntax, text=self.text(failure.syntax.text)),
            cause=failure.cause and self.failure(replace(failure.cause, cell=failure.cell, sources=failure.sources)),
            parts=tuple(
                self.failure(replace(part, cell=failure.cell, sources=failure.sources)) for part in failure.parts
            ),
            sources=sources,
        )  # fmt: skip


def _without_private_keys(text: str) -> str:
    """Return a text of as many lines with *** for the private keys in it."""
    return _PRIVATE_KEY.sub(lambda found: "***" + "\n" * found.group().count("\n"), text)


def _text(failure: Failure, detail: _Detail, clean: _Cleaning) -> str:
    """Return an error as text: the traceback, then the cell that was running."""
    where = "" if failure.number is None else f" in cell [{failure.number}]"
    traceback = fenced("\n".join(_lines(failure, detail)))
    said = f"The error{where}, without the values of variables:\n{traceback}"
    cell = clean.text(_cell(failure, detail.cell))
    label = "The cell" if failure.number is None else f"The cell [{failure.number}]"
    return f"{said}\n\n{label}:\n{fenced(cell)}" if cell else said


def _lines(failure: Failure, detail: _Detail) -> Iterator[str]:
    """Yield the lines of a traceback, its causes first, as Python writes them."""
    if failure.cause is not None and detail.others:
        yield from _lines(failure.cause, detail)
        during = "The error above led to this one:" if failure.direct else "While it was handled, this one happened:"
        yield f"\n{during}\n"
    frames = list(_shown(failure.frames, detail.frames))
    if frames:
        yield "Traceback (most recent call last):"
    for frame in frames:
        yield from [frame.text] if isinstance(frame, Gap) else _frame(frame, detail.around)
    if failure.syntax is not None:
        yield from _syntax(failure.syntax)
    message = without_middle(failure.message, detail.message)
    yield f"{failure.kind}: {message}" if message else failure.kind
    yield from (without_middle(note, detail.message) for note in failure.notes)
    if detail.others:
        yield from _group(failure, detail)


def _group(failure: Failure, detail: _Detail) -> Iterator[str]:
    """Yield the lines of the errors in a group."""
    for number, part in enumerate(failure.parts, 1):
        yield f"{INDENT}[{number}]"
        yield from (f"{INDENT}{line}" for text in _lines(part, detail) for line in text.splitlines() or [""])
    if failure.parts and failure.more:
        yield f"{INDENT}… {failure.more:,} more errors left out …"


def _shown(frames: tuple[TracebackFrame | Gap, ...], most: int) -> Iterator[TracebackFrame | Gap]:
    """Yield the last frames, with what lies between them."""
    count = sum(isinstance(frame, TracebackFrame) for frame in frames)
    out = count - most
    if out > 0:
        yield Gap(f"… {out} more {'frames' if out > 1 else 'frame'} left out …")
    for frame in frames:
        if out <= 0:
            yield frame
        out -= isinstance(frame, TracebackFrame)


def _frame(frame: TracebackFrame, around: int) -> Iterator[str]:
    first, last = frame.marked
    kind = "" if frame.where.startswith("Cell") else "File "
    yield f"{kind}{frame.where}, line {frame.line}" + (f", in {frame.name}" if frame.name else "")
    width = len(str(last + around))
    for number, line in frame.lines:
        if first - around <= number <= last + around:
            mark = "-->" if first <= number <= last else "   "
            yield f"{mark} {number:>{width}} {line}".rstrip()


def _syntax(place: SyntaxPlace) -> Iterator[str]:
    text = place.text.expandtabs(1)
    kind = "" if place.where.startswith("Cell") else "File "
    yield f"{kind}{place.where}, line {place.line}"
    yield f"{INDENT}{text}"
    if 0 < place.start <= len(text) + 1:
        yield INDENT + " " * (place.start - 1) + "^" * max(min(place.end, len(text) + 1) - place.start, 1)


def _cell(failure: Failure, most: int) -> str:
    """Return the source of the cell; where it is longer than ``most`` lines, its beginning and what is at the error."""
    return _lines_of(failure.cell, _line(failure), most)


def _lines_of(text: str, line: int, most: int) -> str:
    """Return a source; where it is longer than ``most`` lines, its beginning and what is around a line."""
    lines = text.splitlines() if most else []
    if len(lines) <= most:
        return "\n".join(map(_short_line, lines))
    beginning = most // 4
    start = min(max(line - 1 - most // 2, beginning), max(len(lines) - (most - beginning), 0))
    end = start + most - beginning
    return "\n".join([
        *map(_short_line, lines[:beginning]), *_left_out(start - beginning), *map(_short_line, lines[start:end]),
        *_left_out(len(lines) - end),
    ])  # fmt: skip


def _short_line(line: str) -> str:
    """Return a line without its end where it is very long, cut between words so that no key is sent in part."""
    if len(line) <= 2 * MOST_LINE:
        return line
    kept = re.sub(r"[\w.+/=-]+$", "", line[:MOST_LINE])
    return f"{kept} … {len(line) - len(kept):,} characters left out …"


def _line(failure: Failure) -> int:
    """Return the line of the cell that failed; 1 where it is not known."""
    where = f"Cell [{failure.number}]"
    if failure.syntax is not None and failure.syntax.where == where:
        return failure.syntax.line
    found = [frame.line for frame in failure.frames if isinstance(frame, TracebackFrame) and frame.where == where]
    return found[-1] if found else 1


def _left_out(lines: int) -> list[str]:
    return [f"# … {lines:,} {'lines' if lines > 1 else 'line'} of the cell left out …"] if lines > 0 else []
