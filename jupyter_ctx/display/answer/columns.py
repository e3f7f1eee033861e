"""Answers side by side in one output of the cell: columns on a page, in Markdown and plain text one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ...runtime.interrupts import uninterrupted
from ..text import BADGE_STYLE, WRAPS, attribute_html, note_html, note_markdown, note_plain, text_html, to_plain
from ..word_marks import MARK_STYLE, MARKS_MEANING, marked_on_a_page
from .footer import Footer, footer_html, footer_line, remarks, thinking_html
from .growing import GrowingAnswer, LiveOutput
from .markdown import MimeBundle, answer_html, to_markdown, with_fence_closed

NOT_WHOLE = "Stopped before the answer was whole."
USED = "✓ used in the conversation"
# columns stand below each other where the page is too narrow for two of 22 em; a saved notebook that is not trusted
# keeps no grid and no variable, but the plain borders and all text
GRID_STYLE = "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22em),1fr));gap:.6em;margin:.4em 0"
_COLUMN = (
    "display:flex;flex-direction:column;min-width:0;box-sizing:border-box;margin:0;"
    "padding:{padding}px;border:{width}px solid #757575;border-color:{variable}"
)
_PLAIN_BORDER = _COLUMN.format(width=1, padding=8, variable="var(--jp-border-color1,#757575)")
_USED_BORDER = _COLUMN.format(width=3, padding=6, variable="var(--jp-ui-font-color1,#757575)")
_SIGN = f"display:inline-block;line-height:1.3;{BADGE_STYLE}"
_HEAD = f"font-weight:600;{WRAPS};margin:0 0 .3em"
_BODY = "flex:1 1 auto;min-width:0"
ALIKE = 0.5  # share of words that may differ in answers whose differing words are marked unasked
MOST_COMPARED = 20_000  # characters of all answers that are compared unasked, which takes a quarter of a second
COLUMN_STYLES = (GRID_STYLE, _PLAIN_BORDER, _USED_BORDER, _SIGN, _HEAD, _BODY, MARK_STYLE)


@dataclass(frozen=True, slots=True)
class Column:
    """One answer of several.

    head: its model and options, such as ``openai/gpt-5.2 · t=0``
    forms: what is shown in place of the text, such as a structured answer's tables
    error: why there is no whole answer
    """

    head: str
    text: str = ""
    thinking: str = ""
    footer: Footer | None = None
    notices: Sequence[str] = ()
    error: str = ""
    forms: MimeBundle | None = None

    @property
    def answer(self) -> MimeBundle | None:
        """The answer in its forms; ``None``: there is none."""
        shown = self.forms or self.text
        return MimeBundle.of(shown) if shown else None

    @property
    def notes(self) -> list[str]:
        """The notices below the answer, the error last."""
        return [*self.notices, *([self.error] if self.error else [])]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the answers: notices ``above`` and ``below`` them, and the index of the ``chosen`` one."""

    above: Sequence[str] = ()
    below: Sequence[str] = ()
    chosen: int | None = None


