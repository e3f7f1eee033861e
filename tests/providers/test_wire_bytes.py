"""A request is byte for byte the one that the SDK's own method for a chat sends."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from typing import Any, NamedTuple

import pytest
from dialects import KEY, Dialect
from hypothesis import given
from hypothesis import strategies as st
from images import PIXEL
from server import running, send

from jupyter_ctx.conversation.messages import Attachment, Message
from jupyter_ctx.providers.base import AnswerSchema, Request
from jupyter_ctx.providers.request_body import encoded, in_prompt

PDF = b"%PDF-1.4 /Type /Page " + bytes(range(256))
IMAGE_FILE, PDF_FILE = Attachment("dot.png", "image/png", PIXEL), Attachment("paper.pdf", "application/pdf", PDF)
IMAGE, PAPER = (base64.b64encode(file.data).decode() for file in (IMAGE_FILE, PDF_FILE))
TEXTS = ("Grüße, 世界 👋", "<a href='x'>\t\"q\" \\n\u2028\x7f\x00\x1b</a>", "", "a\r\nb/c", "e\u0301 \U0010ffff\ufeff")
SAID = tuple(Message(("user", "assistant")[i % 2], text) for i, text in enumerate(TEXTS))  # type: ignore[arg-type]
PLAIN = Request(SAID, cache_key="k")
SYSTEM = Request((Message("system", "Be brief. «€»"), *SAID), 2_000, 0.3, cache_key="k", cache_ttl="1h")
FILES = Request(
    (*SAID[:4], Message("user", "What is that?", (IMAGE_FILE, PDF_FILE)), Message("user", "", (IMAGE_FILE,)))
)
TUNED = Request(SAID, 500, 1e-5, {"top_p": 0.25, "odd": {"ä": [1, None, True, 1e16, "\u2028"]}}, "k")
TUNED_GEMINI = Request(SAID, 500, 1e-5, {"top_p": 0.25, "http_options": {"extra_body": {"odd": {"ä": [1e16, None]}}}})
DATED = Request(SAID, 500, parameters={"since": datetime(2024, 2, 29, 12, 30)}, cache_key="k")
SCHEMA = AnswerSchema(
    "Movie",
    {"type": "object", "properties": {"title": {"type": "string", "description": "«é»"}}, "required": ["title"]},
)
STRICT = {**SCHEMA.json, "additionalProperties": False}
STRUCTURED = Request(SAID, 500, 0.3, {"seed": 1}, "k", schema=SCHEMA)
STRUCTURED_GEMINI = Request(SAID, 500, 0.3, cache_key="k", schema=SCHEMA)
SHARED = Request((Message("system", "Be brief."), Message("user", "Translate: é. And")), cache_key="k", shared=11)
CASES = {
    "dated": DATED,
    "structured": STRUCTURED,
    "shared": SHARED,
    "plain": PLAIN,
    "system": SYSTEM,
    "files": FILES,
    "tuned": TUNED,
}
ORDERED = {"openai": (3, 54), "anthropic": (2, 12)}  # older ones write the names of a body in another order


class Sent(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def recording(dialect: Dialect) -> Iterator[tuple[str, list[Sent]]]:
    """The address of a server, and what it is sent."""
    seen: list[Sent] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(Sent(self.path, dict(self.headers), body))
            send(self, 200, dialect.answer("Hi"), "text/event-stream")

        def log_message(self, *_: Any) -> None:
            pass

    with running(Handler) as url:
        yield url, seen


def completions(url: str, request: Request) -> None:
    import openai

    def content(message: Message) -> Any:
        kinds = {
            "image": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
            "pdf": {
                "type": "file",
                "file": {"filename": "paper.pdf", "file_data": f"data:application/pdf;base64,{PAPER}"},
            },
        }
        return parts(message, kinds, {"type": "text", "text": message.content})

    optional = {"max_tokens": request.max_tokens, "temperature": request.temperature}
    if request.schema:
        named = {"name": request.schema.name, "schema": request.schema.json, "strict": True}
        optional["response_format"] = {"type": "json_schema", "json_schema": named}
    messages = [{"role": m.role, "content": content(m)} for m in in_prompt(request).messages]
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, timeout=600.0) as client:
        client.chat.completions.create(
            model="m", messages=messages, stream=True, stream_options={"include_usage": True},
            extra_body=request.parameters, **present(optional),
        ).close()  # fmt: skip


def responses(url: str, request: Request) -> None:
    import openai

    def content(message: Message) -> Any:
        kinds = {
            "image": {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"},
            "pdf": {
                "type": "input_file", "filename": "paper.pdf", "file_data": f"data:application/pdf;base64,{PAPER}",
            },
        }  # fmt: skip
        return parts(message, kinds, {"type": "input_text", "text": message.content})

    optional = {
        "instructions": request.system or None, "max_output_tokens": request.max_tokens,
        "temperature": request.temperature, "prompt_cache_key": request.cache_key,
    }  # fmt: skip
    if request.schema:
        optional["text"] = {
            "format": {"type": "json_schema", "name": "Movie", "schema": in_strict_order(), "strict": True}
        }
    messages = [{"role": m.role, "content": content(m)} for m in request.said]
    with openai.OpenAI(base_url=f"{url}/openai/v1", api_key=KEY, timeout=600.0) as client:
        client.responses.create(
            model="m", input=messages, stream=True, store=False, extra_body=request.parameters, **present(optional)
        ).close()


def anthropic(url: str, request: Request) -> None:
    import anthropic as sdk

    def content(message: Message) -> Any:
        image = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        paper = {"type": "base64", "media_type": "application/pdf", "data": PAPER}
        kinds = {
            "image": {"type": "image", "source": image},
            "pdf": {"type": "document", "source": paper, "title": "paper.pdf"},
        }
        return parts(message, kinds, {"type": "text", "text": message.content})

    cache = {"type": "ephemeral", "ttl": request.cache_ttl} if request.cache_key else None
    messages = [{"role": m.role, "content": content(m)} for m in request.said]
    if request.shared:
        text, cut = request.said[-1].content, request.shared
        begin = {"type": "text", "text": text[:cut], "cache_control": cache}
        messages[-1]["content"], cache = [begin, {"type": "text", "text": text[cut:]}], None
    optional = {"system": request.system or None, "cache_control": cache}
    if request.schema:
        optional["output_config"] = {"format": {"schema": in_strict_order(), "type": "json_schema"}}
    with sdk.Anthropic(base_url=url, api_key=KEY, timeout=600.0) as client:
        client.messages.create(
            model="m", messages=messages, stream=True, max_tokens=request.max_tokens or 4_096, **present(optional),
            extra_body={**present({"temperature": request.temperature}), **request.parameters},
        ).close()  # fmt: skip


def google(url: str, request: Request) -> None:
    from google import genai

    def content(message: Message) -> Any:
        kinds = {
            "image": {"inline_data": {"mime_type": "image/png", "data": PIXEL}},
            "pdf": {"inline_data": {"mime_type": "application/pdf", "data": PDF}},
        }
        found = parts(message, kinds, {"text": message.content})
        return {
            "role": {"user": "user", "assistant": "model"}[message.role],
            "parts": [{"text": found}] if isinstance(found, str) else found,
        }

    options = genai.types.HttpOptions(base_url=url, timeout=600_000)
    client = genai.Client(vertexai=False, api_key=KEY, http_options=options)
    config = {
        "system_instruction": request.system or None, "max_output_tokens": request.max_tokens,
        "temperature": request.temperature, "automatic_continuation": False, **request.parameters,
    }  # fmt: skip
    if request.schema:
        config |= {"response_mime_type": "application/json", "response_json_schema": in_strict_order()}
    contents = [content(message) for message in request.said]
    list(client.models.generate_content_stream(model="m", contents=contents, config=config))  # type: ignore[arg-type]
    client.close()


BARE: dict[str, Callable[[str, Request], None]] = {
    "completions": completions, "responses": responses, "anthropic": anthropic, "google": google,
}  # fmt: skip


def parts(message: Message, kinds: dict[str, Any], text: dict[str, Any]) -> Any:
    """A message's text, or with files a list."""
    files = [kinds[file.kind] for file in message.attachments]
    return [*files, *([text] if message.content else [])] if files else message.content


