"""Every exception class of the three SDKs is one of our errors by the time a user sees it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors

from jupyter_ctx import (
    AuthenticationError,
    ChatError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    Request,
)
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.adapter import Adapter, Endpoint
from jupyter_ctx.providers.anthropic import Anthropic
from jupyter_ctx.providers.google import Google
from jupyter_ctx.providers.openai_chat import ChatCompletions
from jupyter_ctx.providers.openai_responses import Responses

ADAPTERS: dict[str, tuple[type[Adapter], ...]] = {
    "openai": (ChatCompletions, Responses), "anthropic": (Anthropic,), "google.genai": (Google,),
}  # fmt: skip
OF_A_STATUS = (openai.APIStatusError, anthropic.APIStatusError, errors.APIError)
OF_A_CONNECTION = (openai.APIConnectionError, anthropic.APIConnectionError)
BY_STATUS = {
    400: ProviderError, 401: AuthenticationError, 402: ProviderError, 403: AuthenticationError,
    404: ModelNotFoundError, 408: ProviderError, 409: ProviderError, 412: ProviderError, 413: ChatError,
    422: ProviderError, 429: RateLimitError, 431: ProviderError, 499: ProviderError, 500: ProviderError,
    501: ProviderError, 503: ProviderError, 504: ProviderError, 529: ProviderError,
}  # fmt: skip
NO_ANSWER = {  # raised for an answer, or a key, that the SDK cannot use: reported as such, with the class's name
    "openai.OpenAIError", "openai.APIError", "openai.APIResponseValidationError",
    "anthropic.AnthropicError", "anthropic.APIError", "anthropic.APIResponseValidationError",
    "google.genai.errors.UnknownApiResponseError", "google.genai._api_client.EphemeralTokenAPIKeyError",
}  # fmt: skip
UNREACHABLE = {  # what part of an SDK raises them, which no adapter calls
    r"openai\.(ContentFilter|Length)FinishReasonError": "parsing of answers into types",
    r"(openai|anthropic)\.(Invalid|API)Webhook\w+": "webhooks",
    r"openai\.WebSocket\w+": "the realtime API",
    r"openai\._AmbiguousModuleClientUsageError": "the client that is a module",
    r"openai\.(_exceptions\.SubjectTokenProviderError|auth\.).*": "workload identity",
    r"(openai|anthropic)\.(lib\.)?_extras\..*": "optional packages for audio and tables",
    r"(openai|anthropic)\.(_legacy)?_response\.\w+": "wrappers of raw responses: adapters ask for httpx2's own",
    r"openai\.lib\..*": "agents, browsers, websockets, other clients, and names of older versions",
    r"anthropic\.lib\..*": "tools, credentials in files, and other clients",
    r"anthropic\.(Credentials|IdentityTokenFile|Retryable)Error": "credentials in files, and tools",
    r"google\.genai\._(gaos|interactions|interactions_continuation)\..*": "the interactions API",
    r"google\.genai\.errors\.(Function|UnknownFunction|UnsupportedFunction)\w+": "calls of functions",
    r"google\.genai\.errors\.ContinuationInterruptedError": "answers that are continued by the SDK",
    r"google\.genai\._common\.ExperimentalWarning": "it is a warning",
}
DEFINES = re.compile(r"^class \w+\(.*(?:Error|Exception|Warning|Cancelled)", re.MULTILINE)
HELLO = Request((Message("user", "Hello."),))


def modules(sdk: ModuleType) -> Iterator[ModuleType]:
    """The modules of an SDK that define an exception."""
    yield sdk
    folder = Path(str(sdk.__file__)).parent
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        if "_vendor" in parts or "tests" in parts or not DEFINES.search(path.read_text("utf-8")):
            continue
        name = ".".join((sdk.__name__, *(part for part in parts if part != "__init__")))
        try:
            yield importlib.import_module(name)
        except ImportError:  # of a package that is not installed
            continue


@cache
def exceptions() -> dict[str, type[Exception]]:
    """All exception classes of the SDKs, by their names."""
    return {
        f"{value.__module__}.{value.__qualname__}": value
        for sdk in (openai, anthropic, genai)
        for module in modules(sdk)
        for value in list(vars(module).values())
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__.startswith(sdk.__name__)
    }


def status_of(kind: type[Exception]) -> int:
    """The HTTP status that a class stands for."""
    for each in kind.__mro__:
        found = re.search(r"\d{3}", str(vars(each).get("__annotations__", {}).get("status_code", "")))
        if found or each.__name__ in ("InternalServerError", "ServerError"):
            return int(found.group()) if found else 500
    return 400


def raised(kind: type[Exception]) -> tuple[Exception, int]:
    """An exception as its SDK makes it, and the status of the response that it carries; 0 without one."""
    request = httpx2.Request("POST", "https://models.example/v1")
    if issubclass(kind, OF_A_STATUS):
        status = status_of(kind)
        response = httpx2.Response(status, json={"error": {"message": "Not now."}}, request=request)
        if issubclass(kind, errors.APIError):
            return kind(status, {"error": {"message": "Not now."}}, response), status
        refused: Any = kind.__new__(kind)
        base = openai.APIStatusError if issubclass(kind, openai.APIStatusError) else anthropic.APIStatusError
        base.__init__(refused, "Not now.", response=response, body=None)
        return refused, status
    if issubclass(kind, OF_A_CONNECTION):
        error = kind(request=request)  # type: ignore[call-arg]
        error.__cause__ = httpx2.ConnectError("no route")
        return error, 0
    error = kind.__new__(kind)
    Exception.__init__(error, "Not now.")
    return error, 0


def as_ours(adapter: type[Adapter], error: Exception) -> ChatError:
    """What a user gets to see where an adapter's SDK raises this."""

    class Raising(adapter):  # type: ignore[misc, valid-type]
        def _start(self, client: Any, request: Request) -> Any:
            raise error

    with pytest.raises(ChatError) as seen:
        list(Raising(Endpoint("there", "m", api_key="some-key")).stream(HELLO))
    return seen.value


def reachable() -> list[str]:
    return sorted(name for name in exceptions() if not any(re.fullmatch(pattern, name) for pattern in UNREACHABLE))


def test_the_sdks_define_many() -> None:
    names = exceptions()
    assert {"openai.RateLimitError", "anthropic.OverloadedError", "google.genai.errors.ClientError"} <= set(names)
    assert len(names) > 100


def test_each_is_a_refusal_a_broken_connection_or_explained() -> None:
    known = (*OF_A_STATUS, *OF_A_CONNECTION)
    other = {name for name in reachable() if not issubclass(exceptions()[name], known)}
    assert other == NO_ANSWER
    assert all(any(re.fullmatch(pattern, name) for name in exceptions()) for pattern in UNREACHABLE)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("sdk", ADAPTERS)
def test_each_becomes_one_of_our_errors_with_its_meaning(sdk: str) -> None:
    for name in [name for name in reachable() if name.startswith(f"{sdk}.")]:
        for adapter in ADAPTERS[sdk]:
            error, status = raised(exceptions()[name])
            ours = as_ours(adapter, error)
            if status:
                assert isinstance(ours, BY_STATUS[status]), (name, status, ours)
                assert "Not now" in str(ours), name
            elif isinstance(error, OF_A_CONNECTION):
                assert isinstance(ours, ProviderConnectionError), name
            else:
                assert str(ours) == f"there sent a response that cannot be read ({type(error).__name__}).", name
