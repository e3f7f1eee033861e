"""Which length is asked next, and when nothing more is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx.experiments.probing.curve import Posterior
from jupyter_ctx.experiments.probing.design import (
    FIRST_REQUESTS,
    GRID_REQUESTS,
    REQUESTS_AT_ONCE,
    ProbeStep,
    Stop,
    next_step,
    probe_lengths,
)
from jupyter_ctx.experiments.probing.trial import Trial

LENGTHS = probe_lengths(32_768)
ANSWER = 50  # tokens
Score = Callable[[int], float | None]


class Asked:
    """A probe of a model whose share of right answers is known for each length, up to its end."""

    def __init__(
        self, score: Score, cap: int = 500_000, lengths: Sequence[int] = LENGTHS, seed: int = 1, grid: bool = False
    ) -> None:
        chance, self.lengths = Random(seed), lengths
        self.trials, self.steps, self.tokens = list[Trial](), list[ProbeStep](), 0
        while isinstance(step := next_step(self.trials, lengths, self.tokens, cap, grid=grid), ProbeStep):
            self.steps.append(step)
            for places in step.positions:
                right, name = score(step.length), str(len(self.trials))
                self.tokens += step.length + ANSWER
                for _ in places:
                    scored = None if right is None else float(chance.random() < right)
                    self.trials.append(Trial(step.length, step.length, name, scored, step.length + ANSWER))
        self.reason = step.reason

    @property
    def held(self):
        return Posterior.of(self.trials, self.lengths).effective()


def test_lengths_double_from_the_base_to_what_the_window_holds() -> None:
    assert probe_lengths(131_072) == (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
    assert probe_lengths(100_000)[-3:] == (32_768, 65_536, 100_000)
    assert probe_lengths(70_000)[-2:] == (32_768, 70_000)  # no step of a tenth of an octave
    assert probe_lengths(1_800) == (225, 450, 900, 1_800)


def test_a_sharp_fall_is_found_within_an_octave_and_most_questions_are_asked_near_it() -> None:
    asked = Asked(lambda length: 0.98 if length <= 8_192 else 0.1)
    assert asked.reason == "narrow"
    assert asked.held.low <= 8_192 <= asked.held.high <= 2.1 * asked.held.low
    by_length = Counter(step.length for step in asked.steps)
    assert by_length[8_192] + by_length[16_384] > len(asked.steps) / 3


def test_where_nothing_falls_few_long_prompts_are_enough() -> None:
    asked = Asked(lambda length: 0.99)
    assert (asked.reason, asked.held.reached) == ("narrow", False)
    assert len(asked.trials) < 80


def test_a_model_that_cannot_do_the_task_is_asked_at_the_base_alone() -> None:
    asked = Asked(lambda length: 0.3)
    assert asked.reason == "base"
    assert {step.length for step in asked.steps} == {LENGTHS[0]}
    assert len(asked.steps[0].positions) == FIRST_REQUESTS


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 120_000), st.floats(0.5, 1))
def test_the_cap_is_never_passed(cap: int, score: float) -> None:
    asked = Asked(lambda length: score / (1 + length / 30_000), cap)
    assert asked.tokens <= cap
    assert asked.reason in {"narrow", "cap", "base"}


@pytest.mark.parametrize("cap", [0, 1_000])
def test_a_cap_below_one_request_stops_before_it(cap: int) -> None:
    assert next_step([], LENGTHS, 0, cap) == Stop("cap")


def test_lengths_whose_answers_do_not_count_are_asked_no_further() -> None:
    asked = Asked(lambda length: None if length > 16_384 else 0.99)
    assert sum(step.length == 32_768 for step in asked.steps) <= 2
    assert asked.held.low > 8_192
    nothing = Asked(lambda length: None)
    assert (nothing.reason, len(nothing.trials)) == ("uncounted", 4 * FIRST_REQUESTS)


def test_requests_are_spread_over_the_text_each_at_other_places() -> None:
    asked = Asked(lambda length: 0.95 / (1 + length / 20_000), 120_000)
    assert max(len(step.positions) for step in asked.steps) <= REQUESTS_AT_ONCE
    for length in LENGTHS:
        places = [place for step in asked.steps if step.length == length for each in step.positions for place in each]
        quarters = Counter(int(4 * place) for place in places)
        assert len(set(places)) == len(places)
        assert len(set(quarters.values())) <= 1


@pytest.mark.parametrize("questions", [1, 3, 8])
def test_a_request_has_as_many_positions_as_questions(questions: int) -> None:
    step = next_step([], LENGTHS, 0, 100_000, questions=questions)
    assert isinstance(step, ProbeStep)
    places = sorted(place for each in step.positions for place in each)
    assert len(places) == questions * FIRST_REQUESTS
    gaps = [after - before for before, after in zip([0.0, *places], [*places, 1.0], strict=True)]
    assert max(gaps) <= 2 / len(places)


def test_a_grid_asks_every_length_equally_often_and_ends() -> None:
    asked = Asked(lambda length: 0.9, grid=True)
    assert asked.reason == "grid"
    assert {step.length: len(step.positions) for step in asked.steps} == dict.fromkeys(LENGTHS, GRID_REQUESTS)
    capped = Asked(lambda length: 0.9, 100_000, grid=True)
    assert (capped.reason, capped.tokens <= 100_000) == ("cap", True)


def test_a_decision_depends_on_the_trials_alone_and_not_on_their_order() -> None:
    trials = Asked(lambda length: 0.9 / (1 + length / 20_000), 60_000).trials
    mixed = Random(1).sample(trials, len(trials))
    assert next_step(trials, LENGTHS, 60_000, 500_000) == next_step(mixed, LENGTHS, 60_000, 500_000)
