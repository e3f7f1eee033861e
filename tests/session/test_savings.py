"""What caching and cutting have saved: figures that follow from events and records alone."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import CACHED, CLAUDE, INPUT, OUTPUT, WRITTEN, Priced

from jupyter_ctx import Chat, Usage
from jupyter_ctx.context.tokens import Meter
from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import Said
from jupyter_ctx.conversation.messages import Turn, TurnRecord
from jupyter_ctx.experiments.side_by_side import Candidate
from jupyter_ctx.models.request_price import input_cost
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.savings import left_out, savings
from jupyter_ctx.testing import Answer, ScriptedProvider

SEA = "The sea was calm. " * 20


def caching(reads: int, writes: int) -> Any:
    """What a server reports that reads and writes so many tokens."""
    return Answer("Yes.", usage=Usage(10_000, 100, cache_read_tokens=reads, cache_write_tokens=writes))


def talked(turns: int, provider: Any = None, **given: Any) -> Chat:
    chat = Chat(provider=provider or Priced(SEA), **{"max_tokens": 500, **given})
    for number in range(turns):
        chat.send(f"{number}: {SEA}")
    return chat


def sizes(chat: Chat) -> list[float]:
    meter = chat.models.target(chat.config, ask=False).meter
    return [meter.turn(turn.id, turn.prompt, turn.reply) for turn in chat.turns]


@settings(max_examples=20, deadline=None)
@given(turns=st.integers(0, 6), priced=st.booleans())
def test_a_conversation_without_cuts_and_caches_has_saved_nothing(turns: int, priced: bool) -> None:
    saved = talked(turns, Priced(SEA) if priced else ScriptedProvider(SEA)).savings()
    assert (saved.cached_tokens, saved.left_out_tokens, saved.left_out_answers) == (0, 0, 0)
    assert saved.cached_cost == (pytest.approx(0) if priced and turns else None)
    assert saved.left_out_cost == (0 if priced and turns else None)
    assert str(saved) == ""


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 1_000)), min_size=1, max_size=4))
def test_caching_saves_what_reading_costs_less_without_what_writing_costs_more(counts: list[tuple[int, int]]) -> None:
    chat = Chat(provider=Priced([caching(*each) for each in counts]), max_tokens=500)
    for _ in counts:
        chat.send("Hello.")
    saved = chat.savings()
    reads, writes = (sum(each) for each in zip(*counts, strict=True))
    assert saved.cached_tokens == reads
    assert saved.input_tokens == 10_000 * len(counts)
    assert saved.cached_cost == pytest.approx(reads * (INPUT - CACHED) - writes * (WRITTEN - INPUT), abs=1e-9)
    assert saved.is_exact


def test_writes_that_are_kept_for_an_hour_cost_more() -> None:
    chat = Chat(provider=Priced(caching(0, 8_000)), max_tokens=500, cache_ttl="1h")
    chat.send("Hello.")
    saved = chat.savings()
    assert saved.cached_cost == pytest.approx(-8_000 * INPUT)  # twice the price of input
    said = "saved by caching: −$0.024; 0 of 10,000 input tokens were read from caches, and writing to them cost more"
    assert str(saved).startswith(said)


def test_a_price_that_has_changed_since_is_an_estimate_and_says_so() -> None:
    usage = Usage(10_000, 100, cache_read_tokens=8_000)
    cost = 2_000 * INPUT + 8_000 * CACHED + 100 * OUTPUT
    exact, scaled = input_cost(CLAUDE, usage, cost), input_cost(CLAUDE, usage, 2 * cost)
    assert exact is not None
    assert scaled is not None
    assert (exact.exact, scaled.exact) == (True, False)
    assert scaled.uncached - scaled.paid == pytest.approx(2 * (exact.uncached - exact.paid))
    turn = Turn("a", "b", record=TurnRecord(CLAUDE, usage=usage, cost=2 * cost, digest="d"))
    said = str(savings(Conversation([Said(turn)]), Meter(), input_cost))
    assert said == "saved by caching: ~$0.043; 8,000 of 10,000 input tokens were read from caches"


def test_long_requests_are_priced_as_long_ones() -> None:
    usage = Usage(300_000, 100, cache_read_tokens=250_000)
    chat = Chat(provider=Priced(Answer("Yes.", usage=usage)), max_tokens=500)
    cost = chat.send("Hello.").cost
    found = input_cost(CLAUDE, usage, cost or 0.0)
    assert found is not None
    assert found.exact
    assert found.uncached == pytest.approx(300_000 * 2 * INPUT)


def test_what_could_not_have_been_sent_saves_nothing() -> None:
    full, part = (Usage(sent, 500) for sent in (5_400, 4_500))
    for usage, most in ((full, 100), (part, 1_000)):
        turns = [Turn("a", SEA * 200, record=TurnRecord(CLAUDE)), Turn("b", "c")]
        record = TurnRecord(CLAUDE, usage=usage, cost=0.01, digest="d", window=6_000)
        past = Conversation([*map(Said, turns), Said(Turn("b", "c", record=replace(record, start=turns[1].id)))])
        saved = savings(past, Meter(), input_cost)
        assert (saved.left_out_answers, saved.left_out_tokens) == (1, most)


def test_an_unknown_price_leaves_the_tokens() -> None:
    chat = talked(6, ScriptedProvider(Answer("Yes.", usage=Usage(1_000, 10, cache_read_tokens=900))))
    chat.trim(1)
    chat.send("And now?")
    saved = chat.savings()
    assert (saved.cached_tokens, saved.cached_cost, saved.left_out_cost) == (6_300, None, None)
    assert saved.left_out_tokens > 0
    assert "$" not in str(saved)
    assert "price" not in str(saved)


def test_dollars_say_how_many_answers_they_leave_out() -> None:
    chat = Chat(provider=Priced([caching(5_000, 0), Answer("Yes.", usage=None)]), max_tokens=500)
    for _ in range(3):
        chat.send("Hello.")
    assert str(chat.savings()).endswith("; the dollars are without 2 answers of no known price")


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_trimmed_turns_count_once_for_each_later_prompt(kept: int) -> None:
    chat = talked(6)
    missing = sum(sizes(chat)[: 6 - kept])
    chat.trim(kept)
    for prompts in (1, 2, 3):
        chat.send("And now?")
        saved = chat.savings()
        assert saved.left_out_answers == prompts
        assert saved.left_out_tokens == pytest.approx(prompts * missing, abs=2)
        assert saved.left_out_cost == pytest.approx(prompts * missing * INPUT, rel=1e-6)


def test_what_a_cache_would_have_held_is_worth_less() -> None:
    chat = Chat(provider=Priced(["Yes.", "Yes.", caching(10_000, 0)]), max_tokens=500)
    for _ in range(2):
        chat.send(SEA)
    missing = sizes(chat)[0]
    chat.exclude(1)
    chat.send("And now?")
    assert chat.savings().left_out_cost == pytest.approx(missing * CACHED, rel=1e-6)


def test_excluded_turns_count_and_pinned_ones_do_not() -> None:
    chat = talked(6)
    each = sizes(chat)
    chat.exclude(2, 5)
    chat.send("And now?")
    assert chat.savings().left_out_tokens == pytest.approx(each[1] + each[4], abs=2)
    chat.pin(1)
    chat.trim(0)
    before, each = chat.savings().left_out_tokens, sizes(chat)
    chat.send("And now?")
    assert chat.savings().left_out_tokens - before == pytest.approx(sum(each[1:]), abs=3)
    chat.include()
    before = chat.savings().left_out_tokens
    chat.send("And now?")
    assert chat.savings().left_out_tokens == before


def test_a_summary_saves_the_turns_without_itself() -> None:
    chat = talked(8)
    each = sizes(chat)
    assert chat.summarize(turns=2, method="extractive").changed
    (summary,) = (part.tokens for part in chat.preview().messages if part.state == "summary")
    chat.send("And now?")
    saved = chat.savings()
    assert saved.left_out_tokens == pytest.approx(sum(each[:6]) - summary, rel=0.2)
    chat.undo()
    assert chat.savings().left_out_answers == 0  # the turn was undone


def test_cuts_that_nobody_asked_for_count_too() -> None:
    chat = talked(12, window=2_500)
    assert chat.info().left_out
    saved = chat.savings()
    assert saved.left_out_answers > 0
    assert f"~{saved.left_out_tokens:,} tokens of earlier turns that would have fit were not sent with" in str(saved)


def test_answers_side_by_side_count_each() -> None:
    class Page:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

    chat = talked(6)
    missing = sum(sizes(chat)[:5])
    chat.trim(1)
    before = chat.savings().answers
    columns = [Candidate(f"{each}", {"temperature": each}) for each in (0.0, 0.5, 1.0)]
    chat.ask_each(Prompt("And now?"), columns, Page())
    for act in (lambda: None, lambda: chat.choose(2), chat.undo):
        act()
        saved = chat.savings()
        assert saved.answers == before + 3
        assert saved.left_out_tokens == pytest.approx(3 * missing, abs=2)


def test_a_clear_saves_nothing_and_takes_nothing_back() -> None:
    chat = talked(6)
    chat.trim(1)
    chat.send("And now?")
    before = chat.savings()
    chat.clear()
    assert chat.savings() == before
    chat.send("A new beginning.")
    assert chat.savings().left_out_tokens == before.left_out_tokens
    assert chat.savings().answers == before.answers + 1


def test_a_stored_answer_and_added_messages_have_sent_nothing() -> None:
    chat = Chat(provider=Priced(SEA))
    chat.add_messages([{"role": "user", "content": SEA}, {"role": "assistant", "content": SEA}])
    assert chat.savings().answers == 0


def test_it_is_the_same_after_a_restart(tmp_path: Path) -> None:
    def provider() -> Priced:
        found = Priced(SEA)
        found.endpoint = found.tokenizer = "the same"
        return found

    chat = talked(8, provider(), store=tmp_path / "chats.db", name="c")
    chat.trim(2)
    chat.exclude(8)
    chat.send("And now?")
    saved = chat.savings()
    chat.close()
    assert Chat(provider=provider(), store=tmp_path / "chats.db", name="c").savings() == saved
    assert saved.left_out_tokens


def slow_left_out(chat: Chat, meter: Meter) -> list[float]:
    """The same by looking at each request's own view among the turns before it."""
    found, events = [], chat.conversation.standing
    for i, event in enumerate(events):
        if isinstance(event, Said):
            past = Conversation(events[:i])
            record = event.turn.record
            at = past.position(record.cell, record.run, append=event.append)
            start = at if record.start == event.turn.id else past.index(record.start)
            covers = past.summaries[record.summary].covers if record.summary else frozenset[str]()
            gone = [
                place.turn
                for n, place in enumerate(past.places[:at])
                if not place.pinned and (n < start or place.excluded or place.turn.id in covers)
            ]
            found.append(sum(meter.turn(turn.id, turn.prompt, turn.reply) for turn in gone))
    return found


