"""Functions that a model calls before it answers: rounds of one turn, their bounds, cost, room and record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from images import PIXEL

from jupyter_ctx import BudgetExceededError, Chat, ChatInterrupted
from jupyter_ctx.conversation.messages import ToolCall
from jupyter_ctx.providers.base import Request
from jupyter_ctx.testing import Answer, ScriptedProvider

ROWS = {"NO": 12, "SE": 30}
TABLE = "\n".join(f"row {number}: a value of the table" for number in range(60))


def rows(country: str) -> str:
    """Count the rows of a country."""
    return f"{ROWS[country]} rows"


def table(number: int = 0) -> str:
    """Return a table."""
    return f"Table {number}\n{TABLE}"


def calls(*asked: tuple[str, str], text: str = "") -> Answer:
    """Return an answer that asks for calls."""
    numbered = [ToolCall(f"call_{number}_{name}", name, given) for number, (name, given) in enumerate(asked)]
    return Answer(text, calls=numbered)


def results_in(request: Request) -> list[str]:
    """Return the results that a request carries as such: without tools, they are text of the assistant's."""
    return [result.text for message in request.messages if message.round for result in message.round.results]


def said_in(request: Request) -> str:
    """Return all text of a request."""
    return "\n".join(message.text for message in request.messages)


def test_a_model_is_sent_what_the_function_returned_and_its_answer_is_the_turn() -> None:
    provider = ScriptedProvider([calls(("rows", '{"country": "NO"}'), text="I look."), "Twelve."])
    chat = Chat(provider=provider)
    reply = chat.send("How many rows has Norway?", tools=[rows])
    assert [tool.name for tool in provider.requests[0].tools] == ["rows"]
    assert results_in(provider.requests[1]) == ["12 rows"]
    assert (reply.text, reply.stop_reason) == ("Twelve.", "stop")
    [called] = reply.rounds
    assert (called.text, str(called.calls[0]), called.results[0].text) == ("I look.", "rows(country='NO')", "12 rows")
    assert chat.turns[-1].rounds == reply.rounds
    assert len(chat.turns) == 1


def test_later_requests_carry_calls_and_results_in_their_turn() -> None:
    provider = ScriptedProvider([calls(("rows", '{"country": "NO"}')), "Twelve.", "You asked."])
    chat = Chat(provider=provider)
    chat.send("How many rows has Norway?", tools=[rows])
    chat.send("What did I ask?")
    assert "12 rows" in said_in(provider.requests[-1])
    assert [message.role for message in provider.requests[-1].messages] == ["user", "assistant", "user"]
    chat.send("And now?", tools=[rows])
    assert results_in(provider.requests[-1]) == ["12 rows"]


def test_the_rounds_of_a_prompt_are_bounded_and_the_model_is_told_to_answer() -> None:
    provider = ScriptedProvider(calls(("rows", '{"country": "NO"}')))
    count: list[str] = []

    def counted(country: str) -> str:
        count.append(country)
        return rows(country)

    counted.__name__ = "rows"
    reply = Chat(provider=provider, tool_rounds=3).send("Count for ever.", tools=[counted])
    assert len(count) == 3
    assert len(provider.requests) == 5
    assert [each.results[0].failed for each in reply.rounds] == [False, False, False, True]
    assert "tool_rounds" in reply.rounds[-1].results[0].brief


def test_tokens_cost_and_seconds_are_those_of_all_rounds() -> None:
    provider = ScriptedProvider([calls(("rows", '{"country": "NO"}')), "Twelve."])
    chat = Chat(provider=provider, prices=(1, 1))
    reply = chat.send("How many rows has Norway?", tools=[rows])
    sent = sum(provider.size(request) for request in provider.requests)
    assert reply.usage is not None
    assert reply.usage.input_tokens == sent
    assert reply.cost == pytest.approx((sent + reply.usage.output_tokens) / 1e6)
    assert chat.info().cost == pytest.approx(reply.cost)


def test_max_cost_ends_the_rounds_and_keeps_what_was_said() -> None:
    provider = ScriptedProvider(calls(("table", "{}"), text="I look."))
    chat = Chat(provider=provider, prices=(1_000, 1_000), max_cost=2.5, max_tokens=200)
    with pytest.raises(BudgetExceededError, match="max_cost"):
        chat.send("Read the table for ever.", tools=[table])
    assert 1 < len(provider.requests) < 10
    [turn] = chat.turns
    assert turn.stop_reason == "cut"
    assert turn.rounds
    assert (chat.info().cost or 0) <= 2.5


def test_an_interrupt_in_a_function_keeps_what_came_and_the_next_prompt_works() -> None:
    def waits() -> str:
        raise KeyboardInterrupt

    provider = ScriptedProvider([calls(("rows", '{"country": "NO"}')), calls(("waits", "{}")), "Yes."])
    chat = Chat(provider=provider)
    with pytest.raises(ChatInterrupted, match="kept"):
        chat.send("Wait.", tools=[rows, waits])
    [turn] = chat.turns
    assert turn.stop_reason == "interrupted"
    assert [each.results[0].failed for each in turn.rounds] == [False, True]
    assert chat.send("Are you there?").text == "Yes."
    assert "12 rows" in said_in(provider.requests[-1])


