"""The tables of a conversation: its turns, and what the next request sends of them."""

from __future__ import annotations

import pytest

from jupyter_ctx import Chat
from jupyter_ctx.magics.value_forms import forms_of


@pytest.fixture
def talked(chat: Chat) -> Chat:
    for n in (30, 10, 20):
        chat.add_messages([{"role": "user", "content": "word " * n}, {"role": "assistant", "content": f"<b>{n}</b>"}])
    return chat


def test_history_counts_the_turns_since_the_last_clear_and_those_that_are_left_out(talked: Chat) -> None:
    def caption() -> str:
        return forms_of(talked.history())["text/plain"].splitlines()[0]

    assert caption() == "3 turns"
    talked.clear()
    assert caption() == "No turns yet since the last clear; 3 before it are left out."
    talked.add_messages([{"role": "user", "content": "New."}, {"role": "assistant", "content": "Yes."}])
    assert caption() == "1 turn since the last clear; 3 before it are left out"
