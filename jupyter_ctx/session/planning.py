"""From a prompt to a request that fits, and after a refusal to a smaller one.

:func:`plan` is pure: it decides by what is known. :func:`smaller` lets the models learn from a refusal before.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from weakref import WeakKeyDictionary

from ..context.budget import whole
from ..context.compaction import Ledger
from ..context.learned_limit import Refused
from ..context.overflow import Overflow
from ..context.policy import TRIM_TO, comes_back, decide, goal_after_refusal
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Message
from ..errors import ContextOverflowError
from ..models.registry import Models, Target
from ..providers.request_body import schema_text
from .messages_sent import request_bytes
from .overflow_errors import heavy_error, overflow_error
from .request_plan import RequestPlan
from .view import Scope, scope_at, turn_tokens, without_summary

COUNTS = 3  # times that a provider is asked for the size of one request
_ledgers: WeakKeyDictionary[Conversation, tuple[tuple[object, ...], Ledger]] = WeakKeyDictionary()
_adding = threading.Lock()  # columns side by side are planned anew in threads


def ledger_of(past: Conversation, meter: Meter, scope: Scope) -> Ledger:
    """Return the sizes of all turns; 0 for those that no view in this scope may hold.

    As a conversation grows, only its new turns are measured.
    """
    basis = (meter, meter.revision, past.revision, scope.covers)
    with _adding:
        known, ledger = _ledgers.get(past, ((), Ledger()))
        if known != basis:
            ledger = Ledger()
            _ledgers[past] = basis, ledger
        new = past.places[len(ledger) :]
        held = {place.id for place in scope.held(new)}
        for place in new:
            tokens = turn_tokens(place.turn, meter) if place.id in held else None
            ledger.append(tokens, pinned=place.pinned, counted=meter.counted(place.turn.id))
    return ledger


def plan(
    message: Message,
    target: Target,
    past: Conversation,
    at: int,
    system: str,
    *,
    lasting: bool = False,
    apart: bool = False,
) -> RequestPlan:
    """Return the request for a prompt at a position; ``lasting``, ``apart``: see :class:`RequestPlan`.

    Where even the smallest seems too large it is that one: the provider decides.
    """
    scope = scope_at(past, at, system)
    start = _view_start(target, past, scope, apart=apart)
    basis = RequestPlan(message, target, past, scope, start, lasting, apart)
    planned = _fitted(basis, basis.first)
    if planned.cut.start > planned.first and target.trial is not None:
        trial = _fitted(replace(basis, target=target.trial), basis.first)
        planned = min(planned, trial, key=lambda each: each.cut.start)
    return planned


def next_plan(target: Target, past: Conversation, system: str) -> RequestPlan:
    """Return the next request with an empty prompt, for readers: whole, with the decision on what it will leave out."""
    scope = scope_at(past, len(past.places), system)
    basis = _decided(RequestPlan(Message("user", ""), target, past, scope, _view_start(target, past, scope)))
    if target.trial is None:  # a learned limit that the next request retries leaves nothing out
        return basis
    return replace(basis, decision=_decided(replace(basis, target=target.trial)).decision)


def counted_plan(planned: RequestPlan) -> RequestPlan:
    """Return the request as it is sent: cut by the provider's own count, where that is wanted and it counts.

    Raises ContextOverflowError where ``on_overflow`` is "stop" and something would have to be left out.
    """
    if planned.target.settings.token_counting == "provider" and planned.prompt:
        planned = _counted(planned)
    if planned.decision.means == "refuse":
        raise overflow_error(planned.uncut())
    return planned


def smaller(models: Models, refused: RequestPlan, error: ContextOverflowError) -> RequestPlan:
    """Return a request that is strictly smaller than the refused one, in tokens or in bytes.

    Raises ContextOverflowError where there is none, and where ``on_overflow`` is "stop".
    """
    if refused.target.settings.on_overflow == "stop":
        raise given_up(models, refused, error)
    if error.by_bytes:
        target = models.too_heavy(refused.target, request_bytes(refused.request.messages))
        return _lighter(refused, target, error)
    overflow = error.overflow or Overflow()
    return _shorter(refused, models.refused(refused.target, _refusal_of(refused, overflow)), overflow)


def given_up(
    models: Models, refused: RequestPlan, error: ContextOverflowError, *, kept: bool = False
) -> ContextOverflowError:
    """Learn from a refusal after which nothing more is sent, and return the error that says so.

    ``kept``: text had come, and was recorded.
    """
    if error.by_bytes:
        return heavy_error(refused, error)
    overflow = error.overflow or Overflow()
    target = models.refused(refused.target, _refusal_of(refused, overflow))  # for the next cell, too
    return overflow_error(replace(refused, target=target), overflow, kept=kept)


def _view_start(target: Target, past: Conversation, scope: Scope, *, apart: bool = False) -> int:
    """Return where the next view begins if nothing must go: where the last one did.

    Further back only where model or window has changed and there is ample room. A view that was cut for one
    request's own settings counts only for another such request (``apart``).
    """
    if scope.at == 0:
        return 0
    last = past.places[scope.at - 1]
    sent, now = last.versions[0], (target.window.tokens, target.model)
    start = min(max(scope.floor, past.index(last.own_start if apart else last.start)), scope.at)
    if start > scope.floor and (sent.record.window, sent.model) != now:
        ledger = ledger_of(past, target.meter, scope)
        fixed = target.meter.fixed(scope.fixed) + ledger.pinned(scope.at)
        if comes_back(fixed + ledger.between(scope.floor, scope.at), target.budget().limit):
            return scope.floor
    return start


def _fitted(basis: RequestPlan, start: int, goal: float | None = None) -> RequestPlan:
    """Return the request in a view that begins at ``start`` or later, by the policy of compaction."""
    plan = _decided(basis, start, goal)
    most, fits = plan.target.learned_limit.most_bytes, plan.cut.fits
    if most is not None:
        plan = _within(plan, most)
    return plan if fits else _without_summary(plan, start, goal)


def _decided(basis: RequestPlan, start: int | None = None, goal: float | None = None) -> RequestPlan:
    """Return the request with what is left out of it, in a view that begins at ``start`` or later."""
    message, target, scope = basis.message, basis.target, basis.scope
    asked = target.message_tokens(message)
    asked += target.meter.tokens(schema_text(target.schema)) if target.schema is not None else 0.0
    asked += sum(target.meter.message(message.content) for message in basis.again)
    start = basis.first if start is None else start
    plan = replace(basis, ledger=ledger_of(basis.past, target.meter, scope), asked=asked, counted=None, most_bytes=None)
    now = plan.occupancy(start)
    if not now.guessed + now.ledger.guessed(start, scope.at) and not message.attachments:
        margin = target.meter.margin(message.content)  # where all else is counted
        now = now._replace(budget=now.budget._replace(margin=margin))
    lasting = basis.lasting and target.learned_limit.heavy is None  # a summary is measured in tokens
    now = now._replace(first=basis.first, prompt=asked, lasting=lasting)
    return replace(plan, decision=decide(now, target.settings, goal=goal))


def _within(plan: RequestPlan, most: int) -> RequestPlan:
    """Return the request in so many bytes: without the largest files of earlier turns, else without old turns."""
    start, end, size = plan.cut.start, plan.scope.at, request_bytes(plan.request.messages)
    if size <= most or start >= end:
        return plan
    excess = size - TRIM_TO * most
    while excess > 0 and start < end:
        excess -= request_bytes(plan.past.places[start].turn.messages)
        start += 1
    return replace(_fitted(plan, start), most_bytes=most)


def _without_summary(full: RequestPlan, start: int, goal: float | None) -> RequestPlan:
    """Return the request without the summary and the turns it stands for: the prompt goes first."""
    past, scope = full.past, full.scope
    if scope.summary is None or full.target.settings.on_overflow == "stop":
        return full
    first, start = (max(position, past.covered_to(scope.covers)) for position in (full.first, start))
    shorter = _fitted(replace(full, scope=without_summary(scope), first=first, lacks_summary=True), start, goal)
    return shorter.with_cut(before=full.cut.before)


def _counted(planned: RequestPlan) -> RequestPlan:
    """Return the request cut by the provider's own count; unchanged where the provider does not count."""
    for _ in range(COUNTS):
        tokens = planned.target.provider.count_tokens(planned.request)
        if tokens is None:
            return planned
        if planned.request.schema is None:
            planned.target.meter.record_count(planned.sent, tokens)
        before = planned
        planned = _fitted(before, before.cut.start).because(before.decision)
        if planned.cut.start == before.cut.start:
            return replace(planned, counted=tokens)
    return planned


