"""Prices that the user gives for models behind a gateway: of a cell, of the conversation, in the models file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from priced import CLAUDE, Priced
from server import serve

from jupyter_ctx import Chat, InvalidRequestError, judge, sweep
from jupyter_ctx.models.pricing import price_of
from jupyter_ctx.testing import ScriptedProvider

SENT, SAID, READ, WRITTEN = 10_000, 200, 4_000, 1_000
PRICES = (2.5, 10, 0.25)


@contextmanager
def gateway(dialect: str = "completions", **counts: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server on loopback that bills somebody, and its requests."""
    body = DIALECTS[dialect].answer("Yes.", sent=SENT, said=SAID, **counts)
    with serve(body, path="") as served:
        yield served


@pytest.fixture
def at() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with gateway(cached=READ) as served:
        yield served


@pytest.fixture
def models_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "models.json"
    rows = {"small": {"prices": [1, 2]}, "large": {"prices": [10, 20, 1], "context_window": 64_000}}
    path.write_text(json.dumps(rows))
    monkeypatch.setenv("JUPYTER_CTX_MODELS", str(path))
    return path


def cost(fresh: float, out: float, cached: float | None = None, written: float = 0.0) -> float:
    cached = fresh if cached is None else cached
    return ((SENT - READ) * fresh + READ * cached + written * fresh + SAID * out) / 1e6


def test_a_bill_that_nobody_knows_is_said_to_be_unknown(at: tuple[str, list[dict[str, Any]]]) -> None:
    chat = Chat("m", base_url=at[0])
    assert chat.send("Hello.").cost is None
    assert (chat.info().cost, chat.info().unpriced) == (None, 1)
    chat.send("Hello.", prices="0,0")
    assert (chat.info().cost, chat.info().unpriced) == (0.0, 1)


def test_the_cell_comes_before_the_conversation_and_the_file_before_the_table(
    at: tuple[str, list[dict[str, Any]]], models_file: Path
) -> None:
    chat = Chat("small", base_url=at[0], prices=PRICES)
    assert chat.send("Hello.").cost == pytest.approx(cost(*PRICES))
    assert chat.send("Hello.", prices=[3, 3]).cost == pytest.approx(cost(3, 3))
    assert chat.send("Hello.", model="large-2").cost == pytest.approx(cost(10, 20, 1))
    assert chat.send("Hello.", model="other").cost is None
    chat.configure(prices=None)
    assert chat.send("Hello.").cost == pytest.approx(cost(1, 2))
    listed = Chat(provider=Priced("Yes."))
    assert listed.preview("Hello.").price.rates.source == "from price tables"  # type: ignore[union-attr]
    models_file.write_text(json.dumps({CLAUDE: {"prices": [1, 2]}}))
    assert listed.preview("Hello.").price.rates.source == "from your models.json"  # type: ignore[union-attr]
    listed.configure(prices=(5, 5))
    assert str(listed.preview("Hello.").price.rates) == "$5 in, $5 out per million tokens, given"


def test_a_row_with_prices_alone_leaves_the_window_to_other_tables(models_file: Path) -> None:
    models_file.write_text(
        '{"gpt-4o": {"prices": [1, 2]}, "my-": {"prices": [1, -2], "context_window": 9000}, "x": {}}'
    )
    assert Chat("openai/gpt-4o").info().budget.window.source == "models.json"
    mine = Chat("my-model", base_url="http://127.0.0.1:9/v1")
    assert mine.info().budget.window.tokens == 9_000
    assert mine.preview("Hello.").price.high is None
    assert "ignored 'my-': prices must be" in mine.models.problems[0]


@pytest.mark.parametrize(
    ("address", "model", "source"),
    [
        ("https://api.deepseek.com/v1", "deepseek-chat", "from price tables"),
        ("https://api.deepseek.com/anthropic", "anthropic/deepseek-chat", "from price tables"),
        ("https://api.anthropic.com/v1", "claude-sonnet-4-6", "from price tables"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "models/gemini-2.5-pro", "from price tables"),
        ("https://gateway.example.com/v1", "openai/gpt-5.2", None),
        (None, "openai/gpt-6.2-sol-pro", None),
        ("http://127.0.0.1:9/v1", "claude-sonnet-4-6", None),
        ("http://gpu-box:11434/v1", "ollama/llama3.2", "free"),
        (None, "local/smollm2", "free"),
    ],
)
def test_the_table_speaks_for_a_providers_own_address_alone(
    address: str | None, model: str, source: str | None
) -> None:
    price = Chat(model, base_url=address).preview("Hello.").price
    assert price.is_free == (source == "free")
    assert (price.rates.source if price.rates else None) == (None if source == "free" else source)
    assert (price.high is None) == (source is None)


