"""A gateway on loopback that keeps a budget: it answers, refuses, and says what is left where a test tells it to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from server import events, hang_up, piece, running, send, usage

from jupyter_ctx import Chat

KEY = "sk-of-this-class-0001"
SPENT = {
    "error": {"message": "Budget has been exceeded! Current cost: 5.0, Max budget: 5.0", "type": "budget_exceeded"}
}


SILENCE = (0, {})  # no answer at all, for longer than anybody waits


class Gateway:
    """A gateway on loopback: what it answers at each path, by which status (0: none), and what it was asked."""

    def __init__(self, paths: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.paths, self.status, self.headers = paths, status, headers or {}
        self.gets, self.keys, self.posts = list[str](), set[str | None](), 0
        self.url = ""

    @contextmanager
    def running(self) -> Iterator[Gateway]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                gateway.gets.append(self.path)
                gateway.keys.add(self.headers["Authorization"])
                found = gateway.paths.get(self.path)
                if found is SILENCE:
                    time.sleep(3)
                elif isinstance(found, tuple):
                    send(self, found[0], "", **found[1])
                else:
                    send(self, 404 if found is None else 200, found if isinstance(found, str) else json.dumps(found))

            def do_POST(self) -> None:
                gateway.posts += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                if not gateway.status:
                    hang_up(self)
                    return
                if gateway.status >= 400:
                    body = json.dumps(SPENT) if gateway.status < 500 else "busy"
                    send(self, gateway.status, body, **gateway.headers)
                    return
                answer = events(piece("So.", "stop"), usage(10, 2))
                send(self, 200, answer, "text/event-stream", **gateway.headers)

            def log_message(self, *_: object) -> None:
                pass

        with running(Handler) as self.url:
            yield self

    def chat(self, model: str = "m", path: str = "/v1") -> Chat:
        return Chat(model, base_url=f"{self.url}{path}", api_key=KEY, window=4_000)
