"""From a prompt to a request that fits, and after a refusal to a smaller one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..context.budget import MARGIN, TRIM_TO, Budget, whole
from ..context.compaction import GO_BACK, Cut, fit
from ..context.evidence import Refused
from ..context.overflow import Overflow
from ..context.prefix_sums import Ledger
from ..context.tokens import SentRequest
from ..conversation.conversation import Conversation, Place
from ..conversation.messages import Attachment, Message
from ..errors import ContextOverflowError
from ..models.registry import Models, Target
from ..providers.base import Request
from .byte_limit import lightened, megabytes, request_bytes
from .view import Scope, covered_to, extend_ledger, in_view, scope_at, to_messages, turn_tokens, without_summary


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One request as it is about to be sent.

    ``first`` is where the view began before it was made smaller, ``said`` the new message
    and ``asked`` the tokens of it alone; ``retry`` counts the refusals before it; ``counted`` is what
    the provider said of just this request when it was asked. ``trial``: it goes beyond a learned limit,
    to see whether that still holds. ``dropped`` are files of earlier turns that would make too many bytes,
    ``most_bytes`` what turns were left out for.
    """

    target: Target
    past: Conversation
    scope: Scope
    cut: Cut
    first: int
    said: Message
    asked: float
    request: Request
    left_out: int
    retry: int = 0
    counted: int | None = None
    trial: bool = False
    dropped: tuple[Attachment, ...] = ()
    most_bytes: int | None = None

    @property
    def prompt(self) -> str:
        """What is asked, without the files that go with it."""
        return self.said.content

    @property
    def tokens(self) -> float:
        """Tokens of the whole request, as far as we can tell."""
        return self.cut.tokens + self.asked if self.counted is None else self.counted

    @property
    def budget(self) -> Budget:
        """The budget of this request, without what is used of it."""
        return self.target.budget()

    @property
    def lacks_summary(self) -> bool:
        """Whether there was no room for the summary."""
        return self.scope.summary is None and scope_at(self.past, self.scope.at, "").summary is not None

    @property
    def places(self) -> list[Place]:
        """The turns it carries."""
        passed, rest = in_view(self.past, self.scope, self.cut.start)
        return passed + rest

    @property
    def sent(self) -> SentRequest:
        """The request in parts with their tokens, to compare with a report."""
        meter, turns = self.target.meter, [place.turn for place in self.places]
        sizes = {turn.id: turn_tokens(turn, meter) for turn in turns}
        before = meter.fixed(self.scope.fixed) + sum(sizes.values())
        guessed = tuple((turn.prompt, turn.reply) for turn in turns if not meter.counted(turn.id))
        return SentRequest(self.scope.fixed, sizes, self.prompt, before, self.said.attached, guessed)


COUNTS = 3  # times that a provider is asked for the size of one request


