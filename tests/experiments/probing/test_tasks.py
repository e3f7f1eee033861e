"""Tasks of a probe: each can be answered by reading, at the places and of the length that were asked for."""

from __future__ import annotations

import re
from random import Random

import pytest

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.experiments.probing.tasks import ALONE, LEVELS, TASKS, Level, make_prompt, task_named

PLACES = (0.1, 0.3, 0.6, 0.9)
OWN = """The budget is 41,200 euros. We meet on Thursday with Maria Lopez. The server runs nginx_proxy.
Version 2.4.1 is the last one. Nothing else was said. The key account is held by `alpha_team` only."""


def size(text: str) -> float:
    return len(text) / 4


@pytest.mark.parametrize("name", [*TASKS, "own"])
@pytest.mark.parametrize("level", LEVELS)
def test_every_fact_stands_once_at_its_place_in_a_text_of_the_length_that_was_asked_for(
    name: str, level: Level
) -> None:
    places = PLACES[: level.questions]
    prompt = make_prompt(task_named(name, OWN), level, size, 2_000, places, Random(7))
    assert size(prompt.text) == pytest.approx(2_000, rel=0.05)
    lines = [line for line in prompt.text.splitlines() if line]
    assert len(lines) == len(set(lines))
    text = prompt.text.rpartition("\n\n")[0]
    assert len(prompt.answers) == len(places)
    for place, answer in zip(places, prompt.answers, strict=True):
        first = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
        assert first is not None
        assert first.start() / len(text) == pytest.approx(place, abs=0.08)
    said = "\n".join(f"{number}: {answer}" for number, answer in enumerate(prompt.answers, 1))
    assert prompt.scores(said) == [1.0] * len(places)
    assert prompt.scores("I do not know.") == [0.0] * len(places)


def test_the_same_seed_makes_the_same_text_and_another_one_another() -> None:
    made = [make_prompt(TASKS["order"], LEVELS[0], size, 500, PLACES, Random(seed)).text for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


def test_a_text_may_be_longer_than_all_sentences_that_there_are() -> None:
    text = make_prompt(TASKS["keys"], ALONE, lambda text: 1, 60_000, (0.5,), Random(1)).text
    lines = text.splitlines()
    assert len(lines) > 60_000 > len(set(lines))


def test_an_answer_counts_in_the_line_of_its_number_and_with_its_figures_grouped() -> None:
    prompt = make_prompt(TASKS["keys"], LEVELS[0], size, 500, PLACES, Random(1))
    first, second, third, _ = prompt.answers
    grouped = f"{int(third):,}"
    assert prompt.scores(f"1: {second}\n2: {first}\n3: {grouped}\n4: none") == [0.0, 0.0, 1.0, 0.0]


def test_a_text_without_facts_is_refused_with_how_many_there_are() -> None:
    with pytest.raises(InvalidRequestError, match=r"has 1 sentences"):
        task_named("own", "Nothing was said. The budget is 41,200.")
