"""The limit of one endpoint, as its refusals have taught it: one value, until something larger passes.

The user, or a server that reports another window, has the last word; a usage report alone sets no limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from .overflow import Overflow
from .windows import ContextWindow, Source

FIRST_HAND: frozenset[Source] = frozenset({"given", "server", "user file"})  # from the user or the server itself
LEAST_WINDOW = 256  # tokens; servers have printed the room that was left, such as 3, instead of the window
UNSTATED = 0.8  # of what was refused: the limit where the refusal states none
BELIEVABLE = 2.0  # times the tokens that were expected
UNSURE = 1.5  # the factor by which an estimated size may be wrong
WELL_BELOW = 0.75  # of a stated limit: a refusal at or below this share of it disproves the limit
RETRY_AFTER = 16  # replies after which the next request that wants more tries the limit again


class Refused(NamedTuple):
    """A refused request: what the refusal says, and how the request was planned.

    ``overflow``: the figures that the refusal states.
    ``tokens``: the size of the prompt as counted or estimated here.
    ``output``: the longest reply that was asked for, in tokens; 0 for none.
    ``retry``: how many times this request had been refused before.
    """

    overflow: Overflow
    tokens: int
    output: int = 0
    retry: int = 0

    @property
    def size(self) -> int:
        """The tokens of the prompt: as the refusal states them, else as counted here."""
        stated = self.overflow.input_tokens
        if stated is None:
            return self.tokens
        return max(stated, self.tokens) if self.overflow.input_is_bound else stated

    def stated_limit(self) -> int | None:
        """Return the limit that the refusal states, if it is credible."""
        overflow = self.overflow
        stated = overflow.max_input_tokens or overflow.context_window
        if stated is None or stated < LEAST_WINDOW or (self.retry and self.size <= WELL_BELOW * stated):
            return None
        refused = self.size + (0 if overflow.max_input_tokens else overflow.output_tokens or self.output)
        if overflow.input_tokens is None or overflow.input_is_bound:  # the size is an estimate
            refused = math.ceil(refused * UNSURE)
        return stated if stated <= refused else None


@dataclass(frozen=True, slots=True)
class LearnedLimit:
    """What the refusals of one endpoint have taught; sizes are in tokens.

    ``tokens``: the limit; ``None``: none was learned.
    ``is_stated``: whether a refusal stated it, rather than it being a share of what was refused.
    ``of_input``: whether it is on the prompt alone.
    ``against``: the window that was believed when it was learned, as source and tokens.
    ``refused``: the size of the refused prompt.
    ``disproved``: a stated limit above which a prompt was accepted.
    ``answers``: replies since the refusal.
    """

    tokens: int | None = None
    is_stated: bool = False
    of_input: bool = False
    against: tuple[str, int] | None = None
    refused: int = 0
    disproved: int | None = None
    answers: int = 0

    @property
    def due_for_retry(self) -> bool:
        """Whether the limit is old enough to be tried again."""
        return self.tokens is not None and self.answers >= RETRY_AFTER

    def after_refusal(self, refusal: Refused, believed: ContextWindow) -> LearnedLimit:
        """Return what a refusal teaches; ``believed``: the window by the user, the server or a table at that time."""
        stated, excess = refusal.stated_limit(), refusal.overflow.excess
        stated = None if stated == self.disproved else stated
        unstated = refusal.size - excess if excess else int(UNSTATED * refusal.size)
        of_input = stated is None or refusal.overflow.max_input_tokens is not None
        return replace(
            self, tokens=max(stated or unstated, 1), is_stated=stated is not None, of_input=of_input,
            against=(believed.source, believed.tokens), refused=refusal.size, answers=0,
        )  # fmt: skip

    def after_reply(self, tokens: int | None, expected: float) -> LearnedLimit:
        """Return what an answer teaches: ``tokens`` were reported, ``expected`` counted here.

        A report of far more than was sent shows nothing of a limit.
        """
        if self.tokens is None:
            return self
        accepted = 0 if tokens is None else min(tokens, math.ceil(BELIEVABLE * expected))
        seen = replace(self, answers=self.answers + 1)
        if accepted <= self.tokens:
            return seen
        return replace(seen, tokens=None, disproved=self.tokens if self.is_stated else self.disproved)

    def apply_to(self, window: ContextWindow) -> ContextWindow:
        """Return the window to plan with: ``window`` itself, unless a refusal taught less."""
        if self.tokens is None or (window.source in FIRST_HAND and self.against != (window.source, window.tokens)):
            return window
        if self.tokens >= min(window.tokens, window.max_input_tokens or window.tokens):
            return window
        cap = self.tokens if self.of_input else None
        return replace(
            window, tokens=window.tokens if self.of_input else self.tokens, max_input_tokens=cap, source="learned",
            matched=None, instead_of=(window.source, window.tokens),
            refused=None if self.is_stated else self.refused,
        )  # fmt: skip
