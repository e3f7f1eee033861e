"""A model scores answers: each verdict is a further request, and one that cannot be read is no score."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx import InvalidRequestError, Reply, Run, exact, judge, sweep
from jupyter_ctx.experiments.judges import Judge
from jupyter_ctx.experiments.table.results import Result
from jupyter_ctx.providers.base import Request
from jupyter_ctx.testing import ScriptedProvider

TABLE = [{"country": "France", "answer": "Paris"}, {"country": "Italy", "answer": "Rome"}]
RIGHT = '{"verdict": "yes"}'


def asked(verdict: Any, question: str = "Is {{ answer }} meant?") -> tuple[ScriptedProvider, Run]:
    """Ask for two capitals, of which the first one is right; ``verdict`` answers the judge's requests."""

    def answer(request: Request) -> str:
        if request.schema is None:
            return "Paris"
        found = verdict(request) if callable(verdict) else verdict
        return str(found)

    provider = ScriptedProvider(answer)
    scorers = {"ok": exact("answer"), "nice": judge(question, model="scripted/model")}
    given = {"provider": provider, "scorers": scorers, "store": None, "concurrency": 1}
    run = sweep("Capital of {{ country }}?", TABLE, **given)  # type: ignore[arg-type]
    run.wait(60)
    return provider, run


def scores(run: Run) -> list[Any]:
    return [result.scores["nice"] for result in run.results]


def test_a_judge_reads_the_prompt_the_answer_and_the_row() -> None:
    provider, run = asked(lambda request: RIGHT if "Is Paris meant" in request.messages[-1].content else "No.")
    assert scores(run) == [True, False]
    assert [result.scores["ok"] for result in run.results] == [True, False]
    text = next(request.messages[-1].content for request in provider.requests if request.schema is not None)
    assert "<prompt>\nCapital of France?\n</prompt>" in text
    assert "<answer>\nParis\n</answer>" in text
    assert "Is Paris meant?\n\nAnswer yes or no." in text


def test_a_question_that_reads_the_answer_is_asked_as_it_stands() -> None:
    provider, run = asked(RIGHT, "Does {{ reply }} answer {{ prompt }}?")
    texts = [request.messages[-1].content for request in provider.requests if request.schema is not None]
    assert texts[0].startswith("Does Paris answer Capital of France??\n\nAnswer yes or no.")
    assert scores(run) == [True, True]


@pytest.mark.parametrize("is_said", [True, False])
def test_a_verdict_that_cannot_be_read_or_does_not_come_is_no_score_and_told(is_said: bool) -> None:
    def verdict(request: Request) -> str:
        if not is_said:
            raise ValueError("Perhaps.")
        return "Perhaps."

    _, run = asked(verdict)
    assert scores(run) == [None, None]
    assert "Perhaps." in run.result()["problems"][0]
    assert not run.results.failed
    assert [result.scores["ok"] for result in run.results] == [True, False]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Yes.", True),
        ("**No**, because", False),
        ('{"verdict": true}', True),
        ("no idea", None),
        ("yesterday", None),
        ("I think yes", None),
        ('{"verdict": "maybe"}', None),
        ("[" * 100_000, None),
    ],
)
def test_a_verdict_is_a_field_or_the_first_word(text: str, verdict: bool | None) -> None:
    assert judge("Is it polite?", model="openai/gpt-5.2").read(Reply(text)) is verdict


def test_what_an_answer_says_is_not_filled_in() -> None:
    verdicts: Judge = judge("Is it {{ answer }}?", model="openai/gpt-5.2")
    row = {"answer": "{{ reply }}", "country": "x"}
    text = verdicts.ask(Result(0, "", 0, row, {}, "{prompt}", Reply("{{ answer }} {question}"))).messages[-1].content
    assert "Is it {{ reply }}?" in text
    assert "\n{{ answer }} {question}\n" in text
    assert "\n{prompt}\n" in text


def test_a_question_with_an_unknown_column_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidRequestError, match=r"no column.* 'anser'. Did you mean {{ answer }}\?"):
        asked(RIGHT, "Is {{ anser }} meant?")
    with pytest.raises(InvalidRequestError, match="No setting 'temprature'"):
        judge("Is it polite?", model="openai/gpt-5.2", temprature=0)
