"""Making a request smaller: what it carries, when it must shrink, where it is cut, and what a summary leaves.

:func:`decide` is one pure function from a :class:`RequestSize` and the settings to a :class:`Cut`. The planner
carries it out, the sender writes the summaries that it asks for, and the gauge shows it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Literal, NamedTuple

from .budget import MARGIN, PROMPT_MARGIN

if TYPE_CHECKING:
    from ..config.settings import Settings

Means = Literal["send", "trim", "summarise before", "summarise after", "refuse"]

TRIM_TO = 0.6  # of the limit: a deep cut keeps the beginning of later prompts, and so provider caches, for long
BELOW = 0.75  # of compact_at, where that is less than TRIM_TO: a cut ends well below what causes the next one
GO_BACK = 0.8  # of the limit: turns left out for another model or window come back where all takes no more than that
MIN_SUMMARY = 150  # tokens
SUMMARY_SHARE = 0.1  # of the limit
KEEP_SHARE = 0.25  # of the limit stays verbatim beside a summary
KEEP_TURNS = 2


class Within(NamedTuple):
    """Tokens of turns that are cells of the notebook, and calls of functions with their results."""

    cells: float = 0.0
    calls: float = 0.0


NOTHING_WITHIN = Within()


class Ledger:
    """Running sums over the sizes of turns: appending and any span take O(1), finding a cut O(log n).

    An excluded turn counts as no turn, with 0 tokens. Pinned turns are summed separately, because
    they are sent wherever the cut is. So are estimated sizes, which need a margin, and what
    is within turns.
    """

    def __init__(self) -> None:
        self._sums, self._guesses = [0.0], [0.0]
        self._pinned, self._pinned_guesses = [0.0], [0.0]
        self._cells, self._calls, self._counts = [0.0], [0.0], [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(
        self, tokens: float | None, *, pinned: bool = False, counted: bool = True, within: Within = NOTHING_WITHIN
    ) -> None:
        """Add a turn of this many tokens; ``None`` for a turn that no view may hold."""
        size, loose = tokens or 0.0, not pinned
        self._sums.append(self._sums[-1] + size * loose)
        self._guesses.append(self._guesses[-1] + size * loose * (not counted))
        self._pinned.append(self._pinned[-1] + size * pinned)
        self._pinned_guesses.append(self._pinned_guesses[-1] + size * pinned * (not counted))
        self._counts.append(self._counts[-1] + (tokens is not None and loose))
        self._cells.append(self._cells[-1] + within.cells * loose)
        self._calls.append(self._calls[-1] + within.calls * loose)

    def between(self, start: int, end: int) -> float:
        """Return the tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def within(self, start: int, end: int) -> Within:
        """Return what is within the unpinned turns from ``start`` up to ``end``."""
        return Within(self._cells[end] - self._cells[start], self._calls[end] - self._calls[start])

    def in_view(self, start: int, end: int) -> float:
        """Return the tokens of the turns in a view from ``start`` up to ``end``, pinned turns before it included."""
        return self._sums[end] - self._sums[start] + self._pinned[end]

    def count(self, start: int, end: int) -> int:
        """Return how many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Return the tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def guessed(self, start: int, end: int) -> float:
        """Return how many of a view's tokens, pinned turns included, are estimated."""
        return self._guesses[end] - self._guesses[start] + self._pinned_guesses[end]

    def first_within(self, room: float, start: int, end: int) -> int:
        """Return the earliest start from which the unpinned turns up to ``end`` take at most ``room`` tokens."""
        return bisect_left(self._sums, self._sums[end] - max(room, 0.0), start, end)

    def last(self, turns: int, start: int, end: int) -> int:
        """Return the latest start from which there are this many unpinned turns up to ``end``, else ``start``."""
        return max(start, bisect_right(self._counts, self._counts[end] - turns, start, end + 1) - 1)


class RequestSize(NamedTuple):
    """What a request carries if nothing more is left out. Positions are indexes of turns, sizes are tokens.

    ledger: the sizes of all turns of the conversation
    limit: the tokens that the request may have
    start: the first turn in view
    end: the position of the new prompt
    first: the first turn that was in view before any refusal
    fixed: the tokens of the system prompt and the summary
    guessed: how many of these are only estimated
    prompt: the estimated size of the new prompt
    lasting: whether later requests go on from this one, so that a summary would serve them too
    """

    ledger: Ledger
    limit: int
    start: int
    end: int
    first: int = 0
    fixed: float = 0.0
    guessed: float = 0.0
    prompt: float = 0.0
    lasting: bool = False

    def tokens_from(self, start: int) -> float:
        """Return the tokens of all but the new prompt in a view that begins at ``start``."""
        return self.fixed + self.ledger.in_view(start, self.end)

    def estimated(self, start: int) -> tuple[float, float]:
        """Return the tokens of a view that are only estimated, and the share to keep free of them and the prompt's."""
        tokens = self.guessed + self.ledger.guessed(start, self.end)
        return tokens, MARGIN if tokens else PROMPT_MARGIN

    def with_margin(self, start: int) -> float:
        """Return the tokens of a view from ``start`` and the new prompt, with the margin on what is only estimated."""
        estimated, margin = self.estimated(start)
        return self.tokens_from(start) - estimated + (estimated + self.prompt) / (1 - margin)

    def most(self, share: float = 1.0) -> int:
        """Return the tokens up to which this request may grow by a new prompt and still fit in ``share`` of the limit.

        The margin is kept free of what is only estimated, which the new prompt always is.
        """
        estimated, margin = self.estimated(self.start)
        counted = self.tokens_from(self.start) - estimated
        return max(0, math.floor(counted + (1 - margin) * (share * self.limit - counted) + 1e-6))


