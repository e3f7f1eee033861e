"""What readers ask of a conversation: requests of then, answers side by side, and where a setting comes from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from ..config.settings import Settings, check_setting
from ..context.budget import Budget
from ..context.context_info import ContextInfo
from ..context.windows import ContextWindow
from ..conversation.conversation import Conversation
from ..conversation.events import Offered, TurnAdded
from ..conversation.messages import Message, Turn
from ..errors import ChatError
from ..models.target import Target
from .info import segments_within
from .session import Session
from .view import (
    PartStatus,
    ledger_of,
    part_states,
    request_digest,
    request_in,
    same_messages,
    scope_then,
    tokens_within,
    turn_tokens,
)


class Replayed(NamedTuple):
    """A turn: how full the window was with it, what became of those before it, and what was sent, if that is known."""

    number: int
    info: ContextInfo
    states: Sequence[PartStatus]
    messages: Sequence[Message]


def replayed_turns(session: Session) -> list[Replayed]:
    """Return the requests of the turns since the last clear; turns for which nothing was sent have none."""
    number_of = {place.turn.id: number for number, place in enumerate(session.conversation.places, 1)}
    past, sent, usual = Conversation(), dict[int, Replayed](), session.target({}, ask=False)
    for event in session.conversation.events:
        came = event.alternatives if isinstance(event, Offered) else event if isinstance(event, TurnAdded) else None
        if came is not None:
            asked, turns = (came.turn, (came.turn,)) if isinstance(came, TurnAdded) else (came.asked, came.turns)
            cell, run = asked.record.cell, asked.record.run
            before = Conversation() if past.begins_anew(cell, new=came.new) else past
            at, system = before.position(cell, run, append=came.append), session.system_of(past.system, past.memory)
            for turn in turns:
                number = number_of.get(turn.id)
                if number is not None and turn.record.digest and not turn.record.stored:
                    target = usual
                    with suppress(ChatError):  # a model that is not known any more: the usual one counts
                        is_usual = turn.model in ("", usual.model)
                        target = usual if is_usual else session.target({"model": turn.model}, ask=False)
                    sent[number] = _replayed(target, number, turn, before, at, system)
        past.append(event)
    return [step for _, step in sorted(sent.items())]


def _replayed(target: Target, number: int, turn: Turn, before: Conversation, at: int, system: str) -> Replayed:
    record, meter = turn.record, target.meter
    is_of_one = turn.usage is not None and not turn.usage.includes_tools and not turn.rounds
    usage = turn.usage if is_of_one else None
    scope, start = scope_then(before, at, system, turn)
    ledger = ledger_of(before, meter, scope)
    others = meter.fixed(scope.fixed) + ledger.in_view(start, at)
    own = turn_tokens(turn, meter) if usage is None else max(0, usage.carried - others)
    window = ContextWindow(record.window, source=target.window.source)
    budget = Budget(window, record.window - record.limit, 0, round(others + own), usage is not None)
    within = ledger.within(start, at), tokens_within(turn, meter)
    segments = segments_within(meter, scope, ledger, (ledger.between(start, at), own), within)
    request = request_in(target, before, scope, start, turn.messages[0])
    is_rebuilt = same_messages(request_digest(target, request), record.digest)
    info = ContextInfo(turn.model, budget, segments, 0, 0)
    return Replayed(number, info, part_states(before, scope, start)[:at], request.messages if is_rebuilt else ())


def chosen_answer(session: Session, alternatives: str) -> int | None:
    """Return the number of the answer that is the turn, of several answers with this id; ``None``: none is."""
    offered = session.conversation.offers.get(alternatives)
    place = session.conversation.place_of(offered) if offered is not None else None
    ids = [answer.record.id for answer in offered.answers] if offered is not None else []
    return ids.index(place.turn.id) + 1 if place is not None and place.turn.id in ids else None


def source_of(session: Session, name: str) -> Literal["default", "at the start", "jupyter_ctx.toml", "set here"]:
    """Return where a setting's value comes from.

    "at the start" means keywords, IPython's configuration or environment variables; "jupyter_ctx.toml" the file
    beside the notebook. Raises InvalidRequestError for an unknown setting.
    """
    check_setting(name)
    begun = getattr(session.defaults, name)
    is_own_system = name == "system" and session.has_own_system
    if getattr(session.settings, name) != begun or is_own_system:
        return "set here"
    if name in session.notebook.course.named:
        return "jupyter_ctx.toml"
    return "default" if begun == getattr(Settings(), name) else "at the start"
