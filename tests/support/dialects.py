"""The wire formats of the providers, so that one test can speak them all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from server import KEY, events, piece, send, serve, usage

from jupyter_ctx import Chat, Provider, Reply
from jupyter_ctx.providers.base import Request


@dataclass(frozen=True)
class Dialect:
    """How one provider's stream is written, and a chat with a server that speaks so.

    ``pieces`` gives one event for each text, after one for each thought; ``end`` those that say
    why and how much, ``error`` an error as an event of the stream; ``schema`` finds the JSON schema
    in a request.
    """

    name: str
    chat: Callable[..., Chat]
    pieces: Callable[..., str]
    end: Callable[..., str]
    error: Callable[[str], str]
    schema: Callable[[dict[str, Any]], dict[str, Any] | None]

    def answer(self, *texts: str, thoughts: Sequence[str] = (), **counts: Any) -> str:
        """A whole answer."""
        return self.pieces(texts, thoughts) + self.end(**counts)


def _named(*chunks: dict[str, Any]) -> str:
    return "".join(f"event: {chunk['type']}\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks)


def _completions_pieces(texts: Sequence[str], thoughts: Sequence[str] = ()) -> str:
    deltas = [{"content": None, "reasoning_content": thought} for thought in thoughts]
    return events(*(delta_piece(delta) for delta in deltas), *map(piece, texts), end="")


def delta_piece(delta: dict[str, Any]) -> dict[str, Any]:
    """One chunk of an answer, whatever is in it."""
    chunk = piece("")
    chunk["choices"][0]["delta"] = delta
    return chunk


def _completions_end(
    why: str = "stop", sent: int = 9, said: int = 2, cached: int = 0, written: int = 0, thought: int = 0
) -> str:
    report = usage(sent, said)
    report["usage"]["prompt_tokens_details"] = {"cached_tokens": cached, "cache_write_tokens": written}
    report["usage"]["completion_tokens_details"] = {"reasoning_tokens": thought}
    finish = {"max_tokens": "length", "refusal": "content_filter"}.get(why, why)
    return events(piece("", finish), report)


def _responses_pieces(texts: Sequence[str], thoughts: Sequence[str] = ()) -> str:
    place = {"item_id": "1", "output_index": 0, "content_index": 0, "sequence_number": 1}
    thought = {"type": "response.reasoning_summary_text.delta", **place, "summary_index": 0}
    return _named(
        *({**thought, "delta": text} for text in thoughts),
        *({"type": "response.output_text.delta", "delta": text, **place} for text in texts),
    )


def _responses_end(
    why: str = "stop", sent: int = 9, said: int = 2, cached: int = 0, written: int = 0, thought: int = 0
) -> str:
    report = {
        "input_tokens": sent, "output_tokens": said, "total_tokens": sent + said,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens_details": {"reasoning_tokens": thought},
    }  # fmt: skip
    reason = {"stop": None, "max_tokens": "max_output_tokens", "refusal": "content_filter"}[why]
    details = {"reason": reason} if reason else None
    kind = "response.incomplete" if reason else "response.completed"
    response = {"id": "r", "object": "response", "model": "m", "usage": report, "incomplete_details": details}
    return _named({"type": kind, "sequence_number": 2, "response": response})


def _responses_chat(url: str, **more: Any) -> Chat:
    """Azure speaks it at an address that may be set; its key is the provider's."""
    import os

    os.environ["AZURE_OPENAI_ENDPOINT"] = url  # the test's own folders and variables are put back after it
    return Chat("azure/m", api_key=KEY, **more)


def _anthropic_pieces(texts: Sequence[str], thoughts: Sequence[str] = ()) -> str:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    start = {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 0}}}
    thinking = (
        _block(0, {"type": "thinking", "thinking": "", "signature": ""}),
        *(_delta(0, {"type": "thinking_delta", "thinking": thought}) for thought in thoughts),
        _delta(0, {"type": "signature_delta", "signature": "c2ln"}),
        _block(1, {"type": "redacted_thinking", "data": "c2VjcmV0"}),
    )
    deltas = (_delta(2, {"type": "text_delta", "text": text}) for text in texts)
    return _named(start, *(thinking if thoughts else ()), _block(2, {"type": "text", "text": ""}), *deltas)


