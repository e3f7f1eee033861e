"""Where a view is cut, and what a summary must keep."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from ledgers import ledger_of, pinned_ledger

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.compaction import Cut, Ledger, Occupancy, keep_verbatim
from jupyter_ctx.context.policy import decide
from jupyter_ctx.context.windows import ContextWindow

turn_sizes = st.lists(st.tuples(st.none() | st.integers(1, 300), st.booleans()), min_size=1, max_size=60)


def fit(ledger: Ledger, budget: Budget, prompt: float, *, start: int, end: int, **settings: Any) -> Cut:
    """The cut for a prompt by the policy."""
    return decide(Occupancy(ledger, budget, start, end, prompt=prompt), Settings(**settings)).cut


@given(turn_sizes, st.integers(50, 3_000), st.integers(0, 200))
def test_a_fitted_view_never_passes_the_limit_and_never_starts_earlier(
    rows: list[tuple[int | None, bool]], limit: int, prompt: int
) -> None:
    ledger = pinned_ledger(rows)
    budget, end = Budget(ContextWindow(limit), 0), len(rows)
    cut = fit(ledger, budget, prompt, start=0, end=end)
    assert 0 <= cut.start <= end
    assert cut.tokens == ledger.pinned(end) + ledger.between(cut.start, end)
    assert cut.fits == (cut.tokens + prompt <= limit)
    if budget.fits(cut.before, prompt):
        assert cut.start == 0
    elif cut.fits and ledger.count(cut.start, end):
        assert budget.fits(cut.tokens, prompt)


@given(st.lists(st.integers(10, 60), min_size=20, max_size=200))
def test_a_cut_goes_near_to_six_tenths_of_the_limit(sizes: list[int]) -> None:
    ledger, limit = ledger_of(sizes), 400
    cut = fit(ledger, Budget(ContextWindow(limit), 0), 20, start=0, end=len(sizes))
    if cut.start:
        assert abs(cut.tokens + 20 - 0.6 * limit) <= 60


def test_the_newest_turn_stays_where_it_fits() -> None:
    ledger = ledger_of([50, 50, 90])
    assert fit(ledger, Budget(ContextWindow(100), 0), 4, start=0, end=3).start == 2


def test_too_many_turns_are_cut_deep_so_that_it_happens_rarely() -> None:
    ledger = ledger_of([1] * 21)
    assert fit(ledger, Budget(ContextWindow(1_000), 0), 1, start=0, end=21, max_turns=20).start == 9


def test_a_summary_leaves_two_turns_and_a_quarter_of_the_limit() -> None:
    ledger = ledger_of([10] * 6)
    assert keep_verbatim(ledger, 100, 0, 6) == 3
    assert keep_verbatim(ledger, 10, 0, 6) == 4