def _refusal_of(refused: RequestPlan, overflow: Overflow) -> Refused:
    """Return what a refusal shows of the endpoint's limit."""
    return Refused(overflow, whole(refused.tokens), refused.request.max_tokens or 0, refused.retry)


def _shorter(refused: RequestPlan, target: Target, overflow: Overflow) -> RequestPlan:
    """Return a request of fewer tokens for ``target``, which knows what the refusal taught.

    Where only the room for the reply was too large, that alone shrinks.
    """
    old = refused.target
    limit, size = target.budget().limit, _size_of(refused, overflow, target)
    if size is not None and refused.request.schema is None:
        old.meter.record_count(refused.sent, size)
    tokens = size or refused.tokens
    goal = goal_after_refusal(tokens, limit, retry=refused.retry)
    if target.limit_is_stated and _shorter_reply(old, target) and tokens <= limit:
        goal = float(limit)
    elif refused.retry and not target.limit_is_stated:
        goal = 1.0  # nobody has said how much fits: the last try sends the least that may be sent
    shorter = _less(refused, target, goal)
    if not _sends_less(shorter, refused):
        shorter = _without_summary(shorter, refused.cut.start, goal)
    if not _sends_less(shorter, refused):
        raise overflow_error(shorter, overflow)
    return replace(shorter, retry=refused.retry + 1)