def _block(index: int, content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _anthropic_end(
    why: str = "stop", sent: int = 9, said: int = 2, cached: int = 0, written: int = 0, thought: int = 0
) -> str:
    report = {
        "input_tokens": sent - cached - written, "output_tokens": said,
        "cache_read_input_tokens": cached, "cache_creation_input_tokens": written,
        "output_tokens_details": {"thinking_tokens": thought},
    }  # fmt: skip
    reason = {"stop": "end_turn", "tool_calls": "tool_use"}.get(why, why)
    details = {"type": "refusal", "category": "bio", "explanation": "of the rules"} if why == "refusal" else None
    delta = {"stop_reason": reason, "stop_details": details}
    return _named({"type": "message_delta", "delta": delta, "usage": report}, {"type": "message_stop"})


def _google_pieces(texts: Sequence[str], thoughts: Sequence[str] = ()) -> str:
    def chunk(**part: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}

    thinking = (chunk(text=text, thought=True) for text in thoughts)
    return events(*thinking, *(chunk(text=text) for text in texts), end="")


def _google_end(
    why: str = "stop", sent: int = 9, said: int = 2, cached: int = 0, written: int = 0, thought: int = 0
) -> str:
    report = {
        "promptTokenCount": sent, "candidatesTokenCount": said - thought, "thoughtsTokenCount": thought,
        "cachedContentTokenCount": cached, "totalTokenCount": sent + said,
    }  # fmt: skip
    reason = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}.get(why, "STOP")
    last = {"candidates": [{"finishReason": reason, "index": 0}], "usageMetadata": report, "modelVersion": "m"}
    return events(last, end="")


def completions_whole(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage(9, 2)["usage"]}


def _at(*names: str) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """What finds a part of a request, where it is there."""

    def find(request: dict[str, Any]) -> dict[str, Any] | None:
        found: Any = request
        for name in names:
            found = (found or {}).get(name)
        return found if found is None else dict(found)

    return find


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "completions", lambda url, **more: Chat("m", base_url=f"{url}/v1", api_key=KEY, **more),
            _completions_pieces, _completions_end,
            lambda said: events({"error": {"message": said}}, end=""),
            _at("response_format", "json_schema", "schema"),
        ),
        Dialect(
            "responses", _responses_chat, _responses_pieces, _responses_end,
            lambda said: _named({"type": "error", "code": "server_error", "message": said, "sequence_number": 3}),
            _at("text", "format", "schema"),
        ),
        Dialect(
            "anthropic", lambda url, **more: Chat("anthropic/m", base_url=url, api_key=KEY, **more),
            _anthropic_pieces, _anthropic_end,
            lambda said: _named({"type": "error", "error": {"type": "api_error", "message": said}}),
            _at("output_config", "format", "schema"),
        ),
        Dialect(
            "google", lambda url, **more: Chat("google/m", base_url=url, api_key=KEY, **more),
            _google_pieces, _google_end,
            lambda said: events({"error": {"code": 500, "message": said, "status": "INTERNAL"}}, end=""),
            _at("generationConfig", "responseJsonSchema"),
        ),
    )
}  # fmt: skip


@contextmanager
def answering(dialect: Dialect, *answers: str, **more: Any) -> Iterator[tuple[Chat, list[dict[str, Any]]]]:
    """A chat with a server that gives these answers in turn, the last one ever after."""
    left = list(answers)

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, 200, left.pop(0) if len(left) > 1 else left[0], "text/event-stream")

    with serve(answer, path="") as (url, seen):
        yield dialect.chat(url, **more), seen


def provider_of(chat: Chat) -> Provider:
    """The provider that a chat asks."""
    return chat.models.target(chat.config, ask=False).provider


def reply_to(provider: Provider, request: Request) -> Reply:
    """What a stream ends with."""
    *_, reply = provider.stream(request)
    assert isinstance(reply, Reply)
    return reply


FILM = {"title": "Up", "year": 7, "sequel": None}


@contextmanager
def heeding(dialect: Dialect, *, refuses: str = "") -> Iterator[tuple[Chat, list[dict[str, Any]]]]:
    """A chat with a server that answers as the schema of a film says, and with prose where it is sent none.

    One that ``refuses`` schemas does so in these words.
    """

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        schema = dialect.schema(request)
        if schema is not None and refuses:
            send(handler, 400, json.dumps({"error": {"message": refuses, "type": "invalid_request_error"}}))
            return
        text = "Up, of 2009." if schema is None else json.dumps({name: FILM[name] for name in schema["properties"]})
        send(handler, 200, dialect.answer(text[:5], text[5:]), "text/event-stream")

    with serve(answer, path="") as (url, seen):
        yield dialect.chat(url), seen
