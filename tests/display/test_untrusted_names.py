"""Names that come out of files and from other notebooks are shown, and obeyed by no terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cells import Cells

from jupyter_ctx import Chat, get_chat
from jupyter_ctx.errors import ChatInterrupted, ProviderError

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


@pytest.mark.parametrize("error", [ProviderError(BAD), ChatInterrupted(BAD)], ids=["error", "interrupt"])
def test_an_error_shows_a_server_words_without_escapes(error: ProviderError | ChatInterrupted) -> None:
    (line,) = error._render_traceback_()
    assert harmless(line.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", ""))
