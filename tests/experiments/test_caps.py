"""A cap is never passed by what the provider bills, also where it counts up to twice what was estimated."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

from server import events, piece, send, serve, usage

from jupyter_ctx import sweep
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.families import ratios_of
from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.models.cost_budget import CostBudget
from jupyter_ctx.models.pricing import worst_case
from jupyter_ctx.models.registry import Models
from jupyter_ctx.testing import ScriptedProvider

MODELS = Models()
NAMES = ("anthropic/claude-sonnet-4-6", "google/gemini-2.5-pro", "mistral/mistral-large-latest", "openai/gpt-4o")
ALPHABETS = ("ACGT", "ACDEFGHIKLMNPQRSTVWY", "0123456789abcdef", string.ascii_letters, "the of an to in ", "日本語の")
RUNS, ROWS = 100, 40
PRICE = 3e-6  # US dollars a token of input


def text(chance: random.Random) -> str:
    length = 20 + int(chance.lognormvariate(6, 1))
    return "".join(chance.choices(chance.choice(ALPHABETS), k=length))


def bill(seed: int) -> tuple[float, float, int]:
    """Return a simulated run's cap, what was billed under it, and how many rows were asked.

    The provider counts a run's own factor times the first estimate, and each request a little otherwise.
    """
    chance = random.Random(seed)
    target = MODELS.target(Settings(model=chance.choice(NAMES), max_tokens=chance.choice((1, 50, 400))), ask=False)
    meter, before_reports = Meter(ratios_of(target.model)), Meter(ratios_of(target.model))
    target = replace(target, meter=meter)
    factor, noise, at_once = chance.uniform(1, 2), chance.choice((0, 0.05, 0.2)), chance.choice((1, 2, 8, 20))
    rows, on_their_way, billed, asked = [text(chance) for _ in range(ROWS)], list[Any](), 0.0, 0
    budget = CostBudget((worst_case(MODELS, target, meter.message(rows[0]), []) or 0.0) * chance.uniform(1, 15))
    while rows or on_their_way:
        while rows and len(on_their_way) < at_once:
            worst = worst_case(MODELS, target, meter.message(rows[-1]), [Message("user", rows[-1])])
            if not budget.reserve(worst):
                break
            counted = before_reports.message(rows[-1]) * min(2.0, factor * chance.lognormvariate(0, noise))
            on_their_way.append((rows.pop(), worst, Usage(int(counted), target.max_tokens or 0)))
            asked += 1
        if not on_their_way:
            break
        prompt, worst, reported = on_their_way.pop(chance.randrange(len(on_their_way)))
        sent = SentRequest(Fixed(), prompt)
        meter.reported(sent, "yes " * reported.output_tokens, reported, turn_id=None)
        cost = MODELS.cost(target, reported) or 0.0
        budget.settle(worst, cost)
        billed += cost
    return budget.cap or 0.0, billed, asked


def test_no_cap_is_passed_where_the_provider_counts_up_to_twice_what_was_estimated() -> None:
    runs = [bill(seed) for seed in range(RUNS)]
    assert [seed for seed, (cap, billed, _) in enumerate(runs) if billed > cap * (1 + 1e-9)] == []
    used = sorted(billed / cap for cap, billed, asked in runs if asked < ROWS)
    assert used[len(used) // 2] > 0.7  # and the money is used


def test_a_run_over_sequences_keeps_its_cap_at_a_server() -> None:
    counts = list[int]()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        counts.append(len(request["messages"][-1]["content"]))
        send(handler, 200, events(piece("yes", "stop"), usage(counts[-1], 1)), "text/event-stream")

    rows = [{"text": "".join(random.Random(row).choices("ACGT", k=20_000))} for row in range(40)]
    with serve(answer) as (url, _):
        given = {"model": "claude-sonnet-4-6", "base_url": url, "prices": (1e6 * PRICE, 15), "max_tokens": 16}
        sweep("{{ text }}", rows, max_cost=0.20, yes=True, **given).result()
    assert 0.05 < PRICE * sum(counts) <= 0.20


def test_a_cap_holds_where_every_answer_is_asked_for_twice() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    provider = ScriptedProvider('{"n": "' + "x" * 300 + '"}')
    rows = [f"word {number}" for number in range(40)]
    run = sweep(
        "{{ text }}", rows, provider=provider, store=None, schema=schema, yes=True, prices=(100, 100), max_tokens=100,
        max_cost=0.5,
    )  # fmt: skip
    assert run.wait(60)
    assert run.unasked
    assert len(provider.requests) == 2 * (len(rows) - run.unasked)
    assert run.cost is not None
    assert 0.2 < run.cost <= 0.5


def test_a_cap_that_is_enough_for_both_tries_at_one_answer_begins() -> None:
    given = {"store": None, "schema": {"type": "object", "properties": {"n": {}}}, "prices": (100, 100), "yes": True}
    run = sweep("{{ text }}", ["a"], provider=ScriptedProvider('{"n": 1}'), max_cost=0.5, **given)
    assert run.wait(60)
    assert run.unasked == 0
    assert 100 < run.settings["max_tokens"] < 2_000