class Fitter:
    """Plans requests. Keeps the running sums of one conversation between turns."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._kept: tuple[tuple[object, ...], Ledger] = ((), Ledger())
        self._lock = threading.Lock()  # the gauge may read from another thread

    def ledger(self, target: Target, past: Conversation, scope: Scope) -> Ledger:
        """The sizes of all turns; extended by what was appended, else made anew."""
        key = (id(past), past.revision, target.provider.tokenizer, target.meter.revision, scope.covers)
        with self._lock:
            ledger = self._kept[1] if self._kept[0] == key else Ledger()
            self._kept = (key, extend_ledger(ledger, past, scope, target.meter))
            return self._kept[1]

    def start(self, target: Target, past: Conversation, scope: Scope) -> int:
        """Where the next view begins if nothing must go: where the last one did.

        Further back only where model or window has changed and there is ample room.
        """
        if scope.at == 0:
            return 0
        last, ledger = past.places[scope.at - 1], self.ledger(target, past, scope)
        start = min(max(scope.floor, past.index(last.start)), scope.at)
        sent, now = last.versions[0], (target.window.tokens, target.model)
        if start > scope.floor and (sent.record.window, sent.model) != now:
            fixed = target.meter.fixed(scope.fixed) + ledger.pinned(scope.at)
            if fixed + ledger.between(scope.floor, scope.at) <= GO_BACK * target.budget().limit:
                return scope.floor
        return start

    def cut(
        self,
        target: Target,
        past: Conversation,
        scope: Scope,
        start: int,
        *,
        asked: float = 0.0,
        margin: float = MARGIN,
        goal: float | None = None,
    ) -> Cut:
        """Where a view that begins at ``start`` must begin for a prompt of ``asked`` tokens, by the settings.

        ``margin`` is that of the prompt's estimate; it holds where all else is counted.
        """
        settings, fixed = target.settings, target.meter.fixed(scope.fixed)
        ledger, guessed = self.ledger(target, past, scope), 0.0 if target.meter.counted(scope.fixed) else fixed
        unsure = guessed + ledger.guessed(start, scope.at) > 0
        return fit(
            ledger, replace(target.budget(fixed), margin=MARGIN if unsure else margin), asked,
            start=start, end=scope.at, goal=goal, guessed=guessed,
            share=settings.compact_at, min_turns=settings.min_turns, max_turns=settings.max_turns,
        )  # fmt: skip

    def attempt(self, said: Message, target: Target, past: Conversation, at: int, system: str) -> Attempt:
        """The request for a prompt at a position.

        Where even the smallest seems too large it is that one: the provider's word counts. Raises
        ContextOverflowError where ``on_overflow`` is "stop" and something would have to be left out.
        """
        scope = scope_at(past, at, system)
        first = self.start(target, past, scope)
        attempt = self._plan(said, target, past, scope, first, first, None)
        if target.settings.token_counting == "provider" and said.content:
            attempt = self._counted(attempt)
        if target.settings.on_overflow == "stop" and (attempt.cut.start > first or not attempt.cut.fits):
            raise overflow_error(replace(attempt, cut=replace(attempt.cut, start=first, tokens=attempt.cut.before)))
        if target.trial is not None and attempt.cut.start > first:
            return self._tried(attempt, target.trial)
        return attempt

    def _tried(self, attempt: Attempt, target: Target) -> Attempt:
        """The request as it would be without what was learned, where that would leave out less."""
        said, past, scope, first = attempt.said, attempt.past, attempt.scope, attempt.first
        trial = self._plan(said, target, past, scope, first, first, None)
        return replace(trial, trial=True) if trial.cut.start < attempt.cut.start else attempt

    def _counted(self, attempt: Attempt) -> Attempt:
        """The request by the provider's own count, cut by that where it must be; as it was where nobody counts."""
        for _ in range(COUNTS):
            tokens = attempt.target.provider.count_tokens(attempt.request)
            if tokens is None:
                return attempt
            attempt.target.meter.told(attempt.sent, tokens)
            start = attempt.cut.start
            attempt = self._plan(attempt.said, attempt.target, attempt.past, attempt.scope, attempt.first, start, None)
            if attempt.cut.start == start:
                return replace(attempt, counted=tokens)
        return attempt

    def smaller(self, refused: Attempt, overflow: Overflow) -> Attempt:
        """A strictly smaller request, from what the refusal taught.

        Where only the room for the reply was too large, that alone shrinks.
        """
        old = refused.target
        self._models.refused(old, seen(refused, overflow))
        target = self._models.target(old.settings, ask=True)
        limit, size = target.budget().limit, _size_of(refused, overflow, target)
        if size is not None:
            old.meter.told(refused.sent, size)
        tokens = size or refused.tokens
        shorter = self._is_stated(target) and _shorter_reply(old, target) and tokens <= limit
        goal = float(limit) if shorter else self._goal(refused, tokens, target)
        attempt = self._less(refused, target, goal)
        if not _sends_less(attempt, refused):
            attempt = self._without_summary(attempt, refused.cut.start, goal)
        if not _sends_less(attempt, refused):
            raise overflow_error(attempt, overflow)
        return replace(attempt, retry=refused.retry + 1)

    def lighter(self, refused: Attempt) -> Attempt:
        """A request of fewer bytes: without the largest files of earlier turns, then without the oldest turns.

        After a second refusal the smallest there is. Raises ContextOverflowError where none is smaller.
        """
        target, size = refused.target, request_bytes(refused.request.messages)
        self._models.too_heavy(target, size)
        start = refused.scope.at if refused.retry else refused.cut.start
        attempt = self._plan(refused.said, target, refused.past, refused.scope, refused.first, start, None)
        if request_bytes(attempt.request.messages) >= size:
            attempt = self._without_summary(attempt, start, None)
        if request_bytes(attempt.request.messages) >= size:
            raise heavy_error(refused)
        return replace(attempt, retry=refused.retry + 1)

    def _less(self, refused: Attempt, target: Target, goal: float | None) -> Attempt:
        """A request of about this size that leaves out at least one more turn, where there is one."""
        said, past, scope, first, start = refused.said, refused.past, refused.scope, refused.first, refused.cut.start
        start = scope.at if goal is None else start
        attempt = self._plan(said, target, past, scope, first, start, goal)
        if _sends_less(attempt, refused):
            return attempt
        ledger = self.ledger(target, past, scope)
        further = ledger.last(ledger.count(start, scope.at) - 1, start, scope.at)
        return self._plan(said, target, past, scope, first, further, goal)

    def _is_stated(self, target: Target) -> bool:
        """Whether the limit of a target that has just refused is one that somebody stated."""
        return not target.window.is_of_prompts and (
            target.window.source == "server" or self._models.evidence(target).stated is not None
        )

    def _goal(self, refused: Attempt, tokens: float, target: Target) -> float | None:
        """How small the next request shall be: 0.6 of the limit; where none is known or that did not do, halved.

        ``None``: the smallest there is.
        """
        limit = target.budget().limit
        if self._is_stated(target) and limit < tokens:
            return min(TRIM_TO * limit, 0.5 * tokens) if refused.retry else TRIM_TO * limit
        evidence = self._models.evidence(target)
        passed = evidence.passed
        if refused.retry and not passed and evidence.best >= tokens:
            return None  # the limit fell, nobody knows how far
        if refused.retry:
            return TRIM_TO * passed if 0 < passed < tokens else 0.5 * tokens
        return min(TRIM_TO * tokens, limit) if passed else TRIM_TO * min(tokens, limit)

    def _plan(
        self, said: Message, target: Target, past: Conversation, scope: Scope,
        first: int, start: int, goal: float | None,
    ) -> Attempt:  # fmt: skip
        asked, margin = target.meter.message(said.content) + said.attached, target.meter.margin(said.content)
        cut = self.cut(target, past, scope, start, asked=asked, margin=MARGIN if said.attached else margin, goal=goal)
        request = target.request(to_messages(past, scope, cut.start, said))
        gone = self.ledger(target, past, scope).count(first, cut.start)
        attempt = Attempt(target, past, scope, cut, first, said, asked, request, gone)
        most = self._models.evidence(target).most_bytes
        attempt = attempt if most is None else self._within(attempt, most)
        return attempt if cut.fits else self._without_summary(attempt, start, goal)

    def _within(self, attempt: Attempt, most: int) -> Attempt:
        """The request in so many bytes: without the largest files of earlier turns, else without the oldest turns."""
        messages, dropped = lightened(attempt.request.messages, most)
        attempt = replace(attempt, request=replace(attempt.request, messages=messages), dropped=dropped)
        excess = request_bytes(messages) - TRIM_TO * most
        if request_bytes(messages) <= most or attempt.cut.start >= attempt.scope.at:
            return attempt
        start = attempt.cut.start
        while excess > 0 and start < attempt.scope.at:
            excess -= request_bytes(attempt.past.places[start].turn.messages)
            start += 1
        smaller = self._plan(
            attempt.said, attempt.target, attempt.past, attempt.scope, attempt.first, start, None
        )  # fmt: skip
        return replace(smaller, most_bytes=most)

    def _without_summary(self, full: Attempt, start: int, goal: float | None) -> Attempt:
        """The request without the summary and what that stands for, where there is one: a prompt comes first."""
        past, scope = full.past, full.scope
        if scope.summary is None or full.target.settings.on_overflow == "stop":
            return full
        first, start = (max(position, covered_to(past, scope.covers)) for position in (full.first, start))
        attempt = self._plan(full.said, full.target, past, without_summary(scope), first, start, goal)
        return replace(attempt, cut=replace(attempt.cut, before=full.cut.before))


