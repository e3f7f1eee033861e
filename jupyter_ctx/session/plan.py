"""From a prompt to a request that fits, and after a refusal to a smaller one.

:func:`plan` decides by what is known, and :func:`smaller` anew by what a refusal has taught.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..context.budget import whole
from ..context.compaction import GO_BACK, Cut, Ledger, RequestSize, decide, goal_after_refusal
from ..context.overflow import Overflow
from ..context.tokens import SentRequest
from ..conversation.conversation import Conversation
from ..conversation.messages import Message, Turn, file_tokens
from ..conversation.places import TurnSlot
from ..errors import ContextOverflowError
from ..models.target import Target
from ..providers.base import Request
from ..wording import named_turns
from .view import Scope, ledger_of, messages_before, scope_at, turn_tokens

OF_BYTES = 0.5  # of the usual goal, after a refusal for bytes, characters or memory
NOT_MEASURED = RequestSize(Ledger(), 0, 0, 0)
NOT_DECIDED = Cut()


@dataclass(frozen=True, eq=False)
class RequestPlan:
    """One request as it is about to be sent, and the conversation that may go with it.

    message: the new message
    target: where it goes
    past: the conversation that it continues
    allowed: what of that may stand before it
    scope: the same, less what was shortened or left out of it to make room
    first: the position of the turn at which the view begins if nothing more is left out
    lasting: whether later requests go on from this one: not for one cell's own model, nor where nothing is recorded
    apart: whether the request has settings of its own that decide what fits
    size: what it takes if nothing more is left out, with the sizes of all turns
    cut: what is left out, by what means room was made, and where the view begins
    again: what follows the new message: rounds of calls, an answer that does not match its schema, and what is wrong
    with that
    retry: how many refusals came before
    counted: tokens of the whole request as the provider counted them, where it was asked
    scale: how many of the server's tokens, by its refusal, each of those here is, where these cannot be corrected
    """

    message: Message
    target: Target
    past: Conversation
    allowed: Scope
    scope: Scope
    first: int
    lasting: bool = False
    apart: bool = False
    size: RequestSize = NOT_MEASURED
    cut: Cut = NOT_DECIDED
    again: tuple[Message, ...] = ()
    retry: int = 0
    counted: int | None = None
    scale: float = 1.0

    @cached_property
    def tokens(self) -> float:
        """Tokens of the whole request, as far as they are known."""
        return self.cut.tokens + self.size.prompt if self.counted is None else float(self.counted)

    @cached_property
    def gone(self) -> list[int]:
        """The numbers of the turns that are left out."""
        return self.scope.loose(self.past, self.first, self.cut.start) if self.first < self.cut.start else []

    @property
    def lacks(self) -> str:
        """What is left out, in words; empty: nothing."""
        turns = [named_turns(self.gone)] if self.gone else []
        return " and ".join([*turns, *(["the summary"] if self.scope.summary is not self.allowed.summary else [])])

    @cached_property
    def view(self) -> tuple[list[TurnSlot], list[TurnSlot]]:
        """The turns that it carries: pinned ones from before the view, and the rest."""
        return self.scope.in_view(self.past, self.cut.start)

    @cached_property
    def places(self) -> list[TurnSlot]:
        """The turns that it carries."""
        return [*self.view[0], *self.view[1]]

    @cached_property
    def turns(self) -> list[Turn]:
        """The turns that it carries, as it carries them."""
        if not self.scope.shortened:
            return [place.turn for place in self.places]
        return [self.scope.turn(self.past, place) for place in self.places]

    @cached_property
    def request(self) -> Request:
        """What the provider is sent."""
        before = messages_before(self.target, self.past, self.scope, self.view)
        messages = (*before, *map(self.target.sendable, (self.message, *self.again)))
        return self.target.request(messages, shared=None if self.again else self.target.shared)

    def key(self, *added: str) -> str:
        """Return a fingerprint of what one tokenizer counts of its view, with the ids of turns that are ``added``."""
        versions = (turn.record.id for turn in self.turns)
        parts = "\0".join((self.target.provider.tokenizer, *self.scope.fixed, *versions, *added))
        return hashlib.blake2b(parts.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def place_at(self, position: int, turn_id: str) -> str | None:
        """Return the id of the place at a position; ``None``: of the first one, ``turn_id``: of the new turn."""
        if position == 0:
            return None
        return self.past.places[position].id if position < self.scope.at else turn_id

    @property
    def sent(self) -> SentRequest:
        """The request in parts with their tokens, to compare with a report."""
        meter, size = self.target.meter, self.size
        turns, guessed = size.ledger.in_view(self.cut.start, size.end), size.ledger.guessed(self.cut.start, size.end)
        files = file_tokens(self.message.attachments, meter.vision) if self.message.attachments else 0.0
        return SentRequest(
            self.scope.fixed, self.message.content, turns - guessed, guessed,
            lambda: {turn.id: turn_tokens(turn, meter) for turn in self.turns}, files,
        )  # fmt: skip

    def uncut(self) -> RequestPlan:
        """Return the same as it was before turns were left out."""
        if self.cut.start == self.first:
            return self
        cut = self.cut._replace(start=self.first, tokens=self.cut.before)
        return replace(self, cut=cut, counted=None)


def plan(
    message: Message, target: Target, past: Conversation, at: int, system: str, *, lasting: bool = False,
    apart: bool = False,
) -> RequestPlan:  # fmt: skip
    """Return the request for a prompt at a position; ``lasting``, ``apart``: see :class:`RequestPlan`.

    It is cut by the provider's own count, where that is wanted and it counts. Where even the smallest seems too large
    it is that one: the provider decides. Raises ContextOverflowError where ``on_overflow`` is "stop" and something
    would have to be left out.
    """
    basis = _begun(message, target, past, at, system, lasting=lasting, apart=apart)
    planned = _fitted(basis, basis.first)
    trial = target.trial if planned.cut.start > basis.first else None
    if trial is not None:
        planned = min(planned, _fitted(replace(basis, target=trial), basis.first), key=lambda each: each.cut.start)
    if target.settings.token_counting == "provider" and message.content:
        planned = _counted(planned)
    if planned.cut.means == "refuse":
        raise overflow_error(planned.uncut())
    return planned


def next_plan(target: Target, past: Conversation, system: str) -> RequestPlan:
    """Return the next request with an empty prompt, for readers: whole, with the decision on what it will leave out."""
    basis = _begun(Message("user", ""), target, past, len(past.places), system)
    return _decided(basis, basis.first)


def continued(planned: RequestPlan, following: Sequence[Message]) -> RequestPlan:
    """Return the request with more behind its message, such as results of calls, without what there is no room for."""
    return _fitted(replace(planned, again=tuple(following), retry=0), planned.cut.start)


def smaller(refused: RequestPlan, target: Target, error: ContextOverflowError) -> RequestPlan:
    """Return a request that is strictly smaller than the refused one, for a target that knows what that taught.

    Where only the room for the reply was too large, that alone shrinks. Raises ContextOverflowError where nothing is
    smaller.
    """
    old, size = refused.target, _size_of(refused, error.overflow or Overflow(), target)
    is_learned = False
    if size is not None and refused.request.schema is None:
        is_learned = old.meter.record_count(refused.sent, size)
    tokens = size or refused.tokens
    goal = goal_after_refusal(tokens, target.limit, retry=refused.retry)
    if error.by_bytes:
        goal *= OF_BYTES
    elif target.limit_is_stated and _shorter_reply(old, target) and tokens <= target.limit:
        goal = float(target.limit)
    elif refused.retry and not target.limit_is_stated:
        goal = 1.0  # nobody has said how much fits: the last try sends the least that may be sent
    basis = replace(refused, target=target, retry=refused.retry + 1, scale=1.0)
    if size is not None and size > refused.tokens and not is_learned:
        now = _decided(basis, refused.cut.start).size
        scale = max(1.0, size / (now.tokens_from(refused.cut.start) + now.prompt))
        basis, goal = replace(basis, scale=scale), goal / scale
    # compared as text: what was learned may have changed every estimate
    before = len(str(refused.request.messages))
    for shorter in _shorter(basis, goal):
        if _shorter_reply(old, target) or len(str(shorter.request.messages)) < before:
            return shorter
    raise overflow_error(shorter, error)


def _begun(
    message: Message, target: Target, past: Conversation, at: int, system: str, *, lasting: bool = False,
    apart: bool = False,
) -> RequestPlan:  # fmt: skip
    """Return the request for a prompt with all that may stand before it, not measured yet.

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
        scope = replace(scope, shortened=shortened)
    return RequestPlan(message, target, past, scope, scope, start, lasting, apart)