def test_an_overflow_in_the_third_round_is_recovered() -> None:
    asked = [calls(("table", f'{{"number": {number}}}')) for number in range(4)]
    answers = ["It is long."] * 3 + [*asked, "Done."]
    provider = ScriptedProvider(answers, window=4_096)
    chat = Chat(provider=provider, window=200_000, attach_share=0.01)
    for number in range(3):
        chat.send(f"{number} {'A long story of the sea. ' * 140}")
    reply = chat.send("Read four tables.", tools=[table])
    assert provider.refused
    assert reply.text == "Done."
    assert [each.results[0].text.split("\n")[0] for each in reply.rounds] == [f"Table {number}" for number in range(4)]
    assert any("sent again without" in notice for notice in reply.notices)


def test_results_of_earlier_rounds_are_shortened_where_the_newest_would_not_fit() -> None:
    asked = [calls(("table", f'{{"number": {number}}}')) for number in range(6)]
    provider = ScriptedProvider([*asked, "Done."], window=2_048)
    for window in (2_048, 200_000):  # as planned, and after a refusal
        provider.answers = [*asked, "Done."]
        share, longest = (0.3, 200) if window < 10_000 else (0.01, None)
        chat = Chat(provider=provider, window=window, max_tokens=longest, attach_share=share)
        reply = chat.send("Read six tables.", tools=[table])
        assert reply.text == "Done."
        assert len(reply.rounds) == 6
        assert "shortened" in results_in(provider.requests[-1])[0]
        assert "shortened" not in results_in(provider.requests[-1])[-1].split("\n")[0]
        assert any("earlier rounds" in notice for notice in reply.notices)
        assert "shortened" not in chat.turns[0].rounds[0].results[0].text.split("\n")[0]


@pytest.mark.parametrize("first", ["table", "line"])
def test_results_of_older_turns_are_shortened_before_a_turn_is_left_out(first: str) -> None:
    def line(number: int) -> str:
        """Return little, of which nothing can be shortened."""
        return f"row {number}"

    provider = ScriptedProvider(answer_with_calls)
    chat = Chat(provider=provider, window=4_096, max_tokens=500)
    notices: list[str] = []
    for number in range(14):
        offered = line if first == "line" and number == 0 else table
        notices += chat.send(f"Read table {number}.", tools=[offered]).notices
    sent = provider.requests[-1]
    prompts = [message.content for message in sent.messages if message.role == "user"]
    assert len(prompts) == 14, "no turn is left out"
    assert any("shortened" in text for text in results_in(sent))
    told = [notice for notice in notices if "shortened" in notice]
    assert re.match(r"\d+ results of turns? .+: \d[\d,]+ tokens .* %chat include all", told[0])
    assert not provider.refused
    chat.include()
    assert all("shortened" not in part.text for part in chat.preview("And now?", window=100_000).messages)


def test_a_re_run_of_stored_turns_asks_and_calls_nothing(tmp_path: Path) -> None:
    count: list[int] = []

    def look() -> str:
        count.append(1)
        return f"found {len(count)}"

    provider = ScriptedProvider([calls(("look", "{}")), "It is there."])
    for kernel in range(2):
        chat = Chat(provider=provider, store=tmp_path / "chats.db", name="look")
        reply = chat.send("Look.", tools=[look], cell="c1", run=f"{kernel}", source="s", stored="cell")
        assert reply.text == "It is there."
        assert reply.rounds[0].results[0].text == "found 1"
        assert len(provider.requests) == 2
        chat.close()
    assert len(count) == 1


def test_a_structured_answer_may_follow_calls() -> None:
    provider = ScriptedProvider([calls(("rows", '{"country": "NO"}')), "twelve", '{"rows": 12}'])
    schema = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}
    reply = Chat(provider=provider).send("How many rows has Norway?", tools=[rows], schema=schema)
    assert reply.parsed == {"rows": 12}
    assert len(reply.rounds) == 1
    assert results_in(provider.requests[-1]) == ["12 rows"]


def answer_with_calls(request: Request) -> Answer:
    """Ask for the table that the prompt names, then answer."""
    if request.messages[-1].round is None:
        number: Any = request.messages[-1].content.split()[-1].strip(".")
        return calls(("table", f'{{"number": {number}}}'))
    return Answer("I have read it.")


def test_a_model_that_reads_no_images_is_sent_the_text_of_a_result_alone() -> None:
    def plot() -> bytes:
        return PIXEL

    for kinds in (frozenset[str](), frozenset({"image"})):
        provider = ScriptedProvider([calls(("plot", "{}")), "A line."], takes=kinds)
        Chat(provider=provider).send("Plot it.", tools=[plot])
        files = [file for message in provider.requests[1].messages for file in message.files]
        assert len(files) == len(kinds)
