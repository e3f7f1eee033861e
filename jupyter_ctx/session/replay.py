"""What the request of each turn had, rebuilt from the conversation as it was then, and checked against its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ..context.budget import Budget
from ..context.compaction import cut_at
from ..context.context_info import ContextInfo, segments_of
from ..context.policy import Decision
from ..context.windows import ContextWindow, Source
from ..conversation.conversation import Conversation
from ..conversation.events import Event, Offered, Said
from ..conversation.messages import Turn
from ..errors import ChatError
from ..models.registry import Target
from .attempt import Attempt
from .messages_sent import are_same_messages, request_digest
from .preview import View, preview
from .session import Session
from .snapshot import prompt_size
from .view import scope_then, turn_tokens

MOST_REPLAYED = 100  # turns: the newest
SEGMENTS = {"sent": "earlier turns", "summary of older answers": "summary"}  # of states that are called otherwise


class _Asked(NamedTuple):
    """An answer, the conversation before it and its position there."""

    turn: Turn
    before: Conversation
    at: int


class Replayed(NamedTuple):
    """The request of a turn by its number: what was sent and left out, and how full that was, the prompt included.

    ``is_checked``: whether the digest of its messages is the recorded one.
    ``trimmed``: how many of the first turns the user had trimmed before.
    """

    number: int
    view: View
    info: ContextInfo
    is_checked: bool
    trimmed: int


def _asked_by(past: Conversation, event: Event) -> Iterator[_Asked]:
    """Yield the answers that were asked for with an event, which the conversation does not have yet."""
    if isinstance(event, Said):
        before = Conversation() if event.begins_anew(past) else past
        record = event.turn.record
        yield _Asked(event.turn, before, before.position(record.cell, record.run, append=event.append))
    elif isinstance(event, Offered):
        offered = event.alternatives
        record = offered.asked.record
        before = Conversation() if past.begins_anew(record.cell, new=offered.new) else past
        at = before.position(record.cell, record.run, append=offered.append, offered=True)
        for answer in offered.answers:
            yield _Asked(offered.turn(answer), before, at)


def replayed(session: Session) -> list[Replayed]:
    """Return the requests of the newest turns, in order; turns for which nothing was sent have none."""
    places = session.conversation.places[-MOST_REPLAYED:]
    number_of = {place.turn.id: session.conversation.index(place.id) + 1 for place in places}
    past, sent = Conversation(), dict[int, Replayed]()
    for event in session.conversation.events:
        for asked in _asked_by(past, event):
            number, record = number_of.get(asked.turn.id), asked.turn.record
            if number is not None and record.digest and not record.stored:
                system = session.system_of(past.system, past.memory)
                sent[number] = _replayed(session, asked, number, system)
        past.append(event)
    return [step for _, step in sorted(sent.items())]


def _replayed(session: Session, asked: _Asked, number: int, system: str) -> Replayed:
    (turn, before, at), target = asked, _target(session, asked.turn)
    scope, start = scope_then(before, at, system, turn)
    now = session.fitter.occupancy(target, before, scope, start)
    prompt = prompt_size(turn, turn_tokens(turn, target.meter))
    request = session.fitter.request(target, before, scope, start, target.sendable(turn.messages[0]))
    attempt = Attempt(
        turn.messages[0], target, before, scope, start, False, turn.record.apart, False,
        Decision("send", cut_at(now, start), 0), now.ledger, prompt, request,
        counted=turn.usage.input_tokens if turn.usage is not None else None,
    )  # fmt: skip
    view = preview(attempt, turn, is_counted=False, price=session.price(attempt))
    is_checked = are_same_messages(request_digest(target, request), turn.record.digest)
    return Replayed(number, view, _info(view, turn, target.window.source), is_checked, min(at, before.trimmed_to))


def _target(session: Session, turn: Turn) -> Target:
    """Return where a turn was sent; where that model is not known any more, the usual one."""
    target = session.target({}, ask=False)
    if turn.model != target.model:
        with suppress(ChatError):
            return session.target({"model": turn.model}, ask=False)
    return target


def _info(view: View, turn: Turn, source: Source) -> ContextInfo:
    """Return how full the window of then was; nobody recorded how much of it was kept for the reply."""
    sizes = Counter({"template": view.template})
    for part in view.messages:
        sizes[SEGMENTS.get(part.state, part.state)] += part.tokens
    del sizes["prompt"]
    sizes["this turn"] = max(0, view.input_tokens - sizes.total())  # as reported, whatever the prompt was estimated at
    names = ("template", "system", "pinned", "summary", "earlier turns", "this turn")
    segments = segments_of((name, sizes[name]) for name in names)
    budget = Budget(ContextWindow(turn.record.window, source=source), 0, 0, sizes.total(), view.exact)
    return ContextInfo(turn.model, budget, segments, 0, 0)
