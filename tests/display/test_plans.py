"""What a button says before it is pressed is what it does."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest
from dialects import DIALECTS
from hypothesis import given
from hypothesis import strategies as st
from server import serve

from jupyter_ctx import Chat
from jupyter_ctx.runtime.interrupts import Stopper
from jupyter_ctx.session import actions
from jupyter_ctx.session.actions import Change
from jupyter_ctx.session.complete import StreamListener
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.send import send_prompt, threshold_notice

SIZES = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=0, max_size=12)


def summarized(chat: Chat, stopper: Stopper) -> Change:
    return chat.session.act(actions.summarize, method="model", stopper=stopper)


def talked(sizes: list[tuple[int, int]], window: int, pinned: int = 0) -> Chat:
    """A conversation that nobody was asked for, in turns of so many words."""
    chat = Chat("openai/gpt-4o", window=window, max_tokens=window // 4, token_counting="approximate")
    for asked, said in sizes:
        chat.add_messages(
            [{"role": "user", "content": "word " * asked}, {"role": "assistant", "content": "word " * said}]
        )
    if pinned:
        chat.pin(*range(1, min(pinned, len(sizes)) + 1))
    return chat


@pytest.mark.parametrize("name", ["trim", "clear"])
@given(sizes=SIZES, window=st.integers(200, 4_000), pinned=st.integers(0, 2))
def test_trim_and_clear_leave_just_what_their_plans_say(
    name: str, sizes: list[tuple[int, int]], window: int, pinned: int
) -> None:
    chat = talked(sizes, window, pinned if sizes else 0)
    plan = actions.plans(chat.session)[name]
    assert plan.text
    change = getattr(chat, name)()
    assert change.changed == plan.possible
    assert name == "trim" or plan.possible == bool(sizes)
    if plan.possible:
        assert (plan.before, plan.after) == (change.before, change.after) == (change.before, chat.info().used)


@given(sizes=SIZES, window=st.integers(800, 4_000))
def test_a_summary_takes_no_more_than_its_plan_says(sizes: list[tuple[int, int]], window: int) -> None:
    chat = talked(sizes, window)
    plan = actions.plans(chat.session)["summarise"]
    change = chat.summarize(method="extractive")
    if not plan.possible:
        assert not change.changed
    elif change.changed:
        assert plan.after is not None
        assert chat.info().used <= plan.after
        assert chat.info().used < plan.before, "all turns were in view"


def crowded(url: str) -> Chat:
    chat = DIALECTS["completions"].chat(url, window=2_000)
    for n in range(6):
        said = [{"role": "user", "content": f"{n} " + "word " * 100}, {"role": "assistant", "content": "Yes. " * 50}]
        chat.add_messages(said)
    return chat


def test_a_summary_that_a_model_writes_ends_at_once_when_it_is_stopped() -> None:
    asked, gone = threading.Event(), threading.Event()

    def hang(handler: BaseHTTPRequestHandler, _: object) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.flush()
        asked.set()
        gone.wait(60)

    with serve(hang, path="") as (url, _):
        chat = crowded(url)
        stopper, before, said = Stopper(), chat.info(), list[Change]()
        writer = threading.Thread(target=lambda: said.append(summarized(chat, stopper)))
        writer.start()
        assert asked.wait(30)
        time.sleep(0.3)  # until the response is being read
        stopper.stop()
        writer.join(10)
        still = writer.is_alive()
        gone.set()
    assert not still
    assert [str(change) for change in said] == ["Stopped: no summary was written, and everything is as it was."]
    assert replace(chat.info(), unpriced=0) == before  # what is stopped while it is being sent may be billed


def test_a_summary_stopped_before_it_begins_asks_nobody() -> None:
    with serve(lambda *_: None, path="") as (url, seen):
        chat, stopper = crowded(url), Stopper()
        stopper.stop()
        assert "Stopped" in str(summarized(chat, stopper))
    assert seen == []


def test_half_of_the_limit_is_told_once_until_a_clear_with_what_makes_room(chat: Chat) -> None:
    chat.send("Count to three, then say why.")
    assert threshold_notice(chat.session) is None
    chat.send("word " * 300)
    told = str(threshold_notice(chat.session))
    assert "% full" in told
    assert "%chat summarise, trim or clear" in told
    assert threshold_notice(chat.session) is None
    chat.clear()
    chat.send("word " * 300)
    assert threshold_notice(chat.session) is not None


def test_a_send_that_nearly_fills_the_context_is_told_before_it_is_sent_and_once(chat: Chat) -> None:
    told: list[str | None] = []
    for words in (150, 150, 60, 5):
        send_prompt(chat.session, Prompt("word " * words), StreamListener(told.append))
    assert [line is not None for line in told] == [False, False, True, False]
    assert threshold_notice(chat.session) is None, "one line covers both"
    chat.clear()
    # a script reads it among the notices
    said = [chat.send("word " * words).notices for words in (150, 150, 60, 5)]
    assert [any("summarise, trim or clear" in line for line in lines) for lines in said] == [False, False, True, False]
