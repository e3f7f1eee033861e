"""Tables of a conversation: its turns, the answers of one, the next request with its price, and all conversations."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from .. import wording as words_of
from ..chat import Chat
from ..display.answer.strip import MOST_PART_NAME, PartRow, SentPart, table_with_parts
from ..display.tables import first_words, shortened, table
from ..models.request_price import RequestPrice, price_range, unknown_prices
from ..runtime.frontend import Origin
from ..session.history import HistoryRow
from ..session.preview import ViewPart
from ..session.prompt import Prompt
from ..session.prompt_parts import PART_MARK, PromptPart
from ..storage.holders import is_held_elsewhere
from ..storage.store import ConversationRow
from .sent_parts import sent_part

OMITTED = 20  # messages that a preview lists of those that are not sent
_Line: TypeAlias = tuple[Sequence[str] | str, ViewPart | None]  # a row of a preview, and its message


def history_table(chat: Chat) -> dict[str, str]:
    """Return every turn since the last clear, with its state in the next request."""
    history = chat.history()
    rows = [
        (
            str(row.turn), row.cell, first_words(turn.typed), first_words(row.reply),
            f"{'' if row.exact else '~'}{row.tokens:,}", ", ".join((*row.states, *_versions(row.versions))),
        )
        for row, turn in zip(history, chat.turns, strict=True)
    ]  # fmt: skip
    cleared = len(chat.conversation.cleared)
    counted = words_of.turns(len(rows)) if rows else "No turns yet"
    kept_out = f" since the last clear; {cleared:,} before it {'is' if cleared == 1 else 'are'} left out"
    caption = f"{counted}{kept_out if cleared else ''}{'' if rows else '.'}"
    parts = {index: _turn_parts(row) for index, row in enumerate(history) if row.parts}
    head = ("turn", "cell", "prompt", "reply", "tokens", "state")
    return table_with_parts(head, rows, caption, parts)


def _turn_parts(row: HistoryRow) -> Sequence[PartRow]:
    """Return the prompt of a turn in parts, and its reply: what its tokens are the sum of."""
    reply = PromptPart("reply", row.reply, tokens=row.tokens - sum(part.tokens for part in row.parts))
    return [PartRow(("", "", _named(part), "", f"~{part.tokens:,}", ""), _shown(part)) for part in (*row.parts, reply)]


def _named(part: PromptPart) -> str:
    return shortened(part.line, MOST_PART_NAME)


def _shown(part: PromptPart) -> SentPart:
    """Return a part as it unfolds."""
    return sent_part(part.line.removeprefix(PART_MARK), "", part.text, part.files)


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


def previewed(chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> dict[str, str]:
    """Return the next request part by part; above its first line, the turns that are not sent.

    ``columns``: all prompts that are sent at once, where this is the first of several.
    """
    view = chat.desk.view(prompt)
    prices = [chat.desk.view(column).price for column in columns]
    total = max(1, view.input_tokens)
    lines = list[_Line](_left_out(view.omitted))
    if lines:
        lines.append(("the request begins here", None))
    lines += [(_part(part, f"{100 * part.tokens / total:.0f} %"), part) for part in view.messages]
    if view.template:
        share = f"{100 * view.template / total:.0f} %"
        added = "what the model's server adds to the messages"
        lines.append((("", "", added, f"~{view.template:,}", share, "template"), None))
    about = "" if view.exact else "~"
    which = f"The first of {len(prices)} requests" if prices else "The next request"
    caption = f"{which}: {about}{view.input_tokens:,} tokens in {words_of.counted(len(view.messages), 'message')}"
    caption += _price(prices or [view.price]) if view.messages else ""
    head = ("turn", "role", "text", "tokens", "share", "state")
    rows, messages = zip(*lines, strict=True) if lines else ((), ())
    parts = {
        index: [_part_row(each, total) for each in part.parts]
        for index, part in enumerate(messages)
        if part is not None and part.parts
    }
    return table_with_parts(head, rows, caption, parts)


def _part_row(part: PromptPart, total: int) -> PartRow:
    share = f"{100 * part.tokens / total:.0f} %"
    return PartRow(("", "", _named(part), f"~{part.tokens:,}", share, ""), _shown(part))


def _price(prices: Sequence[RequestPrice]) -> str:
    """Return what requests cost that are sent at once, as the end of a sentence; nothing where nobody bills them."""
    if all(price.is_free for price in prices):
        return ""
    together, several = price_range(prices), len(prices) > 1
    if together is None:
        unknown = unknown_prices(prices) if several else "its price is unknown"
        return f"; {unknown} (%chat config prices gives it)"
    about = "" if all(price.exact for price in prices) else "~"
    low, high = (f"{about}{words_of.dollars(cost)}" for cost in together)
    sent = sum(price.input or 0.0 for price in prices)
    cached = sum(price.cached_tokens for price in prices)
    to_send = f"{about}{words_of.dollars(sent)} to send"
    if together[0] < sent:
        to_send += f" ({low} if the {cached:,} just sent are still cached)"
    replies, each = ("replies", " each") if several else ("a reply", "")
    length = f"{max(price.output_tokens for price in prices):,} tokens{each}"
    if all(price.is_limited or price.is_free for price in prices):
        most = f"up to {high.lstrip('~')} with {replies} of at most {length}"
    else:
        most = f"{high} with {replies} of {length}, which may be longer: no max_tokens is set"
    rates = [f"{price.model}: {price.rates}" if several else str(price.rates) for price in prices if price.rates]
    which = f"all {len(prices)} together: " if several else ""
    return f"; {which}{to_send}, {most} ({'; '.join(dict.fromkeys(rates))})"


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
