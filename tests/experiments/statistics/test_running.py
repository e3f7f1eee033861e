"""A rate or a mean that grows with each answer agrees with what a summary says of all of them."""

from __future__ import annotations

from random import Random

import pytest

from jupyter_ctx.experiments.statistics.running import RunningScore
from jupyter_ctx.experiments.statistics.tally import tally
from jupyter_ctx.experiments.table.results import Result, Score
from jupyter_ctx.providers.base import Reply


def results(scores: list[Score], repeat: int) -> list[Result]:
    return [
        Result(number // repeat, "", number % repeat, {}, {}, "", Reply("Yes."), scores={"ok": score})
        for number, score in enumerate(scores)
    ]


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("kind", ["yes/no", "always", "grade"])
def test_the_figures_of_a_growing_score_are_those_of_the_summary(kind: str, repeat: int) -> None:
    chance = Random(7)
    draw = {"yes/no": lambda: chance.random() < 0.8, "always": lambda: True, "grade": chance.random}[kind]
    answers = results([draw() for _ in range(180)], repeat)
    running = RunningScore()
    for answer in answers:
        running.add(answer.row, float(answer.scores["ok"] or 0))
    told, known = running.interval, tally(answers, "ok").interval()
    assert (told.value, told.low, told.high) == pytest.approx((known.value, known.low, known.high))
    assert (told.n, running.is_rate) == (180 // repeat, kind != "grade")


def test_one_row_has_no_interval() -> None:
    running = RunningScore()
    running.add(0, 1.0)
    running.add(0, 0.0)
    assert (running.interval.value, running.interval.is_known) == (0.5, False)
