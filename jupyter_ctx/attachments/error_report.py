"""An error as it goes with a prompt: its traceback, and the cells and functions it came from, within their room.

There are two levels of detail, each text whole or in brief: the traceback with its causes or its innermost place, a
source or what is around the line in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..context.summary_facts import fenced
from ..conversation.text_safety import clean
from ..runtime.redaction import Redactor
from ..wording import counted, visible
from .attached import Attached, TextRoom
from .tracebacks import BRIEF_MESSAGE, MOST_LINE, Failure, FrameSource, shortened_line

WHOLE_LINES, EXCERPT_LINES = 400, 20  # lines of a cell or a function


def attached_error(failure: Failure, room: TextRoom, redactor: Redactor) -> Attached:
    """Return an error as it goes with a prompt, in twice the room of one text: its traceback, and what it came from.

    That is the cell that was running, and the other cells and functions of the user's in which its frames lie: the
    innermost first, as far as there is room. At least its innermost place and the beginning of its message are sent,
    however small the room.
    """
    name = "error" if failure.number is None else f"error of cell [{failure.number}]"
    failure, is_blanked = _without_keys(failure, redactor)
    traceback, lines = _fitting_detail(failure, room)
    text = _with_cell(failure, traceback, lines)
    sources: list[str] = []
    for source in failure.sources:
        text, about = _with_source(text, source, room)
        sources.append(about)
    frames = failure.shown if traceback is failure.traceback else 1
    shown = [f"{frames} of {failure.depth:,} frames"] if failure.depth > frames else []
    shown += ["the cell shortened"] if len(failure.cell.splitlines()) > lines else []
    about = ", ".join([failure.kind.rpartition(".")[2], *shown, *sources, f"about {round(room.count(text)):,} tokens"])
    notices = ("What looks like a key or a password in the error is replaced by ***.",) if is_blanked else ()
    return Attached(name, text, what=about, notices=notices)


def _fits(text: str, room: TextRoom) -> bool:
    return room.count(text) <= 2 * room.tokens


def _fitting_detail(failure: Failure, room: TextRoom) -> tuple[str, int]:
    """Return the traceback and the lines of the cell that leave room for the innermost source, else for themselves."""
    headline = shortened_line(failure.headline, BRIEF_MESSAGE)
    brief = f"{failure.place}\n{headline}" if failure.place else headline
    details = [
        (failure.traceback, WHOLE_LINES),
        (failure.traceback, EXCERPT_LINES),
        (brief, EXCERPT_LINES),
        (brief, 0),
    ]
    if failure.sources:
        source = _source(failure.sources[0], WHOLE_LINES)
        for traceback, lines in details[:-1]:
            if _fits(f"{_with_cell(failure, traceback, lines)}\n\n{source}", room):
                return traceback, lines
    return next((detail for detail in details if _fits(_with_cell(failure, *detail), room)), details[-1])


def _with_cell(failure: Failure, traceback: str, most: int) -> str:
    """Return a traceback, then the cell that was running."""
    report = f"The error, without the values of variables:\n{fenced(traceback)}"
    cell = _excerpt(failure.cell, failure.line, most)
    return f"{report}\n\nThe cell that failed:\n{fenced(cell)}" if cell else report


def _with_source(text: str, source: FrameSource, room: TextRoom) -> tuple[str, str]:
    """Return a text with a cell or a function below it, as far as it fits, and what to say of it."""
    for most in (WHOLE_LINES, EXCERPT_LINES):
        longer = f"{text}\n\n{_source(source, most)}"
        if _fits(longer, room):
            is_cut = len(source.text.splitlines()) > most
            return longer, f"with {source.users_name}" + (" shortened" if is_cut else "")
    return text, f"without {source.users_name}"


def _source(source: FrameSource, most: int) -> str:
    is_cell = source.where.startswith("Cell")
    defines = f", which defines {', '.join(source.names)}" if source.names and is_cell else ""
    label = source.label if is_cell else f"function {source.where}"
    return f"The {label}{defines}:\n{fenced(_excerpt(source.text, source.line, most))}"


def _without_keys(failure: Failure, redactor: Redactor) -> tuple[Failure, bool]:
    """Return an error without keys and without what providers refuse and terminals obey; whether there was a key."""
    counts: list[int] = []

    def cleaned(text: str) -> str:
        redacted = redactor.redacted(visible(clean(text)), keep_lines=True)
        counts.append(redacted.count)
        return redacted.text

    cell = cleaned(failure.cell)
    sources = tuple(replace(source, text=cleaned(source.text)) for source in failure.sources)
    texts = [(failure.cell, cell), *((old.text, new.text) for old, new in zip(failure.sources, sources, strict=True))]
    pairs = [pair for old, new in texts for pair in zip(old.splitlines(), new.splitlines(), strict=False)]
    blanks = {line[:MOST_LINE]: blank for line, blank in pairs}  # also of a key of several lines
    for message in failure.messages:  # by itself: a table or a setting begins with its line
        blanks |= zip(message.split("\n"), cleaned(message).split("\n"), strict=False)
    changed = {line: blanks[line] for line in sorted(blanks, key=len, reverse=True) if line != blanks[line]}
    texts_with_lines = (failure.traceback, failure.place, failure.headline)
    traceback, place, headline = (cleaned(_with_blanks(text, changed)) for text in texts_with_lines)
    blanked = replace(failure, traceback=traceback, place=place, headline=headline, cell=cell, sources=sources)
    return blanked, any(counts)


def _with_blanks(text: str, blanks: dict[str, str]) -> str:
    """Return a traceback with lines of sources and messages blanked that are blanked there; the longest first."""

    def line_of(line: str) -> str:
        blanked = (line.removesuffix(old) + new for old, new in blanks.items() if line.endswith(old))
        return next(blanked, line)

    return "\n".join(map(line_of, text.split("\n")))


def _excerpt(text: str, line: int, most: int) -> str:
    """Return a source; where it is longer than ``most`` lines, its beginning and what is around a line."""
    lines = [shortened_line(each, MOST_LINE) if len(each) > 2 * MOST_LINE else each for each in text.splitlines()]
    if len(lines) <= most or not most:
        return "\n".join(lines if most else ())
    beginning = most // 4
    start = min(max(line - 1 - most // 2, beginning), len(lines) - most + beginning)
    end = start + most - beginning
    parts = (lines[:beginning], _gap(start - beginning), lines[start:end], _gap(len(lines) - end))
    return "\n".join(each for part in parts for each in part)


def _gap(lines: int) -> Iterator[str]:
    if lines > 0:
        yield f"# … {counted(lines, 'line')} of the cell left out …"
