"""A run over a table whose model may call functions: the calls are a column, and stored with the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ctx import ChatError, sweep
from jupyter_ctx.conversation.messages import ToolCall
from jupyter_ctx.providers.base import Request
from jupyter_ctx.testing import Answer, ScriptedProvider

ROWS = [{"country": "NO"}, {"country": "SE"}]
SIZES = {"NO": 12, "SE": 30}


def size(country: str) -> int:
    """Return how many rows a country has."""
    return SIZES[country]


def asks_first(request: Request) -> Answer:
    """Call the function for the country that the prompt names, then answer with what it returned."""
    last = request.messages[-1]
    if last.round is None:
        return Answer(calls=[ToolCall("c1", "size", f'{{"country": "{last.content[-2:]}"}}')])
    return Answer(f"It has {last.round.results[0].text} rows.")


def test_each_row_has_its_calls_in_a_column_and_is_asked_once(tmp_path: Path) -> None:
    provider = ScriptedProvider(asks_first)
    for _ in range(2):
        run = sweep("How many rows has {{ country }}", ROWS, provider=provider, tools=[size], store=tmp_path / "a.db")
        frame = run.result()
        assert list(frame.reply) == ["It has 12 rows.", "It has 30 rows."]
        assert list(frame.calls) == ["size(country='NO') → 12", "size(country='SE') → 30"]
    assert len(provider.requests) == 4


def test_a_cap_holds_over_all_rounds() -> None:
    def calls_again(request: Request) -> Answer:
        rounds = sum(message.round is not None for message in request.messages)
        return Answer("x " * 50, calls=[ToolCall(f"c{rounds}", "size", '{"country": "NO"}')])

    provider = ScriptedProvider(calls_again)
    run = sweep(
        "How many rows has {{ country }}", ROWS * 10, provider=provider, store=None, tools=[size], yes=True,
        prices=(100, 100), max_tokens=100, max_cost=0.5,
    )  # fmt: skip
    with pytest.raises(ChatError, match="max_cost"):
        run.result()
    sent = sum(map(provider.size, provider.requests))
    assert run.cost is not None
    assert sent / 1e4 < run.cost <= 0.5
    assert len(provider.requests) < 40