def _fitted(basis: RequestPlan, start: int, goal: float | None = None) -> RequestPlan:
    """Return the request in a view that begins at ``start`` or later, by the policy of compaction."""
    planned = _decided(basis, start, goal)
    is_whole = planned.cut.fits and planned.cut.start == start
    for lighter, spares_turns in () if is_whole else _lighter(basis):
        if planned.cut.fits and not (spares_turns and planned.cut.start > start):
            break
        planned = _decided(lighter, max(start, lighter.first), goal)
    return planned


def _decided(basis: RequestPlan, start: int, goal: float | None = None) -> RequestPlan:
    """Return the request with what is left out of it, in a view that begins at ``start`` or later."""
    message, target, scope, meter = basis.message, basis.target, basis.scope, basis.target.meter
    ledger, asked = ledger_of(basis.past, meter, scope), meter.message(message.content) + target.beside_tokens
    if message.attachments:
        asked += file_tokens(message.attachments, meter.vision)
    for each in basis.again:
        asked += meter.message(each.text) + file_tokens(each.files, meter.vision)
    fixed = meter.fixed(scope.fixed)
    guessed = 0.0 if meter.counted(scope.fixed) else fixed
    limit = int(target.limit / basis.scale)
    size = RequestSize(ledger, limit, start, scope.at, basis.first, fixed, guessed, asked, basis.lasting)
    return replace(basis, size=size, cut=decide(size, target.settings, goal=goal), counted=None)


