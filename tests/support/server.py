"""A server on loopback that answers Chat Completions as a test tells it to."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "key-0123456789abcdef-secret"  # of every server here
Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps no log."""

    def log_message(self, *_: object) -> None:
        pass


def send(
    handler: BaseHTTPRequestHandler, status: int, body: str, kind: str = "application/json", **headers: str
) -> None:
    """One whole response."""
    data = body.encode()
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def begin_stream(handler: BaseHTTPRequestHandler, text: str) -> None:
    """The beginning of a stream whose length nobody knows."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    handler.wfile.write(text.encode())
    handler.wfile.flush()


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Reset the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def events(*chunks: Any, end: str = "data: [DONE]\n\n") -> str:
    """Server-sent events, one a chunk."""
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end


def piece(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of an answer."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def usage(prompt: int, completion: int) -> dict[str, Any]:
    """The chunk that reports tokens."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": counts}


@contextmanager
def serve(
    answer: Answer | str, models: Any = None, *, path: str = "/v1", lists: dict[str, Any] | None = None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The server's base URL, and the requests that it gets.

    ``answer`` answers each of them, or is the stream of events that answers all.
    ``models`` is what every GET is answered with; ``lists`` what some paths are instead.
    """
    seen: list[dict[str, Any]] = []

    class Handler(Quiet):
        def do_GET(self) -> None:
            found = (lists or {}).get(self.path.partition("?")[0], models)
            send(self, 200, json.dumps({"data": []} if found is None else found))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**request, "authorization": self.headers.get("Authorization"), "path": self.path})
            if isinstance(answer, str):
                send(self, 200, answer, "text/event-stream")
            else:
                answer(self, request)

    with running(Handler) as url:
        yield url + path, seen


class _Server(ThreadingHTTPServer):
    """A server that says nothing of clients that have gone away."""

    request_queue_size = 128  # connections that come at once: one that finds no place tries again after a second

    def handle_error(self, *where: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | json.JSONDecodeError):
            super().handle_error(*where)


@contextmanager
def running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server that runs beside the test."""
    server = _Server(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)  # seconds until it is shut
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
