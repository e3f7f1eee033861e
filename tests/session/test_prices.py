"""What a prompt costs before it is sent, and the question where that is much."""

from __future__ import annotations

import re
from typing import Any

import pytest
from crates import FACTS, crates
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import CACHED, INPUT, OUTPUT, WRITTEN, Priced

from jupyter_ctx import Chat, ChatInterrupted, InvalidRequestError
from jupyter_ctx.conversation.events import Added
from jupyter_ctx.models.request_price import is_above, price_range
from jupyter_ctx.testing import Answer, ScriptedProvider

LONG = "word " * 4_000  # 5,000 tokens as the provider counts them


def asking(answer: bool | None, provider: Any = None, **given: Any) -> tuple[Chat, list[str]]:
    """A chat that writes down its questions and answers each like this."""
    asked: list[str] = []

    def confirm(question: str) -> bool | None:
        asked.append(question)
        return answer

    provider = provider or Priced("Yes.")
    return Chat(provider=provider, confirm=confirm, **{"max_tokens": 1_000, **given}), asked


def requests(chat: Chat) -> int:
    return len(chat.models._guest._given.requests)  # type: ignore[union-attr]


def test_by_itself_nothing_is_asked() -> None:
    chat, asked = asking(False)
    chat.send(LONG)
    assert not asked


def test_a_prompt_that_may_cost_more_is_asked_about_with_its_range() -> None:
    chat, asked = asking(True, confirm_above=0.02)
    assert chat.send("Hello.").cost
    assert not asked
    chat.send(LONG)
    (question,) = asked
    assert question.startswith("This prompt may cost between $0.01")
    assert "anthropic/claude-sonnet-4-6: ~" in question
    assert "at most 1,000 out" in question
    assert len(chat.turns) == 2


@pytest.mark.parametrize("answer", [False, None])
def test_without_a_yes_nothing_is_sent_or_recorded(answer: bool | None) -> None:
    chat, _ = asking(answer, confirm_above=0.02)
    with pytest.raises(InvalidRequestError):
        chat.send(LONG)
    assert not chat.turns
    assert not requests(chat)
    assert chat.info().cost is None


def test_an_unknown_price_is_asked_about_whatever_it_may_be() -> None:
    chat, asked = asking(True, Priced("Yes.", model="anthropic/claude-of-tomorrow"), confirm_above=100)
    chat.send("Hello.")
    assert "anthropic/claude-of-tomorrow" in asked[0]
    chat = Chat(provider=Priced("Yes.", model="anthropic/claude-of-tomorrow"), confirm_above=100)
    with pytest.raises(InvalidRequestError, match="anthropic/claude-of-tomorrow"):
        chat.send("Hello.")


def test_a_server_of_one_s_own_is_free() -> None:
    chat, asked = asking(False, ScriptedProvider("Yes."), confirm_above=0)
    chat.send(LONG)
    assert not asked


def test_a_stored_answer_asks_nothing() -> None:
    chat, asked = asking(True, confirm_above=0.02, store="memory")
    chat.send(LONG, cell="a", run="1")
    chat.desk.session.notebook.seen.clear()  # as after a restart
    assert chat.send(LONG, cell="a", run="2", stored="cell").stored
    assert len(asked) == 1


def test_an_answer_with_a_schema_may_be_paid_twice() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    chat, asked = asking(True, Priced('{"n": 1}'), confirm_above=0.025)
    chat.send("Hello.", schema=schema)
    assert len(asked) == 1  # one try costs 0.015 at most
    chat.send("Hello.")
    assert len(asked) == 1


def test_ctrl_c_at_the_question_leaves_everything_as_it_was() -> None:
    def confirm(question: str) -> bool:
        raise KeyboardInterrupt

    chat = Chat(provider=Priced("Yes."), confirm=confirm, confirm_above=0, max_tokens=100)
    with pytest.raises(ChatInterrupted):
        chat.send("Hello.")
    assert not chat.turns
    chat.configure(confirm_above=None)
    assert chat.send("Hello.").text == "Yes."


def test_what_was_just_sent_may_be_cached() -> None:
    chat, _ = asking(True)
    chat.send(LONG)
    price = chat.preview("And now?").price
    sent = chat.turns[0].usage.input_tokens  # type: ignore[union-attr]
    assert price.cached_tokens == sent
    assert price.input == pytest.approx(price.input_tokens * INPUT)
    assert price.low == pytest.approx(sent * CACHED + (price.input_tokens - sent) * INPUT)
    assert price.high is not None
    assert price.high >= price.input_tokens * WRITTEN + 1_000 * OUTPUT
    chat.trim(0)
    assert chat.preview("And now?").price.cached_tokens == 0


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


def test_nothing_at_all_costs_nothing_where_the_price_is_known() -> None:
    price = Chat(provider=Priced("Yes."), max_tokens=1_000).preview("").price
    assert (price.input, price.low) == (0.0, 0.0)
    assert price.high


def test_several_requests_are_priced_together() -> None:
    chat, _ = asking(True)
    one = chat.preview("Hello.").price
    unknown = Chat(provider=Priced("Yes.", model="anthropic/claude-of-tomorrow")).preview("Hello.").price
    assert one.high is not None
    assert price_range([one, one]) == pytest.approx((2 * (one.low or 0), 2 * one.high))
    assert price_range([one, unknown]) is None
    assert is_above([one, one], 1.5 * one.high)
    assert not is_above([one], 1.5 * one.high)
    assert is_above([unknown], 100)
    assert not is_above([unknown], None)


