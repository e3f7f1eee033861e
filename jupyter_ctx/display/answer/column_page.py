"""Draw answers side by side: on a page as columns, in Markdown and plain text one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..text import BADGE_STYLE, WRAPS, attribute_html, note_html, note_plain, text_html, to_plain
from ..word_marks import MARK_STYLE, MarkedPage, marked_in_brackets, marked_on_a_page, marks_meaning
from .footer import Footer, footer_html, footer_line, remarks, thinking_html
from .markdown import MimeBundle, answer_html, note_markdown, to_markdown, with_fence_closed

COLUMN_WIDTH = 22  # em: columns stand below each other where the page is too narrow for two as wide
USED = "✓ used in the conversation"
# a saved notebook that is not trusted keeps no grid and no variable, but the plain borders and all text
GRID_STYLE = (
    f"display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,{COLUMN_WIDTH}em),1fr));gap:.6em;margin:.4em 0"
)
_COLUMN = (
    "display:flex;flex-direction:column;min-width:0;box-sizing:border-box;margin:0;"
    "padding:{padding}px;border:{width}px solid #757575;border-color:{variable}"
)
_PLAIN_BORDER = _COLUMN.format(width=1, padding=8, variable="var(--jp-border-color1,#757575)")
_USED_BORDER = _COLUMN.format(width=3, padding=6, variable="var(--jp-ui-font-color1,#757575)")
_SIGN = f"display:inline-block;line-height:1.3;{BADGE_STYLE}"
_HEAD = f"font-weight:600;{WRAPS};margin:0 0 .3em"
_QUIET = "color:var(--jp-ui-font-color2,inherit);font-style:italic;margin:.4em 0"
_BODY = "flex:1 1 auto;min-width:0"
COLUMN_STYLES = (GRID_STYLE, _PLAIN_BORDER, _USED_BORDER, _SIGN, _HEAD, _QUIET, _BODY, MARK_STYLE)


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
    def shown(self) -> str | MimeBundle:
        """The answer as it is shown."""
        return self.forms or self.text

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


def columns_html(columns: Sequence[Column], frame: Frame, bodies: Sequence[str]) -> str:
    """Return the columns as HTML; ``bodies`` are the answers with their thinking texts."""
    count = len(columns)
    shown = (
        _column(number, count, column, body, used=frame.chosen == number)
        for number, (column, body) in enumerate(zip(columns, bodies, strict=True))
    )
    grid = f'<div class="jctx-columns" style="{GRID_STYLE}">{"".join(shown)}</div>'
    return "".join([*map(note_html, frame.above), grid, *map(note_html, frame.below)])


def columns_bundle(columns: Sequence[Column], frame: Frame) -> dict[str, str]:
    """Return finished answers as HTML, Markdown and plain text.

    The figures are in the HTML only, because saved notebooks are compared by the other forms.
    """
    bodies = [answer_html(MimeBundle.of(column.shown).html) if column.shown else "" for column in columns]
    return {
        "text/html": _whole_html(columns, frame, bodies),
        "text/markdown": _markdown(columns, frame),
        **columns_plain(columns, frame),
    }


def compared_bundle(columns: Sequence[Column], frame: Frame) -> dict[str, str]:
    """Return stored answers side by side, with the words marked that differ, as ``%chat compare`` shows them.

    The plain text has the words that differ in ``{+…+}``, as git's word diffs do, and the figures.
    """
    shown = [MimeBundle.of(column.shown) for column in columns]
    marked, brackets = (
        marked_on_a_page([each.html for each in shown]),
        marked_in_brackets([each.plain for each in shown]),
    )
    bodies = [(answer_html(text.html) + _share(text)) if text.words else "" for text in marked]
    around = replace(frame, below=(marks_meaning(len(columns)), *frame.below))
    plain = [replace(column, text=text, forms=None) for column, text in zip(columns, brackets, strict=True)]
    meaning = marks_meaning(len(columns)).replace("underlined", "in {+…+}")
    return {
        "text/html": _whole_html(columns, around, bodies),
        "text/markdown": _markdown(columns, frame),
        **columns_plain(plain, replace(frame, below=[meaning]), figures=True),
    }


def _whole_html(columns: Sequence[Column], frame: Frame, bodies: Sequence[str]) -> str:
    return columns_html(columns, frame, [_thought(column) + body for column, body in zip(columns, bodies, strict=True)])


def columns_plain(columns: Sequence[Column], frame: Frame, *, figures: bool = False) -> dict[str, str]:
    """Return the answers as plain text, one after the other; ``figures`` adds tokens, seconds and cost."""
    shown = (
        answer_plain(number, column, used=frame.chosen == number, figures=figures)
        for number, column in enumerate(columns)
    )
    return {"text/plain": "\n".join([*map(note_plain, frame.above), *shown, *map(note_plain, frame.below)])}


def answer_plain(number: int, column: Column, *, used: bool = False, figures: bool = False) -> str:
    """Return one answer as plain text, below its head, which no answer can imitate."""
    mark = f" ({USED})" if used else ""
    line = footer_line(column.footer, priced=True) if figures and column.footer else ""
    notes = [*column.notes, *remarks(column.footer), *([line] if line else [])]
    text = [column.forms.plain if column.forms else to_plain(column.text)] if column.shown else []
    return "\n".join([note_plain(f"── {title(number, column.head)}{mark} ──"), *text, *map(note_plain, notes)])


def title(number: int, head: str) -> str:
    """Return the number of a column, counted from 1, and its head."""
    return f"{number + 1} · {' '.join(head.split())}" if head.strip() else f"{number + 1}"


def choice_line(chosen: int | None, count: int) -> str:
    """Return which of ``count`` answers the conversation uses; ``chosen`` is its index, or ``None``."""
    if chosen is None:
        return f"No answer is used in the conversation yet: %chat pick N (1 to {count}) takes one."
    return f"Answer {chosen + 1} is used: %chat undo takes it back."


def _column(number: int, count: int, column: Column, body: str, *, used: bool) -> str:
    name = attribute_html(f"Answer {number + 1} of {count}: {' '.join(column.head.split())}")
    sign = f' <span class="jctx-used" style="{_SIGN}">{USED}</span>' if used else ""
    footer = footer_html(column.footer, priced=True) if column.footer else ""
    return (
        f'<div class="jctx-column" role="group" aria-label="{name}" style="{_USED_BORDER if used else _PLAIN_BORDER}">'
        f'<div class="jctx-column-head" dir="auto" style="{_HEAD}">'
        f"{text_html(title(number, column.head))}{sign}</div>"
        f'<div style="{_BODY}">{body}{"".join(map(note_html, column.notes))}</div>{footer}</div>'
    )


def _thought(column: Column) -> str:
    usage = column.footer.usage if column.footer else None
    return thinking_html(column.thinking, usage.reasoning_tokens if usage else None)


def _share(text: MarkedPage) -> str:
    return f'<div class="jctx-share" style="{_QUIET}">{text_html(text.share)}</div>' if text.words else ""


def _markdown(columns: Sequence[Column], frame: Frame) -> str:
    parts = [*map(note_markdown, frame.above)]
    for number, column in enumerate(columns):
        mark = f" ({USED})" if frame.chosen == number else ""
        parts.append(f"**[ctx] {to_markdown(title(number, column.head))}{mark}**")
        markdown = column.forms.markdown if column.forms else to_markdown(column.text)
        parts += [with_fence_closed(markdown)] if column.shown else []
        parts += map(note_markdown, [*column.notes, *remarks(column.footer)])
    return "\n\n".join([*parts, *map(note_markdown, frame.below)])
