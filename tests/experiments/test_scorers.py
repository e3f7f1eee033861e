"""Scorers say whether answers are right; one that fails marks its row and stops nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError, Reply
from jupyter_ctx.experiments.scorers import Scorers, contains, exact, json_equal, regex
from jupyter_ctx.experiments.table.results import Result


@dataclass
class Label:
    label: str
    sure: bool = True


def result(text: str, parsed: Any = None, **row: Any) -> Result:
    return Result(0, "", 0, row, {}, "prompt", Reply(text, parsed=parsed))


def score(scorer: Any, text: str, parsed: Any = None, **row: Any) -> Any:
    scores, problems = Scorers.of({"it": scorer}).score(result(text, parsed, **row))
    assert not problems
    return scores["it"]


def problem(scorer: Any, text: str = "x", parsed: Any = None, **row: Any) -> str:
    scores, problems = Scorers.of({"it": scorer}).score(result(text, parsed, **row))
    assert scores == {"it": None}
    return problems[0]


@pytest.mark.parametrize(
    ("scorer", "text", "expected", "right"),
    [
        (exact("answer"), " Paris\n", "Paris", True),
        (exact("answer", ignore_case=True), "PARIS", "Paris", True),
        (exact("answer", ignore_punctuation=True), "«Paris!»", "Paris", True),
        (exact("answer", ignore_space=True), "New\n  York", "New York", True),
        (exact("answer"), "cafe\u0301", "café", True),
        (exact("answer"), "b", ["a", "b"], True),
        (exact("answer"), "42.0", 42, True),
        (exact("answer"), "1,234,567", 1234567, True),
        (exact("answer"), "3,5", 35, False),
        (exact("answer"), "true", True, True),
        (exact("answer"), "1", True, False),
        (contains("answer"), "It is Paris.", "Paris", True),
        (contains("answer"), "14", 4, False),
        (contains("answer"), "There are 4.0 of them", "4", True),
        (contains("answer"), "concatenate", "cat", False),
        (contains("answer"), "cats, a cat", "cat", True),
        (contains("answer"), "今日は晴れです", "晴れ", True),
        (regex(column="answer"), "abc123", r"\d+$", True),
        (json_equal("answer"), '{"b": [1.0, true], "a": null}', '{"a": null, "b": [1, true]}', True),
        (json_equal("answer"), '{"a": true}', '{"a": 1}', False),
        (json_equal("answer"), "```json\n[1, 2]\n```", [1, 2], True),
        (json_equal("answer"), "[" * 100_000, [1, 2], False),
    ],
)
def test_answers_are_compared_with_a_column(scorer: Any, text: str, expected: Any, right: bool) -> None:
    assert score(scorer, text, answer=expected) is right


def test_answers_are_compared_with_one_text_or_pattern() -> None:
    assert score(exact(text="yes"), "yes") is True
    assert score(contains(text="yes"), "no") is False
    assert score(regex(r"^\w+$"), "word") is True
    assert score(regex("PARIS", ignore_case=True), "Paris") is True


@pytest.mark.parametrize("parsed", [{"label": "good"}, Label("good")], ids=["dict", "dataclass"])
def test_a_field_of_a_structured_answer_is_compared(parsed: Any) -> None:
    assert score(exact("right", field="label"), "{…}", parsed, right="good") is True
    assert score(regex("go+d", field="label"), "{…}", parsed) is True
    assert "no field 'labl'" in problem(exact("right", field="labl"), "{…}", parsed, right="good")


def test_numbers_truths_and_lists_of_a_structured_answer_are_compared_as_such() -> None:
    parsed = {"n": 3, "sure": True, "tags": ["a", "b"]}
    assert score(exact("right", field="n"), "", parsed, right=3.0) is True
    assert score(exact("right", field="sure"), "", parsed, right=True) is True
    assert score(contains("right", field="tags"), "", parsed, right="a") is True
    assert score(json_equal("right", field="tags"), "", parsed, right='["a", "b"]') is True


@pytest.mark.parametrize("missing", [None, "", []])
def test_a_row_without_a_right_answer_has_no_score(missing: Any) -> None:
    assert problem(exact("answer"), answer=missing) == "it: the row has nothing in 'answer' to compare with"


def test_a_right_answer_that_is_no_json_or_no_pattern_is_said() -> None:
    assert "is not JSON" in problem(json_equal("answer"), "1", answer="{")
    assert "is invalid" in problem(regex(column="answer"), "1", answer="(")
    assert "no schema= was given" in problem(exact("answer", field="x"), "1", answer="1")


def test_a_pattern_that_would_search_for_ever_leaves_its_row_without_a_score() -> None:
    assert "takes longer than 1 s" in problem(regex("(a|aa)+$"), "a" * 80 + "b")


def test_functions_return_truths_numbers_or_several_of_them() -> None:
    def length(row: Any, reply: Reply) -> int:
        return len(reply.text)

    def both(row: Any, reply: Reply) -> dict[str, Any]:
        return {"p": np.float32(0.5), "ok": np.bool_(True), "unknown": None}

    assert Scorers.of(length).score(result("four")) == ({"length": 4.0}, [])
    assert Scorers.of(both).score(result("x")) == ({"p": 0.5, "ok": True, "unknown": None}, [])
    scores, _ = Scorers.of([length, both, lambda row, reply: True, lambda row, reply: False]).score(result("four"))
    assert scores == {
        "length": 4, "both.p": 0.5, "both.ok": True, "both.unknown": None, "score": True, "score_2": False,
    }  # fmt: skip
    assert Scorers.of({"a": both}).score(result("x"))[0].keys() == {"a.p", "a.ok", "a.unknown"}
    assert not Scorers.of(None)
    assert not Scorers.of(())


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        (lambda row, reply: row["nope"], "KeyError: 'nope'"),
        (lambda row, reply: "x" in reply, "the text of the answer is reply.text"),
        (lambda row, reply: reply.lower(), "the text of the answer is reply.text"),
        (lambda row, reply: "yes", "it returned 'yes': a scorer returns True, False, a number or a dict"),
        (lambda row, reply: {"a": [1]}, r"it returned [1]"),
        (lambda row, reply: math.nan, "it returned nan, which is no score"),
        (lambda row, reply: exit(1), "SystemExit"),
        (lambda row, reply: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_scorer_that_fails_marks_its_row_and_the_others_score(scorer: Any, said: str) -> None:
    assert said in problem(scorer)
    scores, problems = Scorers.of({"it": scorer, "other": exact(text="x")}).score(result("x"))
    assert scores == {"it": None, "other": True}
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("answer", r"it must be functions, such as exact\('answer'\)"),
        (exact, r"store exact\(\"answer\"\) in a variable"),
        (5, "must be a function"),
        ({"a": "b"}, "The scorer a is 'b'"),
        (lambda reply: True, r"cannot be called with \(row, reply\)"),
    ],
)
def test_what_is_no_scorer_is_refused_before_anything_is_sent(given: Any, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        Scorers.of(given)


def test_a_scorer_of_a_column_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(InvalidRequestError, match=r"'anser', which the table has not.* Did you mean 'answer'"):
        Scorers.of([exact("anser")]).check(["text", "answer"])
    Scorers.of([exact("answer"), exact(text="anser"), lambda row, reply: True]).check(["text", "answer"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: exact(), lambda: exact("a", text="b"), lambda: contains(text=""), lambda: exact(5),
        lambda: regex(), lambda: regex("("), lambda: regex(5), lambda: json_equal(""),
    ],
)  # fmt: skip
def test_a_scorer_that_compares_with_nothing_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidRequestError):
        make()


TEXTS = st.text(min_size=1).filter(lambda text: bool(text.strip()))


@given(TEXTS, TEXTS)
def test_an_exact_answer_contains_itself_and_ignoring_more_never_makes_it_wrong(answer: str, other: str) -> None:
    assert score(exact("a"), answer, a=answer) is True
    assert score(contains("a"), f"{other} {answer} {other}", a=answer.strip()) is True
    if score(exact("a"), other, a=answer):
        assert score(exact("a", ignore_case=True, ignore_space=True, ignore_punctuation=True), other, a=answer)
