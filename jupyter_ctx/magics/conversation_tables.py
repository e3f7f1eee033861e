"""Tables of a conversation on a page: its turns, what each was sent, and the next request."""

from __future__ import annotations

from .. import wording as words_of
from ..conversation.messages import Message
from ..display.answer.attachment_summary import table_with_parts
from ..display.tables import column_sides, first_words, page_html, row_html, table
from ..display.text import WRAPS, text_html
from ..display.widgets.gauge import bar_static, share_of
from ..display.widgets.gauge_bar import text_bar
from ..session.prompt_parts import PART_MARK, TableWithParts
from ..session.reading import Replayed
from .sent_parts import attachment_summary

_REPLAY_HEAD, _BAR, _HAPPENED = ("turn", "context", "tokens", "share", "what happened"), 1, 4
_OMITTED = {"left out": "Left out:", "summarised": "A summary stands for", "excluded": "Excluded:"}
_MOST_UNFOLDED = 60_000  # characters of all messages
_BAR_WIDTH = "width:60px;width:clamp(60px,15vw,160px)"  # a sanitiser knows the first alone


def parts_bundle(shown: TableWithParts) -> dict[str, str]:
    """Return a table of messages as HTML, where their parts unfold, as Markdown and as plain text."""
    parts = {
        index: attachment_summary(part.line.removeprefix(PART_MARK), part.text, part.files)
        for index, part in shown.parts.items()
    }
    return table_with_parts(shown.head, shown.rows, shown.caption, parts)


def replay_bundle(steps: list[Replayed]) -> dict[str, str]:
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
