"""What caching has saved: figures that follow from the records of turns alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import CACHED, CLAUDE, INPUT, OUTPUT, WRITTEN, Priced

from jupyter_ctx import Chat, Usage
from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import Said
from jupyter_ctx.conversation.messages import Turn, TurnRecord
from jupyter_ctx.models.request_price import Price
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.side_by_side import Candidate
from jupyter_ctx.session.usage_table import savings
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


@settings(max_examples=20, deadline=None)
@given(turns=st.integers(0, 6), priced=st.booleans())
def test_a_conversation_without_caches_has_saved_nothing(turns: int, priced: bool) -> None:
    saved = talked(turns, Priced(SEA) if priced else ScriptedProvider(SEA)).desk.savings()
    assert saved.cached_tokens == 0
    assert saved.cached_cost == (pytest.approx(0) if priced and turns else None)
    assert str(saved) == ""


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 1_000)), min_size=1, max_size=4))
def test_caching_saves_what_reading_costs_less_without_what_writing_costs_more(counts: list[tuple[int, int]]) -> None:
    chat = Chat(provider=Priced([caching(*each) for each in counts]), max_tokens=500)
    for _ in counts:
        chat.send("Hello.")
    saved = chat.desk.savings()
    reads, writes = (sum(each) for each in zip(*counts, strict=True))
    assert saved.cached_tokens == reads
    assert saved.input_tokens == 10_000 * len(counts)
    assert saved.cached_cost == pytest.approx(reads * (INPUT - CACHED) - writes * (WRITTEN - INPUT), abs=1e-9)


def test_writes_that_are_kept_for_an_hour_cost_more() -> None:
    chat = Chat(provider=Priced(caching(0, 8_000)), max_tokens=500, cache_ttl="1h")
    chat.send("Hello.")
    saved = chat.desk.savings()
    assert saved.cached_cost == pytest.approx(-8_000 * INPUT)  # twice the price of input
    said = "Saved by caching: −$0.024; 0 of 10,000 input tokens were read from caches, and writing to them cost more"
    assert str(saved).startswith(said)


def test_an_unknown_price_leaves_the_tokens() -> None:
    chat = talked(6, ScriptedProvider(Answer("Yes.", usage=Usage(1_000, 10, cache_read_tokens=900))))
    saved = chat.desk.savings()
    assert (saved.cached_tokens, saved.cached_cost) == (5_400, None)
    assert "$" not in str(saved)
    assert "price" not in str(saved)


def test_dollars_say_how_many_answers_they_leave_out() -> None:
    chat = Chat(provider=Priced([caching(5_000, 0), Answer("Yes.", usage=None)]), max_tokens=500)
    for _ in range(3):
        chat.send("Hello.")
    assert str(chat.desk.savings()).endswith("; the dollars are without 2 answers of no known price")


def test_answers_side_by_side_count_each() -> None:
    class Page:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

    chat = talked(1)
    columns = [Candidate(f"{each}", {"temperature": each}) for each in (0.0, 0.5, 1.0)]
    chat.desk.ask_each(Prompt("And now?"), columns, Page())
    for act in (lambda: None, lambda: chat.desk.choose(2), chat.undo):
        act()
        assert chat.desk.savings().answers == 1 + 3


def test_a_clear_saves_nothing_and_takes_nothing_back() -> None:
    chat = talked(2, Priced(caching(5_000, 0)))
    before = chat.desk.savings()
    chat.clear()
    assert chat.desk.savings() == before
    chat.send("A new beginning.")
    assert chat.desk.savings().answers == before.answers + 1


def test_a_stored_answer_and_added_messages_have_sent_nothing() -> None:
    chat = Chat(provider=Priced(SEA))
    chat.add_messages([{"role": "user", "content": SEA}, {"role": "assistant", "content": SEA}])
    assert chat.desk.savings().answers == 0


def test_other_models_of_the_conversation_are_counted_at_their_own_price() -> None:
    usage = Usage(10_000, 100, cache_read_tokens=8_000)
    turns = [Turn("a", "b", record=TurnRecord(model, usage=usage, digest="d")) for model in (CLAUDE, "x/y", CLAUDE)]
    price = Price(INPUT, OUTPUT, CACHED, WRITTEN, "given")
    saved = savings(Conversation(map(Said, turns)), lambda model: price if model == CLAUDE else None)
    assert (saved.cached_tokens, saved.unpriced) == (24_000, 1)
    assert saved.cached_cost == pytest.approx(16_000 * (INPUT - CACHED))


def test_prices_that_are_given_tell_what_caching_saved_at_a_gateway() -> None:
    chat = Chat("anthropic/x", provider=ScriptedProvider(caching(8_000, 0), model="anthropic/x"), prices=(3, 15, 0.3))
    chat.send("Hello.")
    assert chat.desk.savings().cached_cost == pytest.approx(8_000 * 2.7e-6)
