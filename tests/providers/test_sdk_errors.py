"""Every exception class of the three SDKs is one of our errors by the time a user sees it.

The SDKs take seconds to import, so the first test that reads them does that: not every process that collects it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jupyter_ctx import (
    AuthenticationError,
    BudgetExceededError,
    ChatError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
)
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.adapter import Adapter, Endpoint
from jupyter_ctx.providers.anthropic import Anthropic
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.google import Google
from jupyter_ctx.providers.openai_chat import ChatCompletions
from jupyter_ctx.providers.openai_responses import Responses

ADAPTERS: dict[str, tuple[type[Adapter], ...]] = {
    "openai": (ChatCompletions, Responses), "anthropic": (Anthropic,), "google.genai": (Google,),
}  # fmt: skip
BY_STATUS = {
    400: ProviderError, 401: AuthenticationError, 402: BudgetExceededError, 403: AuthenticationError,
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
    r"(openai|anthropic)\.(_legacy)?_response\.\w+": "wrappers of raw responses: adapters ask for the library's own",
    r"anthropic\.(Credentials|IdentityTokenFile|Retryable)Error": "credentials in files, and tools",
    r"google\.genai\.errors\.(Function|UnknownFunction|UnsupportedFunction)\w+": "calls of functions",
    r"google\.genai\.errors\.ContinuationInterruptedError": "answers that are continued by the SDK",
    r"google\.genai\._common\.ExperimentalWarning": "it is a warning",
}
# parts of an SDK that no adapter calls: agents, tools, other clients, the interactions API; importing them takes long
UNUSED = re.compile(r"(openai|anthropic)\.lib\b.*|google\.genai\._(gaos|interactions).*")
DEFINES = re.compile(r"^class \w+\(.*(?:Error|Exception|Warning|Cancelled)", re.MULTILINE)
HELLO = Request((Message("user", "Hello."),))


def of_a_status() -> tuple[type[Exception], ...]:
    """What the SDKs raise for a response with a status that refuses."""
    import anthropic
    import openai
    from google.genai import errors

    return (openai.APIStatusError, anthropic.APIStatusError, errors.APIError)


def of_a_connection() -> tuple[type[Exception], ...]:
    """What the SDKs raise where there is no response."""
    import anthropic
    import openai

    return (openai.APIConnectionError, anthropic.APIConnectionError)


def modules(sdk: ModuleType) -> Iterator[ModuleType]:
    """The modules of an SDK that define an exception."""
    yield sdk
    folder = Path(str(sdk.__file__)).parent
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join((sdk.__name__, *(part for part in parts if part != "__init__")))
        if "_vendor" in parts or "tests" in parts or UNUSED.fullmatch(name):
            continue
        if not DEFINES.search(path.read_text("utf-8")):
            continue
        try:
            yield importlib.import_module(name)
        except ImportError:  # of a package that is not installed
            continue


@cache
def exceptions() -> dict[str, type[Exception]]:
    """All exception classes of the SDKs, by their names."""
    return {
        f"{value.__module__}.{value.__qualname__}": value
        for sdk in map(importlib.import_module, ADAPTERS)
        for module in modules(sdk)
        for value in list(vars(module).values())
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__.startswith(sdk.__name__)
        if not UNUSED.fullmatch(value.__module__)
    }


def status_of(kind: type[Exception]) -> int:
    """The HTTP status that a class stands for."""
    for each in kind.__mro__:
        found = re.search(r"\d{3}", str(vars(each).get("__annotations__", {}).get("status_code", "")))
        if found or each.__name__ in ("InternalServerError", "ServerError"):
            return int(found.group()) if found else 500
    return 400


def raised(kind: type[Exception], http: Any) -> tuple[Exception, int]:
    """An exception as its SDK makes it, with this HTTP library, and the status of its response; 0 without one."""
    request = http.Request("POST", "https://models.example/v1")
    if issubclass(kind, of_a_status()):
        status = status_of(kind)
        response = http.Response(status, json={"error": {"message": "Not now."}}, request=request)
        base: Any = next(each for each in of_a_status() if issubclass(kind, each))
        if base.__module__ == "google.genai.errors":
            of_google: Any = kind
            return of_google(status, {"error": {"message": "Not now."}}, response), status
        refused: Any = kind.__new__(kind)
        base.__init__(refused, "Not now.", response=response, body=None)
        return refused, status
    if issubclass(kind, of_a_connection()):
        error = kind(request=request)  # type: ignore[call-arg]
        error.__cause__ = http.ConnectError("no route")
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
    assert len(names) > 50


def test_each_is_a_refusal_a_broken_connection_or_explained() -> None:
    known = (*of_a_status(), *of_a_connection())
    other = {name for name in reachable() if not issubclass(exceptions()[name], known)}
    assert other == NO_ANSWER
    assert all(any(re.fullmatch(pattern, name) for name in exceptions()) for pattern in UNREACHABLE)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("sdk", ADAPTERS)
def test_each_becomes_one_of_our_errors_with_its_meaning(sdk: str) -> None:
    for name in [name for name in reachable() if name.startswith(f"{sdk}.")]:
        for adapter in ADAPTERS[sdk]:
            error, status = raised(exceptions()[name], adapter.sdk.http_library())
            ours = as_ours(adapter, error)
            if status:
                assert isinstance(ours, BY_STATUS[status]), (name, status, ours)
                assert "Not now" in str(ours), name
            elif isinstance(error, of_a_connection()):
                assert isinstance(ours, ProviderConnectionError), name
            else:
                cause = f"{adapter.sdk.installed} cannot read ({type(error).__name__})"
                assert str(ours) == f"there sent a response that {cause}.", name
