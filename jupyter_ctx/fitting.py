"""From a prompt to a request that fits, and after a refusal to a smaller one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .context.budget import MARGIN, TRIM_TO, Budget, whole
from .context.compaction import GO_BACK, Cut, fit
from .context.ledger import Ledger
from .context.overflow import Overflow
from .context.tokens import Sent
from .conversation import Conversation, Message, Place
from .errors import ContextOverflowError
from .models import Models, Target
from .providers import Request
from .view import (
    Scope,
    covered_to,
    extend_ledger,
    in_view,
    scope_at,
    to_messages,
    turn_tokens,
    without_summary,
)


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One request as it is about to be sent.

    ``first`` is where the view began before it was made smaller, ``said`` the new message
    and ``asked`` the tokens of it alone; ``retry`` counts the refusals before it; ``counted`` is what
    the provider said of just this request when it was asked.
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
    def sent(self) -> Sent:
        """The request in parts with their tokens, to compare with a report."""
        meter, turns = self.target.meter, [place.turn for place in self.places]
        sizes = {turn.id: turn_tokens(turn, meter) for turn in turns}
        before = meter.fixed(self.scope.fixed) + sum(sizes.values())
        guessed = tuple((turn.prompt, turn.reply) for turn in turns if not meter.counted(turn.id))
        return Sent(self.scope.fixed, sizes, self.prompt, before, self.said.attached, guessed)


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
        if start > scope.floor and (sent.window, sent.model) != now:
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
        """The request for a prompt at a position. Raises ContextOverflowError where it cannot fit."""
        scope = scope_at(past, at, system)
        first = self.start(target, past, scope)
        attempt = self._plan(said, target, past, scope, first, first, None)
        if target.settings.token_counting == "provider" and said.content:
            attempt = self._counted(attempt)
        if target.settings.on_overflow == "stop" and attempt.cut.start > first:
            raise overflow_error(replace(attempt, cut=replace(attempt.cut, start=first, tokens=attempt.cut.before)))
        return attempt

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
        self._models.refused(old.provider, overflow)
        target = self._models.target(old.settings, ask=False)
        limit, size = target.budget().limit, _size_of(refused, overflow, target)
        if size is not None:
            old.meter.told(refused.sent, size)
        tokens = size or refused.tokens
        if _states_limit(overflow) and _shorter_reply(old, target) and tokens <= limit:
            goal = float(limit)
        else:
            goal = self._goal(refused, tokens, limit if _states_limit(overflow) else None)
        try:
            start = refused.cut.start
            attempt = self._plan(refused.said, target, refused.past, refused.scope, refused.first, start, goal)
            same = attempt.scope is refused.scope and attempt.left_out == refused.left_out
            if same and not _shorter_reply(old, target):
                attempt = self._without_summary(attempt, start, goal)
        except ContextOverflowError:
            raise overflow_error(replace(refused, target=target), overflow) from None
        return replace(attempt, retry=refused.retry + 1)

    def _goal(self, refused: Attempt, tokens: float, limit: int | None) -> float:
        """How small the next request shall be: 0.6 of the limit; where none is known or that did not do, halved."""
        if limit is not None:
            return min(TRIM_TO * limit, 0.5 * tokens) if refused.retry else TRIM_TO * limit
        accepted = self._models.accepted(refused.target.provider)
        if refused.retry and 0 < accepted < tokens:
            return TRIM_TO * accepted
        return (0.5 if refused.retry else TRIM_TO) * tokens

    def _plan(
        self, said: Message, target: Target, past: Conversation, scope: Scope,
        first: int, start: int, goal: float | None,
    ) -> Attempt:  # fmt: skip
        asked, margin = target.meter.message(said.content) + said.attached, target.meter.margin(said.content)
        cut = self.cut(target, past, scope, start, asked=asked, margin=MARGIN if said.attached else margin, goal=goal)
        request = target.request(to_messages(past, scope, cut.start, said))
        gone = self.ledger(target, past, scope).count(first, cut.start)
        attempt = Attempt(target, past, scope, cut, first, said, asked, request, gone)
        return attempt if cut.fits else self._without_summary(attempt, start, goal)

    def _without_summary(self, full: Attempt, start: int, goal: float | None) -> Attempt:
        """The request without the summary, and without what that stands for: a prompt comes first.

        Raises ContextOverflowError where there is no summary, or the rest does not fit either.
        """
        target, past, scope = full.target, full.past, full.scope
        if scope.summary is None or target.settings.on_overflow == "stop":
            raise overflow_error(full)
        ledger, start = self.ledger(target, past, scope), max(start, covered_to(past, scope.covers))
        attempt = self._plan(full.said, target, past, without_summary(scope), full.first, start, goal)
        return replace(
            attempt,
            cut=replace(attempt.cut, before=full.cut.before),
            left_out=ledger.count(full.first, attempt.cut.start),
        )


def overflow_error(attempt: Attempt, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """What does not fit, with the figures and what to do; ``kept``: text had come, and was recorded."""
    target, limit = attempt.target, attempt.budget.limit
    said = overflow.input_tokens if overflow else None
    used = said if said is not None else whole(attempt.tokens)
    largest = _largest(attempt, used)
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in largest)
    holds = f"{target.model} takes {limit:,} ({_bounds(attempt)})"
    figures = f"{'' if said is not None else 'about '}{used:,} tokens do not fit: {holds}"
    if overflow and said is None and used <= limit:
        figures = f"the provider refused about {used:,} tokens as too many and gave no limit; by what we know {holds}"
    return ContextOverflowError(
        f"{figures}. Largest parts: {parts}. "
        f"{'What came is kept, marked as cut' if kept else 'Nothing was recorded'}. {_remedy(attempt, largest)}",
        used=used,
        limit=limit,
        largest=largest,
        prompt=attempt.prompt,
        overflow=overflow,
    )


def _bounds(attempt: Attempt) -> str:
    """What the limit is made of."""
    target, settings = attempt.target, attempt.target.settings
    bounds = [f"window {target.window.tokens:,} {target.window.origin}", f"{target.reserve:,} kept for the reply"]
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
        return "Make room with %chat summarise, trim or clear; on_overflow=stop leaves that to you."
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
