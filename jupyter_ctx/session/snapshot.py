"""A session as readers see it, and how full its context window is."""

from __future__ import annotations

from typing import NamedTuple

from ..context.compaction import Ledger
from ..context.context_info import ContextInfo, MoneyLeft, segments_of
from ..context.policy import Decision
from ..conversation.conversation import Conversation
from ..models.registry import Target
from .state import SessionState
from .view import Scope


class Snapshot(NamedTuple):
    """A session and its next request, with an empty prompt, at one moment.

    ``conversation``, ``state``: what was said, and what else the session knows.
    ``target``: where the next request goes.
    ``scope``: what may stand before the next prompt.
    ``start``: the position of the first turn in view.
    ``ledger``: the sizes of all turns in tokens.
    ``decision``: what the policy of compaction does to the next request.
    ``room_ends``: tokens of a request above which the policy makes room.
    ``exact``: whether the provider reported the size of just this view.
    ``allowance``: what is left of ``max_cost``; ``None``: there is no cap.
    """

    conversation: Conversation
    state: SessionState
    target: Target
    scope: Scope
    start: int
    ledger: Ledger
    decision: Decision
    room_ends: int
    exact: bool
    allowance: MoneyLeft | None = None


def context_info(now: Snapshot) -> ContextInfo:
    """Return how full the next request is with an empty prompt."""
    past, scope, ledger, meter = now.conversation, now.scope, now.ledger, now.target.meter
    template, system, summary = meter.fixed_parts(scope.fixed)
    pinned, turns = ledger.pinned(scope.at), ledger.between(now.start, scope.at)
    always = template + system + summary + pinned
    newest = ledger.between(max(now.start, scope.at - 1), scope.at)
    last = past.places[-1].turn if scope.at else None
    usage = last.usage if last else None
    is_of_the_model = last is not None and last.model == now.target.model  # its cache is no other model's
    return ContextInfo(
        now.target.model,
        now.target.budget(always, always + turns, exact=now.exact),
        segments_of(
            [
                ("template", template),
                ("system", system),
                ("pinned", pinned),
                ("summary", summary),
                ("earlier turns", turns - newest),
                ("this turn", newest),
            ]
        ),
        turns=len(past.places),
        in_view=ledger.count(now.start, scope.at) + ledger.pins(0, scope.at),
        left_out=ledger.count(0, now.start),
        will_leave=0 if now.decision.means == "refuse" else now.decision.left_out,
        will_stop=now.decision.means == "refuse",
        room_ends=now.room_ends,
        on_overflow=now.target.settings.on_overflow,
        reported=usage.carried if usage else None,
        cached=usage.cache_read_tokens if usage and is_of_the_model else None,
        sent=usage.input_tokens if usage and is_of_the_model else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=now.state.spent.dollars,
        unpriced=now.state.spent.unknown,
        allowance=now.allowance,
    )
