"""Structured answers on the wire: each provider's own way, and what is sent where there is none."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, heeding, provider_of, reply_to
from server import send, serve

from jupyter_ctx import Chat, Message, Provider, Reply
from jupyter_ctx.providers.base import AnswerSchema, Request

pytestmark = pytest.mark.wire

MOVIE = AnswerSchema(
    "Movie",
    {
        "type": "object",
        "properties": {"title": {"type": "string"}, "year": {"type": "integer"}, "sequel": {"type": "string"}},
        "required": ["title", "year"],
    },
)
OPEN = AnswerSchema("Open", {"type": "object", "additionalProperties": {"type": "integer"}})
ASKED = Request((Message("system", "Be brief."), Message("user", "Which film?")), schema=MOVIE)
PROSE = "Up, of 2009."


def tells(request: dict[str, Any]) -> bool:
    """Whether the prompt of a request asks for the schema."""
    return "matches this JSON Schema" in json.dumps(request)


def test_a_provider_is_sent_the_schema_in_its_own_way(dialect: Dialect) -> None:
    with heeding(dialect) as (chat, seen):
        reply = reply_to(provider_of(chat), ASKED)
    assert json.loads(reply.text)["title"] == "Up"
    (request,) = seen
    found = dialect.schema(request)
    assert found is not None
    assert found["properties"]["title"] == {"type": "string"}
    if dialect.name == "completions":
        assert found == MOVIE.json, "a server of the user's own"
        assert tells(request), "it constrains the answer, and does not tell the model"
    else:
        assert found["required"] == ["title", "year", "sequel"]
        assert found["additionalProperties"] is False
        assert not tells(request)


REFUSALS = (
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "output_config.format: Extra inputs are not permitted",
    "Invalid schema for response_format 'Movie': 'oneOf' is not permitted.",
    "JSON mode is not enabled for models/m",
    "The parameter `response_format.type` specified in the request are not valid: invalid value: `json_schema`",
)


@pytest.mark.parametrize("words", REFUSALS)
def test_a_server_that_refuses_the_schema_is_told_it_in_the_prompt_from_then_on(words: str) -> None:
    dialect = DIALECTS["anthropic"]
    with heeding(dialect, refuses=words) as (chat, seen):
        provider = provider_of(chat)
        assert reply_to(provider, ASKED).text == PROSE
        assert reply_to(provider, ASKED).text == PROSE
    refused, again, second = seen
    assert dialect.schema(refused) is not None
    for request in (again, second):
        assert dialect.schema(request) is None
        assert tells(request)


def test_requests_that_were_refused_at_once_are_all_sent_again() -> None:
    dialect = DIALECTS["google"]
    together = threading.Barrier(4, timeout=60)

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if dialect.schema(request) is None:
            send(handler, 200, dialect.answer(PROSE), "text/event-stream")
            return
        together.wait()
        send(handler, 400, json.dumps({"error": {"message": REFUSALS[0]}}))

    with serve(answer, path="") as (url, seen), ThreadPoolExecutor(4) as pool:
        provider = provider_of(dialect.chat(url))
        replies = list(pool.map(lambda _: reply_to(provider, ASKED).text, range(4)))
        provider.close()
    assert replies == [PROSE] * 4
    assert len(seen) == 8


def test_a_refusal_of_the_prompt_itself_is_not_answered_by_leaving_the_schema_out_for_ever() -> None:
    dialect = DIALECTS["responses"]

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, 400, json.dumps({"error": {"message": "this schema is none of my business"}}))

    with serve(answer, path="") as (url, seen), pytest.raises(Exception, match="none of my business"):
        reply_to(provider_of(dialect.chat(url)), ASKED)
    assert [dialect.schema(request) is None for request in seen] == [False, True]


def test_what_no_strict_mode_can_say_is_told_in_the_prompt(dialect: Dialect) -> None:
    with heeding(dialect) as (chat, seen):
        if dialect.name == "completions":
            return  # a server of the user's own is sent any schema
        reply_to(provider_of(chat), replace(ASKED, schema=OPEN))
    assert dialect.schema(seen[0]) is None
    assert tells(seen[0])


def test_a_hosted_server_is_sent_the_strict_form() -> None:
    from jupyter_ctx.providers.base import Endpoint
    from jupyter_ctx.providers.openai import ChatCompletions

    body = ChatCompletions(Endpoint("groq", "m", "https://127.0.0.1:9/v1", "key-123456")).body(ASKED)
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["title", "year", "sequel"]
    assert "matches this JSON Schema" in body["messages"][-1]["content"]


def test_other_fields_of_the_parameter_that_holds_the_schema_stay() -> None:
    for name, parameter in (
        ("responses", {"text": {"verbosity": "low"}}),
        ("anthropic", {"output_config": {"effort": "low"}}),
    ):
        with heeding(DIALECTS[name]) as (chat, seen):
            reply_to(provider_of(chat), replace(ASKED, parameters=parameter))
        (held,) = parameter
        assert seen[0][held]["format"]["type"] == "json_schema"
        assert parameter[held].items() <= seen[0][held].items()


class Own(Provider):
    """A provider of the user's own, which knows nothing of schemas."""

    model = "own/model"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def stream(self, request: Request) -> Any:
        self.requests.append(request)
        yield Reply('{"title": "Up", "year": 2009}')


def test_a_provider_that_takes_no_schema_finds_it_in_the_prompt() -> None:
    for takes in (False, True):
        own = Own()
        own.takes_schema = takes
        reply_to(provider_of(Chat(provider=own)), ASKED)
        assert own.requests[0].schema is MOVIE
        assert ("JSON Schema" in own.requests[0].messages[-1].content) is not takes


# prompt caches


ROWS = Request((Message("system", "Translate."), Message("user", "A long text.\n\nRow 1")), cache_key="k", shared=14)
MARK = {"type": "ephemeral", "ttl": "5m"}


def sent(request: Request) -> dict[str, Any]:
    from jupyter_ctx.providers.anthropic import Anthropic
    from jupyter_ctx.providers.base import Endpoint

    return Anthropic(Endpoint("anthropic", "m", api_key="key-123456")).body(request)


def test_rows_that_share_all_of_it_are_cached_whole() -> None:
    body = sent(replace(ROWS, shared=len(ROWS.messages[-1].content)))
    assert body["messages"][-1]["content"] == [
        {"type": "text", "text": "A long text.\n\nRow 1", "cache_control": MARK}
    ]  # fmt: skip


def test_rows_that_share_no_text_share_what_stands_before_it() -> None:
    body = sent(replace(ROWS, shared=0))
    assert body["system"] == [{"type": "text", "text": "Translate.", "cache_control": MARK}]
    assert body["messages"][-1]["content"] == "A long text.\n\nRow 1"
    few = (*ROWS.messages[:1], Message("user", "x"), Message("assistant", "y"), *ROWS.messages[1:])
    body = sent(replace(ROWS, messages=few, shared=0))
    assert body["messages"][1]["content"] == [{"type": "text", "text": "y", "cache_control": MARK}]
    assert body["system"] == "Translate."
    assert json.dumps(body).count("cache_control") == 1


def test_a_conversation_is_cached_as_a_whole_and_rows_without_a_key_not_at_all() -> None:
    assert sent(replace(ROWS, shared=None))["cache_control"] == MARK
    for request in (replace(ROWS, cache_key=None), replace(ROWS, cache_ttl=None)):
        assert "cache_control" not in json.dumps(sent(request))
