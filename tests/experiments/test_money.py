"""What a run may cost: the cap holds whatever comes, and the price is told before."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.experiments.money import Estimate, Part
from jupyter_ctx.experiments.start import check_price
from jupyter_ctx.models.cost_budget import CostBudget
from jupyter_ctx.models.pricing import price_of, worst_case
from jupyter_ctx.models.registry import Models
from jupyter_ctx.models.target import Target

MODELS = Models()


def target(model: str, **given: object) -> Target:
    return MODELS.target(Settings(model=model).changed(given), ask=False)


@settings(max_examples=100, deadline=None)
@given(
    cap=st.floats(0.001, 10),
    at_once=st.integers(1, 100),
    rows=st.lists(st.tuples(st.floats(1e-6, 0.5), st.floats(0, 1) | st.none()), max_size=200),
    seed=st.integers(0, 99),
)
def test_the_cap_is_never_passed_and_a_run_ends_only_where_the_next_request_might_pass_it(
    cap: float, at_once: int, rows: list[tuple[float, float | None]], seed: int
) -> None:
    budget, chance, on_their_way = CostBudget(cap), random.Random(seed), list[tuple[float, float | None]]()
    waiting = deque(rows)
    while waiting or on_their_way:
        while waiting and len(on_their_way) < at_once and budget.reserve(waiting[0][0]):
            worst, share = waiting.popleft()
            on_their_way.append((worst, None if share is None else worst * share))
        if not on_their_way:
            assert (budget.spent or 0.0) + waiting[0][0] > cap * (1 - 1e-9)
            break
        budget.settle(*on_their_way.pop(chance.randrange(len(on_their_way))))
        assert (budget.spent or 0.0) <= cap


def test_unknown_costs_are_charged_as_the_worst() -> None:
    budget = CostBudget(1.0)
    assert budget.reserve(0.6)
    budget.settle(0.6, None)
    assert budget.spent == pytest.approx(0.6)
    assert not budget.reserve(0.6)


def test_a_price_above_the_worst_case_raises_what_is_reserved_for_all_others() -> None:
    budget = CostBudget(1.0)
    assert all(budget.reserve(0.1) for _ in range(3))
    budget.settle(0.1, 0.2)
    assert budget.left == pytest.approx(1 - 0.2 - 2 * 0.1 * 2 * 1.1)
    assert budget.reserve(0.1)
    assert not budget.reserve(0.1)
    assert "$0.86 of it is spent or reserved, and the next request may cost up to $0.22" in budget.said(0.1)


def test_a_thousand_small_sums_add_up_exactly() -> None:
    budget = CostBudget(1.0)
    for _ in range(1_000):
        assert budget.reserve(0.001)
        budget.settle(0.001, 0.001)
    assert budget.spent == 1.0
    assert not budget.reserve(1e-9)


def test_without_a_cap_everything_may_be_spent_and_an_unknown_price_stays_unknown() -> None:
    budget = CostBudget()
    assert budget.reserve(None)
    budget.settle(None, None)
    assert budget.spent is None
    assert budget.reserve(None)
    budget.settle(None, 0.5)
    assert budget.spent == 0.5


def test_the_worst_case_has_a_margin_for_estimates_and_a_cache_that_is_written() -> None:
    claude = target("anthropic/claude-sonnet-4-6", max_tokens=100)
    price = price_of(MODELS, claude)
    assert price is not None
    assert price.written == pytest.approx(1.25 * price.input)
    worst = worst_case(MODELS, claude, 1_000, [])
    assert worst is not None
    assert worst >= 1_250 * price.written + 100 * price.output


def test_the_worst_case_of_a_long_request_is_at_the_price_of_long_requests() -> None:
    model = target("openai/gpt-5.4", max_tokens=100)
    price = price_of(MODELS, model)
    assert price is not None
    worst = worst_case(MODELS, model, 300_000, [])
    assert worst is not None
    assert worst > 2 * 300_000 * price.input


def test_a_cap_with_an_unknown_price_is_refused_with_the_model_s_name() -> None:
    known, unknown = Settings(model="openai/gpt-5.2"), Settings(model="openai/gpt-99")
    with pytest.raises(InvalidRequestError, match=r"price of openai/gpt-99 is unknown"):
        check_price(MODELS, [known, unknown], 1.0)
    with pytest.raises(InvalidRequestError, match=r"price of mine is unknown"):
        check_price(MODELS, [Settings(model="mine", base_url="http://127.0.0.1:9/v1")], 1.0)
    check_price(MODELS, [Settings(model="local/smollm2"), known], 1.0)
    check_price(MODELS, [unknown], None)


def test_an_estimate_says_what_is_expected_and_at_most() -> None:
    part = Part(target("openai/gpt-5.2", max_tokens=256), 200, 61_400)
    assert str(Estimate.of(MODELS, [part])) == (
        "200 requests to openai/gpt-5.2: 61,400 tokens in. Expected about $0.82, at most $0.86."
    )
    open_part = Part(target("openai/gpt-5.2"), 200, 61_400)
    estimate = Estimate.of(MODELS, [open_part])
    assert estimate.expected == pytest.approx(61_400 * 1.75e-6 + 200 * 500 * 14e-6)
    assert estimate.most is None
    assert str(estimate).endswith("Expected about $1.51; --max-tokens or --max-cost sets a limit.")


def test_a_cap_is_the_most_that_is_told() -> None:
    part = Part(target("openai/gpt-5.2", max_tokens=25_000), 20, 6_140, 307, 0.352)
    estimate = Estimate.of(MODELS, [part], cap=1.0)
    assert (estimate.most, estimate.cap) == (1.0, 1.0)
    assert "Expected about $0.15, at most $1.00 (your limit)." in str(estimate)
    assert "your limit of $0.010 ends it" in str(Estimate.of(MODELS, [part], cap=0.01))
    assert Estimate.of(MODELS, [part], cap=8.0).cap is None


@pytest.mark.parametrize("cap", [0.05, 0.2, 0.5])
def test_a_cap_without_room_for_one_answer_says_which_max_tokens_it_has_room_for(cap: float) -> None:
    sent = target("openai/gpt-5.2", max_tokens=25_000)
    worst = worst_case(MODELS, sent, 307, [])
    assert worst is not None
    estimate = Estimate.of(MODELS, [Part(sent, 200, 61_400, 307, worst)], cap=cap)
    assert (estimate.lack == "") == (cap >= worst)
    if cap < worst:
        bounded = worst_case(MODELS, target("openai/gpt-5.2", max_tokens=estimate.bounded), 307, [])
        assert bounded is not None
        assert 0.8 * cap < bounded <= cap


def test_an_unknown_price_is_said_and_is_never_nothing() -> None:
    estimate = Estimate.of(MODELS, [Part(target("openai/gpt-99"), 10, 1_000)])
    assert (estimate.expected, estimate.most) == (None, None)
    assert "the price of openai/gpt-99 is unknown. Give it" in str(estimate)


def test_a_run_asks_first_where_it_may_cost_more_or_nobody_knows_and_it_is_no_trial() -> None:
    cheap = Estimate.of(MODELS, [Part(target("openai/gpt-5.2", max_tokens=10), 1_000, 100)])
    dear = Estimate.of(MODELS, [Part(target("openai/gpt-5.2", max_tokens=10_000), 200, 100)])
    assert not cheap.is_above(1.0)
    assert dear.is_above(1.0)
    assert not dear.is_above(None)
    unknown = Part(target("openai/gpt-99"), 21, 1_000)
    assert Estimate.of(MODELS, [unknown]).is_above(100)
    assert not Estimate.of(MODELS, [unknown]).is_above(None)
    assert not Estimate.of(MODELS, [replace(unknown, rows=20)]).is_above(0.01)
    assert not Estimate.of(MODELS, [Part(target("local/smollm2"), 1_000, 1_000)]).is_above(0)
