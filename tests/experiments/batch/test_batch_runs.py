"""A run with batch=True, as a user begins it: half the price, resumable, cancelled, under a cap, with a schema."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from batch_servers import ADAPTERS, Account, Accounts, prompt_of
from dialects import KEY
from server import send

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.errors import ChatError, ChatInterrupted, InvalidRequestError
from jupyter_ctx.experiments.judges import judge
from jupyter_ctx.experiments.money.estimate import Estimate
from jupyter_ctx.experiments.run import Run
from jupyter_ctx.experiments.start import sweep
from jupyter_ctx.models.pricing import price

ROWS = [{"text": f"word {number}"} for number in range(6)]
PRICED = {"openai": "gpt-4o-mini", "anthropic": "claude-sonnet-4-6"}


@pytest.fixture(params=ADAPTERS)
def api(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def begin(server: Accounts, api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Begins a run with the provider's own name, so that its prices are known."""
    monkeypatch.setenv(f"{api.upper()}_BASE_URL", server.base_url("a"))
    monkeypatch.setenv(f"{api.upper()}_API_KEY", KEY)

    def begun(template: str = "Say {{ text }}", rows: Any = ROWS, **more: Any) -> Run:
        given = {"model": f"{api}/{PRICED[api]}", "max_tokens": 50, "store": tmp_path / "store.sqlite", **more}
        return sweep(template, rows, batch=True, progress=False, yes=True, **given)

    return begun


def wait_for_batches(account: Account) -> None:
    end = time.monotonic() + 10
    while not account.batches:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_run_in_batches_has_every_answer_at_half_the_price(begin: Any, account: Account, api: str) -> None:
    run = begin(repeat=2, prices=(3, 15))
    frame = run.result(timeout=60)
    assert sorted(frame["reply"]) == sorted(f"re: Say word {number}" for number in range(6) for _ in range(2))
    assert len(account.batches) == 1
    share = 0.5 if api == "anthropic" else 1.0  # nobody knows what a batch costs at OPENAI_BASE_URL
    assert run.progress.cost == pytest.approx(share * 12 * (9 * 3 + 2 * 15) / 1e6)
    assert {result.reply.model for result in run.results if result.reply} == {f"{api}/{PRICED[api]}"}
    assert any("Batches cost half" in notice for notice in run.notices) == (share == 0.5)
    again = begin(repeat=2)
    again.result(timeout=60)
    assert all(result.cached for result in again.results)
    assert again.progress.cost in (None, 0.0)
    assert len(account.batches) == 1


def test_only_new_and_failed_rows_are_asked_again(begin: Any, account: Account) -> None:
    account.fate = lambda prompt: "bad" if prompt == "Say word 1" else "succeeded"
    begin().result(timeout=60)
    account.fate = lambda prompt: "succeeded"
    more = [*ROWS, {"text": "new"}]
    run = begin(rows=more)
    run.result(timeout=60)
    assert [result.row for result in run.results if result.failed] == [1]
    run = begin(rows=more, retry=True)
    run.result(timeout=60)
    assert not any(result.failed for result in run.results)
    assert account.paid == {f"Say {row['text']}": 1 for row in more}


def test_cancelling_a_run_cancels_its_batches(begin: Any, account: Account) -> None:
    account.looks_to_end = -1
    run = begin()
    wait_for_batches(account)
    assert "1 batch at the provider, 0 of their rows done there" in str(run.progress)
    run.cancel()
    assert run.wait(10)
    assert sum(call.endswith("/cancel") for call in account.calls) == 1
    assert "running it again asks only the other 6" in run.notices[-1]
    account.looks_to_end = 0
    assert len(begin().result(timeout=60)) == 6
    assert set(account.paid.values()) == {1}


def test_ctrl_c_leaves_the_batches_to_the_next_run(begin: Any, account: Account) -> None:
    account.looks_to_end = -1
    run = begin()
    wait_for_batches(account)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(ChatInterrupted):
        run.result(60)
    timer.join()
    assert run.wait(60)
    assert not any(call.endswith("/cancel") for call in account.calls)
    assert "The batches go on at the provider" in run.notices[-1]
    account.looks_to_end = 0
    assert len(begin().result(timeout=60)) == 6
    assert set(account.paid.values()) == {1}


