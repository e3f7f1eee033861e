"""The arithmetic of the one number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.budget import Budget, default_reserve
from jupyter_ctx.context.compaction import Ledger, RequestSize
from jupyter_ctx.context.windows import ContextWindow

tokens = st.integers(1, 2_000_000)


def budget(window: int, reserve: int = 0, fixed: int = 0, used: int = 0, **more: float) -> Budget:
    return Budget(ContextWindow(window), reserve, fixed, used, **more)


def test_the_tables_first_row_holds() -> None:
    limit = budget(8_192, reserve=3_000).limit
    may_fill = [
        turns
        for turns in (3_753, 3_754)
        if RequestSize(Ledger(), limit, 0, 0, fixed=500 + turns, guessed=turns).with_margin(0) <= limit
    ]
    assert (limit, may_fill) == (5_192, [3_753])


def test_a_cap_on_the_input_alone_binds_where_it_is_smaller() -> None:
    capped = ContextWindow(400_000, max_input_tokens=272_000)
    assert Budget(capped, reserve=4_096).limit == 272_000
    assert Budget(capped, reserve=200_000).limit == 200_000


@pytest.mark.parametrize(
    ("window", "max_output", "reserve"),
    [(2_048, None, 512), (200_000, None, 4_096), (128_000, 1_000, 1_000), (3, None, 1)],
)
def test_the_reserve_is_a_quarter_of_small_windows_and_4096_of_large_ones(
    window: int, max_output: int | None, reserve: int
) -> None:
    assert default_reserve(ContextWindow(window, max_output_tokens=max_output)) == reserve


@pytest.mark.parametrize(
    ("fill", "state"), [(0, "ok"), (0.5, "half"), (0.75, "high"), (0.9, "full"), (1.0, "full"), (1.01, "over")]
)
def test_states_begin_at_their_share(fill: float, state: str) -> None:
    assert Budget(ContextWindow(1_000), 0, used=round(1_000 * fill)).state == state


@given(tokens, st.integers(0, 100_000))
def test_no_reserve_makes_the_limit_negative_or_larger_than_the_window(window: int, reserve: int) -> None:
    assert 0 <= budget(window, reserve).limit <= window


@given(tokens, st.floats(0.1, 1))
def test_a_share_of_the_budget_makes_the_limit_smaller_in_proportion(window: int, share: float) -> None:
    assert budget(window, share=share).limit == int(window * share)
