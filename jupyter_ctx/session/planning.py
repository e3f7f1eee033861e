"""From a prompt to a request that fits, and after a refusal to a smaller one.

:func:`plan` is pure: it decides by what is known. :func:`smaller` lets the models learn from a refusal before.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from ..context.budget import MARGIN, whole
from ..context.compaction import GO_BACK, NOTHING_WITHIN, TRIM_TO, Ledger, RequestSize, decide, goal_after_refusal
from ..context.learned_limit import Refused
from ..context.overflow import Overflow
from ..context.tokens import Fixed, Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Message, file_tokens
from ..errors import ContextOverflowError
from ..models.registry import Models
from ..models.target import Target
from .prompt_parts import tokens_within
from .request_plan import RequestPlan, heavy_error, overflow_error
from .view import Scope, request_bytes, scope_at, turn_tokens

COUNTS = 3  # times that a provider is asked for the size of one request
_ledgers: WeakKeyDictionary[Conversation, tuple[tuple[object, ...], Ledger]] = WeakKeyDictionary()
_adding = threading.Lock()  # columns side by side are planned anew in threads


def ledger_of(past: Conversation, meter: Meter, scope: Scope) -> Ledger:
    """Return the sizes of all turns; 0 for those that no view in this scope may hold.

    As a conversation grows, only its new turns are measured.
    """
    basis = (meter, meter.revision, past.revision, scope.covers, scope.shortened)
    with _adding:
        known = _ledgers.get(past)
        if known is None or known[0] != basis:
            known = _ledgers[past] = basis, Ledger()
        ledger, measured = known[1], len(known[1])
        if measured < len(past.places):
            new = past.places[measured:]
            held = {place.id for place in scope.held(new)}
            for place in new:
                turn, is_held = scope.turn(past, place) if scope.shortened else place.turn, place.id in held
                tokens, counted = turn_tokens(turn, meter) if is_held else None, meter.counted(turn.record.id)
                has_parts = is_held and (turn.record.sources or turn.rounds)
                within = tokens_within(turn, meter) if has_parts else NOTHING_WITHIN
                ledger.append(tokens, pinned=place.pinned, counted=counted, within=within)
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
    basis = _basis(message, target, past, at, system, lasting=lasting, apart=apart)
    planned = _fitted(basis, basis.first)
    if planned.cut.start > planned.first or not planned.cut.fits:
        basis = _with_short_results(basis, TRIM_TO * target.limit)
        planned = _fitted(basis, basis.first)
    trial = target.trial if planned.cut.start > planned.first else None
    if trial is not None:
        planned = min(planned, _fitted(replace(basis, target=trial), basis.first), key=lambda each: each.cut.start)
    return planned


def next_plan(target: Target, past: Conversation, system: str) -> RequestPlan:
    """Return the next request with an empty prompt, for readers: whole, with the decision on what it will leave out."""
    basis = _basis(Message("user", ""), target, past, len(past.places), system)
    planned, trial = _decided(basis, basis.first), target.trial
    if trial is None:  # a learned limit that the next request retries leaves nothing out
        return planned
    return replace(planned, decision=_decided(replace(basis, target=trial), basis.first).decision)


def counted_plan(planned: RequestPlan) -> RequestPlan:
    """Return the request as it is sent: cut by the provider's own count, where that is wanted and it counts.

    Raises ContextOverflowError where ``on_overflow`` is "stop" and something would have to be left out.
    """
    if planned.target.settings.token_counting == "provider" and planned.message.content:
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
        shorter = _lighter(refused, target, error)
    else:
        overflow = error.overflow or Overflow()
        shorter = _shorter(refused, models.refused(refused.target, _refusal_of(refused, overflow)), overflow)
    return replace(shorter, retry=refused.retry + 1)


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


def _basis(
    message: Message, target: Target, past: Conversation, at: int, system: str, *, lasting: bool = False,
    apart: bool = False,
) -> RequestPlan:  # fmt: skip
    """Return a request before anything is decided of it.

    Its view begins where the last one did; further back only where model or window has changed and there is ample
    room. A view that was cut for one request's own settings counts only for another such request (``apart``).
    """
    scope, start = scope_at(past, at, system), 0
    if at:
        last = past.places[at - 1]
        sent, begun = last.versions[0], last.own_start if apart else last.start
        start = min(max(scope.floor, past.index(begun)), at) if begun is not None else scope.floor
        shortened = min(past.index(last.shortened), at)
        is_cut = start > scope.floor or shortened > 0
        if is_cut and (sent.record.window, sent.model) != (target.window.tokens, target.model):
            turns = ledger_of(past, target.meter, scope).in_view(scope.floor, at)
            if target.meter.fixed(scope.fixed) + turns <= GO_BACK * target.limit:
                start, shortened = scope.floor, 0
        scope = scope._replace(shortened=shortened)
    return RequestPlan(message, target, past, scope, start, lasting, apart, first_whole=scope.shortened)


def continued(planned: RequestPlan, rounds: Sequence[Message]) -> RequestPlan:
    """Return the request that follows one with calls: with their results, and without what there is no room for."""
    basis = replace(planned, again=tuple(rounds), retry=0)
    longer = _fitted(basis, planned.cut.start)
    if longer.cut.start > planned.cut.start or not longer.cut.fits:
        longer = _fitted(_with_short_results(basis, TRIM_TO * planned.target.limit), planned.cut.start)
    return longer


def _with_short_results(basis: RequestPlan, goal: float) -> RequestPlan:
    """Return the basis with results of the oldest turns shortened until about the goal is met, or those of all turns.

    They are shortened before a turn is left out: an answer says more than the table that it was drawn from.
    """
    if basis.target.settings.on_overflow == "stop":
        return basis
    scope, first = basis.scope, max(basis.scope.shortened, basis.first)
    for position in range(first, scope.at):
        if basis.past.places[position].turn.rounds:
            basis = replace(basis, scope=scope._replace(shortened=position + 1))
            if _decided(basis, basis.first).tokens <= goal:
                break
    return basis


def _fitted(basis: RequestPlan, start: int, goal: float | None = None) -> RequestPlan:
    """Return the request in a view that begins at ``start`` or later, by the policy of compaction."""
    planned = _decided(basis, start, goal)
    most, fits = planned.target.learned_limit.most_bytes, planned.cut.fits
    if most is not None:
        planned = _within(planned, most)
    return planned if fits else _without_summary(planned, start, goal)


def _decided(basis: RequestPlan, start: int, goal: float | None = None) -> RequestPlan:
    """Return the request with what is left out of it, in a view that begins at ``start`` or later."""
    message, target, scope = basis.message, basis.target, basis.scope
    meter, ledger = target.meter, ledger_of(basis.past, target.meter, scope)
    asked = meter.message(message.content)
    if message.attachments:
        asked = target.message_tokens(message)
    asked += target.beside_tokens
    if basis.again:
        asked += sum(meter.message(each.text) + file_tokens(each.files, meter.vision) for each in basis.again)
    fixed = meter.fixed(scope.fixed)
    guessed = 0.0 if meter.counted(scope.fixed) else fixed
    lasting = basis.lasting and target.learned_limit.heavy is None  # a summary is measured in tokens
    size = RequestSize(ledger, target.limit, start, scope.at, basis.first, fixed, guessed, asked, MARGIN, lasting)
    decision = decide(size, target.settings, goal=goal)
    all_counted = not guessed + ledger.guessed(start, scope.at) and not message.attachments
    if all_counted and decision.means != "send":  # a smaller margin will do for the prompt alone
        size = size._replace(margin=meter.margin(message.content))
        decision = decide(size, target.settings, goal=goal)
    cut = decision.cut
    return replace(
        basis, size=size, decision=decision, cut=cut, tokens=cut.tokens + asked, counted=None, most_bytes=None
    )


def _within(planned: RequestPlan, most: int) -> RequestPlan:
    """Return the request in so many bytes: without the largest files of earlier turns, else without old turns."""
    start, end, size = planned.cut.start, planned.scope.at, request_bytes(planned.request.messages)
    if size <= most or start >= end:
        return planned
    excess = size - TRIM_TO * most
    while excess > 0 and start < end:
        excess -= request_bytes(planned.past.places[start].turn.messages)
        start += 1
    return replace(_fitted(planned, start), most_bytes=most)


def _without_summary(full: RequestPlan, start: int, goal: float | None) -> RequestPlan:
    """Return the request without the summary and the turns it stands for: the prompt goes first."""
    scope, past = full.scope, full.past
    if scope.summary is None or full.target.settings.on_overflow == "stop":
        return full
    covered = past.covered_to(scope.covers)
    plain = scope._replace(fixed=Fixed(scope.fixed.system), summary=None, covers=frozenset())
    basis = replace(full, scope=plain, first=max(full.first, covered), lacks_summary=True)
    shorter = _fitted(basis, max(start, covered), goal)
    return replace(shorter, cut=shorter.cut._replace(before=full.cut.before))


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
            return replace(planned, counted=tokens, tokens=float(tokens))
    return planned


def _refusal_of(refused: RequestPlan, overflow: Overflow) -> Refused:
    """Return what a refusal shows of the endpoint's limit."""
    return Refused(overflow, whole(refused.tokens), refused.request.max_tokens or 0, refused.retry)


