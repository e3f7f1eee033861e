"""Tables of a conversation: its turns, what each was sent, the next request with its price, and all conversations."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import wording as words_of
from ..conversation.messages import Message
from ..display.answer.attachment_summary import AttachmentSummary, PartRow, table_with_parts
from ..display.tables import column_sides, first_words, page_html, row_html, table
from ..display.text import WRAPS, text_html
from ..display.widgets.gauge import bar_static, share_of
from ..display.widgets.gauge_bar import text_bar
from ..models.request_price import RequestPrice
from ..runtime.frontend import Origin
from ..session.history import TURN_COLUMNS, History
from ..session.info import Replayed
from ..session.preview import VIEW_COLUMNS, View
from ..session.prompt_parts import PART_MARK, PromptPart, RowWithParts
from ..storage.ownership import is_held_elsewhere
from ..storage.store import ConversationRow
from .sent_parts import attachment_summary

_REPLAY_HEAD, _BAR, _HAPPENED = ("turn", "context", "tokens", "share", "what happened"), 1, 4
_OMITTED = {"left out": "Left out:", "summarised": "A summary stands for", "excluded": "Excluded:"}
_MOST_UNFOLDED = 60_000  # characters of all messages
_BAR_WIDTH = "width:60px;width:clamp(60px,15vw,160px)"  # a sanitiser knows the first alone


def conversations_table(rows: Sequence[ConversationRow], current: str, origin: Origin) -> dict[str, str]:
    """Return conversations with their size and when they were last used."""
    now, cells = time.time(), list[Sequence[str]]()
    for row in rows:
        here = row.notebook == origin.scope
        state = "current" if here and row.name == current else "in another kernel" if is_held_elsewhere(row) else ""
        notebook = "this one" if here else row.notebook or "scripts"
        cells.append((row.name, words_of.turns(row.turns), words_of.ago(now - row.updated), state, notebook))
    head: Sequence[str] = ("conversation", "turns", "last used", "state", "notebook")
    if all(row.notebook == origin.scope for row in rows):
        head, cells = head[:-1], [cell[:-1] for cell in cells]
    caption = "Conversations: %chat switch NAME talks in another one"
    return table(head, cells, caption if cells else "No conversations yet.")


def history_forms(turns: History) -> dict[str, str]:
    """Return a table of turns, each with its state in the next request."""
    return _forms_with_parts(TURN_COLUMNS, [row.shown for row in turns], turns.caption)


def view_forms(view: View, prices: Sequence[RequestPrice] = ()) -> dict[str, str]:
    """Return a request part by part; above its first line, the turns that are not sent.

    ``prices``: of all requests that are sent at once, where this is the first of several.
    """
    return _forms_with_parts(VIEW_COLUMNS, view.rows(), view.caption(prices))


def _forms_with_parts(head: Sequence[str], rows: Sequence[RowWithParts], caption: str) -> dict[str, str]:
    parts = {
        index: [PartRow(cells, _unfolded(part)) for cells, part in row.parts]
        for index, row in enumerate(rows)
        if row.parts
    }
    return table_with_parts(head, [row.cells for row in rows], caption, parts)


def _unfolded(part: PromptPart) -> AttachmentSummary:
    return attachment_summary(part.line.removeprefix(PART_MARK), part.text, part.files)


def replay_forms(steps: list[Replayed]) -> dict[str, str]:
    """Return the rows as HTML, where the messages of the newest turns unfold, as Markdown and as plain text."""
    rows, in_view = list[tuple[str, ...]](), set[int]()
    for step in steps:
        happened, info = _happened(step, in_view), step.info
        rows.append((f"{step.number}", text_bar(info), f"{info.used:,}", share_of(info), happened))
        in_view = {number for number, state in enumerate(step.states, 1) if state not in _OMITTED} | {step.number}
    sides, drawn, left = column_sides(_REPLAY_HEAD, rows), list[str](), _MOST_UNFOLDED
    for step, row in zip(reversed(steps), reversed(rows), strict=True):
        left -= sum(len(message.content) for message in step.messages)
        sent = "".join(map(_unfolding, step.messages)) if left >= 0 else ""
        unfolds = f'<details style="white-space:pre-wrap;{WRAPS}"><summary>what was sent</summary>{sent}</details>'
        cells = {_BAR: bar_static(step.info, _BAR_WIDTH), _HAPPENED: text_html(row[_HAPPENED]) + unfolds * bool(sent)}
        drawn.append(f"<tr>{row_html(row, sides, cells)}</tr>")
    caption = "What was sent, turn by turn" if steps else "No turn since the last clear was sent from here."
    forms = table(_REPLAY_HEAD, rows, caption)
    return forms | {"text/html": page_html(_REPLAY_HEAD, sides, reversed(drawn), caption)} if steps else forms


def _unfolding(message: Message) -> str:
    name = f"{message.role}: {first_words(message.content)}"
    return f"<details><summary>{text_html(name)}</summary>{text_html(message.content)}</details>"


def _happened(step: Replayed, before: set[int]) -> str:
    """Return what a request lacks and what stands in its place; ``before``: turns that the one before it had."""
    omitted = {name: [at for at, state in enumerate(step.states, 1) if state == name] for name in _OMITTED}
    gone = sorted(number for numbers in omitted.values() for number in before.intersection(numbers))
    fell_out = [f"{words_of.named_turns(gone).capitalize()} fell out now."] if gone else []
    return " ".join(
        [*fell_out, *(f"{_OMITTED[name]} {words_of.named_turns(turns)}." for name, turns in omitted.items() if turns)]
    )
