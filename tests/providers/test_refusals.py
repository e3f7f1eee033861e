"""Refusals: what is asked again by itself, and what never passes; and who is asked, with which key."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from dialects import DIALECTS, KEY, Dialect
from refusal_wordings import PAID, UNPAID
from server import Quiet, hang_up, running, send, serve

from jupyter_ctx import (
    AuthenticationError,
    BudgetExceededError,
    Chat,
    ChatError,
    ModelNotFoundError,
    ProviderError,
    RateLimitError,
)
from jupyter_ctx.providers import adapter
from jupyter_ctx.providers.base import Endpoint
from jupyter_ctx.providers.error_mapping import Refusal
from jupyter_ctx.providers.lookup import clean_key, get_provider

pytestmark = pytest.mark.usefixtures("at_once")
STREAM, JSON, HTML = "text/event-stream", "application/json", "text/html"
Step = Callable[[BaseHTTPRequestHandler], None]
COMPLETIONS = DIALECTS["completions"]
HERE = Endpoint("here", "m")


class Steps:
    """A server that does one thing after the other, the last one ever after."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.seen: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        (self.steps.pop(0) if len(self.steps) > 1 else self.steps[0])(handler)

    def does(self, dialect: Dialect, *steps: Step) -> Chat:
        self.steps = list(steps)
        self.seen.clear()
        return dialect.chat(self.url)


@pytest.fixture(scope="module")
def server() -> Iterator[Steps]:
    steps = Steps()
    with serve(steps.answer, path="") as (steps.url, steps.seen):
        yield steps


def refuses(status: int, body: Any, kind: str = JSON, **headers: str) -> Step:
    text = body if isinstance(body, str) else json.dumps(body)
    return lambda handler: send(handler, status, text, kind, **headers)


def answers(dialect: Dialect) -> Step:
    return lambda handler: send(handler, 200, dialect.answer("Hi"), STREAM)


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


# limits on requests


def info(delay: str) -> dict[str, Any]:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return error("Resource exhausted.", code=429, status="RESOURCE_EXHAUSTED", details=details)


TIMES: dict[str, tuple[Any, dict[str, str], float]] = {
    "seconds": (error("slow"), {"retry-after": "7"}, 7),
    "part of a second": (error("slow"), {"retry-after": "0.25"}, 0.25),
    "RetryInfo": (info("34.07s"), {}, 34.07),
    "a field": ({"message": "slow", "retry_after": 12}, {}, 12),
    "in words": (error("Rate limit reached. Please try again in 2s. Visit the page."), {}, 2),
    "in hours": (error("Limit 100000, Used 99000, Requested 5000. Please try again in 1h2m3s."), {}, 3_723),
    "in a long word": (error("Please retry after 1 minute and 5 seconds."), {}, 65),
    "text": ("Too many requests: try again in 9 s", {}, 9),
}  # fmt: skip


@pytest.mark.parametrize("form", TIMES)
def test_how_long_a_limit_lasts_is_read_in_every_form(form: str) -> None:
    body, headers, seconds = TIMES[form]
    failure = Refusal(429, body, headers).error(HERE)
    assert isinstance(failure, RateLimitError)
    assert failure.retry_after == pytest.approx(seconds)
    assert f"{seconds:.0f} s" in str(failure) or seconds < 1 or "." in str(seconds)


@pytest.mark.parametrize(
    "body", ["slow", error("slow", retry_after="soon"), error("retry in 5 apples"), error("wait 1 model"), [], 5]
)
def test_what_names_no_time_has_none(body: Any) -> None:
    for said in ("", "soon", "1e9", "-5", "Wed, 99 Nov"):
        assert Refusal(429, body, {"retry-after": said}).retry_after is None


WAITS: dict[str, Step] = {
    "RetryInfo": refuses(429, info("0.02s")),
    "words": refuses(429, error("Rate limit reached: please try again in 20ms.")),
    "nothing": refuses(429, error("slow down")),
    "nothing at all": refuses(429, ""),
}


@pytest.mark.parametrize("form", WAITS)
def test_a_short_limit_is_waited_for(form: str, server: Steps) -> None:
    assert server.does(COMPLETIONS, WAITS[form], answers(COMPLETIONS)).send("x").text == "Hi"
    assert len(server.seen) == 2


def test_a_limit_that_names_no_time_is_waited_for_twice(dialect: Dialect, server: Steps) -> None:
    with pytest.raises(RateLimitError, match="try again later") as raised:
        server.does(dialect, refuses(429, error("slow down"))).send("x")
    assert raised.value.retry_after is None
    assert len(server.seen) == 3


