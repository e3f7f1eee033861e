"""What the request of each turn had, rebuilt from the conversation as it was then, and checked against its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from ..context.budget import default_reserve
from ..context.compaction import cut_at
from ..context.context_info import ContextInfo, segments_of
from ..context.policy import Decision
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


class Asked(NamedTuple):
    """An answer, the conversation before it and its position there; ``problem``: what is wrong with it, if anything."""

    turn: Turn
    before: Conversation
    at: int
    problem: str = ""


class Replayed(NamedTuple):
    """The request of a turn by its number: what was sent and left out, and how full that was, the prompt included.

    ``is_checked``: whether the digest of its messages is the recorded one.
    """

    number: int
    view: View
    info: ContextInfo
    is_checked: bool


def asked_by(past: Conversation, event: Event) -> Iterator[Asked]:
    """Yield the answers that were asked for with an event, which the conversation does not have yet."""
    if isinstance(event, Said):
        before = Conversation() if event.begins_anew(past) else past
        record = event.turn.record
        yield Asked(event.turn, before, before.position(record.cell, record.run, append=event.append))
    elif isinstance(event, Offered):
        offered = event.alternatives
        record = offered.asked.record
        before = Conversation() if past.begins_anew(record.cell, new=offered.new) else past
        at = before.position(record.cell, record.run, append=offered.append, offered=True)
        for answer in offered.answers:
            yield Asked(offered.turn(answer), before, at, answer.error or answer.problem)


def replayed(session: Session) -> list[Replayed]:
    """Return the requests of the newest turns, in order; turns for which nothing was sent have none."""
    places = session.conversation.places[-MOST_REPLAYED:]
    number_of = {place.turn.id: session.conversation.index(place.id) + 1 for place in places}
    past, sent = Conversation(), dict[int, Replayed]()
    for event in session.conversation.events:
        for asked in asked_by(past, event):
            number, record = number_of.get(asked.turn.id), asked.turn.record
            if number is not None and record.digest and not record.stored:
                system = session.system_of(past.system, past.memory)
                sent[number] = _replayed(session, asked, number, system)
        past.append(event)
    return [step for _, step in sorted(sent.items())]


def _replayed(session: Session, asked: Asked, number: int, system: str) -> Replayed:
    (turn, before, at, _), target = asked, _target(session, asked.turn)
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
    return Replayed(number, view, _info(view, target), is_checked)


def _target(session: Session, turn: Turn) -> Target:
    """Return where a turn was sent, with the window of then; where that model is not known any more, the usual one."""
    target = session.target({}, ask=False)
    if turn.model != target.model:
        with suppress(ChatError):
            target = session.target({"model": turn.model}, ask=False)
    if turn.record.window == target.window.tokens:
        return target
    window = replace(target.window, tokens=turn.record.window, max_input_tokens=None)
    return replace(target, window=window, reserve=min(target.reserve, default_reserve(window)))


def _info(view: View, target: Target) -> ContextInfo:
    sizes = Counter({"template": view.template})
    for part in view.messages:
        sizes[SEGMENTS.get(part.state, part.state)] += part.tokens
    del sizes["prompt"]
    sizes["this turn"] = max(0, view.input_tokens - sizes.total())  # as reported, whatever the prompt was estimated at
    names = ("template", "system", "pinned", "summary", "earlier turns", "this turn")
    segments = segments_of((name, sizes[name]) for name in names)
    return ContextInfo(target.model, target.budget(0, sizes.total(), exact=view.exact), segments, 0, 0)
