"""What a button says before it is pressed is what it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import Chat
from jupyter_ctx.session import actions
from jupyter_ctx.session.complete import StreamListener
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.send import send_prompt, threshold_notice

SIZES = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=0, max_size=12)


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
