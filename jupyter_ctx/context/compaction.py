"""Making a view smaller: what a request occupies, where to cut it, and what a summary leaves as it is."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from .budget import Budget


class Ledger:
    """Running sums over the sizes of turns: appending and any span take O(1), finding a cut O(log n).

    An excluded turn counts as no turn, with 0 tokens. Pinned turns are summed separately, because
    they are sent wherever the cut is. So are estimated sizes, which need a margin.
    """

    __slots__ = ("_counts", "_guesses", "_pinned", "_pinned_guesses", "_pins", "_sums")

    def __init__(self) -> None:
        self._sums, self._guesses = [0.0], [0.0]
        self._pinned, self._pinned_guesses = [0.0], [0.0]
        self._counts, self._pins = [0], [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(self, tokens: float | None, *, pinned: bool = False, counted: bool = True) -> None:
        """Add a turn of this many tokens; ``None`` for a turn that no view may hold."""
        size, loose = tokens or 0.0, not pinned
        self._sums.append(self._sums[-1] + size * loose)
        self._guesses.append(self._guesses[-1] + size * loose * (not counted))
        self._pinned.append(self._pinned[-1] + size * pinned)
        self._pinned_guesses.append(self._pinned_guesses[-1] + size * pinned * (not counted))
        self._counts.append(self._counts[-1] + (tokens is not None and loose))
        self._pins.append(self._pins[-1] + (tokens is not None and pinned))

    def between(self, start: int, end: int) -> float:
        """Return the tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def count(self, start: int, end: int) -> int:
        """Return how many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Return the tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def pins(self, start: int, end: int) -> int:
        """Return how many pinned turns there are from ``start`` up to ``end``."""
        return self._pins[end] - self._pins[start]

    def guessed(self, start: int, end: int) -> float:
        """Return how many of a view's tokens, pinned turns included, are estimated."""
        return self._guesses[end] - self._guesses[start] + self._pinned_guesses[end]

    def first_within(self, room: float, start: int, end: int, *, guess_weight: float = 0.0) -> int:
        """Return the earliest start from which the unpinned turns up to ``end`` take at most ``room`` tokens.

        Each estimated token counts as ``1 + guess_weight`` tokens.
        """

        def weight(i: int) -> float:
            return self._sums[i] + guess_weight * self._guesses[i]

        return bisect_left(range(len(self._sums)), weight(end) - max(room, 0.0), start, end, key=weight)

    def last(self, turns: int, start: int, end: int) -> int:
        """Return the latest start from which there are this many unpinned turns up to ``end``, else ``start``."""
        return max(start, bisect_right(self._counts, self._counts[end] - turns, start, end + 1) - 1)


MIN_SUMMARY = 150  # tokens
SUMMARY_SHARE = 0.1  # of the limit
KEEP_SHARE = 0.25  # of the limit stays verbatim beside a summary
KEEP_TURNS = 2


