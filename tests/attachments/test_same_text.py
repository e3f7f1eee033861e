"""The same value becomes the same text in every kernel, whatever was learned of the model meanwhile."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pandas as pd
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat
from jupyter_ctx.session.attaching import attachment_of, attachment_of_error
from jupyter_ctx.storage.conversation_writer import close_stores

FRAME = pd.DataFrame({"n": range(12_000), "text": [f"row {n} größe" for n in range(12_000)]})
LIMIT = 9_000  # tokens that the server takes, which it does not say before


def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    """Count three times as many tokens as anybody would guess, and refuse what is too long."""
    size = sum(len(str(message["content"])) for message in request["messages"])
    if size > LIMIT:
        said = f"This model's maximum context length is {LIMIT} tokens. Your messages resulted in {size} tokens."
        send(handler, 400, json.dumps({"error": {"message": said, "code": "context_length_exceeded"}}))
    else:
        send(handler, 200, events(piece("Yes.", "stop"), usage(size, 2)), "text/event-stream")


def opened(path: Path, url: str) -> Chat:
    """The conversation as a new kernel opens it."""
    close_stores()
    return Chat("mine", base_url=url, store=path, name="x")


def test_a_table_is_the_same_text_whatever_was_learned_and_after_a_restart(tmp_path: Path) -> None:
    with serve(answer) as (url, seen):
        chat = opened(tmp_path / "x.db", url)
        first = attachment_of(chat.session, "df", FRAME)
        error = attachment_of_error(chat.session, ValueError("x"))
        for text in ("word " * 100, "123 größe λόγος " * 30):  # the meter learns
            chat.send(text)
        chat.send("sentence " * 800)
        chat.send("sentence " * 400)  # with the turns before it that is too much: the window is learned
        assert chat.info().source == "learned"
        chat.close()
        again = opened(tmp_path / "x.db", url)
        for now in (chat, again):
            assert attachment_of(now.session, "df", FRAME).text == first.text
            assert attachment_of_error(now.session, ValueError("x")).text == error.text
        assert first.said not in seen[-1]["messages"][-1]["content"]
        again.close()
