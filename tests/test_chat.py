"""A conversation with the real small model: sent, fitted, recovered, recorded."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from jupyter_ctx import (
    Chat,
    ChatInterrupted,
    ContextOverflowError,
    InvalidRequestError,
)
from jupyter_ctx.session import actions
from jupyter_ctx.testing import ScriptedProvider

PADDING = "The ship sailed on through the night and nobody on board could sleep for the noise of the wind. "


def long_prompt(number: int) -> str:
    return f"Entry {number}. {PADDING * 3}How far is it?"


def filled(chat: Chat, turns: int) -> Chat:
    for number in range(turns):
        chat.send(long_prompt(number))
    return chat


def test_pieces_arrive_as_they_come_and_joined_they_are_the_reply(chat: Chat) -> None:
    pieces: list[str] = []
    reply = chat.send("Say hello.", on_piece=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text
    assert reply.usage is not None
    assert reply.usage.input_tokens > 0


def test_what_is_used_is_what_the_provider_reports(chat: Chat) -> None:
    assert chat.info().used == 0
    for prompt in ("Say hello.", "And again?", "Once more, in other words."):
        reply = chat.send(prompt)
        info = chat.info()
        assert reply.usage is not None
        assert (info.used, info.exact) == (reply.usage.carried, True)
        assert sum(segment.tokens for segment in info.segments) == pytest.approx(info.used, abs=2)


def test_after_a_trim_the_number_is_right_at_once(chat: Chat) -> None:
    filled(chat, 3)
    change = chat.trim(1)
    info = chat.info()
    assert (change.after, info.exact) == (info.used, False)
    reply = chat.send("So?")
    assert reply.usage is not None
    assert reply.usage.input_tokens == pytest.approx(info.used + 20, abs=40)


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


def test_the_server_is_asked_for_its_window(local_model: str) -> None:
    info = Chat(local_model).info()
    assert (info.context_window, info.source) == (512, "server")
    assert Chat("local/smollm2", window=1_024).info().source == "given"


def test_a_refused_request_is_fitted_and_sent_again(local_model: str) -> None:
    chat = Chat(local_model, window=4_096, max_tokens=16)
    notices = [notice for number in range(7) for notice in chat.send(long_prompt(number)).notices]
    assert notices[0].startswith("Too long (")
    assert "of 512 tokens): sent again without turn" in notices[0]
    assert not [notice for notice in notices[1:] if "Too long" in notice]
    info = chat.info()
    assert (info.context_window, info.source) == (512, "learned")
    assert len(chat.turns) == 7


def test_a_prompt_that_only_the_server_finds_too_big_fails_with_its_figures(local_model: str) -> None:
    chat = Chat(local_model, window=8_000, max_tokens=16)
    with pytest.raises(ContextOverflowError) as raised:
        chat.send(PADDING * 40)
    error = raised.value
    assert error.overflow is not None
    assert error.overflow.context_window == 512
    assert error.prompt == PADDING * 40
    assert error.largest[0][0] == "this prompt"
    assert chat.turns == ()
    assert chat.send("And now?").text


def test_a_provider_that_is_asked_counts_exactly_what_it_then_reports(local_model: str) -> None:
    chat = Chat(local_model, max_tokens=12, token_counting="provider", system="Be brief.")
    for prompt in ("Say hello.", "Скажи привет. 🙂 " * 4, "x = [1, 22, 333]\n" * 6):
        view = chat.preview(prompt)
        assert view.exact
        usage = chat.send(prompt).usage
        assert usage is not None
        assert view.input_tokens == usage.input_tokens


def test_a_rerun_before_a_trim_stays_left_out_and_says_so(chat: Chat) -> None:
    for number, cell in enumerate("abc"):
        chat.send(f"Note {number}.", cell=cell, run=str(number))
    chat.trim(1)
    reply = chat.send("Note 0, again.", cell="a", run="9")
    assert "Turn 1 stands before your trim" in reply.notices[0]
    assert chat.info().in_view == 1


def test_what_changes_nothing_writes_no_event_and_says_so(chat: Chat) -> None:
    chat.send("One.")
    events = chat.conversation.events
    for change in (
        chat.trim(),
        chat.redo(),
        chat.unpin(1),
        chat.include(),
        chat.summarize(),
        chat.session.act(actions.set_system, ""),
    ):
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


def test_an_interrupted_reply_is_kept_and_flagged(chat: Chat) -> None:
    def stop(piece: str) -> None:
        if len(pieces) == 3:
            raise KeyboardInterrupt
        pieces.append(piece)

    pieces: list[str] = []
    with pytest.raises(ChatInterrupted):
        chat.send("Tell me a story.", on_piece=stop, max_tokens=200)
    (turn,) = chat.turns
    assert turn.stop_reason == "interrupted"
    assert turn.reply.startswith("".join(pieces))
    assert chat.send("Go on.").text


def test_actions_from_another_thread_wait_for_the_turn_and_its_own_are_refused(chat: Chat) -> None:
    filled(chat, 3)
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


def test_messages_of_another_conversation_are_taken_in(chat: Chat) -> None:
    change = chat.add_messages(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "One."},
            {"role": "user", "content": "Two."},
            {"role": "assistant", "content": "Three."},
            {"role": "user", "content": "Four."},
        ]
    )
    assert change.changed
    assert chat.system == "Be brief."
    assert [(turn.prompt, turn.reply) for turn in chat.turns] == [("One.\n\nTwo.", "Three."), ("Four.", "")]
    assert [m.content for m in chat.preview("Five.").request.messages] == [
        "Be brief.",
        "One.\n\nTwo.",
        "Three.",
        "Five.",
    ]
    assert chat.send("Five.").text


def test_a_store_that_fails_later_is_named_in_the_next_reply_once(tmp_path: Path) -> None:
    file = tmp_path / "chats" / "store.sqlite"
    chat = Chat(provider=ScriptedProvider(), store=file, name="thesis", window=4_000)
    assert chat.send("One?").notices == ()
    file.rename(tmp_path / "elsewhere.sqlite")
    file.mkdir()
    (notice,) = chat.send("Two?").notices
    assert notice.startswith(f"{file} is a folder: name a file in it")
    assert (chat.send("Three?").notices, chat.session.notices()) == ((), ())


def test_undo_names_the_turn_and_says_that_the_model_stays() -> None:
    chat = Chat(provider=ScriptedProvider(["One.", "Two."]))
    chat.send("What is first?")
    assert "turn 1 ('What is first?')" in chat.undo().text
    chat.redo()
    chat.configure(model="openai/gpt-4o")
    change = chat.undo()
    assert "turn 1" in change.text
    assert "openai/gpt-4o" in change.note
