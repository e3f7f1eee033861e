"""How many more turns like the newest ones fit, as a chat tells it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx import Chat
from jupyter_ctx.display.status_card import Status, status_text
from jupyter_ctx.display.widgets.gauge import gauge_line
from jupyter_ctx.testing import ScriptedProvider

PROMPT, REPLY = "What does the wind do today? " * 6, "It blows steadily from the west. " * 8


def talked(turns: int, **given: Any) -> Chat:
    given = {"window": 4_000, "max_tokens": 500, **given}
    chat = Chat(provider=ScriptedProvider(REPLY), **given)
    for _ in range(turns):
        chat.send(PROMPT)
    return chat


def sent_whole(chat: Chat, most: int = 200) -> int:
    """How many more equal turns were sent before one left something out."""
    for count in range(most):
        left = chat.info().left_out
        chat.send(PROMPT)
        if chat.info().left_out != left:
            return count
    raise AssertionError("nothing was left out")


@pytest.mark.parametrize("given", [{}, {"compact_at": 0.7}, {"max_turns": 9}, {"token_counting": "provider"}])
@pytest.mark.parametrize("turns", [2, 5, 8])
def test_as_many_more_equal_turns_are_sent_whole_as_it_says(turns: int, given: dict[str, Any]) -> None:
    chat = talked(turns, **given)
    said = chat.info().more_turns
    assert said is not None
    assert abs(sent_whole(chat) - said) <= 1  # an estimate may be a token off at the very edge


@pytest.mark.parametrize("turns", [0, 1])
def test_nothing_is_said_of_none_or_one_turn(turns: int) -> None:
    chat = talked(turns)
    assert chat.info().more_turns is None
    assert "more turn" not in gauge_line(chat.info())


def test_nothing_is_said_where_the_window_is_only_assumed() -> None:
    chat = talked(3, window=None)
    assert chat.info().source == "assumed"
    assert chat.info().more_turns is None


def test_status_and_gauge_tell_the_number() -> None:
    chat = talked(4)
    more = chat.info().more_turns
    assert f"(about {more} more turns like these fit)" in status_text(Status(chat.info()))
    assert gauge_line(chat.info()).endswith(f" · about {more} more turns like these fit")


def test_turns_of_different_lengths_count_as_they_do_on_average() -> None:
    chat = talked(0, window=40_000)
    for number in range(30):
        chat.send(PROMPT * (20 if number % 10 == 9 else 1))
    said = chat.info().more_turns
    for more in range(500):
        if chat.info().left_out:
            break
        chat.send(PROMPT * (20 if more % 10 == 9 else 1))
    assert said is not None
    assert abs(said - more) <= 0.1 * more + 1
