"""What servers do wrong, in every provider's wire format: the error is ours, the text is kept, the next cell works."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from dialects import DIALECTS, KEY, Dialect
from hypothesis import given, settings
from hypothesis import strategies as st
from server import begin_stream, hang_up, send, serve

from jupyter_ctx import (
    AuthenticationError,
    ChatError,
    ContextOverflowError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
)

pytestmark = [pytest.mark.usefixtures("at_once"), pytest.mark.wire]
Handle = Callable[[BaseHTTPRequestHandler, Dialect], None]
STREAM = "text/event-stream"


def refuse(status: int, body: Any, kind: str = "application/json", **headers: str) -> Handle:
    text = body if isinstance(body, str) else json.dumps(body)
    return lambda handler, dialect: send(handler, status, text, kind, **headers)


def stream(write: Callable[[Dialect], str]) -> Handle:
    return lambda handler, dialect: send(handler, 200, write(dialect), STREAM)


def resets(handler: BaseHTTPRequestHandler, dialect: Dialect) -> None:
    begin_stream(handler, dialect.pieces(["Some ", "text"]))
    threading.Event().wait(0.1)  # what was sent may arrive first
    hang_up(handler)


def stalls(handler: BaseHTTPRequestHandler, dialect: Dialect) -> None:
    begin_stream(handler, dialect.pieces(["Some ", "text"]))
    threading.Event().wait(1.5)


def says_nothing(handler: BaseHTTPRequestHandler, dialect: Dialect) -> None:
    threading.Event().wait(1.5)
    handler.close_connection = True


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}


NOTHING_CAME: dict[str, tuple[Handle, type[ChatError]]] = {
    "a wrong key": (refuse(401, error(f"bad key {KEY}")), AuthenticationError),
    "a model that is not served": (refuse(404, error("no such model")), ModelNotFoundError),
    "too many requests": (refuse(429, error("slow down"), retry_after="70"), RateLimitError),
    "a page of HTML": (refuse(502, "<html><h1>Bad Gateway</h1></html>", "text/html"), ProviderError),
    "nothing at all": (refuse(200, "", STREAM), ProviderError),
    "an overflow": (
        refuse(400, error("the prompt is too long: 900 tokens > 500 maximum context length")),
        ContextOverflowError,
    ),
    "an error event": (stream(lambda d: d.error("gone")), ProviderError),
    "an overflow event": (stream(lambda d: d.error("the prompt exceeds the context window")), ContextOverflowError),
    "a broken event": (stream(lambda d: "data: {broken\n\n"), ProviderError),
    "silence": (says_nothing, ProviderConnectionError),
    "a connection that is hung up": (lambda handler, _: hang_up(handler), ProviderConnectionError),
}
TEXT_CAME: dict[str, tuple[Handle, type[ChatError]]] = {
    "no reason why it ended": (stream(lambda d: d.pieces(["Some ", "text"])), ProviderError),
    "a reset": (resets, ProviderConnectionError),
    "a stall": (stalls, ProviderConnectionError),
    "an error event": (stream(lambda d: d.pieces(["Some ", "text"]) + d.error("gone")), ProviderError),
    "an overflow event": (
        stream(lambda d: d.pieces(["Some ", "text"]) + d.error("context size has been exceeded")),
        ContextOverflowError,
    ),
    "a broken event": (stream(lambda d: d.pieces(["Some ", "text"]) + "data: {broken\n\n"), ProviderError),
    "an event that is none": (stream(lambda d: d.pieces(["Some ", "text"]) + "data: [[]]\n\n"), ProviderError),
}


def faulty(handle: Handle, dialect: Dialect, times: int) -> Any:
    """Wrong so many times, then as it should be."""
    asked = iter(range(1_000))

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if next(asked) < times:
            handle(handler, dialect)
        else:
            send(handler, 200, dialect.answer("Right ", "again"), STREAM)

    return answer


def hidden(failure: ChatError) -> bool:
    return KEY not in str(failure) + repr(failure) + repr(vars(failure))


@pytest.mark.parametrize("fault", NOTHING_CAME)
def test_a_fault_before_any_text_is_one_of_our_errors_and_leaves_nothing(dialect: Dialect, fault: str) -> None:
    handle, kind = NOTHING_CAME[fault]
    with serve(faulty(handle, dialect, 3), path="") as (url, seen):
        chat = dialect.chat(url, timeout=0.5)
        with pytest.raises(kind) as raised:
            chat.send("x")
        assert hidden(raised.value)
        assert KEY not in repr(chat)
        assert "\n" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert chat.turns == ()
        while len(seen) < 3:  # whatever was not asked again
            with pytest.raises(ChatError):
                chat.send("x")
        assert chat.send("x").text == "Right again"


@pytest.mark.parametrize("fault", TEXT_CAME)
def test_text_that_came_before_a_fault_is_kept_and_flagged(dialect: Dialect, fault: str) -> None:
    handle, kind = TEXT_CAME[fault]
    with serve(faulty(handle, dialect, 1), path="") as (url, seen):
        chat, shown = dialect.chat(url, timeout=0.5), []
        with pytest.raises(kind) as raised:
            chat.send("x", on_piece=shown.append)
        assert len(seen) == 1
        assert hidden(raised.value)
        (turn,) = chat.turns
        assert (turn.reply, turn.stop_reason, "".join(shown)) == ("Some text", "cut", "Some text")
        assert chat.send("y").text == "Right again"


def test_a_line_of_ten_megabytes_is_an_answer_like_any_other() -> None:
    dialect, long = DIALECTS["completions"], "ten bytes " * 1_000_000
    with serve(lambda handler, _: send(handler, 200, dialect.answer(long), STREAM), path="") as (url, _):
        assert dialect.chat(url).send("x").text == long


@pytest.fixture(scope="module")
def mirror() -> Iterator[tuple[str, dict[str, Any]]]:
    """A server that says whatever it is told to, byte for byte."""
    told: dict[str, Any] = {}

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.send_response(told["status"])
        handler.send_header("Content-Type", told["kind"])
        handler.end_headers()
        handler.wfile.write(told["body"])

    with serve(answer, path="") as (url, _):
        yield url, told


WORDS = (
    "type", "error", "message", "code", "choices", "delta", "content", "candidates",
    "parts", "text", "usage", "response", "status", "event",
)  # fmt: skip
noise = st.binary(max_size=200) | st.text(max_size=80).map(str.encode) | st.just(b'{"error": ')
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())
lines = st.lists(
    st.sampled_from([b"data: ", b"event: error\ndata: ", b"", b": ", b"event: message_delta\ndata: "]).flatmap(
        lambda start: (noise | jsons).map(lambda rest: start + rest + b"\n\n")
    ),
    max_size=5,
).map(b"".join)


@pytest.mark.parametrize("name", DIALECTS)
def test_whatever_bytes_come_are_an_answer_or_one_of_our_errors(name: str, mirror: tuple[str, dict[str, Any]]) -> None:
    url, told = mirror
    chat, shown = DIALECTS[name].chat(url), []

    @settings(max_examples=25)
    @given(
        st.sampled_from([200, 200, 400, 401, 413, 500]), st.sampled_from([STREAM, "application/json"]), lines | noise
    )
    def holds(status: int, kind: str, body: bytes) -> None:
        told.update(status=status, kind=kind, body=body)
        try:
            chat.send("x", record=False)
        except ChatError as failure:
            shown.append(hidden(failure))

    holds()
    assert all(shown)
