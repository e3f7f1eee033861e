"""One request apart from any conversation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from answering_rows import answering_rows

from jupyter_ctx import InvalidRequestError, ask
from jupyter_ctx.testing import ScriptedProvider


def test_a_prompt_is_answered_and_nothing_is_written(tmp_path: Path) -> None:
    with answering_rows() as asked:
        reply = ask("hello", **asked.model, temperature=0.5)
    assert (reply.text, reply.model, reply.stop_reason) == ("HELLO", "m", "stop")
    assert asked.requests[0]["temperature"] == 0.5
    assert not list(tmp_path.rglob("*.sqlite*"))


def test_messages_are_sent_as_they_are() -> None:
    guest = ScriptedProvider("Blue.")
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Which colour?"},
    ]
    assert ask(said, provider=guest).text == "Blue."
    sent = [(message.role, message.content) for message in guest.requests[0].messages]
    assert sent == [(message["role"], message["content"]) for message in said]


def test_what_is_attached_goes_with_the_last_message_however_that_is_given() -> None:
    guest = ScriptedProvider("Blue.")
    for said in ("Which colour?", [{"role": "user", "content": "Which colour?"}]):
        ask(said, provider=guest, attachments={"sky": "It is noon."})
    first, second = guest.requests
    assert first.messages == second.messages
    assert "It is noon." in first.messages[-1].content


def test_several_threads_may_ask_at_once() -> None:
    with answering_rows(seconds=0.1) as asked, ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda n: ask(f"number {n}", **asked.model).text, range(16))
        assert list(answers) == [f"NUMBER {n}" for n in range(16)]
    assert asked.most > 4


def test_a_listener_that_is_no_function_is_refused_before_anything_is_sent() -> None:
    guest = ScriptedProvider("Blue.")
    with pytest.raises(InvalidRequestError, match="on_piece is 5"):
        ask("Which colour?", provider=guest, on_piece=5)  # type: ignore[arg-type]
    assert guest.requests == []
