"""A session as readers see it, and how full its context window is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..context.context_info import ContextInfo, MoneyLeft, segments_of
from .request_plan import RequestPlan
from .state import SessionState


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A session and its next request, with an empty prompt, at one moment.

    ``plan``: the next request, with what would be left out of it.
    ``state``: what the session knows beside its conversation.
    ``exact``: whether the provider reported the size of just this view.
    ``allowance``: what is left of ``max_cost``; ``None``: there is no cap.
    """

    plan: RequestPlan
    state: SessionState
    exact: bool
    allowance: MoneyLeft | None = None

    @cached_property
    def info(self) -> ContextInfo:
        """How full the next request is with an empty prompt."""
        return _context_info(self)


def _context_info(now: Snapshot) -> ContextInfo:
    plan, start = now.plan, now.plan.first
    past, scope, ledger, target = plan.past, plan.scope, plan.ledger, plan.target
    template, system, summary = target.meter.fixed_parts(scope.fixed)
    pinned, turns = ledger.pinned(scope.at), ledger.between(start, scope.at)
    always = template + system + summary + pinned
    newest = ledger.between(max(start, scope.at - 1), scope.at)
    last = past.places[-1].turn if scope.at else None
    usage = last.usage if last else None
    is_of_the_model = last is not None and last.model == target.model  # its cache is no other model's
    return ContextInfo(
        target.model,
        target.budget(always, always + turns, exact=now.exact),
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
        in_view=ledger.count(start, scope.at) + ledger.pins(0, scope.at),
        left_out=ledger.count(0, start),
        will_leave=0 if plan.decision.means == "refuse" else plan.decision.left_out,
        will_stop=plan.decision.means == "refuse",
        room_ends=plan.room_ends,
        on_overflow=target.settings.on_overflow,
        reported=usage.carried if usage else None,
        cached=usage.cache_read_tokens if usage and is_of_the_model else None,
        sent=usage.input_tokens if usage and is_of_the_model else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=now.state.spent.dollars,
        unpriced=now.state.spent.unknown,
        allowance=now.allowance,
    )
