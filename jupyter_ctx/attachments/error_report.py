"""An error as it goes with a prompt: its traceback, and the user's code that it passed through, within their room."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from textwrap import indent

from ..context.summary_facts import fenced
from ..conversation.text_safety import clean
from ..runtime.redaction import Redactor
from ..wording import counted, visible
from .attached import Attached, TextRoom
from .tracebacks import FAILED_CELL, Failure, FrameSource, TracebackPiece

WHOLE_LINES, EXCERPT_LINES = 400, 20  # lines of a cell or a function
MOST_LINE = 300  # characters of a line of code
BRIEF_PIECES, BRIEF_TEXT = 4, 200  # of a traceback, which are its last frame and message; characters of each


def attached_error(failure: Failure, room: TextRoom, redactor: Redactor) -> Attached:
    """Return an error as it goes with a prompt, in twice the room of one text.

    First comes the traceback, of which the end is sent however small the room, then the cell that failed and other
    code, the innermost first.
    """
    failure, is_blanked = _without_keys(failure, redactor)
    about = [failure.kind.rpartition(".")[2]]
    text = _traceback(failure.traceback)
    if room.count(text) > 2 * room.tokens:
        brief = (piece._replace(text=_beginning(piece.text, BRIEF_TEXT)) for piece in failure.traceback[-BRIEF_PIECES:])
        text = _traceback(brief)
        about.append("the traceback shortened")
    for source in failure.sources:
        sizes = (
            most
            for most in (WHOLE_LINES, EXCERPT_LINES)
            if room.count(f"{text}\n\n{_code(source, most)}") <= 2 * room.tokens
        )
        most = next(sizes, 0)
        text = f"{text}\n\n{_code(source, most)}" if most else text
        is_cut = " shortened" if most and most < len(source.text.splitlines()) else ""
        if source.label != FAILED_CELL:
            about.append(f"{'with' if most else 'without'} {source.name}{is_cut}")
        elif is_cut or not most:
            about.append(f"the cell{is_cut}" if most else "without the cell")
    name = "error" if failure.number is None else f"error of cell [{failure.number}]"
    notices = ("What looks like a key or a password in the error is replaced by ***.",) if is_blanked else ()
    return Attached(name, text, what=", ".join([*about, f"about {round(room.count(text)):,} tokens"]), notices=notices)


def _traceback(pieces: Iterable[TracebackPiece]) -> str:
    lines = (indent(piece.label + piece.text, "  " * piece.depth) for piece in pieces)
    return "The error, without the values of variables:\n" + fenced("\n".join(lines))


def _code(source: FrameSource, most: int) -> str:
    """Return a source; where it is longer than ``most`` lines, its beginning and what is around its line."""
    lines = [_beginning(line, MOST_LINE) if len(line) > 2 * MOST_LINE else line for line in source.text.splitlines()]
    around = range(source.line - most // 2, source.line + most // 4)
    kept = [number for number in range(len(lines)) if len(lines) <= most or number < most // 4 or number in around]
    code = list[str]()
    for before, number in pairwise([-1, *kept, len(lines)]):
        if number > before + 1:
            code.append(f"# … {counted(number - before - 1, 'line')} left out …")
        code += lines[number : number + 1]
    return f"{source.label[:1].upper()}{source.label[1:]}:\n" + fenced("\n".join(code))


def _beginning(text: str, most: int) -> str:
    """Return the beginning of a long text, cut between words so that no key is sent in part."""
    if len(text) <= most:
        return text
    beginning = re.sub(r"[\w.+/=-]+$", "", text[:most])
    return f"{beginning} … {len(text) - len(beginning):,} characters left out …"


def _without_keys(failure: Failure, redactor: Redactor) -> tuple[Failure, bool]:
    """Return an error without keys and without what providers refuse and terminals obey; whether there was a key."""
    counts, blanked = list[int](), dict[str, str]()  # lines of code, as a secret may have several

    def cleaned(text: str) -> str:
        redacted = redactor.redacted(visible(clean(text)), keep_lines=True)
        counts.append(redacted.count)
        return redacted.text

    def cleaned_piece(piece: TracebackPiece) -> TracebackPiece:
        lines = [line.replace(line.strip(), blanked.get(line.strip(), line.strip())) for line in piece.text.split("\n")]
        text = cleaned("\n".join(lines))
        if not piece.label:  # code
            text = "\n".join(_beginning(line, MOST_LINE) for line in text.split("\n"))
        return piece._replace(text=text)

    sources = tuple(replace(source, text=cleaned(source.text)) for source in failure.sources)
    for old, new in zip(failure.sources, sources, strict=True):
        lines = zip(old.text.splitlines(), new.text.splitlines(), strict=False)
        blanked |= {before.strip(): after.strip() for before, after in lines if before != after}
    return replace(failure, traceback=tuple(map(cleaned_piece, failure.traceback)), sources=sources), any(counts)
