"""What the request of each turn had, rebuilt from the conversation as it was then."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..context.budget import Budget
from ..context.context_info import ContextInfo, segments_of
from ..context.windows import ContextWindow
from ..conversation.conversation import Conversation
from ..conversation.events import Offered, Said
from ..conversation.messages import Message, Turn
from ..errors import ChatError
from .messages_sent import are_same_messages, request_digest, request_in
from .planning import ledger_of
from .session import Session
from .view import PartStatus, part_states, scope_then, turn_tokens


class Replayed(NamedTuple):
    """A turn: how full the window was with it, what became of those before it, and what was sent, if that is known."""

    number: int
    info: ContextInfo
    states: Sequence[PartStatus]
    messages: Sequence[Message]


def replayed(session: Session) -> list[Replayed]:
    """Return the requests of the turns since the last clear; turns for which nothing was sent have none."""
    number_of = {place.turn.id: number for number, place in enumerate(session.conversation.places, 1)}
    past, sent = Conversation(), dict[int, Replayed]()
    for event in session.conversation.events:
        for turn, before, at in _asked_by(event, past) if isinstance(event, Said | Offered) else ():
            if turn.id in number_of and turn.record.digest and not turn.record.stored:
                system = session.system_of(past.system, past.memory)
                sent[number_of[turn.id]] = _replayed(session, number_of[turn.id], turn, before, at, system)
        past.append(event)
    return [step for _, step in sorted(sent.items())]


def _asked_by(event: Said | Offered, past: Conversation) -> list[tuple[Turn, Conversation, int]]:
    """Return the turns that came with an event, each with the conversation before it and its position there."""
    came = event.alternatives if isinstance(event, Offered) else event
    asked, turns = (came.turn, (came.turn,)) if isinstance(came, Said) else (came.asked, came.turns)
    cell, run = asked.record.cell, asked.record.run
    before = Conversation() if past.begins_anew(cell, new=came.new) else past
    at = before.position(cell, run, append=came.append, offered=isinstance(event, Offered))
    return [(turn, before, at) for turn in turns]


def _replayed(session: Session, number: int, turn: Turn, before: Conversation, at: int, system: str) -> Replayed:
    target, record = session.target({}, ask=False), turn.record
    usage = turn.usage if turn.usage and not turn.usage.includes_tools else None
    with suppress(ChatError):  # a model that is not known any more: the usual one counts
        target = target if turn.model == target.model else session.target({"model": turn.model}, ask=False)
    scope, start = scope_then(before, at, system, turn)
    template, system_size, summary = target.meter.fixed_parts(scope.fixed)
    ledger = ledger_of(before, target.meter, scope)
    sizes = [("template", template), ("system", system_size), ("pinned", ledger.pinned(at)), ("summary", summary)]
    sizes.append(("earlier turns", ledger.between(start, at)))
    others = sum(size for _, size in sizes)
    own = turn_tokens(turn, target.meter) if usage is None else max(0, usage.carried - others)
    window = ContextWindow(record.window, source=target.window.source)
    budget = Budget(window, record.window - record.limit, 0, round(others + own), usage is not None)
    info = ContextInfo(turn.model, budget, segments_of([*sizes, ("this turn", own)]), 0, 0)
    request = request_in(target, before, scope, start, turn.messages[0])
    is_rebuilt = are_same_messages(request_digest(target, request), record.digest)
    return Replayed(number, info, part_states(before, scope, start)[:at], request.messages if is_rebuilt else ())
