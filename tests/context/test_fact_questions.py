"""Questions about facts: made of their sentences, none giving an answer away, and answers read with care."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.fact_questions import (
    FACT_BLANK,
    FactKind,
    FactQuestion,
    chosen_questions,
    fact_questions,
    fact_text,
)

SAID = (
    "The budget is 41,200 euros.\nWe ship on Thursday.\nWe decided to keep the old parser.\n"
    "Call my_function before 2026-03-01, says Halldora Finn.\nFrom now on use tabs instead of spaces.\n"
)
words = st.sampled_from(["the", "Ada", "Finn", "41,200", "17", "x_1", "we decided", "on", "keep", "parser", ".", "\n"])


def asked(text: str) -> dict[str, FactQuestion]:
    return {each.fact: each for each in fact_questions([(1, text)])}


def test_facts_are_left_blank_in_the_sentence_that_they_stand_in() -> None:
    found = asked(SAID)
    assert {each.fact: each.kind for each in found.values()} == {
        "41,200": "number",
        "Thursday": "name",
        "parser": "decision",
        "my_function": "name",
        "2026-03-01": "number",
        "Halldora Finn": "name",
        "spaces": "decision",
    }
    assert found["41,200"].question == f"The budget is {FACT_BLANK} euros."
    assert found["Halldora Finn"].question == f"Call my_function before 2026-03-01, says {FACT_BLANK}."
    assert [found[fact].label for fact in ("41,200", "Thursday")] == ["the budget (41,200)", "Thursday"]


@pytest.mark.parametrize("text", ["We meet on 5 days.", "12, 13, 14", "It is good to see you.", "The q34 report.", ""])
def test_what_makes_no_question_is_none(text: str) -> None:
    assert not asked(text)


def test_of_what_was_said_again_the_last_holds() -> None:
    (question,) = fact_questions([(1, "The budget is 40,000 euros."), (4, "The budget is 41,200 euros.")])
    assert (question.turn, question.fact) == (4, "41,200")


@given(st.lists(words, max_size=40), st.integers(1, 12))
def test_no_question_holds_its_own_answer_or_that_of_another_one(said: list[str], most: int) -> None:
    chosen = chosen_questions(fact_questions([(1, " ".join(said))]), most)
    assert len(chosen) <= most
    assert not any(each.is_filled_by(fact_text(other.question)) for each in chosen for other in chosen)


def test_all_kinds_are_asked_for_of_early_and_of_late_turns() -> None:
    numbers = [(turn, f"The crate of the sort {chr(97 + turn)} weighs {100 + turn} kilograms.") for turn in range(24)]
    chosen = chosen_questions(fact_questions([*numbers, (30, SAID)]), 12)
    assert {each.kind for each in chosen} == {"number", "name", "decision"}
    assert len({each.turn // 8 for each in chosen if each.kind == "number"}) > 1


@pytest.mark.parametrize(
    ("kind", "fact", "answer", "holds"),
    [
        ("number", "41,200", "41200", True),
        ("number", "41,200", "EUR 41 200.", True),
        ("number", "41,200", "about 41.2k", True),
        ("number", "41,200", "41.2 thousand", True),
        ("number", "41,200", "41.2", False),
        ("number", "41,200", "4,120", False),
        ("number", "41,200", "141,200", False),
        ("number", "4.5", "4,5", True),
        ("number", "4.5", "45", False),
        ("number", "12", "112", False),
        ("number", "102kg", "102 kilograms", True),
        ("number", "15%", "15 percent", True),
        ("number", "2026-03-01", "on 2026/03/01", True),
        ("number", "2026-03-01", "2026-03-11", False),
        ("number", "14:30", "at 14.30", True),
        ("number", "1.2.3", "v1.2.3", True),
        ("number", "1.2.3", "1.2.4", False),
        ("name", "Halldora Finn", "It was halldora finn.", True),
        ("name", "Finn", "Finnish", False),
        ("name", "my_function", "`my_function`", True),
        ("decision", "parser", "the parsers", True),
        ("decision", "parser", "the lexer", False),
    ],
)
def test_an_answer_may_be_worded_otherwise_but_not_say_another_thing(
    kind: FactKind, fact: str, answer: str, holds: bool
) -> None:
    assert FactQuestion(1, kind, fact, FACT_BLANK).is_filled_by(fact_text(answer)) == holds


def test_a_decision_stands_in_a_text_as_a_whole_only() -> None:
    decision = asked(SAID)["parser"]
    assert decision.stands_in(fact_text("Before: we decided to  keep the old parser. And now?"))
    assert not decision.stands_in(fact_text("The parser is fast."))


def test_an_answer_that_repeats_the_blank_tells_nothing() -> None:
    question = asked(SAID)["41,200"]
    assert question.answered(f"The budget is {FACT_BLANK} euros.", is_read=True).fate == "not told"
    assert question.answered("40,000", is_read=False).fate == "not told"
    assert question.answered("40,000", is_read=True).fate == "lost"


@pytest.mark.parametrize("text", ["1," * 20_000, "Ab " * 20_000, "1 234 " * 20_000, "Ab 12k `a` \n" * 5_000])
def test_long_odd_texts_make_questions_in_linear_time(text: str) -> None:
    begun = time.process_time()
    chosen_questions(fact_questions([(1, text)]), 12)
    assert time.process_time() - begun < 2
