"""Estimates, running sums, and what reports teach."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import pinned_ledger

from jupyter_ctx.context.families import ratios_of
from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage

sizes = st.lists(st.tuples(st.none() | st.integers(1, 500), st.booleans()), max_size=40)


def loose(rows: list[tuple[int | None, bool]]) -> list[int]:
    return [0 if pinned or tokens is None else tokens for tokens, pinned in rows]


def test_what_a_template_adds_is_told_apart_from_the_system_prompt() -> None:
    meter = Meter()
    meter.reported(SentRequest(Fixed(), "Hello?"), "Yes.", Usage(60, 2), turn_id="a")
    template, system, summary = meter.fixed_parts(Fixed())
    assert template > 10
    assert (system, summary) == (0, 0)
    parts = meter.fixed_parts(Fixed("Answer in one word.", "They met."))
    assert 0 < parts[0] <= template
    assert all(part > 0 for part in parts)
    assert sum(parts) == pytest.approx(meter.fixed(Fixed("Answer in one word.", "They met.")))


@given(sizes, st.data())
def test_spans_are_the_sums_of_their_unpinned_turns(rows: list[tuple[int | None, bool]], data: st.DataObject) -> None:
    ledger = pinned_ledger(rows)
    end = data.draw(st.integers(0, len(rows)))
    start = data.draw(st.integers(0, end))
    assert ledger.between(start, end) == sum(loose(rows)[start:end])
    assert ledger.pinned(end) == sum(tokens or 0 for tokens, pinned in rows[:end] if pinned)
    assert ledger.count(start, end) == sum(tokens is not None and not pinned for tokens, pinned in rows[start:end])


@given(sizes, st.integers(0, 3_000))
def test_the_first_start_within_some_room_is_the_earliest_that_fits(
    rows: list[tuple[int | None, bool]], room: int
) -> None:
    ledger, n = pinned_ledger(rows), len(rows)
    start = ledger.first_within(room, 0, n)
    assert ledger.between(start, n) <= room
    assert all(ledger.between(earlier, n) > room for earlier in range(start))


def say(meter: Meter, turns: dict[str, float], fixed: Fixed, usage: Usage, *, name: str) -> None:
    meter.reported(sent_with(meter, fixed, turns, "what next?"), "this and that", usage, turn_id=name)


def sent_with(meter: Meter, fixed: Fixed, turns: dict[str, float], prompt: str) -> SentRequest:
    """Return a request with these turns, of which the meter has counted some."""
    counted = sum(size for turn, size in turns.items() if meter.counted(turn))
    return SentRequest(fixed, prompt, counted, sum(turns.values()) - counted, lambda: turns)


@given(st.integers(20, 400), st.integers(1, 300), st.integers(5, 100), st.integers(1, 300))  # more is not believed
def test_after_each_report_the_parts_sum_to_it(first: int, said: int, more: int, answer: int) -> None:
    meter, fixed = Meter(), Fixed("be brief")
    say(meter, {}, fixed, Usage(first, said), name="a")
    a = meter.turn("a", "", "")
    assert meter.fixed(fixed) + a == pytest.approx(first + said)
    say(meter, {"a": a}, fixed, Usage(first + said + more, answer), name="b")
    b = meter.turn("b", "", "")
    a = meter.turn("a", "", "")
    assert meter.fixed(fixed) + a + b == pytest.approx(first + said + more + answer)


@given(st.integers(50, 5_000))
def test_a_report_of_another_view_scales_all_its_parts(total: int) -> None:
    meter, fixed = Meter(), Fixed("be brief")
    say(meter, {"old": 300.0}, fixed, Usage(total, 10), name="new")
    parts = meter.fixed(fixed) + meter.turn("old", "", "") + meter.turn("new", "", "")
    assert parts == pytest.approx(total + 10)


def test_a_refusals_size_scales_what_was_only_estimated() -> None:
    meter = Meter()
    turns = {"a": meter.message("one and another " * 25), "b": meter.message("one and another " * 75)}
    before = {**turns, "now": meter.message("and now?")}
    total = round(2 * sum(before.values()))
    meter.record_count(sent_with(meter, Fixed(), turns, "and now?"), total)
    after = {name: meter.turn(name, "", "") for name in turns} | {"now": meter.message("and now?")}
    assert sum(after.values()) == pytest.approx(total)
    assert after["b"] == pytest.approx(2 * before["b"], rel=0.05)
    assert before["now"] < after["now"] < 3 * before["now"]


def test_without_a_turn_only_the_way_of_counting_is_learned() -> None:
    meter, fixed = Meter(), Fixed("be brief")
    say(meter, {}, fixed, Usage(40, 20), name="a")
    counted = meter.fixed(fixed)
    sent = SentRequest(fixed, "日本語のテキスト" * 8)
    meter.reported(sent, "はい", Usage(400, 20), turn_id=None)
    assert meter.fixed(fixed) == counted


@pytest.mark.parametrize("factor", [2, 4.5])
def test_what_a_first_report_shows_beyond_the_margin_teaches_the_next_estimate_at_once(factor: float) -> None:
    meter, prompts = Meter(), ["".join(random.Random(seed).choices("ACGT", k=4_000)) for seed in range(2)]
    guessed = meter.message(prompts[0])
    meter.reported(SentRequest(Fixed(), prompts[0]), "ok", Usage(round(factor * guessed), 2), turn_id=None)
    assert meter.message(prompts[1]) == pytest.approx(factor * guessed, rel=0.05)


def test_thoughts_that_are_counted_in_an_answer_teach_little_of_how_text_is_counted() -> None:
    meter = Meter()
    guessed = meter.message("Hello.")
    meter.reported(SentRequest(Fixed(), "Hello."), "Yes.", Usage(10, 1_000), turn_id="a")
    assert meter.message("Hello.") < 2 * guessed


@pytest.mark.parametrize("tokens", [10**30])
def test_a_report_of_more_tokens_than_any_text_can_have_changes_nothing(tokens: int) -> None:
    meter, fixed = Meter(), Fixed("be brief")
    say(meter, {}, fixed, Usage(40, 20), name="a")
    known = meter.fixed(fixed), meter.turn("a", "", ""), meter.message("and now?"), meter.most(9, ["and now?"])
    say(meter, {"a": known[1]}, fixed, Usage(tokens, 20), name="b")
    now = meter.fixed(fixed), meter.turn("a", "", ""), meter.message("and now?"), meter.most(9, ["and now?"])
    assert now == known
    assert not meter.counted("b")


def test_a_cap_reserves_twice_an_estimate_that_nothing_was_reported_of_and_by_the_most_seen() -> None:
    meter, text, foreign = (
        Meter(ratios_of("claude")),
        "The ship sailed on through the night. " * 100,
        "日本語のテキスト" * 100,
    )
    assert reserved(meter, text) == pytest.approx(2, abs=0.05)
    for _ in range(6):
        meter.reported(SentRequest(Fixed(), text), text, Usage(1_000, 1_000), turn_id=None)
    assert reserved(meter, text) == pytest.approx(1.25, abs=0.1)
    assert reserved(meter, foreign) > 1.7
    assert meter.most(9_000, [text]) < 1.4 * 9_000  # most of it was counted before
    meter.reported(SentRequest(Fixed(), text), text, Usage(2_500, 1_000), turn_id=None)
    assert reserved(meter, text) * meter.message(text) >= 2_500


def reserved(meter: Meter, text: str) -> float:
    """Return what is reserved for a message, in parts of its estimate."""
    return meter.most(meter.message(text), [text]) / meter.message(text)
