"""The same is asked of another model, and the two runs compare by their models' names."""

from __future__ import annotations

from typing import Any

import pytest
from answering_rows import Asked, answering_rows

from jupyter_ctx import InvalidRequestError, Run, compare, exact, sweep

ROWS = [{"text": f"word {i}", "label": f"WORD {i}, PLEASE" if i % 2 else "other"} for i in range(6)]
TEMPLATE, GRID = "{{ text }}{{ tone }}", {"tone": [", please", "!"]}


def ended(run: Run) -> Run:
    assert run.wait(30)
    return run


def first(asked: Asked, **options: Any) -> Run:
    given = {"scorers": {"right": exact("label")}, "repeat": 2, "progress": False, **asked.model, **options}
    return ended(sweep(TEMPLATE, ROWS, {name: iter(values) for name, values in GRID.items()}, **given))


def test_the_same_is_asked_of_another_model_and_compared_by_the_models_names() -> None:
    with answering_rows() as asked:
        run = first(asked)
        once = [(request["model"], request["messages"]) for request in asked.requests]
        asked.requests.clear()
        again = ended(run.repeat(model="other"))
        twice = [(request["model"], request["messages"]) for request in asked.requests]
    assert sorted(map(str, twice)) == sorted(str(("other", messages)) for _, messages in once)
    assert [result.scores for result in again.results] == [result.scores for result in run.results]
    table = compare(run, again)
    assert [(row.first, row.second, row.scorer, row.n, row.difference) for row in table] == [
        (f"m ({arm})", f"other ({arm})", "right", 6, 0.0) for arm in ("tone=, please", "tone=!")
    ]


def test_settings_and_options_can_be_given_and_names_come_first() -> None:
    with answering_rows() as asked:
        run = first(asked, name="old")
        again = ended(run.repeat(temperature=0.5, name="new", repeat=1))
        same = ended(run.repeat())
        other = run.repeat(model="openai/gpt-6-luna", dry_run=True)
    assert (len(again.results), again.settings["temperature"]) == (12, 0.5)
    assert compare(run, again)[0][:2] == ("old (tone=, please)", "new (tone=, please)")
    assert same.progress.cached == len(same.results), "answers that are stored are not asked for again"
    assert other.settings.get("base_url") is None, "a model with a provider of its own is asked there"


def test_a_yes_to_one_price_is_none_to_the_next_and_a_dry_run_s_repeat_begins() -> None:
    with answering_rows() as asked:
        told: list[Run] = []
        large = first(asked, yes=True, confirm_cost=0, prices=(3, 15), tell=told.append)
        with pytest.raises(InvalidRequestError, match="nobody can be asked"):
            large.repeat(model="other", prices=(3, 15))
        assert ended(large.repeat(model="other", prices=(3, 15), yes=True)) is told[-1]
        looked = sweep(TEMPLATE, ROWS, GRID, dry_run=True, progress=False, **asked.model)
        assert len(ended(looked.repeat()).results) == 12
