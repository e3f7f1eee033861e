"""The way to a server: cookies, proxies, certificates, this machine; the cause is named, and the next cell works."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from socket import gethostname
from typing import Any

import pytest
from dialects import DIALECTS, Dialect
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, ChatError
from jupyter_ctx.providers.wire import is_this_machine, json_values

COMPLETIONS = DIALECTS["completions"]


def test_a_cookie_in_any_encoding_does_no_harm_and_is_not_kept(dialect: Dialect) -> None:
    sent: list[str] = []

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        sent.append(str(handler.headers.get("Cookie")))
        send(handler, 200, dialect.answer("Hi"), "text/event-stream", set_cookie="city=Zürich")

    with serve(answer, path="") as (url, _):
        chat = dialect.chat(url)
        assert [chat.send("x").text for _ in range(2)] == ["Hi", "Hi"]
    assert sent == ["None", "None"]


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("HTTPS_PROXY", "foo://x", "HTTPS_PROXY"),
        ("ALL_PROXY", "socks6://127.0.0.1:1", "ALL_PROXY"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem", "SSL_CERT_FILE"),
        ("HTTPS_PROXY", "http://127.0.0.1:1", "proxy that HTTPS_PROXY names"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_named_as_the_cause(
    variable: str, value: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ChatError, match=named):
        Chat("m", base_url="https://models.example/v1").send("x")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.1.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "localhost", "a.localhost"]
)
def test_this_machine_is_known_by_its_address(host: str) -> None:
    assert is_this_machine(host)
    assert is_this_machine(gethostname())
    assert not any(map(is_this_machine, ("10.0.0.1", "models.example", "::2", "")))


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with serve(COMPLETIONS.answer("Hi")) as (url, _):
        assert Chat("m", base_url=url.replace("127.0.0.1", "0.0.0.0")).send("x").text == "Hi"


def test_of_two_choices_the_first_is_the_answer() -> None:
    other = {**piece("B", "stop"), "choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}]}
    both = {**piece("A"), "choices": [*other["choices"], *piece("A")["choices"]]}
    with serve(events(both, other, piece("", "stop"), usage(9, 2))) as (url, _):
        reply = Chat("m", base_url=url).send("x")
    assert (reply.text, reply.stop_reason) == ("A", "stop")


def test_odd_probabilities_lose_no_text() -> None:
    chunk = piece("Hi", "stop")
    odd = [{"token": "Hi", "logprob": -0.5, "bytes": [300]}, {"token": 3, "logprob": "x"}, 5]
    chunk["choices"][0]["logprobs"] = {"content": odd}
    with serve(events(chunk)) as (url, _):
        reply = Chat("m", base_url=url).send("x")
    assert (reply.text, [each.token.data for each in reply.tokens]) == ("Hi", [b"Hi"])


def test_blank_lines_without_end_are_cut_soon() -> None:
    chunks = [b"\n" * 65_536] * 1_000
    with pytest.raises(Exception, match="16 MB"):
        list(json_values(chunks))
