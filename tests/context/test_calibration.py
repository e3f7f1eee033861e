"""What reports teach of a tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.budget import LEAST_MARGIN, MARGIN
from jupyter_ctx.context.families import (
    CHARACTER_KINDS,
    KNOWN_NOISE,
    LLAMA_2,
    LLAMA_3,
    UNKNOWN,
    Calibration,
    Vector,
    text_features,
)
from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage

ENGLISH = "The ship sailed on through the night. " * 6
numbers = st.floats(0, 1e5)
vectors = st.tuples(*[numbers] * len(CHARACTER_KINDS), st.integers(0, 9).map(float))


def vector(text: str) -> Vector:
    return (*text_features(text), 1.0)


@given(st.lists(st.tuples(vectors, st.floats(-10, 1e6)), max_size=15), vectors)
def test_whatever_is_reported_estimates_stay_positive_and_margins_between_3_and_20_percent(
    reports: list[tuple[Vector, float]], text: Vector
) -> None:
    calibration = Calibration(UNKNOWN.ratios[:1])
    for reported, tokens in reports:
        calibration = calibration.learned(reported, tokens)
    assert calibration.estimate(text) >= 0
    assert LEAST_MARGIN <= calibration.margin(text) <= MARGIN


@pytest.mark.parametrize("factor", [0.6, 1.9])
def test_a_tokenizer_that_counts_otherwise_is_learned_in_a_few_reports(factor: float) -> None:
    calibration = Calibration(UNKNOWN.ratios[:1])
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
        meter.reported(SentRequest(Fixed(), prompt, 0.0), "", Usage(tokens, 0), turn_id=None)
    for script in ("Greek", "Arabic", "Korean"):
        text = SCRIPTS[script] * 8
        assert meter.message(text) == pytest.approx(truth.estimate(vector(text)), rel=0.3)


def test_another_tokenizer_behind_the_same_name_is_learned_after_hundreds_of_reports() -> None:
    calibration = Calibration(UNKNOWN.ratios[:1])
    for _ in range(400):
        calibration = calibration.learned(vector(ENGLISH), 60)
    for _ in range(30):
        calibration = calibration.learned(vector(ENGLISH), 90)
    assert calibration.estimate(vector(ENGLISH)) == pytest.approx(90, rel=0.1)


COUNTED = Calibration(((1.0,),), doubt=KNOWN_NOISE, is_exact=True)


def test_the_margin_starts_at_20_percent_and_shrinks_to_3_as_estimates_prove_right() -> None:
    calibration = COUNTED
    assert calibration.margin((500.0, 1.0)) == MARGIN
    for _ in range(80):
        calibration = calibration.learned((500.0, 1.0), 508.0)
    assert calibration.margin((500.0, 1.0)) == pytest.approx(LEAST_MARGIN, rel=0.15)


def test_the_margin_grows_again_when_estimates_fail() -> None:
    calibration = COUNTED
    for _ in range(40):
        calibration = calibration.learned((500.0, 1.0), 508.0)
    for tokens in (900.0, 300.0, 950.0):
        calibration = calibration.learned((500.0, 1.0), tokens)
    assert calibration.margin((500.0, 1.0)) > 2 * LEAST_MARGIN


def test_one_odd_report_does_not_outweigh_a_conversation() -> None:
    calibration = Calibration(UNKNOWN.ratios[:1])
    for _ in range(10):
        calibration = calibration.learned(vector(ENGLISH), 60)
    odd = calibration.learned(vector(ENGLISH), 6_000)
    assert odd.estimate(vector(ENGLISH)) < 1.2 * calibration.estimate(vector(ENGLISH))
