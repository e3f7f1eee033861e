"""The tables that commands draw: turns, answers, conversations, the next request, and the settings form."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from .. import wording as words_of
from ..chat import Chat
from ..display.widgets.tables import first_words, shortened, table
from ..display.widgets.turn_table import MarkBoxes, SelectionTable
from ..models.request_price import RequestPrice, price_range, unknown_prices
from ..runtime.frontend import Origin
from ..session.actions import Change
from ..session.history import ENDINGS
from ..session.preview import View, ViewPart
from ..session.prompt import Prompt
from ..storage.holders import is_held_elsewhere
from ..storage.store import ConversationRow

ABOUT_TOKENS = re.compile(r" \(about [\d,]+ tokens\)|, about [\d,]+ tokens")
MOST_NAMES = 90  # characters of what went with a prompt
OMITTED = 20  # messages that a preview lists of those that are not sent


def history_table(chat: Chat) -> SelectionTable:
    """Return every turn since the last clear, with its state in the next request."""
    rows = [
        (
            str(row.turn), row.cell, _with(turn.typed, row.attached), first_words(row.reply),
            f"{'' if row.exact else '~'}{row.tokens:,}", ", ".join((*row.states, *_versions(row.versions))),
        )
        for row, turn in zip(chat.history(), chat.turns, strict=True)
    ]  # fmt: skip
    cleared = len(chat.conversation.cleared)
    counted = words_of.turns(len(rows)) if rows else "No turns yet"
    kept_out = f" since the last clear; {cleared:,} before it {'is' if cleared == 1 else 'are'} left out"
    caption = f"{counted}{kept_out if cleared else ''}{'' if rows else '.'}"
    texts = [f"{turn.prompt}\n\n{turn.reply}" for turn in chat.turns]
    return SelectionTable(("turn", "cell", "prompt", "reply", "tokens", "state"), rows, caption, _marked(chat), texts)


def _with(prompt: str, attached: str) -> str:
    """Return the beginning of a prompt, and what went with it, whose tokens stand in a column of their own."""
    named = shortened(ABOUT_TOKENS.sub("", attached), MOST_NAMES)
    return f"{first_words(prompt)} [with {named}]" if attached else first_words(prompt)


def _marked(chat: Chat) -> dict[int, MarkBoxes]:
    return {number: MarkBoxes(place.pinned, place.excluded) for number, place in enumerate(chat.conversation.places, 1)}


def _versions(count: int) -> tuple[str, ...]:
    return (f"{count} answers",) if count > 1 else ()


def versions_table(chat: Chat, number: int) -> dict[str, str]:
    """Return all answers that a turn has had, and which one is sent."""
    current = chat.turn(number)
    rows = [
        (
            str(i), turn.model, _with(turn.typed, ", ".join(turn.sources)), first_words(turn.reply),
            ", ".join(filter(None, ("current" if turn is current else "", ENDINGS[turn.stop_reason]))),
        )
        for i, turn in enumerate(chat.versions(number), 1)
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


def preview_table(chat: Chat, view: View, prices: Sequence[RequestPrice] = ()) -> SelectionTable:
    """Return the next request part by part; above its first line, the turns that are not sent.

    ``prices``: of all requests that are sent at once, where this is the first of several.
    """
    total = max(1, view.input_tokens)
    rows: list[Sequence[str] | str] = list(_left_out(view.omitted))
    left = view.omitted[-OMITTED:]
    texts = [*[""] * (len(rows) - len(left)), *(part.text for part in left)]
    if rows:
        rows.append("the request begins here")
        texts.append("")
    rows += [_part(part, f"{100 * part.tokens / total:.0f} %") for part in view.messages]
    texts += [part.text for part in view.messages]
    if view.template:
        share = f"{100 * view.template / total:.0f} %"
        rows.append(("", "", "what the model's server adds to the messages", f"~{view.template:,}", share, "template"))
    about = "" if view.exact else "~"
    which = f"The first of {len(prices)} requests" if prices else "The next request"
    caption = f"{which}: {about}{view.input_tokens:,} tokens in {words_of.messages(len(view.messages))}"
    caption += _prices(prices) if prices else _price(view.price) if view.messages else ""
    return SelectionTable(("turn", "role", "text", "tokens", "share", "state"), rows, caption, _marked(chat), texts)


def _price(price: RequestPrice) -> str:
    """Return what the next request costs, as the end of a sentence; nothing where nobody bills it."""
    if price.is_free:
        return ""
    if price.input is None or price.low is None or price.high is None:
        return "; its price is unknown"
    about, reply = "" if price.exact else "~", f"{price.output_tokens:,} tokens"
    cached = ""
    if price.low < price.input:
        cached = f" ({about}{words_of.dollars(price.low)} if the {price.cached_tokens:,} just sent are still cached)"
    most = f"up to {words_of.dollars(price.high)} with a reply of at most {reply}"
    if not price.is_limited:
        most = (
            f"{about}{words_of.dollars(price.high)} with a reply of {reply}, which may be longer: no max_tokens is set"
        )
    return f"; {about}{words_of.dollars(price.input)} to send{cached}, {most}"


def _prices(prices: Sequence[RequestPrice]) -> str:
    """Return what requests cost that are sent at once, as the end of a sentence; nothing where nobody bills them."""
    if all(price.is_free for price in prices):
        return ""
    together = price_range(prices)
    if together is None:
        return f"; {unknown_prices(prices)}"
    most = words_of.dollars(together[1])
    limits = {price.output_tokens for price in prices}
    reply = f"{max(limits):,} tokens each" if len(limits) == 1 else f"{min(limits):,} to {max(limits):,} tokens"
    about = "" if all(price.exact for price in prices) else "~"
    sent = words_of.dollars(sum(price.input or 0.0 for price in prices))
    said = f"; all {len(prices)} together: {about}{sent} to send"
    if all(price.is_limited or price.is_free for price in prices):
        return f"{said}, up to {most} with replies of at most {reply}"
    return f"{said}, {about}{most} with replies of {reply}, which may be longer: no max_tokens is set"


def _left_out(parts: Sequence[ViewPart]) -> Iterator[Sequence[str]]:
    """Yield the rows of turns that are not sent: the newest, and how many come before them."""
    more = parts[: max(0, len(parts) - OMITTED)]
    if more:
        tokens = sum(part.tokens for part in more)
        yield ("…", "", f"{len(more):,} messages before these", f"~{tokens:,}", "–", "not sent")
    yield from (_part(part, "–") for part in parts[len(more) :])


def _part(part: ViewPart, share: str) -> Sequence[str]:
    tokens = f"{'' if part.exact else '~'}{part.tokens:,}"
    state = f"{part.state}, stale" if part.stale else part.state
    return (str(part.number or ""), part.role, _with(part.text[: part.typed], part.attached), tokens, share, state)


def previewed(chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> SelectionTable:
    """Return the next request part by part, with the price of all ``columns`` where it is one of several."""
    return preview_table(chat, chat.view(prompt), [chat.view(column).price for column in columns])


def mark(chat: Chat, number: int, name: str, on: bool) -> Change:
    """Pin or exclude a turn, or undo that."""
    verbs = {("pin", True): chat.pin, ("pin", False): chat.unpin, ("exclude", True): chat.exclude}
    return verbs.get((name, on), chat.include)(number)
