"""Making a view smaller: where to cut it, and what a summary leaves as it is."""

from __future__ import annotations

from dataclasses import dataclass

from .budget import TRIM_TO, Budget
from .prefix_sums import Ledger

MIN_SUMMARY = 150  # tokens
SUMMARY_SHARE = 0.1  # of the limit
KEEP_SHARE = 0.25  # of the limit stays verbatim beside a summary
KEEP_TURNS = 2
GO_BACK = 0.8  # of the limit: what was cut comes back where all of it takes no more than that


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a view begins, and the tokens of all but the new prompt before and after."""

    start: int
    before: float
    tokens: float
    fits: bool


def fit(
    ledger: Ledger, budget: Budget, prompt: float, *, start: int, end: int, share: float = 1.0,
    min_turns: int = 1, max_turns: int | None = None, goal: float | None = None, guessed: float = 0.0,
) -> Cut:  # fmt: skip
    """Where the view of turns ``start`` to ``end`` must begin so that ``prompt`` fits too.

    It stays at ``start`` while it fits within ``share`` of the limit; else, or where a
    ``goal`` in tokens is set, it goes to the turn nearest to 0.6 of the limit, or to that
    goal. ``min_turns`` stay where they fit. ``guessed`` of the fixed tokens are estimated:
    the margin is on these, on estimated turns and on the prompt. O(log n).
    """
    fixed = budget.fixed + ledger.pinned(end)

    def takes(cut: int, share: float = 1.0) -> bool:
        estimated = guessed + ledger.guessed(cut, end)
        return budget.fits(fixed + ledger.between(cut, end) - estimated, estimated + prompt, share)

    before = fixed + ledger.between(start, end)
    crowded = max_turns is not None and ledger.count(start, end) > max_turns
    if goal is None and not crowded and takes(start, share):
        return Cut(start, before, before, fits=True)
    cut = _nearest(ledger, (goal or TRIM_TO * budget.limit) - fixed - prompt, start, end)
    if not takes(cut):
        weight = 1 / (1 - budget.margin) - 1
        room = budget.limit - fixed - prompt - weight * (guessed + prompt + ledger.guessed(end, end))
        cut = max(cut, ledger.first_within(room, start, end, guess_weight=weight))
    if crowded and max_turns is not None:
        cut = max(cut, ledger.last(max(1, int(max_turns * TRIM_TO)), start, end))
    wanted = ledger.last(min_turns, start, end)
    if wanted < cut and takes(wanted):
        cut = wanted
    tokens = fixed + ledger.between(cut, end)
    return Cut(cut, before, tokens, fits=tokens + prompt <= budget.limit)


def _nearest(ledger: Ledger, room: float, start: int, end: int) -> int:
    """The cut whose turns take nearest to ``room``."""
    below = ledger.first_within(room, start, end)
    above = max(below - 1, start)
    nearer = abs(ledger.between(above, end) - room) < abs(ledger.between(below, end) - room)
    return above if nearer else below


def keep_verbatim(ledger: Ledger, limit: int, start: int, end: int) -> int:
    """The turn from which on a summary leaves all as it is: two at least, a quarter of the limit."""
    by_size = ledger.first_within(KEEP_SHARE * limit, start, end)
    if by_size > start and ledger.between(by_size, end) < KEEP_SHARE * limit:
        by_size -= 1
    return min(by_size, ledger.last(KEEP_TURNS, start, end))


def summary_cap(limit: int) -> int:
    """Tokens a summary may have."""
    return max(MIN_SUMMARY, int(limit * SUMMARY_SHARE))