def test_a_long_limit_is_not_waited_for(server: Steps) -> None:
    with pytest.raises(RateLimitError, match="try again in 63 s"):
        server.does(COMPLETIONS, refuses(429, error("Please try again in 1m3s."))).send("x")
    assert len(server.seen) == 1


LARGE = "Request too large for m in organization org-1 on tokens per min (TPM): Limit 30000, Requested 42819. The input"
SPENT = "Budget has been exceeded! Current cost: 5.003, Max budget: 5.0"
OLDER = "Authentication Error, ExceededTokenBudget: Current spend for token: 5.003; Max Budget for Token: 5.0"
MODELS_OWN = "LiteLLM Virtual Key: sk-..., key_alias: class, exceeded budget for model=gpt-5.2"
NEVER: dict[str, tuple[int, Any, str]] = {
    "too many tokens a minute": (429, error(LARGE, type="tokens", code="rate_limit_exceeded"), "42,819.*shorter"),
    "Groq's": (413, error(LARGE, type="tokens", code="rate_limit_exceeded"), "30,000.*higher limit"),
    "no quota": (
        429, error("You exceeded your current quota, please check your plan and billing details.",
                   type="insufficient_quota", code="insufficient_quota"), "Asking again.*billing",
    ),
    "no quota, by its code": (429, error("no", code="insufficient_quota"), "Asking again.*billing"),
    "no billing": (429, error("Your account is not active.", code="billing_not_active"), "Asking again"),
    "a free tier without it": (
        429, error("You exceeded your current quota. * Quota exceeded for metric: free_tier_requests, limit: 0, "
                   "model: gemini-pro Please retry in 3s."), "Asking again",
    ),
    "no balance": (402, error("Insufficient Balance"), "Asking again.*billing"),
    "no balance, with a 400": (400, error("Your credit balance is too low to access the API."), "Asking again"),
    **{f"LiteLLM's spent budget, with a {status}": (status, error(SPENT, type="budget_exceeded", code=str(status)),
                                                    "Asking again.*billing") for status in (400, 422, 429)},
    "LiteLLM's, of a token": (400, error(OLDER, type="auth_error", code="400"), "Asking again"),
    "LiteLLM's, of a model": (429, error(MODELS_OWN, type="budget_exceeded"), "Asking again"),
    "OpenRouter's credits": (402, error("Add more at openrouter.ai/settings/credits", code=402), "Asking again"),
    "OpenRouter's key": (403, error("Key limit exceeded (weekly limit). Manage it in your settings.", code=403),
                         "Asking again"),
}  # fmt: skip


@pytest.mark.parametrize("form", NEVER)
def test_what_never_passes_is_not_asked_again_and_says_what_to_do(form: str, server: Steps) -> None:
    status, body, words = NEVER[form]
    kind = RateLimitError if LARGE in str(body) else BudgetExceededError
    with pytest.raises(kind, match=words) as raised:
        server.does(COMPLETIONS, refuses(status, body)).send("x")
    assert "try again later" not in str(raised.value).lower()
    assert getattr(raised.value, "status", status) == status
    assert len(server.seen) == 1


@pytest.mark.parametrize(("status", "text"), UNPAID)
def test_money_that_is_out_is_known_by_the_class_of_its_words(status: int, text: str) -> None:
    assert isinstance(Refusal(status, error(text)).error(HERE), BudgetExceededError)


@pytest.mark.parametrize(("status", "text"), PAID)
def test_a_refusal_that_only_names_money_is_another(status: int, text: str) -> None:
    assert not isinstance(Refusal(status, error(text)).error(HERE), BudgetExceededError)


def test_a_request_above_the_limit_of_a_minute_names_a_setting_that_holds(server: Steps) -> None:
    with pytest.raises(RateLimitError) as raised:
        server.does(COMPLETIONS, refuses(429, error(LARGE))).send("x")
    named = re.search(r"config compact_at (\d+)", str(raised.value))
    assert named is not None
    chat = Chat("m", base_url=server.url)
    chat.configure(compact_at=named[1])
    assert chat.config.compact_at == 24_000


def test_closing_ends_the_wait_before_a_retry(server: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "DELAYS", (5.0, 5.0))
    chat = server.does(COMPLETIONS, refuses(503, "busy"), answers(COMPLETIONS))
    closing = threading.Timer(0.3, chat.models.close)
    closing.start()
    began = time.monotonic()
    with pytest.raises(ProviderError):
        chat.send("x")
    assert time.monotonic() - began < 3
    assert len(server.seen) == 1
    assert chat.send("x").text == "Hi"


