"""What an endpoint has shown of its limit, and what follows from it.

Every figure here was seen: a prompt of so many tokens was taken, another was refused, a refusal
named a limit. None of it is law. Whatever is newer holds: a larger prompt that is taken, another
word from the user or the server, another refusal. A usage report alone never sets a limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .overflow import Overflow
from .windows import ContextWindow, Source

OWN_WORDS: frozenset[Source] = frozenset({"given", "server", "user file"})  # the user's or the server's own
ALSO_GUESSED: frozenset[Source] = frozenset({"assumed", "built in", "models.json", "provider"})
LEAST_WINDOW = 256  # tokens: no model holds less; servers have printed what was left instead of the window
NEAR = 0.1  # of the refused size: as near as that, the largest accepted prompt is the limit
FAR_BELOW = 0.9  # a size that is refused this far below one that was accepted shows that the limit fell
UNSURE, SURE = 3.0, 1.25  # an estimated size may be wrong by this factor, where most of it was counted by this
WELL_BELOW = 0.75  # of a stated limit: a size at which a refusal disproves the limit
FIRST_TRIAL, NEXT_TRIAL = 4, 16  # replies until a limit is first tried again, and from then on


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request: what the refusal said, and the size of the prompt as counted here.

    ``output`` is the longest reply that was asked for, 0 where none was; ``retry`` counts the
    refusals before this one; ``trial``: the request went beyond a learned limit to try it.
    """

    overflow: Overflow
    tokens: int
    output: int = 0
    retry: int = 0
    trial: bool = False

    @property
    def size(self) -> int:
        """Tokens of the prompt: as the refusal states them, else as counted here."""
        said = self.overflow.input_tokens
        if said is None:
            return self.tokens
        return max(said, self.tokens) if self.overflow.input_is_bound else said

    @property
    def stated(self) -> int | None:
        """The limit that the refusal states, true or not."""
        return self.overflow.max_input_tokens or self.overflow.context_window

    def limit(self, passed: int = 0) -> int | None:
        """The limit that the refusal states, where it can be true; ``passed``: the largest prompt that was taken."""
        said, overflow = self.stated, self.overflow
        if said is None or said < LEAST_WINDOW:
            return None
        whole = self.size + (0 if overflow.max_input_tokens else overflow.output_tokens or self.output)
        if overflow.input_tokens is None or overflow.input_is_bound:  # an estimate; a good one where most was counted
            whole = math.ceil(whole * (SURE if 2 * passed >= self.tokens else UNSURE))
        if whole < said:
            return None
        return None if self.retry and self.size <= WELL_BELOW * said else said


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one endpoint has shown of its limit, in tokens.

    ``passed``: the largest prompt that was taken, ``best`` the largest ever, also under another limit;
    ``refused``: the smallest that was refused; ``stated``: the limit that a refusal stated, which goes
    before these, ``of_input`` where it is one on the prompt alone; ``disproved``: one that was stated and
    is wrong; ``against``: the window that was believed until then, by source and tokens.
    ``answers`` counts the replies since the last refusal, ``trials`` the refusals that have
    confirmed a limit that was known; ``since`` is the time of the last refusal, in seconds since 1970.
    ``failed``: no smaller request was taken either, and the cell failed.
    ``heavy`` are the bytes of the smallest request that was refused for them, ``light`` of the largest taken since.
    """

    passed: int = 0
    best: int = 0
    refused: int | None = None
    stated: int | None = None
    of_input: bool = False
    disproved: int | None = None
    against: tuple[str, int] | None = None
    answers: int = 0
    trials: int = 0
    since: float = 0.0
    failed: bool = False
    heavy: int | None = None
    light: int = 0

    @property
    def limits(self) -> bool:
        """Whether there is a limit in it."""
        return self.stated is not None or self.refused is not None

    @property
    def due(self) -> bool:
        """Whether the limit is old enough to be tried again."""
        return self.limits and self.answers >= (NEXT_TRIAL if self.trials else FIRST_TRIAL)

    def accepted(self, tokens: int) -> Evidence:
        """With a prompt of this size that was taken: a limit below it is disproved."""
        seen = replace(
            self, passed=max(self.passed, tokens), best=max(self.best, tokens), answers=self.answers + 1, failed=False
        )  # fmt: skip
        if self.refused is not None and tokens >= self.refused:
            return seen._open()
        if self.stated is not None and tokens > self.stated:
            return replace(seen, stated=None, disproved=self.stated).aged() if self.refused else seen._open()
        return seen

    def _open(self) -> Evidence:
        """The same without a limit in tokens."""
        return replace(self, refused=None, stated=None, of_input=False, against=None, answers=0, trials=0)

    def aged(self) -> Evidence:
        """The same, old enough to be tried again."""
        return replace(self, answers=max(self.answers, NEXT_TRIAL))

    def carried(self, size: int) -> Evidence:
        """With a request of so many bytes that was taken."""
        if self.heavy is None:
            return self
        return replace(self, light=max(self.light, size), heavy=None if size >= self.heavy else self.heavy)

    def too_heavy(self, size: int) -> Evidence:
        """With a request of so many bytes that was refused for them."""
        heavy = min(size, self.heavy or size)
        return replace(self, heavy=heavy, light=self.light if self.light < heavy else 0)

    @property
    def most_bytes(self) -> int | None:
        """Bytes to plan a request with, half way from one that was taken to one that was refused; ``None``: any."""
        return None if self.heavy is None else (self.light + self.heavy) // 2

    def after(self, refusal: Refused, believed: ContextWindow, now: float) -> Evidence:
        """With a refusal: the limit it states, else that there is one below its size.

        ``believed`` is the window that the user, the server or a table says at that time.
        """
        known = self if self._holds(believed) else self._open()
        confirmed = refusal.trial or (known.limits and not refusal.retry)
        trials, against = known.trials + confirmed, (believed.source, believed.tokens)
        seen = replace(known, answers=0, since=now, trials=trials, against=against)
        limit, size = refusal.limit(self.passed), max(refusal.size - (refusal.overflow.excess or 0), 1)
        if limit is not None and limit != seen.disproved:
            of_input = refusal.overflow.max_input_tokens is not None
            passed = seen.passed if seen.passed <= limit else 0  # that was another regime
            return replace(seen, stated=limit, of_input=of_input, refused=size, passed=passed)
        if refusal.stated is not None:
            seen = replace(seen, disproved=refusal.stated)
        elif seen.stated is not None and size > seen.stated:
            return seen  # what is known already explains it
        refused = size if seen.refused is None else min(size, seen.refused)
        if refused <= seen.passed:
            fell = refused < FAR_BELOW * seen.passed
            return replace(
                seen, stated=None, passed=0 if fell else seen.passed, refused=refused if fell else seen.passed + 1
            )
        return replace(seen, stated=None, refused=refused)

    def forgotten(self) -> Evidence:
        """Without the limits in it: the question is open again."""
        return Evidence(self.passed, self.best)

    def bound(self, window: ContextWindow) -> ContextWindow:
        """The window that holds where otherwise ``window`` would."""
        if not self.limits or not self._holds(window):
            return self._raised(window)
        given = window.tokens if window.source == "given" else None
        if self.stated is not None:
            return self._as_stated(window, self.stated, given)
        return self._within_bracket(window, given)

    def _as_stated(self, window: ContextWindow, stated: int, given: int | None) -> ContextWindow:
        if given is not None and given <= stated:
            return window
        return replace(
            window, tokens=max(window.tokens, stated) if self.of_input else stated,
            max_input_tokens=stated if self.of_input else None,
            source="learned", matched=None, given=given, passed=self.passed or None, refused=None, since=self.since,
        )  # fmt: skip

    def _within_bracket(self, window: ContextWindow, given: int | None) -> ContextWindow:
        assert self.refused is not None
        if min(window.tokens, window.max_input_tokens or window.tokens) < self.refused:
            return window
        return replace(
            window, tokens=self.refused, max_input_tokens=self.planned,
            source="learned", matched=None, given=given, passed=self.passed or None, refused=self.refused,
            since=self.since,
        )  # fmt: skip

    @property
    def planned(self) -> int | None:
        """The size to plan with: until they are near, a third of the way from what was taken to what was refused."""
        if self.refused is None:
            return None
        if not self.passed:
            return max(self.refused - 1, 1)
        near = self.refused - self.passed <= NEAR * self.refused
        return self.passed if near else (2 * self.passed + self.refused) // 3

    def _raised(self, window: ContextWindow) -> ContextWindow:
        """A window that nobody has given or served holds at least what was taken."""
        if window.source not in ALSO_GUESSED or self.passed <= window.tokens:
            return window
        seen = self.passed
        return replace(window, tokens=seen, max_input_tokens=seen, source="learned", matched=None, passed=seen)

    def _holds(self, window: ContextWindow) -> bool:
        """Whether nobody has said anything newer than the last refusal."""
        return window.source not in OWN_WORDS or self.against == (window.source, window.tokens)
