"""What comes out of files, from servers and other notebooks is shown, and obeyed by no page and no terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from hostile import ANSWERS, NAMES
from html_pages import Seen
from markdown_it import MarkdownIt

from jupyter_ctx import Chat, get_chat
from jupyter_ctx.errors import ChatInterrupted, ProviderError
from jupyter_ctx.magics.answer_parts import forms_of

BAD = "evil\x1b[2J\x9b31m\u202egpj.\u2066x\r\x07\x85"
SEEN = "evil"
OBEYED = ("\x1b", "\x9b", "\x07", "\x85", "\u202e", "\u2066", "\r")


def harmless(text: str) -> bool:
    return SEEN in text and not any(sign in text for sign in OBEYED)


@pytest.fixture
def imported(cells: Cells, tmp_path: Path) -> Cells:
    """A conversation out of a file whose names, prompts and answers have escapes in them."""
    chat, path = Chat("openai/gpt-4o"), tmp_path / "talk.json"
    chat.add_messages([{"role": role, "content": "evil"} for role in ("user", "assistant")])
    chat.export(path)
    written = path.read_text("utf-8").replace("evil", json.dumps(BAD)[1:-1])
    path.write_text(written.replace('"model": ""', f'"model": {json.dumps(BAD)}'), "utf-8")
    cells.run("%chat use openai/gpt-4o")
    cells.run(f"%chat import {path}")
    return cells


def test_what_a_file_says_and_how_a_model_is_called_is_shown_without_escapes(imported: Cells) -> None:
    for line in ("%chat history", "%chat preview"):
        assert harmless(imported.run(line)), line
    get_chat().configure(model=f"openai/{BAD}", window=2_000)
    for line in ("%chat", "%chat status", "%chat config model", "%chat use -t 0.5"):
        assert harmless(imported.run(line)), line


def test_hostile_texts_and_names_are_text_in_every_table_and_the_gauge() -> None:
    chat = Chat("openai/gpt-4o")
    said = [re.sub("[\0\ud800-\udfff]", "", text) for text in (*NAMES.values(), *ANSWERS.values()) if len(text) < 5_000]
    chat.add_messages([{"role": role, "content": text} for text in said for role in ("user", "assistant")])
    values: list[Any] = [chat, chat.history(), chat.preview("Why?")]
    for name in NAMES.values():
        chat.configure(model=f"openai/{name}", window=1_000_000)
        values.append(chat.info())
    for forms in map(forms_of, values):
        page = Seen(forms["text/html"])
        assert page.tags <= {"caption", "div", "span", "table", "tbody", "td", "th", "thead", "tr"}
        assert {name for _, name, _ in page.attributes} <= {"class", "style", "tabindex", "title"}
        assert page.odd == []
        assert Seen(MarkdownIt("commonmark").render(forms["text/markdown"])).tags <= {"pre", "code", "p"}


@pytest.mark.parametrize("error", [ProviderError(BAD), ChatInterrupted(BAD)], ids=["error", "interrupt"])
def test_an_error_shows_a_server_words_without_escapes(error: ProviderError | ChatInterrupted) -> None:
    (line,) = error._render_traceback_()
    assert harmless(line.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", ""))
