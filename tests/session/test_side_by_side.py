"""Several answers to one prompt: the first is the turn until another one is picked, and all of them stay."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from screens import Unshown

from jupyter_ctx import Chat, ChatError, ChatInterrupted, ProviderError, Reply
from jupyter_ctx.conversation.messages import Alternatives, ToolCall
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.providers.base import Request
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.session.actions import versions_of
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.side_by_side import Candidate, ask_each
from jupyter_ctx.session.stored import chosen_index
from jupyter_ctx.testing import Answer, ScriptedProvider


class Page(Unshown):
    """What a watcher is told, by column."""

    def __init__(self) -> None:
        self.pieces: dict[int, str] = {}
        self.replies: dict[int, Reply] = {}
        self.errors: dict[int, str] = {}

    def feed(self, column: int, piece: str) -> None:
        self.pieces[column] = self.pieces.get(column, "") + piece

    def done(self, column: int, reply: Reply) -> None:
        self.replies[column] = reply

    def failed(self, column: int, error: str) -> None:
        self.errors[column] = error


def candidates(*temperatures: float | None) -> list[Candidate]:
    return [Candidate(f"t {each}", {"temperature": each}) for each in temperatures]


def asked(
    chat: Chat, prompt: str = "Hello?", among: Sequence[Candidate] = (), page: Page | None = None, **more: Any
) -> Alternatives:
    return ask_each(chat.session, Prompt(prompt, **more), among or candidates(0.0, 1.0, 2.0), page or Page())


def replies(chat: Chat) -> list[str]:
    return [turn.reply for turn in chat.turns]


def by_temperature(request: Request) -> str:
    return f"At {request.temperature}: {request.messages[-1].content}"


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(by_temperature)


@pytest.fixture
def chat(provider: ScriptedProvider) -> Chat:
    return Chat(provider=provider)


def test_the_first_answer_is_the_turn_until_another_is_picked(chat: Chat, provider: ScriptedProvider) -> None:
    chat.send("Before")
    page = Page()
    found = asked(chat, page=page)
    assert replies(chat) == ["At None: Before", "At 0.0: Hello?"]
    assert chosen_index(chat.session, found.id) == 0
    assert [answer.reply for answer in found.answers] == [f"At {t}: Hello?" for t in (0.0, 1.0, 2.0)]
    assert all(page.pieces[i] == page.replies[i].text == found.answers[i].reply for i in range(3))
    assert {tuple(m.content for m in r.messages) for r in provider.requests[1:]} == {
        ("Before", "At None: Before", "Hello?")
    }
    assert str(chat.pick(2)).startswith("Answer 2 (t 1.0) is taken: turn 2")
    assert replies(chat)[1] == "At 1.0: Hello?"
    assert chosen_index(chat.session, found.id) == 1


def test_the_others_stay_as_versions_and_the_choice_can_be_changed_and_undone(chat: Chat) -> None:
    found = asked(chat)
    chat.pick(2)
    assert [turn.reply for turn in versions_of(chat.session, 1)] == [answer.reply for answer in found.answers]
    chat.pick(3)
    assert replies(chat) == ["At 2.0: Hello?"]
    assert len(versions_of(chat.session, 1)) == 3
    chat.pick(1, 1)
    assert chosen_index(chat.session, found.id) == 0
    chat.undo()
    assert chosen_index(chat.session, found.id) == 2
    chat.undo()
    assert chosen_index(chat.session, found.id) == 1
    chat.undo()
    chat.undo()
    assert chat.turns == ()
    assert chosen_index(chat.session, found.id) is None
    chat.redo()
    assert replies(chat) == ["At 0.0: Hello?"]
    assert not chat.pick(1).changed


def test_a_cell_that_runs_again_has_its_new_answers_in_the_same_place(chat: Chat) -> None:
    first = asked(chat, cell="a", run="1")
    chat.pick(1)
    chat.send("Later", cell="b", run="2")
    second = asked(chat, "Hi?", cell="a", run="3")
    assert chosen_index(chat.session, first.id) is None
    assert chosen_index(chat.session, second.id) == 0
    chat.pick(3)
    assert replies(chat) == ["At 2.0: Hi?", "At None: Later"]
    assert len(versions_of(chat.session, 1)) == 6
    assert not chat.pick(1, 6).changed
    assert chat.pick(1, 1).changed
    assert replies(chat)[0] == "At 0.0: Hello?"
    chat.undo()
    assert chat.history()[1].states[-1] == "stale"
    chat.undo()
    chat.undo()
    assert replies(chat)[0] == "At 0.0: Hello?"


def test_one_that_fails_says_so_and_harms_no_other() -> None:
    def answer(request: Request) -> str | Answer:
        return Answer("Half", error=ProviderError("The line was cut.")) if request.temperature == 1.0 else "Yes."

    chat, page = Chat(provider=ScriptedProvider(answer)), Page()
    found = asked(chat, page=page, among=[*candidates(0.0, 1.0), Candidate("bad", {"max_tokens": 10**9})])
    assert page.errors.keys() == {1, 2}
    assert "The line was cut." in page.errors[1]
    assert found.answers[0].reply == "Yes."
    assert found.answers[1].reply == "Half"
    assert found.answers[1].record.stop_reason == "cut"
    with pytest.raises(InvalidRequestError, match=r"3 \(bad\)"):
        chat.pick(3)
    chat.pick(2)
    assert replies(chat) == ["Half"]


@pytest.mark.parametrize("answer", [Answer((), error=ProviderError("Down.")), Answer((), stop_reason="cut")])
def test_where_all_fail_the_error_is_raised_and_nothing_is_kept(answer: Answer) -> None:
    chat = Chat(provider=ScriptedProvider(answer))
    with pytest.raises(ProviderError, match=r"Down\.|broke off"):
        asked(chat)
    assert not chat.conversation.offers
    assert not chat.conversation.events


def test_after_a_clear_no_answer_can_be_taken_until_the_clear_is_undone(chat: Chat) -> None:
    asked(chat)
    chat.clear()
    with pytest.raises(InvalidRequestError, match="side by side"):
        chat.pick(2)
    chat.undo()
    assert chat.pick(2).changed


def test_answers_are_shown_again_after_a_restart_with_the_choice_and_one_that_failed_says_so_again(
    tmp_path: Path,
) -> None:
    def answer(request: Request) -> str | Answer:
        return Answer((), error=ProviderError("Down.")) if request.temperature == 1.0 else by_temperature(request)

    provider, sent, found = ScriptedProvider(answer), list[int](), list[Alternatives]()
    for run in "1234":
        chat = Chat(provider=provider, store=tmp_path / "chats.sqlite", name="one")
        before = len(provider.requests)
        chat.send("Before", cell="0", run=run, stored="cell")
        for cell, among in (("a", candidates(0.0, 2.0)), ("b", candidates(0.0, 1.0, 2.0))):
            page = Page()
            found.append(asked(chat, page=page, among=among, cell=cell, run=run, stored="cell"))
        if run == "1":
            chat.pick(3)
        assert replies(chat)[2] == "At 2.0: Hello?"
        chat.send("After", cell="c", run=run, stored="cell")
        sent.append(len(provider.requests) - before)
        assert [reply.stored for reply in page.replies.values()] == [run > "1"] * 2
        assert chosen_index(chat.session, found[1].id) == 2
        if run == "4":
            asked(chat, cell="a", run="5", stored="cell")
            assert len(provider.requests) == before + 3, "what runs twice in a kernel is asked anew"
        chat.close()
    assert sent == [7, 0, 0, 0]
    assert len({each.id for each in found}) == 2
    assert page.errors.keys() == {1}
    assert page.replies.keys() == {0, 2}


def test_ctrl_c_keeps_what_has_come_of_each(chat: Chat) -> None:
    def answer(request: Request) -> Answer:
        return Answer("Whole.") if request.temperature == 0.0 else Answer(["Some ", "more"] * 200, delay=0.05)

    chat = Chat(provider=ScriptedProvider(answer))
    threading.Timer(0.6, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
    began = time.monotonic()
    with pytest.raises(ChatInterrupted):
        asked(chat)
    assert time.monotonic() - began < 3
    (offer,) = chat.conversation.offers.values()
    assert [answer.record.stop_reason for answer in offer.answers] == ["stop", "interrupted", "interrupted"]
    assert offer.answers[1].reply.startswith("Some more")
    chat.pick(1)
    assert replies(chat) == ["Whole."]


def test_what_is_broken_off_or_refused_is_a_problem_and_where_nothing_else_came_an_error() -> None:
    def answer(request: Request) -> Answer:
        if request.temperature == 0.0:
            return Answer("Half", error=ProviderError("The line was cut."))
        return Answer("I will not.", stop_reason="refusal")

    chat, page = Chat(provider=ScriptedProvider(answer)), Page()
    with pytest.raises(ChatError, match=r"2.*The line was cut\."):
        asked(chat, page=page, among=candidates(0.0, 1.0))
    (offer,) = chat.conversation.offers.values()
    assert [bool(each.problem) for each in offer.answers] == [True, True]
    assert chat.pick(2).changed
    assert replies(chat) == ["I will not."]


def test_stored_answers_of_which_none_is_whole_are_the_same_error_and_are_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ctx.chat.Origin", lambda: Origin(notebook=str(tmp_path / "x.ipynb")))
    provider = ScriptedProvider(Answer("I will not.", stop_reason="refusal"))
    sent = []
    for run in ("1", "2"):
        chat = Chat(provider=provider, store=tmp_path / "chats.sqlite", name="one")
        with pytest.raises(ChatError, match="3"):
            asked(chat, cell="a", run=run, stored="cell")
        sent.append(len(provider.requests))
        chat.close()
    assert sent == [3, 3]


def test_each_answer_side_by_side_may_call_functions() -> None:
    def counted(request: Request) -> Answer:
        if request.messages[-1].round is None:
            return Answer(calls=[ToolCall("c1", "rows", "{}")])
        return Answer(f"At {request.temperature}: twelve")

    def rows() -> int:
        """Count the rows."""
        return 12

    chat = Chat(provider=ScriptedProvider(counted), tools=[rows])
    answers = asked(chat).answers
    assert [answer.reply for answer in answers] == [f"At {each}: twelve" for each in (0.0, 1.0, 2.0)]
    assert [answer.rounds[0].results[0].text for answer in answers] == ["12"] * 3
    assert chat.turns[-1].rounds
