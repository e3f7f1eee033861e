"""What reports teach of a tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.families import KINDS, LLAMA_2, LLAMA_3, UNKNOWN, Vector, text_features
from jupyter_ctx.context.tokens import Calibration, Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage

ENGLISH = "The ship sailed on through the night. " * 6
numbers = st.floats(0, 1e5)
vectors = st.tuples(numbers, *[numbers] * len(KINDS), st.integers(0, 9).map(float))


def vector(text: str) -> Vector:
    return (0.0, *text_features(text), 1.0)


@given(st.lists(st.tuples(vectors, st.floats(-10, 1e6)), max_size=15), vectors)
def test_whatever_is_reported_estimates_stay_positive_and_the_unseen_is_a_part_of_them(
    reports: list[tuple[Vector, float]], text: Vector
) -> None:
    calibration = Calibration(UNKNOWN[:1])
    for reported, tokens in reports:
        calibration = calibration.learned(reported, tokens)
    assert 0 <= calibration.unseen(text) <= calibration.estimate(text) * (1 + 1e-9)


@pytest.mark.parametrize("factor", [0.6, 1.9])
def test_a_tokenizer_that_counts_otherwise_is_learned_in_a_few_reports(factor: float) -> None:
    calibration = Calibration(UNKNOWN[:1])
    truth = calibration.estimate(vector(ENGLISH)) * factor
    for _ in range(6):
        calibration = calibration.learned(vector(ENGLISH), truth)
    assert calibration.estimate(vector(ENGLISH)) == pytest.approx(truth, rel=0.06)


SCRIPTS = {
    "Greek": "Το πλοίο ταξίδευε όλη τη νύχτα. ", "Hebrew": "הספינה הפליגה כל הלילה. ",
    "Arabic": "أبحرت السفينة طوال الليل. ", "Thai": "เรือแล่นตลอดทั้งคืน ", "Hindi": "जहाज रात भर चलता रहा। ",
    "Korean": "배는 밤새도록 항해했다. ",
}  # fmt: skip


@pytest.mark.parametrize("ratios", [LLAMA_2, LLAMA_3])
def test_a_few_scripts_tell_which_vocabulary_an_unknown_model_has(ratios: Vector) -> None:
    meter, truth = Meter(), Calibration((ratios,))
    for script in ("Thai", "Hebrew", "Hindi"):
        prompt = SCRIPTS[script] * 30
        tokens = round(truth.estimate(vector(prompt)))
        meter.reported(SentRequest(Fixed(), prompt), "", Usage(tokens, 0), turn_id=None)
    for script in ("Greek", "Arabic", "Korean"):
        text = SCRIPTS[script] * 8
        assert meter.message(text) == pytest.approx(truth.estimate(vector(text)), rel=0.3)


def test_before_any_report_the_first_ratios_hold() -> None:
    assert Calibration(UNKNOWN).ratios[:-1] == UNKNOWN[0] != min(UNKNOWN)


def test_another_tokenizer_behind_the_same_name_is_learned_after_hundreds_of_reports() -> None:
    calibration = Calibration(UNKNOWN[:1])
    for _ in range(400):
        calibration = calibration.learned(vector(ENGLISH), 60)
    for _ in range(30):
        calibration = calibration.learned(vector(ENGLISH), 90)
    assert calibration.estimate(vector(ENGLISH)) == pytest.approx(90, rel=0.1)


def test_one_odd_report_does_not_outweigh_a_conversation() -> None:
    calibration = Calibration(UNKNOWN[:1])
    for _ in range(10):
        calibration = calibration.learned(vector(ENGLISH), 60)
    odd = calibration.learned(vector(ENGLISH), 6_000)
    assert odd.estimate(vector(ENGLISH)) < 1.2 * calibration.estimate(vector(ENGLISH))


def test_a_text_that_was_measured_before_the_vocabulary_counted_teaches_nothing() -> None:
    exact = Calibration(((),))
    assert exact.learned(vector(ENGLISH), 60) is exact
    assert exact.learned((60.0, 1.0), 67).estimate((100.0, 1.0)) == pytest.approx(107.8, abs=0.3)