def _sends_less(attempt: Attempt, refused: Attempt) -> bool:
    """Whether a request is smaller than the one that was refused, or asks for a shorter reply."""
    fewer = attempt.scope is not refused.scope or attempt.left_out > refused.left_out
    return fewer or _shorter_reply(refused.target, attempt.target)


def seen(refused: Attempt, overflow: Overflow) -> Refused:
    """What a refusal shows of the endpoint's limit."""
    tokens, output = whole(refused.tokens), refused.request.max_tokens or 0
    return Refused(overflow, tokens, output, refused.retry, refused.trial)


def overflow_error(attempt: Attempt, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """What does not fit, with the figures and what to do; ``kept``: text had come, and was recorded."""
    target, limit = attempt.target, attempt.budget.limit
    said = overflow.input_tokens if overflow else None
    used = said if said is not None else whole(attempt.tokens)
    largest = _largest(attempt, used)
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in largest)
    holds = f"{target.model} takes {limit:,} ({_bounds(attempt)})"
    figures = f"{'' if said is not None else 'about '}{used:,} tokens do not fit: {holds}"
    if overflow and said is None and (target.window.refused or used <= limit):
        passed = f"; it has taken {target.window.passed:,}" if target.window.passed else ""
        figures = f"the provider refused about {used:,} tokens as too many and gave no limit{passed}"
    return ContextOverflowError(
        f"{figures}. Largest parts: {parts}. "
        f"{'What came is kept, marked as cut' if kept else 'Nothing was recorded'}. {_remedy(attempt, largest)}",
        used=used,
        limit=limit,
        largest=largest,
        prompt=attempt.prompt,
        overflow=overflow,
    )


