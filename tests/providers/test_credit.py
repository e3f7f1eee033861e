"""What is left with a key: read where the gateway's address answers, and never on the way of a prompt."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from dialects import provider_of
from server import Quiet, events, hang_up, piece, running, send, usage

from jupyter_ctx import BudgetExceededError, Chat, ProviderConnectionError, ProviderError
from jupyter_ctx.context.context_info import MoneyLeft
from jupyter_ctx.providers.server_facts import money_left
from jupyter_ctx.wording import budget_line

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

        class Handler(Quiet):
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

        with running(Handler) as self.url:
            yield self

    def chat(self, model: str = "m", path: str = "/v1") -> Chat:
        return Chat(model, base_url=f"{self.url}{path}", api_key=KEY, window=4_000)


MONDAY = (datetime.now(UTC) + timedelta(days=3)).replace(microsecond=0)


LITELLM = {"info": {"spend": 3.8, "max_budget": 5.0, "budget_duration": "7d", "budget_reset_at": MONDAY.isoformat()}}
OPENROUTER = {"data": {"limit": 5, "limit_remaining": 1.2, "limit_reset": "weekly", "usage_daily": 0.3}}


def read(answer: Any) -> MoneyLeft | None:
    return money_left(json.loads(answer) if isinstance(answer, str) else answer)


def test_each_gateway_tells_what_is_left_in_its_own_fields() -> None:
    assert read(LITELLM) == MoneyLeft(pytest.approx(1.2), 5.0, MONDAY.timestamp())
    assert read(OPENROUTER) == MoneyLeft(1.2, 5.0)


def test_litellm_is_known_by_headers_and_asked_only_where_somebody_wants_to_know() -> None:
    with Gateway({"/key/info": LITELLM}, headers={"x-litellm-version": "1.109.0"}).running() as gateway:
        chat = gateway.chat()
        assert provider_of(chat).allowance() is None
        chat.send("Why?")
        assert "/key/info" not in gateway.gets
        found = provider_of(chat).allowance()
        assert gateway.gets.count("/key/info") == 1
    assert found == MoneyLeft(pytest.approx(1.2), 5.0, MONDAY.timestamp())
    assert budget_line(found) == f"$1.20 of $5 left, until {datetime.fromtimestamp(MONDAY.timestamp()):%Y-%m-%d %H:%M}"


def test_an_address_that_says_nothing_of_budgets_is_not_asked() -> None:
    with Gateway({"/key/info": LITELLM}).running() as gateway:
        chat = gateway.chat()
        chat.send("Why?")
        assert provider_of(chat).allowance() is None
        assert "/key/info" not in gateway.gets


FIGURES: dict[str, Any] = {
    "a list": [1], "no figures": {"data": {}}, "no object": {"data": [5]},
    "absurd": {"data": {"limit_remaining": 1e300}}, "text": {"data": {"limit_remaining": "much"}},
    "digits": f'{{"data": {{"limit_remaining": {"9" * 4_000}}}}}',
    "not finite": '{"data": {"limit_remaining": NaN}}', "a bool": {"data": {"limit_remaining": True}},
}  # fmt: skip


@pytest.mark.parametrize("form", FIGURES)
def test_figures_that_are_no_dollars_stay_unknown(form: str) -> None:
    assert read(FIGURES[form]) is None


def test_an_end_that_has_passed_is_none() -> None:
    for end in ("2020-01-01T00:00:00Z", "someday", 5):
        found = read({"info": {**LITELLM["info"], "budget_reset_at": end}})
        assert found == MoneyLeft(pytest.approx(1.2), 5.0)


BAD: dict[str, Any] = {
    "nothing": None, "a page": "<html>", "too deep": "[" * 100_000, "too long": '{"a": "' + "x" * 9_000_000 + '"}',
    "an address elsewhere": (302, {"Location": "/elsewhere"}), "an error": (500, {}), "silence": SILENCE,
}  # fmt: skip


@pytest.mark.parametrize("form", BAD)
def test_what_a_gateway_answers_badly_is_not_waited_for_and_stays_unknown(form: str) -> None:
    paths = {"/key/info": BAD[form], "/elsewhere": LITELLM}
    with Gateway(paths, headers={"x-litellm-version": "1.109.1"}).running() as gateway:
        chat = gateway.chat()
        chat.send("Why?")
        began = time.monotonic()
        assert provider_of(chat).allowance() is None
        assert time.monotonic() - began < 5
        assert "/elsewhere" not in gateway.gets


@pytest.mark.parametrize("status", [400, 429])
def test_a_spent_budget_is_not_asked_again_and_says_when_it_is_filled(status: int) -> None:
    info = {"info": {**LITELLM["info"], "spend": 5.0}}
    with Gateway({"/key/info": info}, status=status).running() as gateway:
        with pytest.raises(BudgetExceededError, match=r"\$0 of \$5 left, until \w+") as raised:
            gateway.chat().send("Why?")
        assert gateway.posts == 1
        assert raised.value.status == status
        assert KEY not in str(raised.value)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [0, 504, 503])
def test_under_a_cap_only_what_was_surely_not_billed_is_sent_again(status: int) -> None:
    with Gateway({}, status=status).running() as gateway:
        chat = gateway.chat()
        chat.configure(max_cost=1, prices=(3, 15), max_tokens=1_000)
        with pytest.raises((ProviderError, ProviderConnectionError)):
            chat.send("Why?")
        allowance = chat.info().allowance
    assert gateway.posts == (3 if status == 503 else 1)
    assert allowance is not None
    assert allowance.left == 1 if status == 503 else allowance.left <= 1 - 1_000 * 15e-6
