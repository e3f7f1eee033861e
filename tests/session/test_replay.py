"""What each turn was sent, rebuilt afterwards: the very messages that the provider got, and what they lack."""

from __future__ import annotations

from typing import Any

from cells import Cells

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.session.exchange import Coming
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.replay import MOST_REPLAYED, Replayed, replayed
from jupyter_ctx.testing import Answer, ScriptedProvider

LONG = "And why is that so? " * 8


def replay(chat: Chat) -> list[Replayed]:
    return replayed(chat.desk.session)


def talk(**settings: Any) -> tuple[Chat, ScriptedProvider]:
    provider = ScriptedProvider(lambda _: Answer("So it is. " * 5), window=1_000)
    return Chat(provider=provider, window=1_000, max_tokens=100, summary_model="local/smollm2", **settings), provider


def ask(chat: Chat, prompt: str, cell: str, run: str) -> None:
    chat.desk.ask(Prompt(prompt, {}, cell=cell, run=run), Coming())


def test_every_request_is_rebuilt_word_for_word_whatever_was_done_between_the_turns() -> None:
    chat, provider = talk()
    for number in range(4):
        ask(chat, f"{number} {LONG}", f"c{number}", "first")
    chat.pin(1)
    chat.exclude(2)
    chat.desk.set_system("You are brief.")
    ask(chat, f"Anew {LONG}", "c2", "second")  # in the place of the third
    chat.send("Undone?")
    chat.undo()
    provider_knows = {request.messages[-1].content: request.messages for request in provider.requests}
    for number in range(4, 14):
        chat.send(f"{number} {LONG}")
        if number == 11:
            assert chat.summarize(turns=2).changed
    chat.include(2)
    chat.desk.set_system("You are long.")
    provider_knows |= {request.messages[-1].content: request.messages for request in provider.requests}
    steps = replay(chat)
    assert [step.number for step in steps] == list(range(1, 15))
    for step, turn in zip(steps, chat.turns, strict=True):
        assert step.view.request.messages == provider_knows[turn.prompt]
        assert step.is_checked
        assert turn.usage is not None
        assert step.info.used == turn.usage.input_tokens
        assert sum(segment.tokens for segment in step.info.segments) == step.info.used
    states = [{part.state for part in (*step.view.messages, *step.view.omitted)} for step in steps]
    assert {"summary", "pinned", "excluded", "summarised"} <= set().union(*states)
    assert all((part.number or 0) < step.number for step in steps for part in step.view.omitted)  # of reruns, too


def test_turns_that_the_user_had_trimmed_do_not_fall_out_by_a_request() -> None:
    chat, _ = talk()
    for number in range(3):
        ask(chat, f"{number} {LONG}", f"c{number}", "first")
    chat.trim(1)
    ask(chat, f"Anew {LONG}", "c2", "second")
    ask(chat, f"Anew {LONG}", "c0", "second")
    assert [step.trimmed for step in replay(chat)] == [0, 0, 2]
    assert [[part.number for part in step.view.omitted] for step in replay(chat)] == [[], [], [1, 1, 2, 2]]


def test_settings_that_have_changed_since_change_neither_the_check_nor_the_figures() -> None:
    chat, _ = talk()
    chat.send("Why?")
    chat.send("And why?", temperature=1.0)
    chat.configure(max_tokens=50)
    chat.send("And how?", system="Be brief.")
    steps, _ = replay(chat), chat.configure(max_tokens=600)
    assert [step.is_checked for step in steps] == [True, True, False]
    assert [step.info for step in replay(chat)] == [step.info for step in steps]
    assert {(step.info.limit, step.info.budget.reserve) for step in steps} == {(1_000, 0)}


def test_turns_for_which_nothing_was_sent_have_no_request() -> None:
    chat, _ = talk()
    chat.add_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
    assert replay(chat) == []
    chat.send("Why?")
    chat.clear()
    for _ in range(MOST_REPLAYED + 2):
        chat.send("Why?", max_turns=1)
    assert len(replay(chat)) == MOST_REPLAYED


def test_the_command_shows_a_bar_for_each_turn_and_says_where_there_is_none(cells: Cells, local_model: str) -> None:
    assert isinstance(cells.outcome("%chat replay")[0], InvalidRequestError)
    cells.run(f"%chat use {local_model} --max-tokens 16")
    for number in range(3):
        cells.run(f"%%chat\nWhat is the number {number}?")
    shown = cells.run("%chat replay")
    assert len(shown.strip().splitlines()) == 2 + 3
    assert "|" in shown
