"""What a summary keeps, and what a model is given to write one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.summary_facts import clipped, facts, fenced, missing_facts, pick_lines


def length(text: str) -> float:
    return float(len(text))


def test_facts_are_numbers_names_and_identifiers() -> None:
    text = (
        "Please call my_function with 42.5 on 2026-03-01. The captain is Halldora Finn and uses camelCase and `x + y`."
    )
    assert facts(text) >= {"42.5", "2026-03-01", "my_function", "halldora", "finn", "camelcase", "x + y"}
    assert "please" not in facts(text)


@pytest.mark.parametrize("text", ["acgt" * 20_000, "a_" * 20_000, "1," * 20_000, "`a" * 20_000, "a.b" * 20_000])
def test_long_odd_texts_are_read_in_linear_time(text: str) -> None:
    begun = time.process_time()
    facts(text)
    assert time.process_time() - begun < 2  # a quadratic reading takes minutes


def test_what_a_summary_has_lost_is_known() -> None:
    wanted, lost = missing_facts(["It costs 17 euros in Bergen."], "Something costs 17.")
    assert (wanted, lost) == ({"17", "bergen"}, {"bergen"})


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=12), st.integers(0, 100))
def test_picked_lines_are_the_users_own_and_keep_to_the_cap(texts: list[str], cap: int) -> None:
    lines = pick_lines(texts, facts(" ".join(texts)), cap, length)
    assert sum(map(len, lines)) <= cap
    assert all(any(line in text for text in texts) for line in lines)


def test_lines_with_facts_come_before_lines_without() -> None:
    texts = ["Hello there, how are you today?", "The budget is 4200 euros."]
    assert pick_lines(texts, facts(texts[1]), 30, length) == ["The budget is 4200 euros."]


@given(st.text(alphabet="`a\n ", max_size=40))
def test_nothing_closes_its_own_fence(text: str) -> None:
    fence, _, rest = fenced(text).partition("\n")
    assert set(fence) == {"`"}
    assert fence not in rest.removesuffix(f"\n{fence}")


def test_a_paste_does_not_crowd_out_what_was_said_in_a_sentence() -> None:
    paste = "\n".join(f"value_{n} = {n}.{n}" for n in range(100, 200))
    said = ["The deadline is 2027-03-14.", paste, "Ask Halldora before we ship."]
    lines = pick_lines(said, facts("\n".join(said)), 400, length)
    assert {"The deadline is 2027-03-14.", "Ask Halldora before we ship."} <= set(lines)


def test_decisions_are_taken_though_they_hold_no_number() -> None:
    said = ["It is a nice day outside today.", "We decided to keep the old parser."]
    assert pick_lines(said, frozenset(), 50, length) == ["We decided to keep the old parser."]


@pytest.mark.parametrize("text", ["Мы встретили Ольгу.", "昨日クレオパトラと話した。", "「夜の海」という歌。"])
def test_names_of_other_scripts_are_facts(text: str) -> None:
    assert facts(text)


def test_the_middle_is_cut_out_of_what_is_too_long() -> None:
    text = "head " * 100 + "tail " * 100
    short = clipped(text, 300, length)
    assert len(short) <= 300
    assert (short[:4], short.split("[…]")[0].count("tail"), short[-5:]) == ("head", 0, "tail ")
