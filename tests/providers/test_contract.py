"""What every adapter promises, each against the real small model."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from dialects import reply_to
from gemini import THINKS, gemini

from jupyter_ctx import (
    Chat,
    ContextOverflowError,
    MissingDependencyError,
    Reply,
)
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.adapter import Adapter
from jupyter_ctx.providers.anthropic import Anthropic
from jupyter_ctx.providers.base import Endpoint, Request, Thought
from jupyter_ctx.providers.google import Google
from jupyter_ctx.providers.local import LocalProvider, _serving
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.providers.openai import ChatCompletions, Responses
from jupyter_ctx.testing import check_provider

pytestmark = [pytest.mark.core, pytest.mark.wire]

WINDOW = 512
KEY = "key-of-the-gemini-server"
Make = Callable[..., Adapter]


@dataclass(frozen=True)
class Served:
    """An adapter's class, and where the model is that it talks to."""

    kind: type[Adapter]
    model: str
    base_url: str
    key: str

    def adapter(self, **other: str) -> Adapter:
        told = {"model": self.model, "base_url": self.base_url, "api_key": self.key, **other}
        return self.kind(Endpoint(self.kind.__name__, keys=("THE_KEY",), self_hosted=True, **told))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Served]]:
    """The local model serves three of the formats itself; Gemini's is put before it."""
    local = LocalProvider(f"smollm2@{WINDOW}")
    with _serving(local.spec) as server:
        key, address = server.at.api_key, server._server.listening_address
    with ExitStack() as stack:
        google = stack.enter_context(gemini(local, KEY, WINDOW))
        yield {
            "completions": Served(ChatCompletions, "local", f"{address}/v1", key),
            "responses": Served(Responses, "local", f"{address}/v1", key),
            "anthropic": Served(Anthropic, "local", address, key),
            "google": Served(Google, "small", google, KEY),
        }


@pytest.fixture(params=["completions", "responses", "anthropic", "google"])
def served(request: pytest.FixtureRequest, local_model: str, servers: dict[str, Served]) -> Served:
    return servers[request.param]


def asks(prompt: str = "Say hello.", **more: int) -> Request:
    return Request((Message("system", "Be brief."), Message("user", prompt)), **{"max_tokens": 12, **more})  # type: ignore[arg-type]


def test_every_adapter_keeps_the_public_contract(served: Served) -> None:
    check_provider(served.adapter(), asks(), too_long=asks("word " * 2_000))


def test_the_local_model_keeps_the_public_contract(real_model: str) -> None:
    check_provider(get_provider(real_model), asks(), too_long=asks("word " * 2_000))


@pytest.mark.parametrize(
    ("name", "asked"),
    [("completions", {"grammar": THINKS}), ("google", {"thinking_config": {"include_thoughts": True}})],
)
def test_what_a_model_thinks_comes_before_its_text_and_apart(
    name: str, asked: dict[str, object], local_model: str, servers: dict[str, Served]
) -> None:
    request = Request((Message("user", "Say hello."),), max_tokens=60, parameters=asked)
    *pieces, reply = servers[name].adapter().stream(request)
    thoughts = [piece.text for piece in pieces if isinstance(piece, Thought)]
    assert isinstance(reply, Reply)
    assert len(thoughts) > 1
    assert pieces[len(thoughts) :] == [piece for piece in pieces if isinstance(piece, str)]
    assert ("".join(thoughts), "".join(pieces[len(thoughts) :])) == (reply.thinking, reply.text)
    assert re.fullmatch("[a-z]+ [a-z]+", reply.thinking)
    assert re.fullmatch("[A-Z][a-z]+[.]", reply.text)
    assert 0 < reply.usage.reasoning_tokens < reply.usage.output_tokens  # type: ignore[union-attr]


def test_a_request_is_counted_as_it_is_reported(served: Served) -> None:
    request = asks("How far is it to the sea?")
    if served.kind is Google:  # its system text is counted as a message
        request = Request(request.said, max_tokens=12)
    assert served.adapter().count_tokens(request) == reply_to(served.adapter(), request).usage.input_tokens  # type: ignore[union-attr]


def test_what_cannot_be_counted_is_no_error(served: Served) -> None:
    assert served.adapter(model="small", base_url="http://127.0.0.1:1").count_tokens(asks()) is None
    assert served.adapter(api_key="wrong").count_tokens(asks()) is None


def test_an_oversize_prompt_is_an_overflow_with_its_numbers(served: Served) -> None:
    with pytest.raises(ContextOverflowError) as raised:
        reply_to(served.adapter(), asks("word " * 2_000))
    overflow = raised.value.overflow
    assert overflow is not None
    assert overflow.context_window == WINDOW
    assert overflow.input_tokens is not None
    assert 2_000 < overflow.input_tokens < 2_100


def test_the_models_are_listed(served: Served) -> None:
    (card,) = served.adapter().cards()
    assert card.id == served.model
    window = card.served or card.stated
    assert window is not None
    assert window.tokens == WINDOW


def test_vertex_without_google_s_package_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "1")
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'jupyter_ctx\[google\]'"):
        Chat("google/m").send("x")


def test_a_name_finds_its_provider_and_an_address_its_way_of_speaking(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {
        "openai/gpt-5.2": Responses, "gpt-4o": Responses, "o4-mini": Responses, "ft:gpt-4o-mini:org::id": Responses,
        "claude-sonnet-5": Anthropic, "anthropic/x": Anthropic, "gemini-3.8-flash": Google, "models/gemini-4": Google,
        "groq/llama-3.3-70b-versatile": ChatCompletions, "openrouter/anthropic/claude-sonnet-5": ChatCompletions,
    }  # fmt: skip
    assert {name: type(get_provider(name)) for name in kinds} == kinds
    url = "http://127.0.0.1:9/v1"
    elsewhere = {"openai/x": ChatCompletions, "x": ChatCompletions, "anthropic/x": Anthropic, "google/x": Google}
    assert {name: type(get_provider(name, base_url=url)) for name in elsewhere} == elsewhere
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert type(get_provider("gpt-4o")) is ChatCompletions
