"""What an endpoint has shown of its limit, and the window that follows.

Every figure was observed: a prompt of so many tokens was accepted or refused, or a refusal stated a
limit. A newer observation overrides an older one: a larger prompt that is accepted, another refusal,
another figure from the user or the server. A usage report alone never sets a limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from .budget import whole
from .overflow import Overflow
from .windows import ContextWindow, Source

FIRST_HAND: frozenset[Source] = frozenset({"given", "server", "user file"})  # from the user or the server itself
FROM_TABLES: frozenset[Source] = frozenset({"assumed", "built in", "models.json", "provider"})
LEAST_WINDOW = 256  # tokens; servers have printed the room that was left, such as 3, instead of the window
NEAR = 0.1  # of the refused size: once the largest accepted prompt is this near, it is the limit
FAR_BELOW = 0.9  # of an accepted size: a refusal below this share of it shows that the limit fell
BELIEVABLE = 2.0  # times the tokens that were expected
UNSURE, SURE = 3.0, 1.25  # factors by which a size may be wrong: an estimate, and one that is mostly counted
WELL_BELOW = 0.75  # of a stated limit: a refusal at or below this share of it disproves the limit
FIRST_TRIAL, NEXT_TRIAL = 4, 16  # replies until a learned limit is tried again: the first time, and later


class Refused(NamedTuple):
    """A refused request: what the refusal says, and how the request was planned.

    ``overflow``: the figures that the refusal states.
    ``tokens``: the size of the prompt as counted or estimated here.
    ``output``: the longest reply that was asked for, in tokens; 0 for none.
    ``retry``: how many times this request had been refused before.
    ``trial``: whether the request went beyond a learned limit on purpose.
    """

    overflow: Overflow
    tokens: int
    output: int = 0
    retry: int = 0
    trial: bool = False

    @property
    def size(self) -> int:
        """The tokens of the prompt: as the refusal states them, else as counted here."""
        stated = self.overflow.input_tokens
        if stated is None:
            return self.tokens
        return max(stated, self.tokens) if self.overflow.input_is_bound else stated

    @property
    def stated(self) -> int | None:
        """The limit that the refusal states, credible or not."""
        return self.overflow.max_input_tokens or self.overflow.context_window

    def limit(self, passed: int = 0) -> int | None:
        """Return the stated limit if it is credible; ``passed`` is the largest prompt accepted so far, in tokens."""
        stated, overflow = self.stated, self.overflow
        if stated is None or stated < LEAST_WINDOW:
            return None
        whole = self.size + (0 if overflow.max_input_tokens else overflow.output_tokens or self.output)
        if overflow.input_tokens is None or overflow.input_is_bound:  # the size is an estimate
            whole = math.ceil(whole * (SURE if 2 * passed >= self.tokens else UNSURE))
        if whole < stated:
            return None
        return None if self.retry and self.size <= WELL_BELOW * stated else stated


class Accepted(NamedTuple):
    """A request that was answered.

    tokens: of the prompt, as reported; ``None`` where nothing was reported
    expected: tokens of the prompt as counted here: a report of many more shows nothing of a limit
    size: bytes of the request
    served: what the model calls itself
    read: the tokens that the server read where it truncated the prompt, else 0
    """

    tokens: int | None
    expected: float
    size: int
    served: str = ""
    read: int = 0


class TooHeavy(NamedTuple):
    """A request that was refused for its bytes (``size``)."""

    size: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one endpoint has shown of its limit; sizes are of prompts, in tokens.

    ``passed``: the largest that was accepted under the present limit.
    ``best``: the largest that was ever accepted.
    ``refused``: the smallest that was refused.
    ``stated``: the limit that a refusal stated; it outranks the bracket between ``passed`` and ``refused``.
    ``of_input``: whether the stated limit is on the prompt alone.
    ``disproved``: a stated limit that turned out wrong.
    ``against``: the window believed before the refusal, as source and tokens.
    ``answers``: replies since the last refusal.
    ``trials``: refusals that confirmed a known limit.
    ``since``: the time of the last refusal, in seconds since 1970.
    ``failed``: whether no smaller request was accepted either, so that the cell failed.
    ``heavy``: bytes of the smallest request that was refused for its bytes.
    ``light``: bytes of the largest request accepted since.
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
        """Whether a limit is known."""
        return self.stated is not None or self.refused is not None

    @property
    def due(self) -> bool:
        """Whether the limit is old enough to be tried again."""
        return self.limits and self.answers >= (NEXT_TRIAL if self.trials else FIRST_TRIAL)

    def learned(self, seen: Accepted | Refused | TooHeavy, believed: ContextWindow, now: float) -> Evidence:
        """Return the evidence with one more request; ``believed`` and ``now`` as in :meth:`after`."""
        if isinstance(seen, Refused):
            return self.after(seen, believed, now)
        if isinstance(seen, TooHeavy):
            return self.too_heavy(seen.size)
        tokens = seen.tokens
        known = self if tokens is None else self.accepted(min(tokens, whole(BELIEVABLE * seen.expected)))
        return known.carried(seen.size)

    def accepted(self, tokens: int) -> Evidence:
        """Return the evidence after a prompt of this size was accepted, which disproves any lower limit."""
        seen = replace(
            self, passed=max(self.passed, tokens), best=max(self.best, tokens), answers=self.answers + 1, failed=False
        )  # fmt: skip
        if self.refused is not None and tokens >= self.refused:
            return seen._open()
        if self.stated is not None and tokens > self.stated:
            return replace(seen, stated=None, disproved=self.stated).aged() if self.refused else seen._open()
        return seen

    def _open(self) -> Evidence:
        """Return the evidence without a limit in tokens."""
        return replace(self, refused=None, stated=None, of_input=False, against=None, answers=0, trials=0)

    def aged(self) -> Evidence:
        """Return the evidence as old enough for the limit to be tried again."""
        return replace(self, answers=max(self.answers, NEXT_TRIAL))

    def carried(self, size: int) -> Evidence:
        """Return the evidence after a request of this many bytes was accepted."""
        if self.heavy is None:
            return self
        return replace(self, light=max(self.light, size), heavy=None if size >= self.heavy else self.heavy)

    def too_heavy(self, size: int) -> Evidence:
        """Return the evidence after a request of this many bytes was refused for them."""
        heavy = min(size, self.heavy or size)
        return replace(self, heavy=heavy, light=self.light if self.light < heavy else 0)

    @property
    def most_bytes(self) -> int | None:
        """The bytes to plan with, half way between an accepted and a refused request; ``None`` without a limit."""
        return None if self.heavy is None else (self.light + self.heavy) // 2

    def after(self, refusal: Refused, believed: ContextWindow, now: float) -> Evidence:
        """Return the evidence after a refusal: the limit it states, else an upper bound at its size.

        ``believed`` is the window according to the user, the server or a table at that time; ``now`` is in
        seconds since 1970.
        """
        known = self if self._holds(believed) else self._open()
        confirmed = refusal.trial or (known.limits and not refusal.retry)
        trials, against = known.trials + confirmed, (believed.source, believed.tokens)
        seen = replace(known, answers=0, since=now, trials=trials, against=against)
        limit, size = refusal.limit(self.passed), max(refusal.size - (refusal.overflow.excess or 0), 1)
        if limit is not None and limit != seen.disproved:
            of_input = refusal.overflow.max_input_tokens is not None
            passed = seen.passed if seen.passed <= limit else 0  # accepted under another limit
            return replace(seen, stated=limit, of_input=of_input, refused=size, passed=passed)
        if refusal.stated is not None:
            seen = replace(seen, disproved=refusal.stated)
        elif seen.stated is not None and size > seen.stated:
            return seen  # the known limit explains the refusal
        refused = size if seen.refused is None else min(size, seen.refused)
        if refused <= seen.passed:
            fell = refused < FAR_BELOW * seen.passed
            return replace(
                seen, stated=None, passed=0 if fell else seen.passed, refused=refused if fell else seen.passed + 1
            )
        return replace(seen, stated=None, refused=refused)

    def forgotten(self) -> Evidence:
        """Return the evidence without any limit."""
        return Evidence(self.passed, self.best)

    def bound(self, window: ContextWindow) -> ContextWindow:
        """Return the window to use in place of ``window``, which is ``window`` itself unless a refusal taught less."""
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
        """The size to plan with: a third of the way from accepted to refused; once both are near, the accepted one."""
        if self.refused is None:
            return None
        if not self.passed:
            return max(self.refused - 1, 1)
        near = self.refused - self.passed <= NEAR * self.refused
        return self.passed if near else (2 * self.passed + self.refused) // 3

    def _raised(self, window: ContextWindow) -> ContextWindow:
        """Return a table's window raised to the largest prompt that was accepted."""
        if window.source not in FROM_TABLES or self.passed <= window.tokens:
            return window
        seen = self.passed
        return replace(window, tokens=seen, max_input_tokens=seen, source="learned", matched=None, passed=seen)

    def _holds(self, window: ContextWindow) -> bool:
        """Return whether neither user nor server has stated another window since the last refusal."""
        return window.source not in FIRST_HAND or self.against == (window.source, window.tokens)
