"""Money that is out, or paid for nothing, in the middle of a run: the run ends at once, and what came is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from answering_rows import Refusal, answering_rows
from dialects import delta_piece
from server import events, piece, send, serve, usage

from jupyter_ctx import AuthenticationError, BudgetExceededError, Chat, ChatError, sweep
from jupyter_ctx.experiments.asking.rate_limiter import START_AT_ONCE

LEFT = 20  # requests that the budget pays for
FILLED = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
INFO = {"info": {"spend": 5.0, "max_budget": 5.0, "budget_reset_at": FILLED.isoformat()}}
LITELLM = {"message": "Budget has been exceeded! Current cost: 5.0, Max budget: 5.0", "type": "budget_exceeded"}
QUOTA = {"message": "You exceeded your current quota.", "type": "q", "code": "insufficient_quota"}
FORMS = {
    "LiteLLM's": (429, LITELLM, BudgetExceededError),
    "OpenRouter's": (403, {"message": "Key limit exceeded (weekly limit).", "code": 403}, BudgetExceededError),
    "a quota": (429, QUOTA, BudgetExceededError),
    "a bad key": (401, {"message": "Incorrect API key provided"}, AuthenticationError),
}
KEY_OF_A_CLASS = "key-of-a-class"


@pytest.mark.parametrize("form", FORMS)
def test_a_run_ends_at_once_and_keeps_what_came(form: str, tmp_path: Path) -> None:
    status, error, kind = FORMS[form]
    paid = iter(range(LEFT))

    def says(prompt: str) -> str | Refusal:
        return Refusal(status, json.dumps({"error": error})) if next(paid, None) is None else "So."

    with answering_rows(says, seconds=0.03, lists={"/key/info": INFO}) as gateway:
        chat = Chat("m", base_url=gateway.url, api_key=KEY_OF_A_CLASS, window=4_000)
        ask = partial(chat.map, "Say {{ text }}.", [f"word {i}" for i in range(300)], progress=False, yes=True)
        run = ask(store=tmp_path / "answers.sqlite")
        with pytest.raises(kind, match=f"{LEFT} of 300 answers are kept") as raised:
            run.result()
        assert KEY_OF_A_CLASS not in str(raised.value)
        assert run.progress.failed == 0
        assert sum(result.asked for result in run.results) == LEFT
        refused = len(gateway.prompts) - LEFT
        assert 1 <= refused <= 2 * START_AT_ONCE  # those that were on their way: more with each answer
        filled = datetime.fromtimestamp(FILLED.timestamp())
        assert (f"$0 of $5 left, until {filled:%Y-%m-%d}" in str(raised.value)) == (error is LITELLM)
        paid = iter(range(300))
        assert (ask(store=tmp_path / "answers.sqlite").result()["reply"] == "So.").all()
        assert len(gateway.prompts) == refused + 300


THINKING = events(delta_piece({"reasoning_content": "Hm. " * 9}), piece("", "length"), usage(10, 50))
TEXT = events(piece("So.", "stop"), usage(10, 2))
ROWS = [f"row {number}" for number in range(40)]
PRICED = partial(sweep, "{{ text }}", model="m", prices=(1, 10), confirm_cost="none", progress=False, yes=True)


@contextmanager
def thinking_where(is_all_thinking: Callable[[dict[str, Any]], bool]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server whose answers are all thinking for some requests, and then come first."""

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        thinks = is_all_thinking(request)
        time.sleep(0 if thinks else 0.02)
        send(handler, 200, THINKING if thinks else TEXT, "text/event-stream")

    with serve(answer) as (url, seen):
        yield url, seen


def test_a_run_whose_answers_are_all_thinking_ends_after_three_and_counts_them(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with thinking_where(lambda request: request["max_tokens"] == 50) as (url, seen):
        ask = partial(PRICED, ROWS, base_url=url, store=store, concurrency=1)
        run = ask(max_tokens=50)
        with pytest.raises(ChatError, match=r"50 tokens, max_tokens 50.*--effort.*asks only the other 37"):
            run.result(30)
        assert 3 <= len(seen) <= 4
        assert run.cost == pytest.approx(len(seen) * (10 + 500) / 1e6)
        assert [result.reply.thinking[:3] for result in run.results.failed if result.reply] == ["Hm."] * 3
        assert ask(max_tokens=2_000).result(30)["reply"].tolist() == ["So."] * 40  # what was stored is no answer


@pytest.mark.parametrize("grid", [{}, {"max_tokens": [50, 2_000]}])
def test_a_run_goes_on_where_other_answers_come(grid: dict[str, list[int]]) -> None:
    def thinks(request: dict[str, Any]) -> bool:
        row = int(request["messages"][-1]["content"].split()[-1])
        return request.get("max_tokens") == 50 if grid else row > 5

    with thinking_where(thinks) as (url, _):
        run = PRICED(ROWS, grid=grid, base_url=url, store=None, concurrency=20 if grid else 1)
        run.result(30)
    assert (run.unasked, len(run.results.failed)) == (0, 40 if grid else 34)
