"""A prompt that does worse fails a test, with the sentence to quote and the rows that fell; chance does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from answering_rows import answering_rows

from jupyter_ctx import InvalidRequestError, Reply, assert_not_worse, exact, sweep
from jupyter_ctx.experiments.table.results import Result

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run-in-a-build.md"


def result(i: int, score: Any = None, *, arm: str = "", **changes: Any) -> Result:
    reply = Reply(f"answer {score} to {i}")
    scores = {} if score is None else {"right": score}
    return Result(i, arm, 0, {"q": i}, {}, f"question {i}", **{"reply": reply, "scores": scores, **changes})


def passing(hits: int, rows: int) -> list[Result]:
    """Results of which the first ones are right."""
    return [result(i, i < hits) for i in range(rows)]


def fails(a: Any, b: Any, *given: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as error:
        assert_not_worse(a, b, *given, **options)
    return str(error.value)


def test_a_loss_that_is_shown_fails_with_the_sentence_and_ten_of_the_rows() -> None:
    sentence, *rows, more = fails(passing(45, 50), passing(30, 50), names=("old", "new")).splitlines()
    assert sentence.startswith("new is worse than old: with new, 30 of 50 rows pass")
    assert (len(rows), more) == (10, "  … and 5 more")
    assert rows[0] == "  row 30 (question 30): yes → no; answer True to 30 → answer False to 30"


@pytest.mark.parametrize(("hits", "rows", "margin"), [(9, 10, 0.02), (10, 10, 0.02), (45, 50, 0.2), (480, 500, 0.04)])
def test_what_chance_or_the_margin_explains_passes(hits: int, rows: int, margin: float) -> None:
    table = assert_not_worse(passing(rows, rows), passing(hits, rows), margin)
    assert len(table) == 1


def test_strictly_a_table_that_is_too_small_to_exclude_a_loss_fails_and_says_what_it_would_take() -> None:
    old, new = passing(18, 20), passing(17, 20)
    (sentence,) = assert_not_worse(old, new, 0.1).sentences
    assert "A loss of 0.1 is not excluded; about " in sentence
    text = fails(old, new, 0.1, strict=True)
    assert text.startswith("A loss of 0.1 is not excluded; about ")
    assert "No difference shown: with B, 17 of 20 rows pass" in text
    (sentence,) = assert_not_worse(passing(900, 1_000), passing(899, 1_000), strict=True).sentences
    assert sentence.endswith("A loss of 0.02 is excluded.")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"reply": None, "error": "gone"}, "4 failed"),
        ({"asked": False}, "4 not asked"),
        ({"scores": {}}, "4 without a"),
    ],
)
def test_rows_that_are_lost_count_against_the_second_run(change: dict[str, Any], why: str) -> None:
    whole = passing(50, 50)
    lost = [*passing(46, 46), *(result(i, **change) for i in range(46, 50))]
    text = fails(whole, lost)
    assert text.startswith(f"B has no score on 4 of 50 rows that A has one on ({why}")
    assert ("  row 46 (question 46): yes → no score" in text) is ("asked" not in change)
    assert_not_worse(whole, lost, 0.08)
    assert_not_worse(lost, whole)


def test_of_several_scorers_and_arms_each_counts_and_one_can_be_named() -> None:
    def both(hits: int, long: int, arm: str) -> list[Result]:
        return [result(i, arm=arm, scores={"right": i < hits, "long": i < long}) for i in range(50)]

    old, new = [*both(50, 50, "x"), *both(50, 50, "y")], [*both(50, 50, "x"), *both(50, 20, "y")]
    assert "B (y) is worse than A (y)" in fails(old, new)
    assert [row.scorer for row in assert_not_worse(old, new, scorer="right")] == ["right", "right"]
    with pytest.raises(InvalidRequestError, match="Did you mean 'right'"):
        assert_not_worse(old, new, scorer="rigth")


@pytest.mark.parametrize("margin", [-0.01, 1, float("nan"), True, "0.1"])
def test_a_margin_is_a_share(margin: Any) -> None:
    with pytest.raises(InvalidRequestError, match="margin is"):
        assert_not_worse(passing(1, 2), passing(1, 2), margin)


def test_the_test_in_the_documentation_compares_with_the_run_that_was_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("questions.csv").write_text("question,answer\nWhat is the capital of France?,Paris\nAnd of Italy?,Rome\n")
    source = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
    with answering_rows(lambda prompt: "Paris." if "France" in prompt else "Rome") as asked:
        there = ", ".join(f"{name!r}: {value!r}" for name, value in {**asked.model, "prices": (1, 1)}.items())
        names: dict[str, Any] = {}
        exec(re.sub('"model": "[^"]*"', lambda _: there, source), names)
        run = sweep("{{ question }}", "questions.csv", scorers=exact("answer", ignore_punctuation=True), **asked.model)
        run.result()
        run.export("baseline.json")
        names["test_the_prompt_is_not_worse_than_before"]()
    assert len(asked.prompts) == 4
