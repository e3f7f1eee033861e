"""What each turn was sent, rebuilt afterwards: the very messages that the provider got, and what they lack."""

from __future__ import annotations

from typing import Any

from cells import Cells

from jupyter_ctx import Chat
from jupyter_ctx.display.widgets.gauge import share_of
from jupyter_ctx.magics.answer_parts import replay_bundle
from jupyter_ctx.session import actions
from jupyter_ctx.session.complete import StreamListener
from jupyter_ctx.session.preview import Replayed, replayed_turns
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.send import send_prompt
from jupyter_ctx.testing import Answer, ScriptedProvider

LONG = "And why is that so? " * 8


def replay(chat: Chat) -> list[Replayed]:
    return replayed_turns(chat.session)


def talk(**settings: Any) -> tuple[Chat, ScriptedProvider]:
    provider = ScriptedProvider(lambda _: Answer("So it is. " * 5), window=1_000)
    given = {"window": 1_000, "max_tokens": 100, "summary_model": "local/smollm2", **settings}
    return Chat(provider=provider, **given), provider


def said(chat: Chat, prompt: str, cell: str, run: str) -> None:
    send_prompt(chat.session, Prompt(prompt, {}, cell=cell, run=run), StreamListener())


def test_every_request_is_rebuilt_word_for_word_whatever_was_done_between_the_turns() -> None:
    chat, provider = talk()
    for number in range(4):
        said(chat, f"{number} {LONG}", f"c{number}", "first")
    chat.pin(1)
    chat.exclude(2)
    chat.session.act(actions.set_system, "You are brief.")
    said(chat, f"Anew {LONG}", "c2", "second")  # in the place of the third
    chat.send("Undone?")
    chat.undo()
    provider_knows = {request.messages[-1].content: request.messages for request in provider.requests}
    for number in range(4, 14):
        chat.send(f"{number} {LONG}")
        if number == 11:
            assert chat.summarize(turns=2).changed
    chat.include(2)
    chat.session.act(actions.set_system, "You are long.")
    provider_knows |= {request.messages[-1].content: request.messages for request in provider.requests}
    steps = replay(chat)
    assert [step.number for step in steps] == list(range(1, 15))
    for step, turn in zip(steps, chat.turns, strict=True):
        assert step.messages == provider_knows[turn.prompt]
        assert len(step.states) < step.number  # of reruns, too
    assert {"summarised", "pinned", "excluded"} <= {state for step in steps for state in step.states}


def test_figures_are_those_of_the_gauge_of_that_moment_whatever_is_set_later() -> None:
    chat, _ = talk()
    gauges = list[tuple[int, int, str]]()
    for number in range(12):
        if number == 6:
            chat.configure(max_tokens=300)
        chat.send(f"{number} {LONG}")
        info = chat.info()
        gauges.append((info.used, info.limit, share_of(info)))
    chat.configure(max_tokens=600)
    steps = replay(chat)
    assert [(step.info.used, step.info.limit, share_of(step.info)) for step in steps] == gauges
    assert all(sum(part.tokens for part in step.info.segments) == step.info.used for step in steps)


def test_what_a_conversation_does_not_tell_is_not_shown_as_sent() -> None:
    chat, _ = talk()
    chat.send("Why?")
    chat.send("And why?", temperature=1.0)
    chat.send("And how?", system="Be brief.")
    assert [len(step.messages) for step in replay(chat)] == [1, 3, 0]
    assert replay_bundle(replay(chat))["text/html"].count("<summary>what was sent") == 2


def test_a_row_says_what_fell_out_and_unfolds_to_the_messages() -> None:
    chat, _ = talk(on_overflow="summarise")
    for number in range(16):
        chat.send(f"{number} <b>weighs</b> {100 + number} kg. {LONG}")
    chat.exclude(16)
    chat.send("Why?")
    forms = replay_bundle(replay(chat))
    assert "  Left out: turns 1 to 6. " in forms["text/plain"]
    assert "  A summary stands for turns 1 to 10. " in forms["text/plain"]
    assert "  A summary stands for turns 1 to 10. Excluded: turn 16." in forms["text/plain"].splitlines()[-1]
    assert "Summary of our conversation so far:" in forms["text/html"]
    assert "&lt;b&gt;weighs" in forms["text/html"]
    assert "<b>" not in forms["text/html"]


def test_the_command_shows_a_bar_for_each_turn_and_says_where_there_is_none(cells: Cells, local_model: str) -> None:
    assert "No turn since the last clear" in cells.run("%chat history --replay")
    cells.run(f"%chat use {local_model} --max-tokens 16")
    for number in range(3):
        cells.run(f"%%chat\nWhat is the number {number}?")
    shown = cells.run("%chat history --replay")
    assert len(shown.strip().splitlines()) == 2 + 3
    assert "|" in shown
