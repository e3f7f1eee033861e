"""Gemini's wire format over the real small model: no server that can be run here speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from dialects import DIALECTS
from server import send, serve

from jupyter_ctx import ContextOverflowError, Reply
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.base import Provider, Request, Thought

ROLES = {"user": "user", "model": "assistant"}
# a grammar in which any model thinks before it answers
THINKS = r'root ::= "<think>\n" [a-z]{2,9} " " [a-z]{2,9} "\n</think>\n\n" [A-Z] [a-z]{2,9} "."'


def read(body: dict[str, Any]) -> Request:
    """What a request says, as the model behind is asked."""
    system = "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", []))
    said = [
        Message(ROLES[content["role"]], "".join(part.get("text", "") for part in content["parts"]))  # type: ignore[arg-type]
        for content in body["contents"]
    ]
    config = body.get("generationConfig", {})
    head = (Message("system", system),) if system else ()
    thinking = config.get("thinkingConfig", {})  # the SDK writes what is in it as its user did
    thinks = {"grammar": THINKS} if thinking.get("include_thoughts") else {}
    return Request((*head, *said), config.get("maxOutputTokens"), config.get("temperature"), thinks)


def answered(model: Provider, request: Request) -> str:
    """A whole answer of the model behind, as Gemini streams it."""
    *pieces, reply = model.stream(request)
    usage: Any = reply.usage if isinstance(reply, Reply) else None
    thoughts = [piece.text for piece in pieces if isinstance(piece, Thought)]
    texts = [piece for piece in pieces if isinstance(piece, str)]
    why = "max_tokens" if reply.stop_reason == "max_tokens" else "stop"  # type: ignore[union-attr]
    counts = {"sent": usage.input_tokens, "said": usage.output_tokens, "thought": usage.reasoning_tokens}
    return DIALECTS["google"].answer(*texts, thoughts=thoughts, why=why, **counts)


def refuse(handler: BaseHTTPRequestHandler, code: int, status: str, message: str, reason: str = "") -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    said = {"code": code, "message": message, "status": status, "details": details}
    send(handler, code, json.dumps({"error": said}))


@contextmanager
def gemini(model: Provider, key: str, window: int) -> Iterator[str]:
    """The address of a server that answers from ``model``."""

    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if handler.headers.get("x-goog-api-key") != key:
            refuse(handler, 400, "INVALID_ARGUMENT", "The API key does not hold.", "API_KEY_INVALID")
        elif "/models/small:" not in handler.path:
            refuse(handler, 404, "NOT_FOUND", "There is no such model.")
        elif handler.path.endswith(":countTokens"):
            send(handler, 200, json.dumps({"totalTokens": model.count_tokens(read(body))}))  # type: ignore[attr-defined]
        else:
            try:
                send(handler, 200, answered(model, read(body)), "text/event-stream")
            except ContextOverflowError as error:
                size = f"The input token count ({error.used}) exceeds the maximum number of tokens allowed ({window})."
                refuse(handler, 400, "INVALID_ARGUMENT", size)

    models = {"models": [{"name": "models/small", "inputTokenLimit": window, "outputTokenLimit": window // 2}]}
    with serve(answer, models, path="") as (url, _):
        yield url
