"""The body of a request, in the words of each API."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from dialects import Dialect, answering, provider_of, reply_to
from images import PIXEL

from jupyter_ctx.conversation.messages import Attachment, Message
from jupyter_ctx.providers.base import AnswerSchema, Request
from jupyter_ctx.providers.request_body import encoded

PDF = b"%PDF-1.4 /Type /Page " + bytes(range(256))
FILES = Attachment("dot.png", "image/png", PIXEL), Attachment("paper.pdf", "application/pdf", PDF)
IMAGE, PAPER = (base64.b64encode(file.data).decode() for file in FILES)
TEXT = "Grüße, 世界 👋 <a href='x'>\t\"q\" \\n\u2028\x7f"
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
STRICT = {**SCHEMA, "additionalProperties": False}
REQUEST = Request(
    (Message("system", "Be brief."), Message("user", TEXT), Message("assistant", "Yes."), Message("user", "?", FILES)),
    500, 0.3, cache_key="k", schema=AnswerSchema("Movie", SCHEMA),
)  # fmt: skip
BODIES: dict[str, dict[str, Any]] = {
    "completions": {"max_tokens": 500, "stream": True, "stream_options": {"include_usage": True}},
    "responses": {
        "instructions": "Be brief.", "max_output_tokens": 500, "store": False, "stream": True, "prompt_cache_key": "k",
        "text": {"format": {"type": "json_schema", "name": "Movie", "schema": STRICT, "strict": True}},
        "input": [
            {"role": "user", "content": TEXT}, {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": [
                {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"},
                {"type": "input_file", "filename": "paper.pdf", "file_data": f"data:application/pdf;base64,{PAPER}"},
                {"type": "input_text", "text": "?"},
            ]},
        ],
    },
    "anthropic": {
        "system": "Be brief.", "max_tokens": 500, "stream": True, "cache_control": {"type": "ephemeral", "ttl": "5m"},
        "output_config": {"format": {"type": "json_schema", "schema": STRICT}},
        "messages": [
            {"role": "user", "content": TEXT}, {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}},
                {"type": "document", "title": "paper.pdf",
                 "source": {"type": "base64", "media_type": "application/pdf", "data": PAPER}},
                {"type": "text", "text": "?"},
            ]},
        ],
    },
    "google": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": TEXT}]}, {"role": "model", "parts": [{"text": "Yes."}]},
            {"role": "user", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": IMAGE}},
                {"inlineData": {"mimeType": "application/pdf", "data": PAPER}}, {"text": "?"},
            ]},
        ],
    },
}  # fmt: skip


def body_of(dialect: Dialect, request: Request) -> dict[str, Any]:
    """What a server gets."""
    with answering(dialect, dialect.answer("Hi")) as (chat, seen):
        assert str(reply_to(provider_of(chat), request)) == "Hi"
    return seen[0]


def test_every_part_of_a_request_is_sent_in_the_words_of_its_api(dialect: Dialect) -> None:
    body = body_of(dialect, REQUEST)
    wanted = BODIES[dialect.name]
    assert {name: body[name] for name in wanted} == wanted
    if dialect.name == "google":
        settings = body["generationConfig"]
        assert (settings["maxOutputTokens"], settings["temperature"]) == (500, 0.3)
        assert settings["responseJsonSchema"] == STRICT
    else:
        assert (body["model"], body["temperature"]) == (
            dialect.chat("http://127.0.0.1:1").config.model.split("/")[-1],
            0.3,
        )
    if dialect.name == "completions":
        system, user, _, last = body["messages"]
        image, paper, text = last["content"]
        assert (system, user["content"]) == ({"role": "system", "content": "Be brief."}, TEXT)
        assert image == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        assert paper["file"] == {"filename": "paper.pdf", "file_data": f"data:application/pdf;base64,{PAPER}"}
        assert json.dumps(SCHEMA) in text["text"]  # many servers constrain the answer only
        assert body["response_format"]["json_schema"]["name"] == "Movie"


def test_what_a_json_holds_is_written_as_utf_8_and_a_date_as_iso_8601() -> None:
    body = {"text": TEXT, "number": 1e-5, "none": None}
    assert json.loads(encoded(body)) == body
    assert TEXT[:5].encode() in encoded(body)
    assert b"2024-02-29T12:30:00" in encoded({"since": datetime(2024, 2, 29, 12, 30)})
