"""What a prompt costs before it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from crates import crates
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import Priced

from jupyter_ctx import Chat


def priced(provider: Any = None, **given: Any) -> Chat:
    return Chat(provider=provider or Priced("Yes."), **{"max_tokens": 1_000, **given})


def requests(chat: Chat) -> int:
    return len(chat.models._guest._given.requests)  # type: ignore[union-attr]


@settings(max_examples=30, deadline=None)
@given(prompts=st.lists(st.text("ab c", min_size=1, max_size=4_000).filter(str.strip), min_size=1, max_size=5))
def test_the_cost_lies_in_the_range_that_was_told(prompts: list[str]) -> None:
    chat = Chat(provider=Priced("Yes, indeed. " * 40), max_tokens=500, token_counting="provider")
    for prompt in prompts:
        price = chat.preview(prompt).price
        cost = chat.send(prompt).cost
        assert price.low is not None
        assert price.high is not None
        assert cost is not None
        assert price.low <= cost <= price.high


def test_a_summary_counts_as_paid_though_it_is_dropped() -> None:
    chat = priced(Priced("talk, talk, talk.\n" * 2_000), window=4_000)
    chat.add_messages(crates())
    before = chat.info().cost
    assert "Summary dropped" in str(chat.summarize())
    assert (chat.info().cost or 0) > (before or 0)
    assert chat.conversation.summary is None


@pytest.mark.parametrize("kept", [0, 3])
def test_the_newest_turns_are_kept_word_for_word_by_their_number(kept: int) -> None:
    chat = priced(window=16_000)
    chat.add_messages(crates())
    assert str(chat.summarize(turns=kept, method="extractive")).startswith(f"Summarised turns 1 to {12 - kept} ")
    states = [row.states[0] for row in chat.history()]
    assert states == ["summarised"] * (12 - kept) + ["sent"] * kept
    view = [part.text for part in chat.preview("And now?").messages if part.state == "sent"]
    assert view == [text for turn in chat.turns[12 - kept :] for text in (turn.prompt, turn.reply)]
    assert chat.send("And now?").text == "Yes."
    assert chat.undo().changed
    assert chat.undo().changed
    assert {row.states[0] for row in chat.history()} == {"sent"}