class AnswerColumns:
    """One output of the cell with a column for each answer; ``column`` and ``chosen`` are indexes from 0.

    ``heads`` name the models and options, without numbers; ``above`` are notices before the answers.
    ``streaming=False`` shows the answers once, at their end.
    ``plain`` shows plain text only, as a terminal does.
    """

    def __init__(
        self,
        heads: Sequence[str],
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        plain: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._columns = [Column(head) for head in heads]
        self._answers = [GrowingAnswer(clock) for _ in heads]
        self._frame = Frame(above)
        self._output = LiveOutput(self._answers, self._growing, clock, streaming=streaming)
        self._plain, self.tick = plain, self._output.tick

    def begin(self) -> None:
        """Show the notices above and the heads of the columns; call this in the cell's own thread."""
        self.tick()
        self._output.start()

    def sent(self, column: int, model: str, why: str = "") -> None:
        """Say after a while that a model is waited for, and how long; ``why`` at once."""
        self._answers[column].sent(model, why)

    def feed(self, column: int, piece: str) -> None:
        """Add a piece of an answer, and show it when the next update is due."""
        self._answers[column].feed(piece)

    def think(self, column: int, piece: str) -> None:
        """Add a piece of a model's thinking text."""
        self._answers[column].think(piece)

    def done(self, column: int, answer: Column) -> None:
        """Show a whole answer in place of its pieces; the head of its column stays."""
        self._settle(column, replace(answer, head=self._columns[column].head))

    def failed(self, column: int, message: str) -> None:
        """Say in its column why there is no whole answer; its text so far stays."""
        self._settle(column, replace(self._so_far(column), error=message))

    def close(self, chosen: int | None, below: Sequence[str] = ()) -> None:
        """Show all answers in all forms, with the one that the conversation uses; no update follows by itself."""
        with uninterrupted():  # else Ctrl-C might leave an output that is never whole
            for number, answer in enumerate(self._answers):
                if answer.is_open:
                    self.failed(number, NOT_WHOLE)
            self._frame = Frame(self._frame.above, below, chosen)
            self._show_whole()

    def choose(self, chosen: int | None) -> None:
        """Show that the conversation uses another answer now, or none; a page loaded anew is not reached."""
        if chosen != self._frame.chosen:
            self._frame = replace(self._frame, chosen=chosen)
            self._show_whole()

    def _settle(self, column: int, settled: Column) -> None:
        self._columns[column] = settled
        self._answers[column].correct(settled.text, settled.thinking)

    def _so_far(self, column: int) -> Column:
        answer = self._answers[column]
        return replace(self._columns[column], text=answer.text, thinking=answer.thinking)

    def _growing(self) -> dict[str, str]:
        """Return the answers so far in one form only, because it is soon replaced."""
        if self._plain:
            return _plain([self._so_far(number) for number in range(len(self._columns))], self._frame, figures=True)
        return {"text/html": _html(self._columns, self._frame, [answer.html() for answer in self._answers])}

    def _show_whole(self) -> None:
        columns, frame = self._columns, self._frame
        with suppress(Exception):  # a page that is gone ends no answer
            self._output.end(_plain(columns, frame, figures=True) if self._plain else columns_bundle(columns, frame))


def columns_bundle(columns: Sequence[Column], frame: Frame, *, compared: bool = False) -> dict[str, str]:
    """Return finished answers as HTML, Markdown and plain text, with the words marked that differ in alike answers.

    ``compared``: with all words marked that differ. The figures are in the HTML only, because saved notebooks are
    compared by the other forms.
    """
    pages, drawn = [column.answer.html if column.answer else "" for column in columns], frame
    marked = pages
    if compared or sum(map(len, pages)) <= MOST_COMPARED:
        marked = marked_on_a_page(pages, most=1.0 if compared else ALIKE)
    if marked != pages:
        drawn = replace(frame, below=(MARKS_MEANING, *frame.below))
    bodies = [
        _thought(column) + (answer_html(page) if page else "") for column, page in zip(columns, marked, strict=True)
    ]
    plain = _plain(columns, frame)
    return {"text/html": _html(columns, drawn, bodies), "text/markdown": _markdown(columns, frame), **plain}


def title(number: int, head: str) -> str:
    """Return the number of a column, counted from 1, and its head."""
    return f"{number + 1} · {' '.join(head.split())}" if head.strip() else f"{number + 1}"


def choice_line(chosen: int | None, count: int) -> str:
    """Return which of ``count`` answers the conversation uses; ``chosen`` is its index, or ``None``."""
    if chosen is None:
        return f"No answer is used in the conversation yet: %chat pick N (1 to {count}) takes one."
    return f"Answer {chosen + 1} is used: %chat undo takes it back."


def _html(columns: Sequence[Column], frame: Frame, bodies: Sequence[str]) -> str:
    """Return the columns as HTML; ``bodies`` are the answers with their thinking texts."""
    shown = (
        _column_html(number, len(columns), column, body, used=frame.chosen == number)
        for number, (column, body) in enumerate(zip(columns, bodies, strict=True))
    )
    grid = f'<div class="jctx-columns" style="{GRID_STYLE}">{"".join(shown)}</div>'
    return "".join([*map(note_html, frame.above), grid, *map(note_html, frame.below)])


def _column_html(number: int, count: int, column: Column, body: str, *, used: bool) -> str:
    name = attribute_html(f"Answer {number + 1} of {count}: {' '.join(column.head.split())}")
    sign = f' <span class="jctx-used" style="{_SIGN}">{USED}</span>' if used else ""
    footer = footer_html(column.footer) if column.footer else ""
    return (
        f'<div class="jctx-column" role="group" aria-label="{name}" style="{_USED_BORDER if used else _PLAIN_BORDER}">'
        f'<div class="jctx-column-head" dir="auto" style="{_HEAD}">'
        f"{text_html(title(number, column.head))}{sign}</div>"
        f'<div style="{_BODY}">{body}{"".join(map(note_html, column.notes))}</div>{footer}</div>'
    )


def _thought(column: Column) -> str:
    usage = column.footer.usage if column.footer else None
    return thinking_html(column.thinking, usage.reasoning_tokens if usage else None)


def _plain(columns: Sequence[Column], frame: Frame, *, figures: bool = False) -> dict[str, str]:
    """Return the answers as plain text, one after the other; ``figures`` adds tokens, seconds and cost."""
    shown = (
        _answer_plain(number, column, used=frame.chosen == number, figures=figures)
        for number, column in enumerate(columns)
    )
    return {"text/plain": "\n".join([*map(note_plain, frame.above), *shown, *map(note_plain, frame.below)])}


def _answer_plain(number: int, column: Column, *, used: bool = False, figures: bool = False) -> str:
    """Return one answer as plain text, below its head, which no answer can imitate."""
    mark = f" ({USED})" if used else ""
    line = footer_line(column.footer) if figures and column.footer else ""
    notes = [*column.notes, *remarks(column.footer), *([line] if line else [])]
    text = column.forms.plain if column.forms else to_plain(column.text)
    lines = [note_plain(f"── {title(number, column.head)}{mark} ──"), text, *map(note_plain, notes)]
    return "\n".join(filter(None, lines))


def _markdown(columns: Sequence[Column], frame: Frame) -> str:
    parts = [*map(note_markdown, frame.above)]
    for number, column in enumerate(columns):
        mark = f" ({USED})" if frame.chosen == number else ""
        parts.append(f"**[ctx] {to_markdown(title(number, column.head))}{mark}**")
        parts += [with_fence_closed(answer.markdown)] if (answer := column.answer) else []
        parts += map(note_markdown, [*column.notes, *remarks(column.footer)])
    return "\n\n".join([*parts, *map(note_markdown, frame.below)])
