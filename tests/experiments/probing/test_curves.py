"""From scored questions to a length: what the posterior says, and how it grows with evidence."""

from __future__ import annotations

import math
import re
from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx.experiments.probing.curve import Posterior, octaves_further
from jupyter_ctx.experiments.probing.held_words import further_sentence, held_sentence
from jupyter_ctx.experiments.probing.trial import Trial

LENGTHS = (1_024, 2_048, 4_096, 8_192, 16_384)


def asked(length: int, right: float, times: int = 1, wrong: float = 0, of: str = "", **other: Any) -> list[Trial]:
    """Requests of four questions: so many are right, and so many wrong, in each."""
    scores = [1.0] * int(right) + [0.0] * int(wrong)
    return [
        Trial(length, length, f"{of}{length} {number}", score, length, **other)
        for number in range(times)
        for score in scores
    ]


def holding(length: int, times: int, of: str = "") -> list[Trial]:
    """All right up to a length, all wrong beyond."""
    return [
        trial
        for each in LENGTHS
        for trial in asked(each, 4 * (each <= length), times, wrong=4 * (each > length), of=of)
    ]


TRIALS = st.lists(
    st.builds(
        Trial, st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from("abcdef"),
        st.floats(0, 1) | st.none(), st.integers(0, 20_000),
    ),
    max_size=30,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(TRIALS)
def test_whatever_was_answered_an_interval_has_an_order_and_lies_between_the_lengths(trials: list[Trial]) -> None:
    posterior = Posterior.of(trials, LENGTHS)
    held = posterior.effective()
    assert LENGTHS[0] <= held.low <= held.median <= held.high <= LENGTHS[-1]
    assert 0 < held.base < 1
    assert sum(posterior.weights) == pytest.approx(1)
    for length in LENGTHS:
        low, mean, high = posterior.score(length)
        assert 0 < low <= high < 1
        assert low - 0.3 < mean < high + 0.3
        assert -1e-9 <= posterior.information(length) < math.log(2)


@settings(max_examples=10, deadline=None)
@given(TRIALS)
def test_an_answer_without_a_score_counts_for_nothing(trials: list[Trial]) -> None:
    unscored = [Trial(4_096, 4_096, request, None, 4_096) for request in "abc"]
    with_them, without = (Posterior.of(each, LENGTHS) for each in ([*trials, *unscored], trials))
    assert with_them == without


def test_more_answers_of_the_same_kind_narrow_the_interval() -> None:
    widths = [Posterior.of(holding(4_096, times), LENGTHS).effective().octaves for times in (0, 1, 3, 10)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] <= 1 < widths[0]


@pytest.mark.parametrize("length", LENGTHS[1:-1])
def test_the_interval_holds_the_length_beyond_which_all_is_wrong(length: int) -> None:
    held = Posterior.of(holding(length, 3), LENGTHS).effective()
    assert held.low <= length
    assert length <= held.high <= 2 * length
    assert (held.reached, held.is_known, held.base_is_low, held.questions) == (True, True, False, 60)


def test_where_all_is_right_no_fall_was_seen() -> None:
    held = Posterior.of(holding(16_384, 5), LENGTHS).effective()
    assert (held.reached, held.is_known, held.high) == (False, True, 16_384)
    assert held.low > 8_192
    assert held.base > 0.95


def test_nothing_is_known_where_nothing_counts_or_the_base_alone_was_asked() -> None:
    for trials, lengths in (([], LENGTHS), ([], LENGTHS[:1]), (asked(1_024, 4, 9), LENGTHS[:1])):
        assert not Posterior.of(trials, lengths).effective().is_known


def test_questions_of_one_request_say_less_than_as_many_requests() -> None:
    apart = [
        Trial(trial.wanted, trial.length, str(number), trial.score, trial.tokens)
        for number, trial in enumerate(holding(4_096, 2))
    ]
    together, alone = (Posterior.of(each, LENGTHS).effective() for each in (holding(4_096, 2), apart))
    assert together.octaves > alone.octaves


def test_a_share_that_is_right_counts_as_much_as_it_is() -> None:
    chance = Random(3)
    halves = [Trial(1_024, 1_024, str(number), 0.5, 1_024) for number in range(40)]
    either = [Trial(1_024, 1_024, str(number), float(chance.random() < 0.5), 1_024) for number in range(400)]
    for trials in (halves, either):
        assert Posterior.of(trials, LENGTHS).base()[0] == pytest.approx(0.5, abs=0.06)


def test_a_base_below_seventy_percent_is_low_and_one_of_three_quarters_is_not() -> None:
    low, enough = asked(1_024, 2, 10, wrong=2), asked(1_024, 3, 20, wrong=1)
    assert Posterior.of(low, LENGTHS).effective().base_is_low
    assert not Posterior.of(enough, LENGTHS).effective().base_is_low


def test_a_curve_that_starts_at_three_quarters_is_measured_against_that() -> None:
    trials = [trial for length in LENGTHS for trial in asked(length, 3, 12, wrong=1)]
    held = Posterior.of(trials, LENGTHS).effective()
    assert not held.reached
    assert held.base == pytest.approx(0.75, abs=0.05)


def test_two_models_are_compared_by_how_often_the_length_doubles() -> None:
    near, far = (Posterior.of(holding(length, 4), LENGTHS) for length in (2_048, 8_192))
    low, median, high = octaves_further(near, far)
    assert 0 < low < median < high
    assert median == pytest.approx(2, abs=0.3)
    assert octaves_further(far, near) == pytest.approx((-high, -median, -low), abs=0.26)
    same = octaves_further(near, Posterior.of(holding(2_048, 4, of="again"), LENGTHS))
    assert same[0] < 0 < same[2]


def test_beyond_the_longest_length_that_both_were_asked_nothing_is_compared() -> None:
    short = Posterior.of([trial for trial in holding(4_096, 5) if trial.length <= 4_096], LENGTHS[:3])
    far = Posterior.of(holding(16_384, 5), LENGTHS)
    low, median, high = octaves_further(short, far)
    assert low == median == 0
    assert high < 1


def test_below_the_shortest_length_that_both_were_asked_nothing_is_compared() -> None:
    low, high = (
        Posterior.of(holding(length, 5), lengths) for length, lengths in ((1_024, LENGTHS), (4_096, LENGTHS[2:]))
    )
    assert max(octaves_further(low, high)) < 1
    assert "4,096" in further_sentence(low, high, ("a", "b"))


@pytest.mark.parametrize(
    ("trials", "lengths", "lack"),
    [
        ([], LENGTHS, "of b, no answer counts"), (asked(1_024, 1, 9, wrong=3), LENGTHS, "of b, about 2"),
        (asked(32_768, 4, 3), (32_768, 65_536), "up to 16,384 tokens, .* from 32,768"),
    ],
)  # fmt: skip
def test_what_has_no_length_is_not_compared(trials: list[Trial], lengths: tuple[int, ...], lack: str) -> None:
    sentence = further_sentence(Posterior.of(holding(4_096, 4), LENGTHS), Posterior.of(trials, lengths), ("a", "b"))
    assert re.match(f"a and b cannot be compared: .*{lack}", sentence)


def test_sentences_tell_the_figures() -> None:
    day = date(2026, 11, 3)
    told = [
        held_sentence(Posterior.of(trials, LENGTHS).effective(), "keys", "local/m", day)
        for trials in (holding(4_096, 6), holding(16_384, 5), asked(1_024, 3, 4), asked(1_024, 1, 9, wrong=3), [])
    ]
    told.append(held_sentence(Posterior.of(asked(1_024, 4, 2), LENGTHS[:1]).effective(), "keys", "local/m", day))
    begins = (
        "holds to about 5,",
        "no fall was seen up to 16,384",
        "cannot tell",
        "left out: about 2",
        "cannot tell",
        "cannot tell",
    )
    counts = 120, 100, 12, 36, 0, 8
    for sentence, begin, count in zip(told, begins, counts, strict=True):
        assert sentence.startswith(f"keys: {begin}")
        assert f"{count} questions, 3 Nov 2026, local/m)" in sentence


def test_the_comparison_names_the_one_that_holds_further_first() -> None:
    near, far = (Posterior.of(holding(length, 4), LENGTHS) for length in (2_048, 8_192))
    for pair, names in (((near, far), ("a", "b")), ((far, near), ("b", "a"))):
        assert further_sentence(*pair, names).startswith("b holds further than a, up to the 16,384 tokens")
    assert further_sentence(near, near, ("a", "c")).startswith("Which holds further is not known")
