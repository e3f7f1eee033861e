"""What is left to spend, in cells: asked in the background after an answer, and said by %chat status."""

from __future__ import annotations

import time

import pytest
from cells import Cells
from gateways import KEY, Gateway

from jupyter_ctx import BudgetExceededError, get_chat

INFO = {"info": {"spend": 3.8, "max_budget": 5.0, "budget_reset_at": None}}
LITELLM = {"x-litellm-version": "1.109.0"}


def test_after_an_answer_the_gateway_is_asked_once_and_status_says_what_is_left(cells: Cells) -> None:
    with Gateway({"/key/info": INFO}, headers=LITELLM).running() as gateway:
        chat = get_chat()
        chat.desk.set_key(f"{gateway.url}/v1", KEY)
        cells.run(f"%chat use m --base-url {gateway.url}/v1 --window 4000")
        cells.run("%%chat\nWhy?")
        until = time.monotonic() + 10
        while "/key/info" not in gateway.gets and time.monotonic() < until:
            time.sleep(0.01)
        cells.run("%%chat\nAnd why is that?")
        while not chat.info().allowances and time.monotonic() < until:
            time.sleep(0.01)
        cells.run("%chat config prices 3,15")
        cells.run("%chat config max_cost 2")
        status = cells.run("%chat status")
        assert gateway.gets.count("/key/info") == 1
        assert gateway.keys == {f"Bearer {KEY}"}
    assert "Budget: $2 of $2 left in this conversation; $1.20 of $5 left for this key." in status


def test_a_cap_a_day_comes_from_the_configuration(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CTX_MAX_COST_DAY", "7")
    cells.shell.config.Chat.max_cost_day = 0.001
    with Gateway({}).running() as gateway:
        cells.run(f"%chat use m --base-url {gateway.url}/v1 --window 4000 --prices 3,15")
        error, _ = cells.outcome("%%chat\nWhy?")
        assert isinstance(error, BudgetExceededError)
        assert "max_cost_day is $0.001" in str(error)
        assert gateway.posts == 0
