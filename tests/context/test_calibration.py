"""What reports teach of a tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.budget import LEAST_MARGIN, MARGIN
from jupyter_ctx.context.calibration import Calibration, Vector
from jupyter_ctx.context.families import UNKNOWN
from jupyter_ctx.context.text_features import CHARACTER_KINDS, makeup

ENGLISH, RUSSIAN = "The ship sailed on through the night. " * 6, "Корабль плыл всю ночь напролёт. " * 6
numbers = st.floats(0, 1e5)
vectors = st.tuples(*[numbers] * len(CHARACTER_KINDS), st.integers(0, 9).map(float))


def vector(text: str) -> Vector:
    return (*makeup(text), 1.0)


@given(st.lists(st.tuples(vectors, st.floats(-10, 1e6)), max_size=15), vectors)
def test_whatever_is_reported_estimates_stay_positive_and_margins_between_3_and_20_percent(
    reports: list[tuple[Vector, float]], text: Vector
) -> None:
    calibration = Calibration.of(UNKNOWN.prior)
    for reported, tokens in reports:
        calibration = calibration.learned(reported, tokens)
    assert calibration.estimate(text) >= 0
    assert LEAST_MARGIN <= calibration.margin(text) <= MARGIN


@pytest.mark.parametrize("factor", [0.6, 1.9])
def test_a_tokenizer_that_counts_otherwise_is_learned_in_a_few_reports(factor: float) -> None:
    calibration = Calibration.of(UNKNOWN.prior)
    truth = calibration.estimate(vector(ENGLISH)) * factor
    for _ in range(6):
        calibration = calibration.learned(vector(ENGLISH), truth)
    assert calibration.estimate(vector(ENGLISH)) == pytest.approx(truth, rel=0.06)


def test_what_is_learned_of_one_script_tells_little_of_another() -> None:
    begun = Calibration.of(UNKNOWN.prior)
    learned = begun
    for _ in range(6):
        learned = learned.learned(vector(RUSSIAN), 2 * begun.estimate(vector(RUSSIAN)))
    english, russian = (learned.estimate(vector(t)) / begun.estimate(vector(t)) for t in (ENGLISH, RUSSIAN))
    assert russian == pytest.approx(2, rel=0.1)
    assert english == pytest.approx(1, abs=0.35)
    assert learned.margin(vector(RUSSIAN)) < learned.margin(vector(ENGLISH))


SCRIPTS = {
    "Greek": "Το πλοίο ταξίδευε όλη τη νύχτα. ", "Hebrew": "הספינה הפליגה כל הלילה. ",
    "Arabic": "أبحرت السفينة طوال الليل. ", "Thai": "เรือแล่นตลอดทั้งคืน ", "Hindi": "जहाज रात भर चलता रहा। ",
    "Korean": "배는 밤새도록 항해했다. ",
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_one_script_is_learned_in_two_reports_and_tells_nothing_of_the_others(script: str) -> None:
    begun = calibration = Calibration.of(UNKNOWN.prior)
    for other in set(SCRIPTS) - {script}:
        calibration = calibration.learned(vector(SCRIPTS[other] * 8), begun.estimate(vector(SCRIPTS[other] * 8)))
    truth = 0.6 * begun.estimate(vector(SCRIPTS[script] * 8))
    for _ in range(2):
        calibration = calibration.learned(vector(SCRIPTS[script] * 8), truth)
    assert calibration.estimate(vector(SCRIPTS[script] * 8)) == pytest.approx(truth, rel=0.1)
    for other in set(SCRIPTS) - {script}:
        before, now = (each.estimate(vector(SCRIPTS[other] * 8)) for each in (begun, calibration))
        assert now == pytest.approx(before, rel=0.1)


def test_the_margin_starts_at_20_percent_and_shrinks_to_3_as_estimates_prove_right() -> None:
    calibration = Calibration.counted()
    assert calibration.margin((500.0, 1.0)) == MARGIN
    for _ in range(80):
        calibration = calibration.learned((500.0, 1.0), 508.0)
    assert calibration.margin((500.0, 1.0)) == pytest.approx(LEAST_MARGIN, rel=0.15)


def test_the_margin_grows_again_when_estimates_fail() -> None:
    calibration = Calibration.counted()
    for _ in range(40):
        calibration = calibration.learned((500.0, 1.0), 508.0)
    for tokens in (900.0, 300.0, 950.0):
        calibration = calibration.learned((500.0, 1.0), tokens)
    assert calibration.margin((500.0, 1.0)) > 2 * LEAST_MARGIN


def test_one_odd_report_does_not_outweigh_a_conversation() -> None:
    calibration = Calibration.of(UNKNOWN.prior)
    for _ in range(10):
        calibration = calibration.learned(vector(ENGLISH), 60)
    odd = calibration.learned(vector(ENGLISH), 6_000)
    assert odd.estimate(vector(ENGLISH)) < 1.2 * calibration.estimate(vector(ENGLISH))