def in_strict_order() -> dict[str, Any]:
    """The strict schema, its names in the order in which they are sent."""
    return {name: STRICT[name] for name in ("type", "properties", "required", "additionalProperties")}


def present(optional: dict[str, Any]) -> Any:
    return {name: value for name, value in optional.items() if value is not None}


def both(dialect: Dialect, request: Request) -> tuple[Sent, Sent]:
    """What the SDK sends, and what we do."""
    with recording(dialect) as (url, seen):
        BARE[dialect.name](url, request)
        chat = dialect.chat(url)
        provider = chat.models.target(chat.config, ask=False).provider
        assert [str(item) for item in provider.stream(request)][-1] == "Hi"
        provider.close()
    theirs, ours = seen
    return theirs, ours


def is_ordered(dialect: Dialect) -> bool:
    """Whether the SDK writes the names of a body in the order that we follow."""
    package = {"anthropic": "anthropic", "google": "google-genai"}.get(dialect.name, "openai")
    return tuple(map(int, version(package).split(".")[:2])) >= ORDERED.get(package, (0,))


@pytest.mark.parametrize("case", CASES)
def test_the_bytes_are_those_of_the_sdk(dialect: Dialect, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "")
    if (dialect.name, case) == ("google", "dated"):
        return  # its SDK takes the parameters that it knows, and no dates among them
    request = {("google", "tuned"): TUNED_GEMINI, ("google", "structured"): STRUCTURED_GEMINI}.get(
        (dialect.name, case), CASES[case]
    )
    theirs, ours = both(dialect, request)
    assert ours.path == theirs.path
    if is_ordered(dialect):
        assert ours.body == theirs.body
        assert len(ours.body) == int(ours.headers["Content-Length"])
    assert json.loads(ours.body) == json.loads(theirs.body)
    assert ours.headers == {**theirs.headers, "Accept-Encoding": "gzip"}  # whose size can be bounded


PARTS = st.lists(st.text(st.characters(exclude_categories=[])) | st.sampled_from(TEXTS), max_size=6)


@given(PARTS)
def test_any_text_is_written_as_the_sdks_write_it(texts: list[str]) -> None:
    from openai._utils._json import openapi_dumps

    body = {"model": "m", "messages": [{"role": "user", "content": text} for text in texts], "temperature": 1e-5}
    try:
        theirs = openapi_dumps(body)
    except UnicodeEncodeError:  # a lone surrogate
        with pytest.raises(UnicodeEncodeError):
            encoded(body)
    else:
        assert encoded(body) == theirs


def test_a_text_of_a_class_of_its_own_is_written_as_text() -> None:
    class Words(str):
        __slots__ = ()

    assert encoded({"messages": [Words("é")]}) == '{"messages":["é"]}'.encode()
