"""Where a view is cut, and what a summary must keep."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from ledgers import ledger_of, pinned_ledger

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.compaction import Cut, Ledger, RequestSize, decide, keep_verbatim

turn_sizes = st.lists(st.tuples(st.none() | st.integers(1, 300), st.booleans()), min_size=1, max_size=60)


def fit(ledger: Ledger, limit: int, prompt: float, *, start: int, end: int, **settings: Any) -> Cut:
    """The cut for a prompt by the policy."""
    return decide(RequestSize(ledger, limit, start, end, prompt=prompt), Settings(**settings))


@given(turn_sizes, st.integers(50, 3_000), st.integers(0, 200), st.integers(0, 4))
def test_a_fitted_view_never_passes_the_limit_and_never_starts_earlier(
    rows: list[tuple[int | None, bool]], limit: int, prompt: int, min_turns: int
) -> None:
    ledger = pinned_ledger(rows)
    end = len(rows)
    cut = fit(ledger, limit, prompt, start=0, end=end, min_turns=min_turns)
    assert 0 <= cut.start <= end
    assert cut.tokens == ledger.pinned(end) + ledger.between(cut.start, end)
    assert cut.fits == (cut.tokens + prompt <= limit)
    if cut.before + prompt / 0.9 <= limit:
        assert cut.start == 0
    elif cut.fits and ledger.count(cut.start, end):
        assert cut.tokens + prompt / 0.9 <= limit


@given(st.lists(st.integers(10, 60), min_size=20, max_size=200))
def test_a_cut_goes_near_to_six_tenths_of_the_limit(sizes: list[int]) -> None:
    ledger, limit = ledger_of(sizes), 400
    cut = fit(ledger, limit, 20, start=0, end=len(sizes))
    if cut.start:
        assert abs(cut.tokens + 20 - 0.6 * limit) <= 60


def test_the_newest_turn_stays_where_it_fits() -> None:
    ledger = ledger_of([50, 50, 90])
    assert fit(ledger, 100, 4, start=0, end=3).start == 2


def test_the_limit_wins_over_the_turns_to_keep() -> None:
    ledger = ledger_of([80] * 3)
    assert fit(ledger, 100, 4, start=0, end=3, min_turns=2).start == 2


def test_too_many_turns_are_cut_deep_so_that_it_happens_rarely() -> None:
    ledger = ledger_of([1] * 21)
    assert fit(ledger, 1_000, 1, start=0, end=21, max_turns=20).start == 9


def test_a_summary_leaves_two_turns_and_a_quarter_of_the_limit() -> None:
    ledger = ledger_of([10] * 6)
    assert keep_verbatim(ledger, 100, 0, 6) == 3
    assert keep_verbatim(ledger, 10, 0, 6) == 4


@given(st.integers(1, 2_000_000), st.floats(0, 1e6), st.floats(0, 1e6))
def test_the_margin_is_on_the_estimated_part_alone(limit: int, counted: float, estimated: float) -> None:
    size = RequestSize(Ledger(), limit, 0, 0, fixed=counted)
    assert size.with_margin(0) == counted
    if size._replace(prompt=estimated).with_margin(0) <= limit:
        assert counted + estimated <= limit
