"""Gemini's wire format over the real small model: no server that can be run here speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from server import Quiet, running, send

from jupyter_ctx import ContextOverflowError, Reply
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.base import Provider, Request, Thought

CALL = re.compile(r"/v1(?:beta)?/models/([^/:]+):(streamGenerateContent|countTokens)")
ROLES = {"user": "user", "model": "assistant"}
# a grammar in which any model thinks before it answers
THINKS = r'root ::= "<think>\n" [a-z]{2,9} " " [a-z]{2,9} "\n</think>\n\n" [A-Z] [a-z]{2,9} "."'


def refusal(code: int, status: str, message: str, reason: str | None = None) -> tuple[int, str]:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return code, json.dumps({"error": {"code": code, "message": message, "status": status, "details": details}})


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


def chunks(model: Provider, request: Request) -> Iterator[dict[str, Any]]:
    for item in model.stream(request):
        if isinstance(item, Reply):
            usage: Any = item.usage
            counts = {
                "promptTokenCount": usage.input_tokens, "thoughtsTokenCount": usage.reasoning_tokens,
                "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
            }  # fmt: skip
            reason = "MAX_TOKENS" if item.stop_reason == "max_tokens" else "STOP"
            candidate = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason, "index": 0}
            yield {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "small"}
        else:
            part = {"text": item.text, "thought": True} if isinstance(item, Thought) else {"text": item}
            yield {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}


@contextmanager
def gemini(model: Provider, key: str, window: int) -> Iterator[str]:  # a server has many answers
    """The address of a server that answers from ``model``."""

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            limits = {"inputTokenLimit": window, "outputTokenLimit": window // 2}
            send(self, 200, json.dumps({"models": [{"name": "models/small", **limits}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            path = CALL.match(self.path)
            if self.headers.get("x-goog-api-key") != key:
                send(self, *refusal(400, "INVALID_ARGUMENT", "The API key does not hold.", "API_KEY_INVALID"))
            elif path is None or path.group(1) != "small":
                send(self, *refusal(404, "NOT_FOUND", "There is no such model."))
            else:
                {"countTokens": self._count}.get(path.group(2), self._stream)(read(body))

        def _count(self, request: Request) -> None:
            send(self, 200, json.dumps({"totalTokens": model.count_tokens(request)}))

        def _stream(self, request: Request) -> None:
            found = chunks(model, request)
            try:
                first = next(found)
            except ContextOverflowError as error:
                size = f"The input token count ({error.used}) exceeds the maximum number of tokens allowed ({window})."
                send(self, *refusal(400, "INVALID_ARGUMENT", size))
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for chunk in chain([first], found):
                self._chunk(f"data: {json.dumps(chunk)}\r\n\r\n")
            self._chunk("")

        def _chunk(self, text: str) -> None:
            data = text.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    with running(Handler) as url:
        yield url