def heavy_error(attempt: Attempt) -> ContextOverflowError:
    """What to say of a request that was refused for its bytes, and cannot be made smaller by itself."""
    files = sorted(attempt.said.attachments, key=lambda file: -len(file.data))
    largest = f" {files[0].name} has {megabytes(len(files[0].data))}." if files else ""
    size = megabytes(request_bytes(attempt.request.messages))
    return ContextOverflowError(
        f"{attempt.target.model}: the server takes no request of {size}.{largest} Nothing was recorded. "
        "Send a smaller file, shorten the prompt, or make room with %chat trim.",
        largest=_largest(attempt, whole(attempt.tokens)), prompt=attempt.prompt, by_bytes=True,
    )  # fmt: skip


def _bounds(attempt: Attempt) -> str:
    """What the limit is made of."""
    target, settings = attempt.target, attempt.target.settings
    bounds = [f"window {target.window.tokens:,} {target.window.basis}", f"{target.reserve:,} kept for the reply"]
    if settings.on_overflow == "stop" and settings.compact_at < 1:
        bounds.append(f"compact_at {settings.compact_at:g}")
    if settings.on_overflow == "stop" and settings.max_turns is not None:
        bounds.append(f"max_turns {settings.max_turns}")
    return ", ".join(bounds)


def _largest(attempt: Attempt, used: int) -> tuple[tuple[str, int], ...]:
    """The three largest parts; what is known of the whole beyond the others is the prompt's."""
    meter, sent = attempt.target.meter, attempt.sent
    parts = [("this prompt", max(attempt.asked, used - sent.before))]
    parts += [
        ("the system prompt", meter.message(sent.fixed.system)),
        ("the summary", meter.message(sent.fixed.summary)),
    ]
    for place in attempt.places:
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {attempt.past.index(place.id) + 1}", sent.turns[place.turn.id]))
    ordered = sorted(parts, key=lambda part: -part[1])[:3]
    return tuple((name, round(tokens)) for name, tokens in ordered if tokens >= 1)


def _remedy(attempt: Attempt, largest: Sequence[tuple[str, int]]) -> str:
    if attempt.target.settings.on_overflow == "stop":
        learned = attempt.target.window.source == "learned"
        grown = " Where the limit has grown, %chat config window N says so." if learned else ""
        return f"Make room with %chat summarise, trim or clear; on_overflow=stop leaves that to you.{grown}"
    if largest and largest[0][0].startswith("pinned"):
        return f"Take a pin off with %chat unpin {largest[0][0].split()[-1]}."
    return "Shorten it, or ask a model with a larger window (-m)."


def _states_limit(overflow: Overflow) -> bool:
    return overflow.context_window is not None or overflow.max_input_tokens is not None


def _size_of(refused: Attempt, overflow: Overflow, target: Target) -> int | None:
    """What the refusal tells of the size: a number, or that it was more than the limit of ``target``."""
    size, limit = overflow.input_tokens, target.budget().limit
    if size is not None and (size > refused.tokens or not overflow.input_is_bound):
        return size
    too_much = _states_limit(overflow) and not _shorter_reply(refused.target, target)
    return limit if too_much and refused.tokens < limit else None


def _shorter_reply(old: Target, new: Target) -> bool:
    return old.max_tokens is not None and new.max_tokens is not None and new.max_tokens < old.max_tokens
