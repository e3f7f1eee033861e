"""A conversation with the real small model: sent, fitted, recovered, recorded."""

from __future__ import annotations

import threading

import pytest

from jupyter_ctx import Chat, ContextOverflowError, InvalidRequestError
from jupyter_ctx.session import actions

PADDING = "The ship sailed on through the night and nobody on board could sleep for the noise of the wind. "


def test_what_is_used_is_what_the_provider_reports(chat: Chat) -> None:
    assert chat.info().used == 0
    for prompt in ("Say hello.", "And again?", "Once more, in other words."):
        reply = chat.send(prompt)
        info = chat.info()
        assert reply.usage is not None
        assert (info.used, info.exact) == (reply.usage.carried, True)
        assert sum(segment.tokens for segment in info.segments) == pytest.approx(info.used, abs=2)


def test_a_refused_prompt_leaves_the_number_as_it_was(local_model: str) -> None:
    chat = Chat(local_model, window=4_096, max_tokens=16)
    chat.send("Say hello.")
    before = chat.info()
    with pytest.raises(ContextOverflowError):
        chat.send("@#$%^&*() " * 300)
    assert (chat.info().used, chat.info().exact) == (before.used, before.exact)
    reply = chat.send("And?")
    assert reply.usage is not None
    assert chat.info().used == reply.usage.carried
    *_, asked, said = chat.preview().messages
    assert (said.tokens, asked.exact, said.exact) == (reply.usage.output_tokens, True, True)


def test_a_local_window_is_what_the_server_will_serve() -> None:
    assert Chat("local/smollm2@700").info().context_window == 768
    assert Chat("local/smollm2", window=100_000).models.target(Chat().config, ask=False).window.tokens == 2_048
    assert Chat("local/smollm2", window=1_024).info().source == "given"


def test_a_provider_that_is_asked_counts_exactly_what_it_then_reports(local_model: str) -> None:
    chat = Chat(local_model, max_tokens=12, token_counting="provider", system="Be brief.")
    for prompt in ("Say hello.", "Скажи привет. 🙂 " * 4, "x = [1, 22, 333]\n" * 6):
        view = chat.preview(prompt)
        assert view.exact
        usage = chat.send(prompt).usage
        assert usage is not None
        assert view.input_tokens == usage.input_tokens


def test_what_changes_nothing_writes_no_event_and_says_so(chat: Chat) -> None:
    chat.send("One.")
    events = chat.conversation.events
    changes = chat.trim(), chat.redo(), chat.unpin(1), chat.include(), chat.summarize()
    for change in (*changes, chat.session.act(actions.set_system, "")):
        assert not change.changed
        assert str(change).startswith(("Nothing", "The system prompt is"))
    assert chat.conversation.events == events


def test_pins_that_exceed_the_limit_fail_the_cell_and_name_the_largest(chat: Chat) -> None:
    for _ in range(4):
        chat.add_messages([{"role": "user", "content": PADDING * 6}, {"role": "assistant", "content": "Noted."}])
    chat.pin(1, 2, 3, 4)
    with pytest.raises(ContextOverflowError, match=r"pinned turn \d.*%chat unpin \d") as raised:
        chat.send("And now?")
    assert raised.value.largest[0][0].startswith("pinned turn")
    chat.unpin(1, 2, 3, 4)
    assert chat.send("And now?").text


def test_actions_from_another_thread_wait_for_the_turn_and_its_own_are_refused(chat: Chat) -> None:
    for number in range(3):
        chat.send(f"Entry {number}. {PADDING * 3}How far is it?")
    threads, refused = list[threading.Thread](), list[InvalidRequestError]()

    def click(_: str) -> None:
        if not threads:
            threads.append(threading.Thread(target=chat.clear))
            threads[0].start()
            with pytest.raises(InvalidRequestError, match="A turn is running") as error:
                chat.undo()
            refused.append(error.value)

    chat.send("And now?", on_piece=click)
    threads[0].join()
    assert refused
    assert chat.turns == ()
    chat.undo()
    assert len(chat.turns) == 4
