"""How full the context window is: with the next request, and with the request of each turn, rebuilt as it was then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..context.budget import LEAST_MARGIN, Budget
from ..context.compaction import Ledger, Within, compact_share
from ..context.context_info import ContextInfo, MoneyLeft, Segment, segments_of
from ..context.tokens import Meter
from ..context.windows import ContextWindow
from ..conversation.conversation import Conversation
from ..conversation.events import Offered, TurnAdded
from ..conversation.messages import Message, Turn
from ..errors import ChatError
from ..models.target import Target
from .planning import ledger_of
from .prompt_parts import tokens_within
from .request_plan import RequestPlan
from .state import SessionState
from .view import PartStatus, Scope, part_states, request_digest, request_in, same_messages, scope_then, turn_tokens

TargetOf = Callable[[str], Target]  # where a model is asked, by its full name; empty: the usual one
SystemOf = Callable[[str | None, str | None], str]  # the text that requests begin with, by system prompt and memory


class NextRequest(NamedTuple):
    """The next request with an empty prompt, at one moment, and how full the window is with it."""

    plan: RequestPlan
    info: ContextInfo


def info_of(plan: RequestPlan, state: SessionState, allowance: MoneyLeft | None = None) -> ContextInfo:
    """Return how full the next request is; ``allowance``: what is left of ``max_cost``, where there is a cap."""
    past, scope, size, target, start = plan.past, plan.scope, plan.size, plan.target, plan.first
    used, ledger, last = size.tokens_from(start), size.ledger, past.places[-1].turn if scope.at else None
    before = max(start, scope.at - 1)
    newest, always = ledger.between(before, scope.at), used - ledger.between(start, scope.at)
    earlier = used - always - newest
    usage = last.usage if last and not last.rounds else None  # of several requests
    beside = target.beside_tokens
    is_of_the_model = last is not None and last.model == target.model  # its cache is no other model's
    exact = bool(state.counted) and plan.uncut().key() == state.counted
    fixed, total, share = round(always + beside), round(used + beside), target.settings.budget_share
    budget = Budget(target.window, target.reserve, fixed, total, exact and not beside, share)
    within = ledger.within(start, before), ledger.within(before, scope.at)
    is_refused = plan.decision.means == "refuse"
    return ContextInfo(
        target.model,
        budget,
        _segments(target.meter, scope, ledger, (earlier, newest), within, beside),
        turns=len(past.places),
        in_view=ledger.count(start, scope.at) + ledger.pins(scope.at),
        left_out=ledger.count(0, start),
        will_leave=0 if is_refused else plan.decision.left_out,
        will_stop=is_refused,
        room_ends=_room_ends(plan),
        on_overflow=target.settings.on_overflow,
        reported=usage.carried if usage else None,
        cached=usage.cache_read_tokens if usage and is_of_the_model else None,
        sent=usage.input_tokens if usage and is_of_the_model else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=state.spent.dollars,
        unpriced=state.spent.unknown,
        allowance=allowance,
    )


def _segments(
    meter: Meter,
    scope: Scope,
    ledger: Ledger,
    turns: tuple[float, float],
    within: tuple[Within, Within],
    beside: float = 0.0,
) -> tuple[Segment, ...]:
    """Return the parts of a request.

    ``turns``: tokens of earlier turns and of the newest; ``within``: which of them are cells and calls; ``beside``:
    those of the functions that are offered.
    """
    template, system, summary = meter.fixed_parts(scope.fixed)
    sizes = (("template", template), ("system", system), ("pinned", ledger.pinned(scope.at)), ("summary", summary))
    earlier, newest = (max(0.0, size - sum(inside)) for size, inside in zip(turns, within, strict=True))
    cells = sum(inside.cells for inside in within)
    tools = beside + sum(turns) - earlier - newest - cells
    called = [("tools", tools)] if tools >= 1 else []
    return segments_of((*sizes, *called, ("cells", cells), ("earlier turns", earlier), ("this turn", newest)))


def _room_ends(plan: RequestPlan) -> int:
    """Return up to how many tokens the next request may have before room is made: with a prompt like the last."""
    now, target = plan.size, plan.target
    if now.end and not now.guessed + now.ledger.guessed(now.start, now.end):
        margin = target.meter.margin(plan.past.places[now.end - 1].turn.prompt)
        now = now._replace(margin=max(margin, LEAST_MARGIN))
    return now.most(compact_share(target.settings, now.limit))


class Replayed(NamedTuple):
    """A turn: how full the window was with it, what became of those before it, and what was sent, if that is known."""

    number: int
    info: ContextInfo
    states: Sequence[PartStatus]
    messages: Sequence[Message]


def replayed(conversation: Conversation, target_of: TargetOf, system_of: SystemOf) -> list[Replayed]:
    """Return the requests of the turns since the last clear; turns for which nothing was sent have none."""
    number_of = {place.turn.id: number for number, place in enumerate(conversation.places, 1)}
    past, sent = Conversation(), dict[int, Replayed]()
    for event in conversation.events:
        came = event.alternatives if isinstance(event, Offered) else event if isinstance(event, TurnAdded) else None
        if came is not None:
            asked, turns = (came.turn, (came.turn,)) if isinstance(came, TurnAdded) else (came.asked, came.turns)
            cell, run = asked.record.cell, asked.record.run
            before = Conversation() if past.begins_anew(cell, new=came.new) else past
            at, system = before.position(cell, run, append=came.append), system_of(past.system, past.memory)
            for turn in turns:
                number = number_of.get(turn.id)
                if number is not None and turn.record.digest and not turn.record.stored:
                    sent[number] = _replayed(target_of, number, turn, before, at, system)
        past.append(event)
    return [step for _, step in sorted(sent.items())]


def _replayed(target_of: TargetOf, number: int, turn: Turn, before: Conversation, at: int, system: str) -> Replayed:
    target, record = target_of(""), turn.record
    is_of_one = turn.usage is not None and not turn.usage.includes_tools and not turn.rounds
    usage = turn.usage if is_of_one else None
    with suppress(ChatError):  # a model that is not known any more: the usual one counts
        target = target_of(turn.model)
    scope, start = scope_then(before, at, system, turn)
    ledger = ledger_of(before, target.meter, scope)
    others = target.meter.fixed(scope.fixed) + ledger.in_view(start, at)
    own = turn_tokens(turn, target.meter) if usage is None else max(0, usage.carried - others)
    window = ContextWindow(record.window, source=target.window.source)
    budget = Budget(window, record.window - record.limit, 0, round(others + own), usage is not None)
    within = ledger.within(start, at), tokens_within(turn, target.meter)
    segments = _segments(target.meter, scope, ledger, (ledger.between(start, at), own), within)
    request = request_in(target, before, scope, start, turn.messages[0])
    is_rebuilt = same_messages(request_digest(target, request), record.digest)
    info = ContextInfo(turn.model, budget, segments, 0, 0)
    return Replayed(number, info, part_states(before, scope, start)[:at], request.messages if is_rebuilt else ())