def _shorter(refused: RequestPlan, target: Target, overflow: Overflow) -> RequestPlan:
    """Return a request of fewer tokens for ``target``, which knows what the refusal taught.

    Where only the room for the reply was too large, that alone shrinks. Else about the goal's tokens are sent, and at
    least one turn less, where there is one.
    """
    old, ledger = refused.target, refused.size.ledger
    size = _size_of(refused, overflow, target)
    if size is not None and refused.request.schema is None:
        old.meter.record_count(refused.sent, size)
    tokens = size or refused.tokens
    goal = goal_after_refusal(tokens, target.limit, retry=refused.retry)
    if target.limit_is_stated and _shorter_reply(old, target) and tokens <= target.limit:
        goal = float(target.limit)
    elif refused.retry and not target.limit_is_stated:
        goal = 1.0  # nobody has said how much fits: the last try sends the least that may be sent
    basis, start, end = replace(refused, target=target), refused.cut.start, refused.scope.at
    basis = _with_short_results(basis, goal)
    shorter = _fitted(basis, start, goal)
    if not _sends_less(shorter, refused):
        ledger = ledger_of(refused.past, target.meter, refused.scope)
        shorter = _fitted(basis, ledger.last(ledger.count(start, end) - 1, start, end), goal)
    if not _sends_less(shorter, refused):
        shorter = _without_summary(shorter, start, goal)
    if not _sends_less(shorter, refused):
        raise overflow_error(shorter, overflow)
    return shorter


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
    return lighter


def _sends_less(shorter: RequestPlan, refused: RequestPlan) -> bool:
    """Return whether a request is smaller than the one that was refused, or asks for a shorter reply."""
    fewer = shorter.scope is not refused.scope or shorter.decision.left_out > refused.decision.left_out
    return fewer or _shorter_reply(refused.target, shorter.target)


def _size_of(refused: RequestPlan, overflow: Overflow, target: Target) -> int | None:
    """Return what the refusal tells of the size: a number, or that it was more than the limit of ``target``."""
    size = overflow.input_tokens
    if size is not None and (size > refused.tokens or not overflow.input_is_bound):
        return size
    stated = overflow.context_window is not None or overflow.max_input_tokens is not None
    too_much = stated and not _shorter_reply(refused.target, target)
    return target.limit if too_much and refused.tokens < target.limit else None


def _shorter_reply(old: Target, new: Target) -> bool:
    return old.max_tokens is not None and new.max_tokens is not None and new.max_tokens < old.max_tokens