def _less(refused: RequestPlan, target: Target, goal: float) -> RequestPlan:
    """Return a request of about ``goal`` tokens that leaves out at least one more turn, where there is one."""
    basis, start, end = replace(refused, target=target), refused.cut.start, refused.scope.at
    less = _fitted(basis, start, goal)
    if _sends_less(less, refused):
        return less
    ledger = ledger_of(refused.past, target.meter, refused.scope)
    return _fitted(basis, ledger.last(ledger.count(start, end) - 1, start, end), goal)


def _lighter(refused: RequestPlan, target: Target, error: ContextOverflowError) -> RequestPlan:
    """Return a request of fewer bytes: without the largest files of earlier turns, then without the oldest turns.

    After a second refusal the smallest there is. Raises ContextOverflowError where none is smaller.
    """
    size, start = request_bytes(refused.request.messages), refused.scope.at if refused.retry else refused.cut.start
    lighter = _fitted(replace(refused, target=target), start)
    if request_bytes(lighter.request.messages) >= size:
        lighter = _without_summary(lighter, start, None)
    if request_bytes(lighter.request.messages) >= size:
        raise heavy_error(refused, error)
    return replace(lighter, retry=refused.retry + 1)


def _sends_less(plan: RequestPlan, refused: RequestPlan) -> bool:
    """Return whether a request is smaller than the one that was refused, or asks for a shorter reply."""
    fewer = plan.scope is not refused.scope or plan.left_out > refused.left_out
    return fewer or _shorter_reply(refused.target, plan.target)


def _size_of(refused: RequestPlan, overflow: Overflow, target: Target) -> int | None:
    """Return what the refusal tells of the size: a number, or that it was more than the limit of ``target``."""
    size, limit = overflow.input_tokens, target.budget().limit
    if size is not None and (size > refused.tokens or not overflow.input_is_bound):
        return size
    stated = overflow.context_window is not None or overflow.max_input_tokens is not None
    too_much = stated and not _shorter_reply(refused.target, target)
    return limit if too_much and refused.tokens < limit else None


def _shorter_reply(old: Target, new: Target) -> bool:
    return old.max_tokens is not None and new.max_tokens is not None and new.max_tokens < old.max_tokens