def _lighter(basis: RequestPlan) -> Iterator[tuple[RequestPlan, bool]]:
    """Yield the request with ever less beside its prompt, and whether that goes before a turn is left out.

    Results of functions do, because an answer says more than the table that it was drawn from: those of all turns but
    the newest, then its own. Then go those of its own earlier rounds, and the summary with the turns it stands for.
    """
    scope, past, first = basis.scope, basis.past, max(basis.scope.shortened, basis.first)
    may_lessen = basis.target.settings.on_overflow != "stop"
    for shortened in (max(0, scope.at - 1), scope.at) if may_lessen else ():
        if any(place.turn.rounds for place in past.places[first:shortened]):
            basis = replace(basis, scope=replace(scope, shortened=shortened))
            yield basis, True

    short = tuple(each if each.round is None else replace(each, round=each.round.shortened()) for each in basis.again)
    again = (*short[:-1], *basis.again[-1:])  # the newest results are why it is sent
    if again != basis.again:
        basis = replace(basis, again=again)
        yield basis, False
    if scope.summary is not None and may_lessen:
        first = max(basis.first, past.covered_to(scope.covers))
        yield replace(basis, scope=replace(basis.scope, summary=None), first=first), False


def _shorter(basis: RequestPlan, goal: float) -> Iterator[RequestPlan]:
    """Yield requests of about a goal's tokens, each with less than the one before: first that with the most turns."""
    start, end = basis.cut.start, basis.scope.at
    shorter = _fitted(basis, start, goal)
    yield shorter
    ledger = shorter.size.ledger
    yield _fitted(basis, ledger.last(ledger.count(start, end) - 1, start, end), goal)
    for lighter, _ in _lighter(basis):
        yield _decided(lighter, max(start, lighter.first), goal)


def _counted(planned: RequestPlan) -> RequestPlan:
    """Return the request cut by the provider's own count; unchanged where the provider does not count."""
    tokens = planned.target.provider.count_tokens(planned.request)
    if tokens is None:
        return planned
    if planned.request.schema is None:
        planned.target.meter.record_count(planned.sent, tokens)
    shorter = _fitted(planned, planned.cut.start)
    return replace(planned, counted=tokens) if shorter.cut.start == planned.cut.start else shorter


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


# the error where none fits


def overflow_error(
    plan: RequestPlan, refusal: ContextOverflowError | None = None, *, kept: bool = False
) -> ContextOverflowError:
    """Return the error for a request that does not fit, with figures and remedy; ``kept``: text was recorded."""
    target, limit, window, largest = plan.target, plan.target.limit, plan.target.window, _largest(plan)
    overflow = refusal.overflow if refusal is not None else None
    stated = overflow.input_tokens if overflow is not None else None
    used = stated or whole(plan.tokens)
    size = f"{'' if stated else 'about '}{used:,} tokens"
    share = plan.size.estimated(plan.cut.start)[1]
    margin = f" and a margin of {100 * share:.0f} % for estimates" if used <= limit else ""
    room = f"window {window.tokens:,} {window.origin}, {target.reserve:,} kept for the reply"
    what = f"{size}{margin} do not fit: {target.model} takes {limit:,} ({room})"
    if refusal is None and plan.cut.reasons and not plan.cut.too_large:
        what = f"{size} are more than {' and '.join(plan.cut.reasons)} allows"
    parts = ", ".join(f"{part} ({tokens:,})" for part, tokens in largest)
    recorded = "What came is kept, marked as cut" if kept or plan.again else "Nothing was recorded"
    name = largest[0][0]
    longest = name if name == "the system prompt" else "this prompt"
    remedy = f"Shorten {longest}, or ask a model with a larger window (-m)."
    by_bytes = refusal is not None and refusal.by_bytes
    if by_bytes:
        what, remedy = f"{target.model}: {str(refusal).rstrip('.')}", "Send a smaller file, or less text."
    elif name.startswith("pinned"):
        remedy = f"Take a pin off with %chat unpin {name.split()[-1]}."
    elif plan.places and target.settings.on_overflow == "stop":
        remedy = f"Make room with %chat summarise, trim N or clear, or shorten {longest}."
    return ContextOverflowError(
        f"{what}. Largest parts: {parts}. {recorded}. {remedy}", used=used, limit=limit, largest=largest,
        prompt=plan.message.content, overflow=overflow, by_bytes=by_bytes,
    )  # fmt: skip


def _largest(plan: RequestPlan) -> tuple[tuple[str, int], ...]:
    """Return the three largest parts with their tokens."""
    meter, fixed = plan.target.meter, plan.scope.fixed
    parts = [("this prompt", plan.size.prompt)]
    parts += [("the system prompt", meter.message(fixed.system)), ("the summary", meter.message(fixed.summary))]
    for place, turn in zip(plan.places, plan.turns, strict=True):
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {plan.past.index(place.id) + 1}", turn_tokens(turn, meter)))
    ordered = sorted(parts, key=lambda part: -part[1])
    return tuple((name, round(tokens)) for name, tokens in ordered[:3] if tokens)
