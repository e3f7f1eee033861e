"""A server that answers each prompt by a function of it, and says what it was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from server import KEY, events, piece, send, serve, usage

Says = Callable[[str], "str | Refusal"]


@dataclass(frozen=True)
class Refusal:
    """An answer that is an error."""

    status: int
    body: str = '{"error": {"message": "busy"}}'
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """The server's address, the prompts that it was asked, and how many were open at once."""

    url: str = ""
    prompts: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    most: int = 0
    open: int = 0

    @property
    def model(self) -> dict[str, Any]:
        """The arguments that lead there."""
        return {**self.open_model, "api_key": KEY}

    @property
    def open_model(self) -> dict[str, Any]:
        """The same without a key."""
        return {"model": "m", "base_url": self.url, "confirm_cost": "none"}  # its price is unknown


def shout(prompt: str) -> str:
    """An answer that shows its prompt."""
    return prompt.upper()


@contextmanager
def answering_rows(
    says: Says = shout, *, seconds: float = 0.0, finish: str = "stop", lists: dict[str, Any] | None = None
) -> Iterator[Asked]:
    """Serve; each answer takes so many ``seconds``, and ``lists`` stand at paths beside the model's."""
    asked, lock = Asked(), threading.Lock()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        prompt = request["messages"][-1]["content"]
        with lock:
            asked.prompts.append(prompt)
            asked.open += 1
            asked.most = max(asked.most, asked.open)
        try:
            time.sleep(seconds)
            said = says(prompt)
        finally:
            with lock:
                asked.open -= 1
        with suppress(ConnectionError):  # who asked may be gone
            if isinstance(said, Refusal):
                send(handler, said.status, said.body, **said.headers)
            else:
                report = usage(len(prompt) // 4 + 1, len(said) // 4 + 1)
                send(handler, 200, events(piece(said), piece("", finish), report), "text/event-stream")

    with serve(answer, lists=lists) as (url, seen):
        asked.url, asked.requests = url, seen
        yield asked