def test_what_anthropic_writes_to_a_cache_costs_more_behind_a_gateway_too() -> None:
    with gateway("anthropic", cached=READ, written=WRITTEN) as (url, _):
        for ttl, more in (("5m", 0.25), ("1h", 1.0)):
            chat = Chat("anthropic/m", base_url=url, prices=PRICES, cache_ttl=ttl, api_key="none")
            price = chat.preview("Hello.").price
            assert price.rates is not None
            assert price.rates.written == pytest.approx(2.5e-6 * (1 + more))
            assert chat.send("Hello.").cost == pytest.approx(cost(*PRICES, written=more * WRITTEN))


def test_a_cap_holds_at_a_gateway_for_every_model_and_judge(
    at: tuple[str, list[dict[str, Any]]], models_file: Path
) -> None:
    url, seen = at
    grid = {"model": ["small", "large"]}
    given: dict[str, Any] = {"base_url": url, "store": None, "max_tokens": 300, "progress": False}
    for unknown in ({"model": "new"}, {"model": "small", "scorers": [judge("Is it?", model="new")]}):
        with pytest.raises(InvalidRequestError, match=r"of new is.*models\.json") as raised:
            sweep("Say {{ text }}.", ["a", "b"], max_cost=1, **given, **unknown)
        assert "\n" not in str(raised.value)
    assert not seen
    scorer = judge("Is it?", model="new", prices=(1, 1))  # which is asked there too
    run = sweep("Say {{ text }}.", ["a", "b"], grid, model="small", max_cost=1, scorers=[scorer], **given)
    run.result()
    judged = sum(request["model"] == "new" for request in seen)
    assert 2 <= judged <= 4, "both models answer alike, and a verdict that has come is not asked for again"
    assert run.cost == pytest.approx(2 * (cost(1, 2) + cost(10, 20, 1)) + judged * cost(1, 1))
    assert (run.unpriced, len(seen)) == (0, 4 + judged)
    capped = sweep("Tell {{ text }}.", ["a", "b"], grid, model="small", max_cost=0.008, **given)
    capped.wait()
    assert any("max_cost is $0.008" in notice for notice in capped.notices)
    assert 0 < capped.unasked < 4


def test_a_run_without_a_cap_tells_that_its_price_is_unknown(at: tuple[str, list[dict[str, Any]]]) -> None:
    chat = Chat("m", base_url=at[0])
    run = chat.map("Say {{ text }}.", ["a", "b"], progress=False)
    run.result()
    assert "the price of m is unknown. Give it" in str(run.estimate)
    assert (run.cost, run.unpriced) == (None, 2)
    assert (chat.info().cost, chat.info().unpriced) == (None, 2)


def test_what_the_user_says_of_a_server_of_ones_own_holds() -> None:
    billed = Chat(provider=ScriptedProvider("Yes."), prices=PRICES)
    target = billed.models.target(billed.config, ask=False)
    assert not target.is_free
    assert price_of(billed.models, target) is not None
    free = Chat(provider=Priced("Yes."), prices=(0, 0))
    assert free.send("Hello.").cost == 0


@pytest.mark.parametrize(
    "bad",
    ["2", "2,3,4,5", "2,50,10", "-1,2", "1,-2", "inf,2", "nan,2", "1,1e999", "a,b", "", (1,), 5, {"in": 1}, b"1,2"],
)
def test_prices_that_make_no_sense_are_refused_with_what_they_must_be(bad: Any) -> None:
    with pytest.raises(InvalidRequestError, match=r"US dollars|first price 2 or 2\.") as raised:
        Chat(prices=bad)
    assert "\n" not in str(raised.value)
