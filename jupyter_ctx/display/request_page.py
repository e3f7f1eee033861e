"""Draw the next request in the chip's panel: what is sent first, what is left out folded below, each with buttons.

Every text is escaped here. The buttons have no script of their own: the panel knows them by their data attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..wording import counted
from .tables import first_words
from .text import attribute_html, text_html

if TYPE_CHECKING:
    from ..session.tables import View, ViewPart

MOST_LEFT_OUT = 200  # messages that are listed of those that are left out, the newest
ACTIONS = {  # by the state of a turn, what can be done to it
    "pinned": {"unpin": "Unpin"},
    "excluded": {"include": "Include"},
    "sent": {"pin": "Pin", "exclude": "Leave out"},
    "left out": {"pin": "Pin"},
    "summarised": {"pin": "Pin"},
}


class OfferedCell(NamedTuple):
    """A cell of the notebook that may go with the next prompt.

    number: as the notebook shows it; 0 for Markdown, which goes with the cells around it
    code: as typed
    what: its tokens, and whether it is shortened
    """

    number: int
    code: str
    what: str
    state: Literal["sent", "pinned", "excluded"] = "sent"


def cells_html(cells: Sequence[OfferedCell], word: str) -> str:
    """Return the cells that go with the next prompt or with ``-a cells``, as ``word`` says; empty: none does."""
    rows = "".join(
        f"<li><span>{cell.number or ''}</span><span></span><div>{text_html(first_words(cell.code))}</div>"
        f"<span>{text_html(cell.what)}</span><span>{_buttons(cell.state, 'cell', cell.number)}</span></li>"
        for cell in cells
    )
    head = f"{counted(sum(cell.state != 'excluded' for cell in cells), 'cell')} {word}"
    return f"<details data-key='cells'><summary>{text_html(head)}</summary><ul>{rows}</ul></details>" if cells else ""


def request_html(view: View) -> str:
    """Return the next request as a list of messages, each of which unfolds to its whole text."""
    page = f"<p>{text_html(view.caption())}</p><ul>{''.join(map(_row, view.messages))}</ul>"
    if not view.omitted:
        return page
    summary = f"<summary>Left out: {counted(len(view.omitted), 'message')}</summary>"
    listed = f"<ul>{''.join(map(_row, view.omitted[-MOST_LEFT_OUT:]))}</ul>"
    return f"{page}<details class='jctx-left-out' data-key='left out'>{summary}{listed}</details>"


def _row(part: ViewPart) -> str:
    """Return a message with its turn, its size and, beside a prompt, what can be done to the turn."""
    head = text_html(part.beginning)
    if part.beginning != part.text:
        key = f"{part.turn} {part.role}"  # by which the panel unfolds it again when it is drawn anew
        head = f"<details data-key='{key}'><summary>{head}</summary><div>{text_html(part.text)}</div></details>"
    lines = "".join(f"<li><div>{text_html(each.line)}</div><span>~{each.tokens:,}</span></li>" for each in part.parts)
    head += f"<ul>{lines}</ul>" if lines else ""
    state = "" if part.state == "sent" else f"{part.state}, "
    figures = text_html(f"{state}{'' if part.exact else '~'}{part.tokens:,}")
    buttons = _buttons(part.state, "turn", part.turn) if part.role == "user" and part.turn else ""
    return (
        f"<li><span>{part.turn or ''}</span><span>{text_html(part.role)}</span>"
        f"<div>{head}</div><span>{figures}</span><span>{buttons}</span></li>"
    )


def _buttons(state: str, thing: Literal["turn", "cell"], number: int) -> str:
    """Return the buttons beside a turn or a cell."""
    return " ".join(
        f'<button type="button" class="jctx-press" data-press="{action}" data-{thing}="{number}" '
        f'aria-label="{attribute_html(f"{label}: {thing} {number}")}">{label}</button>'
        for action, label in ACTIONS.get(state, {}).items()
        if number
    )