def test_several_models_are_asked_side_by_side(begin: Any, account: Account, api: str) -> None:
    grid = {"model": [f"{api}/{PRICED[api]}", f"{api}/other"]}
    run = begin(grid=grid)
    assert len(run.result(timeout=60)) == 12
    assert len(account.batches) == 2
    posts = [number for number, call in enumerate(account.calls) if call.startswith("POST") and "batches" in call]
    results = [number for number, call in enumerate(account.calls) if call.endswith(("content", "results"))]
    assert max(posts) < min(results)


@pytest.mark.parametrize("api", ["anthropic"], indirect=True)
def test_a_judge_asks_in_a_batch_too(begin: Any, account: Account) -> None:
    account.text = lambda body: "yes" if "word" in prompt_of(body) and "?" in prompt_of(body) else "fine"
    run = begin(scorers={"good": judge("Is it good?", model="anthropic/claude-sonnet-4-6")})
    run.result(timeout=60)
    assert len(account.batches) == 2
    assert all("good" in result.scores for result in run.results)


@pytest.mark.parametrize("api", ["anthropic"], indirect=True)
def test_a_cap_is_never_passed(begin: Any, account: Account) -> None:
    one = 0.0009  # about the most that one row costs in a batch, in dollars
    run = begin(max_cost=3.2 * one, max_tokens=100)
    frame = run.result(timeout=60)
    spent = run.progress.cost
    assert spent is not None
    assert 0 < spent <= 3.2 * one
    assert len(frame) == 6
    assert sum(account.paid.values()) == frame.asked.sum() > 0


def test_what_a_schema_does_not_allow_is_asked_once_more_in_a_batch(begin: Any, account: Account) -> None:
    def text(body: dict[str, Any]) -> str:
        first, *more = body["messages"]
        if not first["content"].startswith("Say word 0"):
            return '{"n": 1}'
        return '{"n": 5}' if more else '{"n": "x"}'

    account.text = text
    schema = {"title": "N", "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    run = begin(schema=schema)
    frame = run.result(timeout=60)
    assert sorted(frame["n"]) == [1, 1, 1, 1, 1, 5]
    assert len(account.batches) == 2


def test_a_model_without_batches_is_named_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="google/gemini-3-pro takes no batches here"):
        sweep("Say {{ text }}", ROWS, model="google/gemini-3-pro", api_key=KEY, batch=True, store=tmp_path / "s.sqlite")


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "anthropic/claude-sonnet-4-6"])
def test_half_the_price_is_told_before_anything_is_sent(model: str) -> None:
    def estimate(**more: Any) -> Estimate:
        run = sweep("Say {{ text }}", ROWS, model=model, api_key=KEY, max_tokens=50, dry_run=True, store=None, **more)
        return run.estimate

    batch, usual = estimate(batch=True), estimate()
    assert batch.cost is not None
    assert usual.cost is not None
    assert batch.cost == pytest.approx([cost and cost / 2 for cost in usual.cost])
    assert f"6 requests to {model}, in batches: " in str(batch)


BATCH_USAGE = Usage(1_000_000, 100_000, 200_000, 0)


def test_a_listed_price_of_batches_comes_before_half_of_the_usual_one() -> None:
    usual, batch = (price("openai", ["gpt-4o"], BATCH_USAGE, batch=batch) for batch in (False, True))
    assert (usual, batch) == pytest.approx((800_000 * 2.5e-6 + 200_000 * 1.25e-6 + 1.0, 1.25 + 0.5))
    usual, batch = (price("openai", ["gpt-3.5-turbo-0301"], BATCH_USAGE, batch=batch) for batch in (False, True))
    assert usual is not None
    assert batch == pytest.approx(usual / 2)
    assert price("openai", ["no-such-model"], BATCH_USAGE, batch=True) is None


def test_a_refused_key_ends_the_run_with_its_message(begin: Any, account: Account) -> None:
    account.on = lambda step, handler: send(handler, 401, '{"error": {"message": "bad key"}}') or True
    with pytest.raises(ChatError, match=r"rejected the key .* running it again asks only the other 6"):
        begin().result(timeout=60)


def test_rows_that_share_a_prefix_write_no_cache(begin: Any, account: Account, api: str) -> None:
    begin(template="Read this: " + "a long shared text. " * 900 + "{{ text }}").result(timeout=60)
    (batch,) = account.batches.values()
    assert all("cache_control" not in json.dumps(body) for body in batch.requests.values())