class Cut(NamedTuple):
    """What is done to a request before it is sent.

    start: where the view begins
    before, tokens: the tokens of all but the new prompt, before the cut and after it
    fits: whether the request fits then
    means: "send" (nothing is left out), "trim" (the oldest turns are left out), "summarise before" (a summary is
        written first and stands for older turns), "summarise after" (the turns are left out now and summarised once
        the reply is there) or "refuse" (nothing is sent: ``on_overflow`` is "stop")
    left_out: how many turns that costs
    reasons: which settings demanded room
    too_large: whether the whole request did not fit in the limit
    """

    start: int = 0
    before: float = 0.0
    tokens: float = 0.0
    fits: bool = True
    means: Means = "send"
    left_out: int = 0
    reasons: tuple[str, ...] = ()
    too_large: bool = False


def compact_share(settings: Settings, limit: int) -> float:
    """Return ``compact_at`` as a share of the limit: up to 1 it is one, and above that it is a number of tokens."""
    at = settings.compact_at
    return at if at <= 1 else min(1.0, at / max(1, limit))


def decide(now: RequestSize, settings: Settings, *, goal: float | None = None) -> Cut:
    """Return what is done to a request. ``goal``, in tokens, goes before the shares that are demanded.

    A request above ``compact_at`` is cut to 0.6 of the limit, or to well below ``compact_at`` where that is less; one
    with more than ``max_turns`` turns to 0.6 of these, so that it happens rarely.
    """
    needed, share, reasons = now.with_margin(now.start), compact_share(settings, now.limit), list[str]()
    too_large, down_to, turns = needed > now.limit, TRIM_TO, None
    if needed > share * now.limit:
        down_to = min(TRIM_TO, BELOW * share)
        reasons += [] if too_large else [f"compact_at {settings.compact_at:,.15g}"]
    most = settings.max_turns
    if most is not None and now.ledger.count(now.start, now.end) > most:
        turns = max(1, int(most * TRIM_TO))
        reasons.append(f"max_turns {most}")
    if too_large or reasons or goal is not None:
        cut = _cut_down(now, goal or down_to * now.limit, settings.min_turns, turns)
    else:
        cut = _cut_at(now, now.start)
    is_cut = cut.start > now.first
    left_out = now.ledger.count(now.first, cut.start) if is_cut else 0
    means: Means = "send"
    if settings.on_overflow == "stop" and (is_cut or not cut.fits):
        means = "refuse"
    elif left_out:
        means = "summarise after" if share == 1 else "summarise before"
        means = means if settings.on_overflow == "summarise" and now.lasting else "trim"
    return cut._replace(means=means, left_out=left_out, reasons=tuple(reasons), too_large=too_large)


def _cut_at(now: RequestSize, start: int) -> Cut:
    tokens = now.tokens_from(start)
    before = tokens if start == now.first else now.tokens_from(now.first)
    return Cut(start, before, tokens, fits=tokens + now.prompt <= now.limit)


def _cut_down(now: RequestSize, goal: float, min_turns: int, max_turns: int | None) -> Cut:
    """Return the cut at the turn that brings the request nearest to ``goal`` tokens and within the limit.

    At most ``max_turns`` turns stay in view, and the newest as long as it fits. O(log n).
    """
    ledger, start, end = now.ledger, now.start, now.end
    others = now.fixed + ledger.pinned(end) + now.prompt
    cut = _nearest(ledger, goal - others, start, end)
    cut += bisect_left(range(cut, end), True, key=lambda at: now.with_margin(at) <= now.limit)
    if max_turns is not None:
        cut = max(cut, ledger.last(max_turns, start, end))
    wanted = ledger.last(min_turns, start, end)
    if wanted < cut and now.with_margin(wanted) <= now.limit:
        cut = wanted
    return _cut_at(now, cut)


def _nearest(ledger: Ledger, room: float, start: int, end: int) -> int:
    """Return the cut whose turns take nearest to ``room`` tokens."""
    below = ledger.first_within(room, start, end)
    above = max(below - 1, start)
    nearer = abs(ledger.between(above, end) - room) < abs(ledger.between(below, end) - room)
    return above if nearer else below


def trim(now: RequestSize, settings: Settings) -> int | None:
    """Return where the view begins once the user trims it; ``None``: it takes at most 0.6 of the limit already."""
    goal = TRIM_TO * now.limit
    return None if now.tokens_from(now.start) <= goal else decide(now, settings, goal=goal).start


def goal_after_refusal(tokens: float, limit: int, *, retry: int) -> float:
    """Return the tokens that the request after a refused one of ``tokens`` may have.

    0.6 of the limit, and after a second refusal (``retry`` is 1) no more than half of what was refused.
    """
    goal = TRIM_TO * min(limit, tokens)
    return min(goal, 0.5 * tokens) if retry else goal


def keep_verbatim(ledger: Ledger, limit: int, start: int, end: int) -> int:
    """Return the first turn that a summary leaves as it is: at least two turns and a quarter of the limit stay."""
    by_size = ledger.first_within(KEEP_SHARE * limit, start, end)
    if by_size > start and ledger.between(by_size, end) < KEEP_SHARE * limit:
        by_size -= 1
    return min(by_size, ledger.last(KEEP_TURNS, start, end))


def summary_cap(limit: int) -> int:
    """Return how many tokens a summary may have."""
    return max(MIN_SUMMARY, int(limit * SUMMARY_SHARE))