class Occupancy(NamedTuple):
    """What a request carries if nothing more is left out. Positions are indexes of turns, sizes are tokens.

    ledger: the sizes of all turns of the conversation
    budget: the limit, the tokens that are always sent and the margin for estimates
    start: the first turn in view
    end: the position of the new prompt
    first: the first turn that was in view before any refusal; ``None`` where that is ``start``
    prompt: the estimated size of the new prompt
    guessed: how many of the tokens that are always sent are only estimated
    lasting: whether later requests go on from this one, so that a summary would serve them too
    """

    ledger: Ledger
    budget: Budget
    start: int
    end: int
    first: int | None = None
    prompt: float = 0.0
    guessed: float = 0.0
    lasting: bool = False

    @property
    def limit(self) -> int:
        """Return the tokens that the request may have."""
        return self.budget.limit

    @property
    def turns(self) -> int:
        """Return how many unpinned turns are in view."""
        return self.ledger.count(self.start, self.end)

    @property
    def tokens(self) -> float:
        """Return the tokens of all but the new prompt."""
        return self.tokens_from(self.start)

    @property
    def fixed(self) -> float:
        """Return the tokens that no cut can leave out: what is always sent, and pinned turns."""
        return self.budget.fixed + self.ledger.pinned(self.end)

    def tokens_from(self, start: int) -> float:
        """Return the tokens of all but the new prompt in a view that begins at ``start``."""
        return self.fixed + self.ledger.between(start, self.end)

    @property
    def begun(self) -> int:
        """Return where the view began before any refusal."""
        return self.start if self.first is None else self.first

    def fits(self, share: float = 1.0, *, start: int | None = None) -> bool:
        """Return whether a view from ``start`` (default: the current one) fits in ``share`` of the limit.

        The margin is on all that is only estimated, the new prompt included.
        """
        start = self.start if start is None else start
        estimated = self._estimated(start)
        return self.budget.fits(self.tokens_from(start) - estimated, estimated + self.prompt, share)

    def most(self, share: float = 1.0) -> int:
        """Return the tokens up to which this request may grow by a new prompt and still fit in ``share`` of the limit.

        The margin is kept free of what is only estimated, which the new prompt always is.
        """
        counted = self.tokens - self._estimated(self.start)
        return max(0, math.floor(counted + (1 - self.budget.margin) * (share * self.limit - counted) + 1e-6))

    def _estimated(self, start: int) -> float:
        return self.guessed + self.ledger.guessed(start, self.end)


class Cut(NamedTuple):
    """Where a view begins, the tokens of all but the new prompt before and after, and whether the request fits."""

    start: int
    before: float
    tokens: float
    fits: bool


def cut_at(now: Occupancy, start: int) -> Cut:
    """Return the cut at a given turn."""
    tokens = now.tokens_from(start)
    return Cut(start, now.tokens_from(now.begun), tokens, fits=tokens + now.prompt <= now.limit)


def cut_down(now: Occupancy, goal: float, *, max_turns: int | None = None) -> Cut:
    """Return the cut at the turn that brings the request nearest to ``goal`` tokens and within the limit.

    At most ``max_turns`` turns stay in view, and the newest as long as it fits. O(log n).
    """
    ledger, start, end = now.ledger, now.start, now.end
    cut = _nearest(ledger, goal - now.fixed - now.prompt, start, end)
    if not now.fits(start=cut):
        weight = 1 / (1 - now.budget.margin) - 1
        estimated = now.guessed + now.prompt + ledger.guessed(end, end)
        room = now.limit - now.fixed - now.prompt - weight * estimated
        cut = max(cut, ledger.first_within(room, start, end, guess_weight=weight))
    if max_turns is not None:
        cut = max(cut, ledger.last(max_turns, start, end))
    newest = ledger.last(1, start, end)
    return cut_at(now, newest if newest < cut and now.fits(start=newest) else cut)


def _nearest(ledger: Ledger, room: float, start: int, end: int) -> int:
    """Return the cut whose turns take nearest to ``room`` tokens."""
    below = ledger.first_within(room, start, end)
    above = max(below - 1, start)
    nearer = abs(ledger.between(above, end) - room) < abs(ledger.between(below, end) - room)
    return above if nearer else below


def keep_verbatim(ledger: Ledger, limit: int, start: int, end: int) -> int:
    """Return the first turn that a summary leaves as it is: at least two turns and a quarter of the limit stay."""
    by_size = ledger.first_within(KEEP_SHARE * limit, start, end)
    if by_size > start and ledger.between(by_size, end) < KEEP_SHARE * limit:
        by_size -= 1
    return min(by_size, ledger.last(KEEP_TURNS, start, end))


def summary_cap(limit: int) -> int:
    """Return how many tokens a summary may have."""
    return max(MIN_SUMMARY, int(limit * SUMMARY_SHARE))


def is_shorter(fixed: float, instead_of: float, beside: float, limit: int) -> bool:
    """Return whether a summary takes less than what it stands for, and fits in the limit.

    ``fixed``: the tokens of what is always sent with it; ``instead_of``: of that before it, with the turns that it
    stands for; ``beside``: of the turns that stay.
    """
    return fixed < instead_of and fixed + beside <= limit
