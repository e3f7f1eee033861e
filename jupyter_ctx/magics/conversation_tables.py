"""Tables of a conversation: its turns, what each was sent, the next request with its price, and all conversations."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from .. import wording as words_of
from ..conversation.messages import Message
from ..display.answer.attachment_summary import MOST_PART_NAME, PartRow, table_with_parts
from ..display.tables import column_sides, first_words, page_html, row_html, shortened, table
from ..display.text import WRAPS, text_html
from ..display.widgets.gauge import bar_static, share_of
from ..display.widgets.gauge_bar import text_bar
from ..models.request_price import RequestPrice, price_range, sending_text, unknown_prices
from ..runtime.frontend import Origin
from ..session.history import History, HistoryRow
from ..session.preview import View, ViewPart
from ..session.prompt_parts import PART_MARK, PromptPart
from ..session.replay import Replayed
from ..storage.holders import is_held_elsewhere
from ..storage.store import ConversationRow
from .sent_parts import attachment_summary

OMITTED = 20  # messages that a preview lists of those that are not sent
_Line: TypeAlias = tuple[Sequence[str] | str, ViewPart | None]  # a row of a preview, and its message
_REPLAY_HEAD, _BAR, _HAPPENED = ("turn", "context", "tokens", "share", "what happened"), 1, 4
_OMITTED = {"left out": "Left out:", "summarised": "A summary stands for", "excluded": "Excluded:"}
_MOST_UNFOLDED = 60_000  # characters of all messages
_BAR_WIDTH = "width:60px;width:clamp(60px,15vw,160px)"  # a sanitiser knows the first alone


def history_forms(history: History) -> dict[str, str]:
    """Return every turn since the last clear, with its state in the next request and what went with its prompt."""
    rows = [
        (
            str(row.turn), row.cell, first_words(row.parts[0].text if row.parts else row.prompt),
            first_words(row.reply),
            f"{'' if row.exact else '~'}{row.tokens:,}", ", ".join((*row.states, *_versions(row.versions))),
        )
        for row in history
    ]  # fmt: skip
    parts = {index: [*_turn_parts(row)] for index, row in enumerate(history) if row.parts}
    head = ("turn", "cell", "prompt", "reply", "tokens", "state")
    forms = table_with_parts(head, rows, words_of.turns(len(rows)) if rows else "No turns yet.", parts)
    return {**forms, "text/plain": repr(history)}  # which IPython takes of a tuple in any case


def _turn_parts(row: HistoryRow) -> Iterator[PartRow]:
    """Yield the prompt of a turn in parts, and its reply: what its tokens are the sum of."""
    reply = PromptPart("reply", row.reply, tokens=row.tokens - sum(part.tokens for part in row.parts))
    for part in (*row.parts, reply):
        yield _part_row(part, "", f"~{part.tokens:,}")


def _part_row(part: PromptPart, *figures: str) -> PartRow:
    """Return a row for a part of a message, as it unfolds."""
    name = shortened(part.line, MOST_PART_NAME)
    unfolding = attachment_summary(name.removeprefix(PART_MARK), part.text, part.files)
    return PartRow(("", "", name, *figures, ""), unfolding)


def _versions(count: int) -> tuple[str, ...]:
    return (f"{count} answers",) if count > 1 else ()


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


def view_forms(view: View, columns: Sequence[View] = ()) -> dict[str, str]:
    """Return a request part by part; above its first line, the turns that are not sent.

    ``columns``: all requests that are sent at once, where this is the first of several.
    """
    total = max(1, view.input_tokens)
    lines = list[_Line](_left_out(view.omitted))
    if lines:
        lines.append(("the request begins here", None))
    lines += [(_part(part, _share(part.tokens, total)), part) for part in view.messages]
    if view.template:
        added = "what the model's server adds to the messages"
        lines.append((("", "", added, f"~{view.template:,}", _share(view.template, total), "template"), None))
    about = "" if view.exact else "~"
    which = f"The first of {len(columns)} requests" if columns else "The next request"
    caption = f"{which}: {about}{view.input_tokens:,} tokens in {words_of.counted(len(view.messages), 'message')}"
    caption += _price([each.price for each in columns or [view]]) if view.messages else ""
    parts = {
        index: [_part_row(each, f"~{each.tokens:,}", _share(each.tokens, total)) for each in part.parts]
        for index, (_, part) in enumerate(lines)
        if part is not None and part.parts
    }
    head = ("turn", "role", "text", "tokens", "share", "state")
    return table_with_parts(head, [row for row, _ in lines], caption, parts)


def _share(tokens: int, total: int) -> str:
    return f"{100 * tokens / total:.0f} %"


def _price(prices: Sequence[RequestPrice]) -> str:
    """Return what requests cost that are sent at once, as the end of a sentence; nothing where nobody bills them."""
    if all(price.is_free for price in prices):
        return ""
    together, several = price_range(prices), len(prices) > 1
    if together is None:
        unknown = unknown_prices(prices) if several else "its price is unknown"
        return f"; {unknown} (%chat config prices gives it)"
    high = words_of.dollars(together[1])
    replies, each = ("replies", " each") if several else ("a reply", "")
    length = f"{max(price.output_tokens for price in prices):,} tokens{each}"
    if all(price.is_limited or price.is_free for price in prices):
        most = f"up to {high} with {replies} of at most {length}"
    else:
        most = f"~{high} with {replies} of {length}, which may be longer: no max_tokens is set"
    rates = [f"{price.model}: {price.rates}" if several else str(price.rates) for price in prices if price.rates]
    which = f"all {len(prices)} together: " if several else ""
    return f"; {which}{sending_text(prices)}, {most} ({'; '.join(dict.fromkeys(rates))})"


def _left_out(parts: Sequence[ViewPart]) -> Iterator[_Line]:
    """Yield the rows of turns that are not sent: the newest, and how many come before them."""
    more = parts[: max(0, len(parts) - OMITTED)]
    if more:
        tokens = sum(part.tokens for part in more)
        yield ("…", "", f"{len(more):,} messages before these", f"~{tokens:,}", "–", "not sent"), None
    yield from ((_part(part, "–"), part) for part in parts[len(more) :])


def _part(part: ViewPart, share: str) -> Sequence[str]:
    tokens = f"{'' if part.exact else '~'}{part.tokens:,}"
    state = f"{part.state}, stale" if part.stale else part.state
    return (str(part.number or ""), part.role, first_words(part.text[: part.typed]), tokens, share, state)


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
