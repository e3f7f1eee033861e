"""What values show of themselves where IPython, marimo or another program asks them for it."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.lib.pretty import pretty

from jupyter_ctx import Chat
from jupyter_ctx.testing import ScriptedProvider

FORMS = {"text/html", "text/markdown", "text/plain"}


def talked(*answers: str) -> Chat:
    chat = Chat(provider=ScriptedProvider(answers), window=4_000)
    for number in range(len(answers)):
        chat.send(f"Question {number}?")
    return chat


@pytest.mark.parametrize(
    "read",
    [
        lambda chat: chat,
        lambda chat: chat.send("And?"),
        lambda chat: chat.info(),
        lambda chat: chat.preview("And?"),
        lambda chat: chat.trim(1),
        lambda chat: chat.history(),
        lambda chat: chat.usage(),
        lambda chat: chat.turns[0].usage,
        lambda chat: chat.map("Say {{ a }}", [{"a": 1}], progress=False),
    ],
)
def test_values_have_html_markdown_and_text(read: Any) -> None:
    value = read(talked("Blue.", "Red.", "Green."))
    shown, _ = DisplayFormatter().format(value)
    assert set(shown) >= FORMS
    assert all(shown[form].strip() for form in FORMS)
    assert "<div" not in shown["text/markdown"]
    assert value._repr_mimebundle_() == {form: shown[form] for form in FORMS}


def test_a_conversation_shows_its_turns_and_its_repr_stays_one_line() -> None:
    chat = talked("It is blue.", "Red <b>.")
    forms = chat._repr_mimebundle_()
    assert repr(chat) == pretty(chat) == forms["text/plain"] == "Chat('scripted/model', 2 turns)"
    assert "Question 1?" in forms["text/html"]
    assert "Red &lt;b&gt;." in forms["text/html"]