@pytest.mark.parametrize("budget", ["thinking.budget_tokens: exceeded budget", "Reasoning budget exceeded: 32768"])
def test_a_budget_of_thoughts_is_no_money(server: Steps, budget: str) -> None:
    with pytest.raises(ProviderError, match=budget):
        server.does(COMPLETIONS, refuses(400, error(budget))).send("x")


BY_STATUS: dict[type[ChatError], tuple[int, ...]] = {
    AuthenticationError: (401, 403), BudgetExceededError: (402,), ModelNotFoundError: (404,), RateLimitError: (429,),
    ProviderError: (400, 405, 408, 409, 412, 422, 431, 499, 500, 501, 502, 503, 504, 529),
}  # fmt: skip


def test_each_status_has_its_error() -> None:
    for kind, statuses in BY_STATUS.items():
        assert {type(Refusal(status, error("Not now.")).error(HERE)) for status in statuses} == {kind}


# servers that are busy


BUSY: dict[str, Step] = {
    "overloaded": refuses(
        200, 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"b"}}\n\n', STREAM
    ),
    "502": refuses(200, 'data: {"error": {"message": "Bad gateway", "code": 502}}\n\n', STREAM),
    "server_error": refuses(200, 'data: {"type":"error","error":{"type":"server_error","message":"b"}}\n\n', STREAM),
    "a flat server_error": refuses(200, 'data: {"type":"error","code":"server_error","message":"b"}\n\n', STREAM),
    "unavailable": refuses(200, error("b", status="UNAVAILABLE")),
    "a type of another spelling": refuses(200, error("b", type="InternalServerError", code=None)),
    "529": refuses(529, error("b")),
    "a connection that breaks": hang_up,
}  # fmt: skip


@pytest.mark.parametrize("form", BUSY)
def test_a_server_that_is_busy_is_asked_again_in_whatever_form_it_says_so(form: str, server: Steps) -> None:
    assert server.does(COMPLETIONS, BUSY[form], BUSY[form], answers(COMPLETIONS)).send("x").text == "Hi"
    assert len(server.seen) == 3


# keys and addresses


def test_a_prompt_is_not_taken_to_another_address(dialect: Dialect, server: Steps) -> None:
    with pytest.raises(ProviderError, match="redirects to http://localhost"):
        server.does(dialect, refuses(307, "", Location="http://localhost:9/elsewhere")).send("x")
    assert len(server.seen) == 1


