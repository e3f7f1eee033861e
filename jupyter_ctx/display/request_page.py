"""Draw the next request in the chip's panel: what is sent first, what is left out folded below, each with buttons.

Every text is escaped here. The buttons have no script of their own: the panel knows them by their data attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..wording import counted
from .tables import first_words
from .text import attribute_html, text_html

if TYPE_CHECKING:
    from ..session.preview import View, ViewPart

MOST_UNFOLDED = 200_000  # characters of all texts: beyond them a row shows its beginning alone
MOST_LEFT_OUT = 200  # messages that are listed of those that are left out, the newest
ACTIONS = {  # by the state of a turn, what can be done to it
    "pinned": {"unpin": "Unpin"},
    "excluded": {"include": "Include"},
    "sent": {"pin": "Pin", "exclude": "Leave out"},
    "left out": {"pin": "Pin"},
    "summarised": {"pin": "Pin"},
}


def request_html(view: View) -> str:
    """Return the next request as a list of messages, each of which unfolds to its whole text."""
    left = MOST_UNFOLDED
    whole = set[int]()  # the messages whose whole texts are there, the newest first
    for part in (*reversed(view.messages), *reversed(view.omitted)):
        left -= len(part.text)
        if left >= 0:
            whole.add(id(part))
    pages = [f"<p>{text_html(view.caption())}</p>", _list(view.messages, whole)]
    if view.omitted:
        count = counted(len(view.omitted), "message")
        listed = _list(view.omitted[-MOST_LEFT_OUT:], whole)
        pages.append(
            f"<details class='jctx-left-out' data-key='left out'><summary>Left out: {count}</summary>{listed}</details>"
        )
    return "".join(pages)


def _list(parts: Sequence[ViewPart], whole: Iterable[int]) -> str:
    return f"<ul>{''.join(_row(part, is_whole=id(part) in whole) for part in parts)}</ul>"


def _row(part: ViewPart, *, is_whole: bool) -> str:
    """Return a message with its turn, its size and, beside a prompt, what can be done to the turn."""
    beginning = first_words(part.text[: part.typed])
    with_it = f" · with {part.attached}" if part.attached else ""
    head = text_html(beginning + with_it)
    if is_whole and (beginning != part.text):
        key = f"{part.turn} {part.role}"  # by which the panel unfolds it again when it is drawn anew
        head = f"<details data-key='{key}'><summary>{head}</summary><div>{text_html(part.text)}</div></details>"
    number, about = part.turn or "", "" if part.exact else "~"
    state = "" if part.state == "sent" else f"{part.state}, "
    figures = text_html(f"{state}{about}{part.tokens:,}")
    buttons = _buttons(part) if part.role == "user" and part.turn else ""
    return (
        f"<li><span>{number}</span><span>{text_html(part.role)}</span>"
        f"<div>{head}</div><span>{figures}</span><span>{buttons}</span></li>"
    )


def _buttons(part: ViewPart) -> str:
    return " ".join(
        f'<button type="button" class="jctx-press" data-press="{action}" data-turn="{part.turn}" '
        f'aria-label="{attribute_html(f"{label}: turn {part.turn}")}">{label}</button>'
        for action, label in ACTIONS.get(part.state, {}).items()
    )
