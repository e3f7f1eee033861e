"""What must run whole runs whole."""

from __future__ import annotations

import signal
import threading

import pytest

from jupyter_ctx import Chat, ChatInterrupted
from jupyter_ctx.runtime.interrupts import interruptible, uninterrupted
from jupyter_ctx.testing import ScriptedProvider


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")
        done.append("not this")
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_let_through_where_a_block_waits_and_held_back_behind_it() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with pytest.raises(KeyboardInterrupt), interruptible():
            signal.raise_signal(signal.SIGINT)
            done.append("not this")
        signal.raise_signal(signal.SIGINT)
        done.append("behind it")
        with pytest.raises(KeyboardInterrupt), interruptible():  # what was held back ends the next wait
            done.append("nor this")
        signal.raise_signal(signal.SIGINT)
        done.append("the end")
    assert done == ["behind it", "the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_between_two_tries_keeps_the_first_answer() -> None:
    def interrupt(_: str) -> None:
        if len(provider.requests) == 2:
            signal.raise_signal(signal.SIGINT)

    provider = ScriptedProvider(["{}", "{}"])
    chat = Chat(provider=provider)
    with pytest.raises(ChatInterrupted):
        chat.send("Which?", schema={"type": "object", "required": ["a"]}, on_piece=interrupt)
    assert [turn.reply for turn in chat.turns] == ["{}"]
    assert len(provider.requests) == 2


def test_other_threads_are_left_alone() -> None:
    def block() -> None:
        with uninterrupted():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[object] = []
    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


def test_an_interrupt_while_a_turn_is_recorded_loses_nothing(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    append = type(chat.conversation).append

    def interrupted(*arguments: object) -> None:
        signal.raise_signal(signal.SIGINT)
        append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(type(chat.conversation), "append", interrupted)
    with pytest.raises(ChatInterrupted):
        chat.send("Say hello.")
    monkeypatch.undo()
    (turn,) = chat.turns
    assert turn.stop_reason in ("stop", "max_tokens")
    assert chat.send("And again?").text
