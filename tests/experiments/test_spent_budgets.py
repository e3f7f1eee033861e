"""A key's budget that is spent in the middle of a run: the run ends at once, and what came is kept."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from server import events, piece, running, send, usage

from jupyter_ctx import Chat, ChatError
from jupyter_ctx.experiments.asking.rate_limiter import START_AT_ONCE

LEFT = 20  # requests that the budget pays for
FILLED = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
INFO = {"info": {"spend": 5.0, "max_budget": 5.0, "budget_reset_at": FILLED.isoformat()}}
LITELLM = {"message": "Budget has been exceeded! Current cost: 5.0, Max budget: 5.0", "type": "budget_exceeded"}
OPENROUTER = {"message": "Key limit exceeded (weekly limit). Manage it at https://openrouter.ai/keys", "code": 403}
FORMS = {
    "429, LiteLLM's": (429, LITELLM), "422, of LiteLLM 1.109": (422, LITELLM), "400, of an older one": (400, LITELLM),
    "402, OpenRouter's": (402, {"message": "Insufficient credits. Add more at openrouter.ai", "code": 402}),
    "403, OpenRouter's": (403, OPENROUTER),
}  # fmt: skip


@dataclass
class Budgeted:
    """A gateway whose budget pays for so many requests; what it was asked when it was spent, and how it refuses."""

    status: int
    error: object
    url: str = ""
    answered: int = 0
    refused: int = 0
    open: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[Budgeted]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                send(self, 200, json.dumps(INFO if self.path == "/key/info" else {"data": []}))

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                gateway.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        with running(Handler) as url:
            self.url = f"{url}/v1"
            yield self

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self.lock:
            self.open += 1
            is_paid = self.answered < LEFT
            self.answered += is_paid
            self.refused += not is_paid
        time.sleep(0.03)
        with self.lock:
            self.open -= 1
        if is_paid:
            send(handler, 200, events(piece("So.", "stop"), usage(10, 2)), "text/event-stream")
        else:
            send(handler, self.status, json.dumps({"error": self.error}))


@pytest.mark.parametrize("form", FORMS)
def test_a_run_ends_at_once_and_keeps_what_came(form: str) -> None:
    status, error = FORMS[form]
    with Budgeted(status, error).running() as gateway:
        chat = Chat("m", base_url=gateway.url, api_key="key-of-a-class", window=4_000)
        run = chat.map("Say {{ text }}.", [f"word {i}" for i in range(300)], store=None, progress=False, yes=True)
        with pytest.raises(ChatError, match=f"{LEFT} of 300 answers are kept") as raised:
            run.result()
        assert run.progress.failed == 0
        assert sum(result.asked for result in run.results) == LEFT
        assert gateway.answered == LEFT
        assert 1 <= gateway.refused <= 2 * START_AT_ONCE  # those that were on their way: more with each answer
        filled = datetime.fromtimestamp(FILLED.timestamp())
        assert (f"$0 of $5 left, until {filled:%A}" in str(raised.value)) == (error is LITELLM)
