"""What a conversation shows of itself, still and live: turns, answers, the next request and its price, settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from .. import wording as words_of
from ..chat import Chat
from ..display.answer.strip import MOST_PART_NAME, SentPart
from ..display.tables import first_words, shortened, table
from ..display.widgets.turn_table import MarkBoxes, PartRow, SelectionTable, TurnTable
from ..models.request_price import RequestPrice, price_range, unknown_prices
from ..runtime.frontend import Origin
from ..session.actions import Change
from ..session.history import ENDINGS, HistoryRow
from ..session.preview import ViewPart
from ..session.prompt import Prompt
from ..session.prompt_parts import ASIDES, PART_MARK, PromptPart
from ..storage.holders import is_held_elsewhere
from ..storage.store import ConversationRow
from .sent_parts import sent_part

MOST_NAMES = 90  # characters of what went with a prompt
OMITTED = 20  # messages that a preview lists of those that are not sent
NEWER_PREVIEW = "This preview is as it was: a newer one of the same conversation has been shown."
_Line: TypeAlias = tuple[Sequence[str] | str, ViewPart | None]  # a row of a preview, and its message


def history_table(chat: Chat) -> SelectionTable:
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
    texts = [f"{turn.prompt}\n\n{turn.reply}" for turn in chat.turns]
    parts = {index: _turn_parts(row) for index, row in enumerate(history) if row.parts}
    head = ("turn", "cell", "prompt", "reply", "tokens", "state")
    return SelectionTable(head, rows, caption, _marked(chat), texts, parts)


def _turn_parts(row: HistoryRow) -> Sequence[PartRow]:
    """Return the prompt of a turn in parts, and its reply: what its tokens are the sum of."""
    reply = PromptPart("reply", row.reply, tokens=row.tokens - sum(part.tokens for part in row.parts))
    return [PartRow(("", "", _named(part), "", f"~{part.tokens:,}", ""), _shown(part)) for part in (*row.parts, reply)]


def _named(part: PromptPart) -> str:
    return shortened(part.line, MOST_PART_NAME)


def _shown(part: PromptPart) -> SentPart:
    """Return a part as it unfolds."""
    return sent_part(part.line.removeprefix(PART_MARK), "", part.text, part.files)


def _with(prompt: str, attached: str) -> str:
    """Return the beginning of a prompt, and what went with it, whose tokens stand in a column of their own."""
    named = shortened(ASIDES.sub("", attached), MOST_NAMES)
    return f"{first_words(prompt)} [with {named}]" if attached else first_words(prompt)


def _marked(chat: Chat) -> dict[int, MarkBoxes]:
    return {number: MarkBoxes(place.pinned, place.excluded) for number, place in enumerate(chat.conversation.places, 1)}


def _versions(count: int) -> tuple[str, ...]:
    return (f"{count} answers",) if count > 1 else ()


def versions_table(chat: Chat, number: int) -> dict[str, str]:
    """Return all answers that a turn has had, and which one is sent."""
    current = chat.desk.turn(number)
    rows = [
        (
            str(i), turn.model, _with(turn.typed, ", ".join(turn.sources)), first_words(turn.reply),
            ", ".join(filter(None, ("current" if turn is current else "", ENDINGS[turn.stop_reason]))),
        )
        for i, turn in enumerate(chat.desk.versions(number), 1)
    ]  # fmt: skip
    others = f"%chat pick {number} VERSION brings an answer back" if len(rows) > 1 else "it has had one answer"
    caption = f"Turn {number}: {others}"
    return table(("version", "model", "prompt", "reply", "state"), rows, caption)


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


def previewed(chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> SelectionTable:
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
    texts = ["" if part is None else part.text for part in messages]
    parts = {
        index: [_part_row(each, total) for each in part.parts]
        for index, part in enumerate(messages)
        if part is not None and part.parts
    }
    return SelectionTable(head, rows, caption, _marked(chat), texts, parts)


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


def mark(chat: Chat, number: int, name: str, on: bool) -> Change:
    """Pin or exclude a turn, or undo that."""
    verbs = {("pin", True): chat.pin, ("pin", False): chat.unpin, ("exclude", True): chat.exclude}
    return verbs.get((name, on), chat.include)(number)


class LiveViews:
    """The views of conversations, each made once and redrawn whenever its conversation changes."""

    def __init__(self) -> None:
        self._views: dict[tuple[Chat, str], TurnTable] = {}

    def history(self, chat: Chat) -> TurnTable:
        """Return every turn, with boxes that pin and exclude."""
        return self._once(chat, "history", lambda: TurnTable(lambda: history_table(chat), partial(mark, chat)))

    def preview(self, chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> TurnTable:
        """Return the next request, with boxes that pin and exclude its turns.

        Of those with a prompt of their own, the newest stays current: each would cost a reckoning at every turn.
        ``columns``: see :func:`previewed`.
        """
        has_options = any(value is not None for value in prompt.options.values())
        is_usual = prompt == Prompt("", prompt.options) and not has_options and not columns
        if not is_usual:
            self._end_newest(chat)
        kind = "preview" if is_usual else "prompt"
        return self._once(chat, kind, lambda: TurnTable(partial(previewed, chat, prompt, columns), partial(mark, chat)))

    def _end_newest(self, chat: Chat) -> None:
        """Leave the newest preview with a prompt of its own as it is."""
        newest = self._views.pop((chat, "prompt"), None)
        if newest is not None:
            newest.end(NEWER_PREVIEW)
            chat.desk.listeners.remove(newest.update)

    def _once(self, chat: Chat, kind: str, make: Callable[[], TurnTable]) -> TurnTable:
        key = chat, kind
        if key not in self._views:
            self._views[key] = view = make()
            chat.desk.listeners.append(view.update)
        return self._views[key]