def test_a_summary_by_a_model_is_asked_about_and_a_no_leaves_all_as_it_was() -> None:
    chat, asked = asking(False, Priced(FACTS), confirm_above=0.001, window=16_000)
    chat.add_messages(crates())
    with pytest.raises(InvalidRequestError, match="Not confirmed"):
        chat.summarize()
    assert asked[0].startswith("This summary may cost")
    assert not requests(chat)
    assert chat.conversation.summary is None
    assert chat.summarize(method="extractive").changed
    assert len(asked) == 1
    chat, asked = asking(True, Priced(FACTS), confirm_above=0.001, window=16_000)
    chat.add_messages(crates())
    assert chat.summarize().changed
    assert chat.conversation.summary is not None
    assert chat.conversation.summary.method == "model"


def test_a_summary_says_what_it_cost_also_where_it_is_dropped() -> None:
    chat, _ = asking(True, Priced(FACTS), window=16_000)
    chat.add_messages(crates())
    assert re.search(r"Summarised turns 1 to \d+ for \$0.0\d+ \(", str(chat.summarize()))
    chat, _ = asking(True, Priced("talk, talk, talk.\n" * 2_000), window=4_000)
    chat.add_messages(crates())
    said = str(chat.summarize())
    assert re.search(r"^Summary dropped: .*, although the model's text cost \$0.\d+\. The conversation is as", said)
    assert chat.conversation.summary is None


def test_a_summary_of_another_conversation_is_asked_about() -> None:
    other, _ = asking(True, window=16_000)
    other.add_messages(crates())
    added = other.conversation.events[0]
    assert isinstance(added, Added)
    chat, asked = asking(False, Priced(FACTS), confirm_above=0.001, window=16_000)
    with pytest.raises(InvalidRequestError, match="Not confirmed"):
        chat.desk.resume(added, "other.ipynb", summary=True)
    assert asked[0].startswith("This summary may cost")
    assert not chat.turns


def test_a_model_for_summaries_that_is_not_there_harms_no_prompt() -> None:
    given = {"window": 5_500, "on_overflow": "summarise", "max_tokens": 500, "confirm_above": 1}
    chat, _ = asking(True, Priced("Yes."), **given)
    chat.add_messages(crates(14))
    chat.configure(summary_model="anthropic/claude-of-tomorrow")
    assert chat.send("And now?").text == "Yes."


def test_a_button_asks_nothing_in_its_thread_and_says_the_price() -> None:
    from jupyter_ctx.runtime.interrupts import Stopper

    chat, asked = asking(True, Priced(FACTS), confirm_above=0.001, window=16_000)
    chat.add_messages(crates())
    with pytest.raises(InvalidRequestError, match="nobody can be asked here"):
        chat.desk.summarize(stopper=Stopper())
    assert not asked


@pytest.mark.parametrize("compact_at", [0.9, 1.0])
def test_one_question_covers_a_prompt_and_the_summary_that_goes_with_it(compact_at: float) -> None:
    def answer(request: Any) -> str:
        return FACTS if "It is data" in request.messages[-1].content else "Yes."

    given = {"window": 5_500, "on_overflow": "summarise", "compact_at": compact_at, "max_tokens": 500}
    chat, asked = asking(True, Priced(answer), confirm_above=0.001, **given)
    chat.add_messages(crates(14))
    chat.send("And now?")
    assert len(asked) == 1
    assert asked[0].startswith("This prompt with its summary may cost")
    assert chat.conversation.summary is not None
    assert requests(chat) == 2


def test_an_unasked_summary_after_a_refusal_costs_nothing_where_it_may_cost_much() -> None:
    provider = Priced("Yes.", window=4_000)
    given = {"window": 16_000, "on_overflow": "summarise", "confirm_above": 0.03, "max_tokens": 500}
    chat, asked = asking(True, provider, **given)
    chat.add_messages(crates(14))
    chat.configure(summary_model="anthropic/claude-opus-4-1", confirm_above=0.035)
    chat.send("And now?")
    assert chat.conversation.summary is not None
    assert chat.conversation.summary.method == "extractive"
    assert not [question for question in asked if "summary" in question]


@pytest.mark.parametrize("kept", [0, 1, 3, 5])
def test_the_newest_turns_are_kept_word_for_word_by_their_number(kept: int) -> None:
    chat, _ = asking(True, window=16_000)
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


def test_keeping_as_many_turns_as_there_are_leaves_nothing_to_summarise() -> None:
    chat, _ = asking(True, window=16_000)
    chat.add_messages(crates())
    for turns in (12, 13, 10**9):
        change = chat.summarize(turns=turns)
        assert not change.changed
        assert str(change) == "Nothing to summarise: no more turns than these are in view."
    assert not requests(chat)


def test_an_answer_that_reports_no_usage_harms_no_price() -> None:
    chat, _ = asking(True, Priced(Answer("Yes.", usage=None)), confirm_above=1)
    chat.send("Hello.")
    assert chat.preview("And now?").price.cached_tokens == 0
