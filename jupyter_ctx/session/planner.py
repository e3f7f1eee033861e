"""From a prompt to a request that fits, and after a refusal to a smaller one."""

from __future__ import annotations

from dataclasses import replace

from ..context.budget import LEAST_MARGIN, MARGIN
from ..context.compaction import Ledger, Occupancy
from ..context.overflow import Overflow
from ..context.policy import TRIM_TO, comes_back, compact_share, decide, goal_after_refusal
from ..conversation.conversation import Conversation
from ..conversation.messages import Message
from ..errors import ContextOverflowError
from ..models.registry import Models, Target
from ..providers.base import Request
from ..providers.request_body import schema_text
from .attempt import Attempt, Question, heavy_error, overflow_error, refusal_of
from .messages_sent import lightened, messages_before, request_bytes
from .view import Scope, scope_at, turn_tokens, without_summary

COUNTS = 3  # times that a provider is asked for the size of one request


class Fitter:
    """Plans requests; ``models`` learn from the refusals of those that were too large."""

    def __init__(self, models: Models) -> None:
        self.models = models

    def ledger(self, target: Target, past: Conversation, scope: Scope) -> Ledger:
        """Return the sizes of all turns; 0 for those that no view in this scope may hold."""
        meter, ledger = target.meter, Ledger()
        for place in past.places:
            tokens = turn_tokens(place.turn, meter) if scope.holds(place) else None
            ledger.append(tokens, pinned=place.pinned, counted=meter.counted(place.turn.id))
        return ledger

    def start(self, target: Target, past: Conversation, scope: Scope, *, apart: bool = False) -> int:
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
            ledger = self.ledger(target, past, scope)
            fixed = target.meter.fixed(scope.fixed) + ledger.pinned(scope.at)
            if comes_back(fixed + ledger.between(scope.floor, scope.at), target.budget().limit):
                return scope.floor
        return start

    def occupancy(self, target: Target, past: Conversation, scope: Scope, start: int) -> Occupancy:
        """Return what the next request takes with an empty prompt, in a view that begins at ``start``."""
        fixed, ledger = target.meter.fixed(scope.fixed), self.ledger(target, past, scope)
        guessed = 0.0 if target.meter.counted(scope.fixed) else fixed
        budget = target.budget(fixed)._replace(margin=MARGIN)
        return Occupancy(ledger, budget, start, scope.at, guessed=guessed)

    def room_ends(self, target: Target, past: Conversation, now: Occupancy) -> int:
        """Return up to how many tokens the next request may have before room is made: with a prompt like the last."""
        if now.end and not now.guessed + now.ledger.guessed(now.start, now.end):
            margin = max(target.meter.margin(past.places[now.end - 1].turn.prompt), LEAST_MARGIN)
            now = now._replace(budget=now.budget._replace(margin=margin))
        return now.most(compact_share(target.settings, now.limit))

    def attempt(
        self, message: Message, target: Target, past: Conversation, at: int, system: str, *, lasting: bool, apart: bool
    ) -> Attempt:
        """Return the request for a prompt at a position; ``lasting``, ``apart``: see :class:`Question`.

        Where even the smallest seems too large it is that one: the provider decides. Raises
        ContextOverflowError where ``on_overflow`` is "stop" and something would have to be left out.
        """
        scope = scope_at(past, at, system)
        start = self.start(target, past, scope, apart=apart)
        question = Question(message, target, past, scope, start, lasting, apart, lacks_summary=False)
        attempt = self._plan(question, question.first)
        if target.settings.token_counting == "provider" and message.content:
            attempt = self._counted(attempt)
        if attempt.decision.means == "refuse":
            raise overflow_error(attempt.uncut())
        if target.trial is not None and attempt.cut.start > attempt.first:
            trial = self._plan(replace(question, target=target.trial), question.first)
            return trial if trial.cut.start < attempt.cut.start else attempt
        return attempt

    def request(self, target: Target, past: Conversation, scope: Scope, start: int, asked: Message) -> Request:
        """Return the request for a message as it may be sent, in a view that begins at ``start``."""
        return target.request((*messages_before(target, past, scope, start), asked))

    def _counted(self, attempt: Attempt) -> Attempt:
        """Return the request cut by the provider's own count; unchanged where the provider does not count."""
        for _ in range(COUNTS):
            tokens = attempt.target.provider.count_tokens(attempt.request)
            if tokens is None:
                return attempt
            if attempt.request.schema is None:
                attempt.target.meter.record_count(attempt.sent, tokens)
            before = attempt
            attempt = self._plan(before, before.cut.start).because(before.decision)
            if attempt.cut.start == before.cut.start:
                return replace(attempt, counted=tokens)
        return attempt

    def given_up(self, refused: Attempt, error: ContextOverflowError, *, kept: bool = False) -> ContextOverflowError:
        """Learn from a refusal after which nothing more is sent, and return the error that says so.

        ``kept``: text had come, and was recorded.
        """
        if error.by_bytes:
            return heavy_error(refused, error)
        overflow = error.overflow or Overflow()
        target = self.models.refused(refused.target, refusal_of(refused, overflow))  # for the next cell, too
        return overflow_error(replace(refused, target=target), overflow, kept=kept)

    def smaller(self, refused: Attempt, error: ContextOverflowError) -> Attempt:
        """Return a request that is strictly smaller than the refused one, in tokens or in bytes.

        Raises ContextOverflowError where there is none, and where ``on_overflow`` is "stop".
        """
        if refused.target.settings.on_overflow == "stop":
            raise self.given_up(refused, error)
        overflow = error.overflow or Overflow()
        if error.by_bytes:
            target = self.models.too_heavy(refused.target, request_bytes(refused.request.messages))
            return self._lighter(refused, target, error)
        return self._shorter(refused, self.models.refused(refused.target, refusal_of(refused, overflow)), overflow)

    def _shorter(self, refused: Attempt, target: Target, overflow: Overflow) -> Attempt:
        """Return a request of fewer tokens for ``target``, which knows what the refusal taught.

        Where only the room for the reply was too large, that alone shrinks.
        """
        old = refused.target
        limit, size = target.budget().limit, _size_of(refused, overflow, target)
        if size is not None and refused.request.schema is None:
            old.meter.record_count(refused.sent, size)
        tokens, stated = size or refused.tokens, target.limit_is_stated
        if stated and _shorter_reply(old, target) and tokens <= limit:
            goal: float | None = float(limit)
        else:
            goal = goal_after_refusal(tokens, limit, retry=refused.retry)
        attempt = self._less(refused, target, goal)
        if not _sends_less(attempt, refused):
            attempt = self._without_summary(attempt, refused.cut.start, goal)
        if not _sends_less(attempt, refused):
            raise overflow_error(attempt, overflow)
        return replace(attempt, retry=refused.retry + 1)

    def _lighter(self, refused: Attempt, target: Target, error: ContextOverflowError) -> Attempt:
        """Return a request of fewer bytes: without the largest files of earlier turns, then without the oldest turns.

        After a second refusal the smallest there is. Raises ContextOverflowError where none is smaller.
        """
        size, start = request_bytes(refused.request.messages), refused.scope.at if refused.retry else refused.cut.start
        attempt = self._plan(replace(refused, target=target), start)
        if request_bytes(attempt.request.messages) >= size:
            attempt = self._without_summary(attempt, start, None)
        if request_bytes(attempt.request.messages) >= size:
            raise heavy_error(refused, error)
        return replace(attempt, retry=refused.retry + 1)

    def _less(self, refused: Attempt, target: Target, goal: float | None) -> Attempt:
        """Return a request of about ``goal`` tokens that leaves out at least one more turn, where there is one."""
        question, end = replace(refused, target=target), refused.scope.at
        start = end if goal is None else refused.cut.start
        attempt = self._plan(question, start, goal)
        if _sends_less(attempt, refused):
            return attempt
        ledger = self.ledger(target, refused.past, refused.scope)
        return self._plan(question, ledger.last(ledger.count(start, end) - 1, start, end), goal)

    def _plan(self, question: Question, start: int, goal: float | None = None) -> Attempt:
        """Return the request in a view that begins at ``start`` or later, by the policy of compaction."""
        message, target, past, scope = question.message, question.target, question.past, question.scope
        asked, margin = target.message_tokens(message), target.meter.margin(message.content)
        asked += target.meter.tokens(schema_text(target.schema)) if target.schema is not None else 0.0
        now = self.occupancy(target, past, scope, start)
        if not now.guessed + now.ledger.guessed(start, scope.at) and not message.attachments:
            now = now._replace(budget=now.budget._replace(margin=margin))  # where all else is counted
        lasting = question.lasting and target.learned_limit.heavy is None  # a summary is measured in tokens
        now = now._replace(first=question.first, prompt=asked, lasting=lasting)
        decision = decide(now, target.settings, goal=goal)
        request = self.request(target, past, scope, decision.cut.start, target.sendable(message))
        attempt = Attempt(
            message, target, past, scope, question.first, question.lasting, question.apart,
            question.lacks_summary, decision, now.ledger, asked, request,
        )  # fmt: skip
        most = target.learned_limit.most_bytes
        if most is not None and request_bytes(request.messages) > most:
            attempt = self._within(attempt, most)
        return attempt if decision.cut.fits else self._without_summary(attempt, start, goal)

    def _within(self, attempt: Attempt, most: int) -> Attempt:
        """Return the request in so many bytes: without the largest files of earlier turns, else without old turns."""
        messages, dropped = lightened(attempt.request.messages, most)
        attempt = replace(attempt, request=replace(attempt.request, messages=messages), dropped=dropped)
        excess = request_bytes(messages) - TRIM_TO * most
        if request_bytes(messages) <= most or attempt.cut.start >= attempt.scope.at:
            return attempt
        start = attempt.cut.start
        while excess > 0 and start < attempt.scope.at:
            excess -= request_bytes(attempt.past.places[start].turn.messages)
            start += 1
        return replace(self._plan(attempt, start), most_bytes=most)

    def _without_summary(self, full: Attempt, start: int, goal: float | None) -> Attempt:
        """Return the request without the summary and the turns it stands for: the prompt goes first."""
        past, scope = full.past, full.scope
        if scope.summary is None or full.target.settings.on_overflow == "stop":
            return full
        first, start = (max(position, past.covered_to(scope.covers)) for position in (full.first, start))
        attempt = self._plan(replace(full, scope=without_summary(scope), first=first, lacks_summary=True), start, goal)
        return attempt.with_cut(before=full.cut.before)


def _sends_less(attempt: Attempt, refused: Attempt) -> bool:
    """Return whether a request is smaller than the one that was refused, or asks for a shorter reply."""
    fewer = attempt.scope is not refused.scope or attempt.left_out > refused.left_out
    return fewer or _shorter_reply(refused.target, attempt.target)


def _size_of(refused: Attempt, overflow: Overflow, target: Target) -> int | None:
    """Return what the refusal tells of the size: a number, or that it was more than the limit of ``target``."""
    size, limit = overflow.input_tokens, target.budget().limit
    if size is not None and (size > refused.tokens or not overflow.input_is_bound):
        return size
    stated = overflow.context_window is not None or overflow.max_input_tokens is not None
    too_much = stated and not _shorter_reply(refused.target, target)
    return limit if too_much and refused.tokens < limit else None


def _shorter_reply(old: Target, new: Target) -> bool:
    return old.max_tokens is not None and new.max_tokens is not None and new.max_tokens < old.max_tokens