STEPS = st.lists(
    st.tuples(st.sampled_from("ssssrltpxiucak"), st.integers(1, 12)), min_size=3, max_size=25
)  # what is done, and with which turn


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_running_sums_agree_with_looking_at_each_request(steps: list[tuple[str, int]]) -> None:
    chat = Chat(provider=ScriptedProvider(SEA), window=2_000, max_tokens=100)
    for number, (step, which) in enumerate(steps):
        turn = min(which, max(len(chat.turns), 1))
        if step in "sl" or not chat.turns:
            cell, run = (f"{which % 4}", "loop") if step == "l" else (f"cell {number}", f"{number}")
            chat.send(f"{number}: {SEA[: 20 * which]}", cell=cell, run=run)
        elif step == "r":
            cell = chat.turns[turn - 1].record.cell
            chat.send(f"{number}: {SEA[: 20 * which]}", cell=cell, run=f"{number}")
        elif step == "k":
            chat.summarize(turns=which, method="extractive")
        else:
            acts = {
                "t": lambda which=which: chat.trim(which), "p": lambda turn=turn: chat.pin(turn),
                "x": lambda turn=turn: chat.exclude(turn), "i": chat.include, "u": chat.undo,
                "c": chat.clear if which > 10 else chat.redo, "a": lambda turn=turn: chat.include(turn),
            }  # fmt: skip
            acts[step]()
    meter = chat.models.target(chat.config, ask=False).meter
    fast = left_out(chat.conversation, lambda turn: meter.turn(turn.id, turn.prompt, turn.reply), lambda _: 0.0)
    assert [missing for _, missing in fast] == pytest.approx(slow_left_out(chat, meter), abs=1e-6)


def test_ten_thousand_turns_take_a_moment() -> None:
    usage = Usage(150_000, 100, cache_read_tokens=140_000, cache_write_tokens=5_000)
    events, turns = [], list[Turn]()
    for number in range(10_000):
        start = turns[number // 50 * 50 - 25].id if number >= 50 else None
        record = TurnRecord(
            CLAUDE, usage=replace(usage, input_tokens=150_000 + number), cost=0.5, start=start, digest="d",
            cell=f"{number}", run=f"{number}",
        )  # fmt: skip
        turns.append(Turn("What?", "That.", record=record))
        events.append(Said(turns[-1]))
    past, meter = Conversation(events), Meter()
    begun = time.perf_counter()
    saved = savings(past, meter, input_cost)
    assert time.perf_counter() - begun < 5  # 0.3 s on a slow machine
    assert saved.left_out_answers == 9_950
