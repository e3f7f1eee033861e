"""How many more turns fit: sending that many leaves nothing out, and one more does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from ledgers import ledger_of

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.compaction import Occupancy
from jupyter_ctx.context.forecast import TypicalTurn, more_turns
from jupyter_ctx.context.policy import decide
from jupyter_ctx.context.windows import ContextWindow

MARGIN = 0.05


def is_cut(sizes: list[int], turn: int, prompt: int, more: int, window: int, chosen: Settings) -> bool:
    """Whether room must be made for the request that comes after so many more turns."""
    ledger = ledger_of([*sizes, *[turn] * more])
    budget = Budget(ContextWindow(window), 0, margin=MARGIN)
    decision = decide(Occupancy(ledger, budget, 0, len(ledger), prompt=prompt), chosen)
    return decision.too_large or bool(decision.reasons)


@settings(max_examples=300, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=20),
    turn=st.integers(2, 400),
    share=st.floats(0, 1),
    window=st.integers(300, 10_000),
    compact_at=st.floats(0.1, 1) | st.integers(256, 10_000),
    max_turns=st.none() | st.integers(1, 30),
)
def test_as_many_more_turns_fit_as_it_says_and_not_one_more(
    sizes: list[int], turn: int, share: float, window: int, compact_at: float, max_turns: int | None
) -> None:
    prompt, chosen = max(1, int(turn * share)), Settings(compact_at=compact_at, max_turns=max_turns)
    now = Occupancy(ledger_of(sizes), Budget(ContextWindow(window), 0, margin=MARGIN), 0, len(sizes))
    count = more_turns(now, chosen, TypicalTurn(turn, prompt, MARGIN))
    for sent in {0, count // 2, count - 1} - {-1}:
        if sent < count:
            assert not is_cut(sizes, turn, prompt, sent, window, chosen)
    assert is_cut(sizes, turn, prompt, count, window, chosen)


def test_estimates_keep_their_margin_until_they_are_reported() -> None:
    now = Occupancy(ledger_of([900], counted=False), Budget(ContextWindow(1_000), 0), 0, 1)
    assert more_turns(now, Settings(), TypicalTurn(10, 5, MARGIN)) == 0