def test_a_redirect_that_would_lose_the_prompt_names_the_right_address(server: Steps) -> None:
    moved = refuses(301, "", Location="https://models.example/v1?key=secret")
    with pytest.raises(ProviderError, match=r"redirects to https://models\.example/v1") as raised:
        server.does(COMPLETIONS, moved).send("x")
    assert "secret" not in str(raised.value)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "key", [f"{KEY}\n", f" {KEY} ", f"{KEY[:9]}\n{KEY[9:]}", f"'{KEY}'", f"Bearer {KEY}", f"\ufeff{KEY}"]
)
def test_what_gets_into_a_key_with_copying_is_left_out(
    key: str, server: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.does(COMPLETIONS, answers(COMPLETIONS))
    Chat("m", base_url=f"{server.url}/v1", api_key=key).send("x")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    Chat("openai/m").send("x")
    typed = Chat("openai/n")
    typed.models.set_key("openai", key)
    typed.send("x")
    assert [request["authorization"] for request in server.seen] == [f"Bearer {KEY}"] * 3


def test_a_key_has_no_characters_that_cannot_be_sent() -> None:
    assert clean_key(" Bearer “sk-abc…\n”") == "sk-abc"
    assert clean_key("ключ") == ""


class OneAddress(Quiet):
    """A server that has one path only."""

    path_served = "/v1/chat/completions"
    missing: Step = staticmethod(refuses(404, {"detail": "Not Found"}))

    def do_GET(self) -> None:
        send(self, 404, "{}")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == self.path_served:
            send(self, 200, COMPLETIONS.answer("Hi"), STREAM)
        else:
            type(self).missing(self)


TYPED = (
    "", "/", "/v1", "/v1/", "/v1//", "/v1/chat/completions", "/v1/chat/completions/", "/chat/completions", "/v1/models",
)  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_an_address_is_understood_as_people_type_it(typed: str) -> None:
    with running(OneAddress) as url:
        chat = Chat("m", base_url=url + typed)
        assert [chat.send("x").text for _ in range(2)] == ["Hi", "Hi"]


def test_an_address_at_which_nothing_is_asks_whether_it_is_right() -> None:
    handler = type("Handler", (OneAddress,), {"path_served": "/elsewhere"})
    with running(handler) as url:
        chat = Chat("m", base_url=f"{url}/api")
        for _ in range(2):
            with pytest.raises(ModelNotFoundError, match=r"is the address right\? Most end in /v1"):
                chat.send("x")


def test_a_model_that_is_missing_is_not_looked_for_at_other_addresses(server: Steps) -> None:
    server.does(COMPLETIONS, refuses(404, error("model 'm' not found, try pulling it first")))
    with pytest.raises(ModelNotFoundError, match="m is not served at"):
        Chat("m", base_url=server.url).send("x")
    assert len(server.seen) == 1


PATHS = {
    "anthropic": (r"/v1/messages", ("", "/", "/v1", "/v1/", "/v1/messages")),
    "google": (
        r"/v1(beta)?/models/m:streamGenerateContent\?alt=sse", ("", "/", "/v1beta", "/v1beta/", "/v1beta/models"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("provider", PATHS)
def test_addresses_of_the_other_apis_are_understood_too(provider: str, server: Steps) -> None:
    path, endings = PATHS[provider]
    server.does(DIALECTS[provider], answers(DIALECTS[provider]))
    for ending in endings:
        assert Chat(f"{provider}/m", base_url=server.url + ending).send("x").text == "Hi"
    assert all(re.fullmatch(path, request["path"]) for request in server.seen)


VARIABLES = {  # what people set, and the address that it means
    ("ollama/m", "OLLAMA_HOST"): {
        "https://box": "https://box/v1", "box": "http://box:11434/v1",
        "box:8000": "http://box:8000/v1", ":8000": "http://127.0.0.1:8000/v1", "[::1]": "http://[::1]:11434/v1",
        "0.0.0.0": "http://127.0.0.1:11434/v1", "0.0.0.0:8000": "http://127.0.0.1:8000/v1",
        "[::]:8000": "http://[::1]:8000/v1", "http://box/": "http://box/v1",
        "https://box/ollama": "https://box/ollama/v1", "http://box:8000/v1": "http://box:8000/v1",
        '"box"': "http://box:11434/v1",
        " http://127.0.0.1:8000 \n": "http://127.0.0.1:8000/v1", "": "http://127.0.0.1:11434/v1",
    },
    ("azure/m", "AZURE_OPENAI_ENDPOINT"): {
        "https://name.openai.azure.com": "https://name.openai.azure.com/openai/v1",
        "https://name.openai.azure.com/openai/v1/": "https://name.openai.azure.com/openai/v1",
        "https://name.openai.azure.com/openai/v1/responses": "https://name.openai.azure.com/openai/v1",
        "http://127.0.0.1:8000": "http://127.0.0.1:8000/openai/v1",
    },
}  # fmt: skip


@pytest.mark.parametrize(("model", "variable"), VARIABLES)
def test_a_variable_with_an_address_is_understood_as_people_set_it(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    understood: dict[str, str] = {}
    for said in VARIABLES[model, variable]:
        monkeypatch.setenv(variable, said)
        understood[said] = get_provider(model).at.base_url  # type: ignore[attr-defined]
    assert understood == VARIABLES[model, variable]


def test_a_hosted_service_is_not_taken_for_a_wrong_address(server: Steps) -> None:
    dialect = DIALECTS["responses"]
    with pytest.raises(ModelNotFoundError, match="m is not served at azure"):
        server.does(dialect, refuses(404, error("No endpoints found that match your policy."))).send("x")


# windows that servers report


def test_another_models_window_is_not_ours() -> None:
    lists: dict[str, Any] = {"/api/ps": {"models": [{"name": "other:latest", "context_length": 4_096}]}}
    with serve(lambda handler, _: answers(COMPLETIONS)(handler), lists=lists) as (url, _):
        chat = Chat("ollama/M", base_url=url)
        chat.send("x")
        assert chat.info().source != "server"
        lists["/api/ps"]["models"].append({"name": "m:latest", "context_length": 2_048})
        chat.send("x")
        assert (chat.info().context_window, chat.info().source) == (2_048, "server")


def test_llama_cpp_says_its_window_in_its_properties_too() -> None:
    lists = {"/props": {"default_generation_settings": {"n_ctx": 3_072}, "total_slots": 1}}
    models = {"data": [{"id": "whatever.gguf", "meta": {"n_ctx_train": 99_000}}]}
    with serve(lambda handler, _: answers(COMPLETIONS)(handler), models, lists=lists) as (url, _):
        chat = Chat("m", base_url=url)
        chat.send("x")
        assert (chat.info().context_window, chat.info().source) == (3_072, "server")
