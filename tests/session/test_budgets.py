"""What may be spent: reserved before each request, told, and never passed."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from priced import OUTPUT, Priced
from screens import Unshown

from jupyter_ctx import (
    BudgetExceededError,
    Chat,
    ChatError,
    InvalidRequestError,
    ProviderConnectionError,
    RateLimitError,
    Usage,
)
from jupyter_ctx.context.context_info import MoneyLeft
from jupyter_ctx.display.widgets.gauge import gauge_static, gauge_text, status_bundle
from jupyter_ctx.models.pricing import price
from jupyter_ctx.providers.base import Request
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.side_by_side import Candidate, ask_each
from jupyter_ctx.testing import Answer, ScriptedProvider
from jupyter_ctx.wording import budget_line, dollars

LONG = "word " * 4_000  # 5,000 tokens as the provider counts them
WORST = 1_000 * OUTPUT  # of the answer to a short prompt


def capped(cap: float | None, *answers: Any, **given: Any) -> tuple[Chat, Priced]:
    provider = Priced(list(answers) or "Yes.")
    return Chat(provider=provider, max_cost=cap, **{"max_tokens": 1_000, **given}), provider


def left(chat: Chat) -> float:
    """What is left of the cap."""
    allowance = chat.info().allowance
    assert allowance is not None
    return allowance.left


def side_by_side(chat: Chat, prompt: str, count: int) -> Any:
    return ask_each(chat.session, Prompt(prompt), [Candidate(str(i), {}) for i in range(count)], Unshown())  # type: ignore[arg-type]


def test_a_prompt_that_might_pass_the_cap_is_not_sent_and_the_error_has_the_figures() -> None:
    chat, provider = capped(0.03)
    chat.send("Hello.")
    with pytest.raises(BudgetExceededError, match=r"max_cost is \$0\.03: \$0\.0\d+ of it.* up to \$0\.0\d+") as raised:
        chat.send(LONG)
    assert "max_tokens" in str(raised.value)
    assert raised.value.status is None
    assert len(provider.requests) == len(chat.turns) == 1
    price = chat.preview(LONG).price
    assert price.high is not None
    assert f"up to {dollars(price.high)}" in str(raised.value), "what was told before"
    chat.configure(max_cost=1)
    chat.send(LONG)
    assert len(chat.turns) == 2


def test_what_is_left_is_told_and_counts_what_was_spent_before_there_was_a_cap() -> None:
    chat, _ = capped(None)
    cost = chat.send("Hello.").cost or 0.0
    assert chat.info().allowance is None
    chat.configure(max_cost=2)
    assert chat.info().allowance == MoneyLeft(pytest.approx(2 - cost), 2.0)
    more = chat.send("And?").cost or 0.0
    assert left(chat) == pytest.approx(2 - cost - more)
    info = chat.info()
    assert info.allowance is not None
    assert budget_line(info.allowance) == "$1.99 of $2 left"
    shown = (gauge_text(info), gauge_static(info), *status_bundle(info).values())
    escaped = re.compile(r"\$(</span>)?1\.99 of (<span>|\\)?\$(</span>)?2 left")
    assert [bool(escaped.search(form)) for form in shown] == [True] * 5


def test_a_cap_outlives_the_kernel_with_what_was_charged(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.sqlite'}"
    given: dict[str, Any] = {"store": store, "name": "a", "max_tokens": 1_000, "max_cost": 1}
    chat = Chat(provider=Priced(Answer("Yes.", usage=None)), **given)
    chat.send("Hello.")  # nobody knows what it cost: the worst is charged
    before = left(chat)
    assert 1 - before >= WORST
    chat.close()
    again = Chat(provider=Priced("Yes."), **given)
    assert left(again) == pytest.approx(before)


def test_under_a_cap_the_longest_answer_is_sent_so_that_it_bounds_the_price() -> None:
    provider = ScriptedProvider("Yes.", model="anthropic/claude-sonnet-4-6")
    provider.catalogue = "anthropic"
    chat = Chat(provider=provider)
    chat.send("Hello.")
    chat.configure(max_cost=1)
    chat.send("Hello.")
    assert [request.max_tokens is None for request in provider.requests] == [True, False]


def test_a_cap_with_an_unknown_price_cannot_be_kept_and_says_what_gives_a_price() -> None:
    provider = ScriptedProvider("Yes.", model="acme/large")
    provider.catalogue = "acme"
    chat = Chat(provider=provider, max_cost=2)
    with pytest.raises(InvalidRequestError, match=r"of acme/large is unknown.*cap.*prices"):
        chat.send("Hello.")
    assert not provider.requests
    chat.configure(prices=(3, 15))
    chat.send("Hello.")
    assert len(provider.requests) == 1


def test_a_model_newer_than_the_price_tables_has_its_price_from_models_json_while_it_is_sure() -> None:
    provider = ScriptedProvider("Yes.", model="openai/gpt-6.2-sol")
    provider.catalogue = "openai"
    chat = Chat(provider=provider, max_cost=2)
    reply = chat.send("Hello.")
    usage = reply.usage
    assert usage is not None
    assert reply.cost == pytest.approx((2 * usage.input_tokens + 10 * usage.output_tokens) / 1e6)
    assert price("openai", ["gpt-6.2-sol"], Usage(100_000, 0, 100_000)) == pytest.approx(0.01)
    assert price("openai", ["gpt-6.2-sol"], Usage(300_000, 0)) is None  # which may cost more than the listed price
    assert price("azure", ["gpt-6.2-sol"], Usage(1_000, 0)) is None


def test_a_faster_service_has_another_price_than_the_listed_one() -> None:
    chat, provider = capped(1, parameters={"service_tier": "priority"})
    with pytest.raises(InvalidRequestError, match="unknown"):
        chat.send("Hello.")
    assert not provider.requests
    chat.configure(parameters={"service_tier": "flex"})
    assert chat.send("Hello.").cost


def test_no_prompt_has_a_cap_of_its_own() -> None:
    chat, provider = capped(1)
    with pytest.raises(InvalidRequestError, match="max_cost holds for the whole notebook"):
        chat.send("Hello.", max_cost=0.5)
    assert not provider.requests


def test_what_is_free_is_answered_although_nothing_is_left() -> None:
    provider = ScriptedProvider("Yes.", model="acme/large")
    chat = Chat(provider=provider, max_cost=0, prices=(0, 0))
    assert chat.send("Hello.").text == "Yes."


def test_a_request_that_is_refused_costs_nothing_and_one_whose_connection_broke_its_worst() -> None:
    refused = Answer("", error=RateLimitError("Slow down."))
    broken = Answer("", error=ProviderConnectionError("The connection broke."))
    chat, _ = capped(1, refused, broken)
    with pytest.raises(RateLimitError):
        chat.send("Hello.")
    assert left(chat) == 1
    with pytest.raises(ProviderConnectionError):
        chat.send("Hello.")
    assert 1 - left(chat) >= WORST


def test_a_run_of_a_conversation_is_bounded_by_what_is_left_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "no-key-that-is-sent")
    chat, provider = capped(0.1)
    run = chat.map("Say {{ text }}.", [f"word {i}" for i in range(40)], store=None, progress=False, concurrency=2)
    run.wait()
    spent = len(provider.requests) * 2 * OUTPUT
    assert left(chat) <= 0.1 - spent
    assert any("At most $0.10 may be spent" in notice for notice in run.notices)
    assert run.cost_budget.cap == 0.1
    again = chat.map("Say {{ text }}!", ["a"], store=None, progress=False, max_cost=0.05)
    again.wait()
    assert again.cost_budget.cap == 0.05


# a thousand conversations


@dataclass
class Biller:
    """What a provider bills, whatever it reports: each request that it has begun to answer."""

    input: float
    output: float
    chance: random.Random
    billed: float = 0.0
    requests: int = 0
    lock: Lock = field(default_factory=Lock)

    def answer(self, request: Request) -> Answer:
        chance = self.chance
        with self.lock:
            size = sum(-(-len(message.content) // 4) + 4 for message in request.messages)
            assert request.max_tokens is not None
            written = chance.randrange(1, request.max_tokens + 1)
            self.requests += 1
            kind = chance.random()
            if kind < 0.08:
                return Answer("", error=RateLimitError("Slow down."))
            self.billed += size * self.input + written * self.output
        text = "word " * min(written, 40)
        if kind < 0.14:
            return Answer(text, error=ProviderConnectionError("The connection broke."))
        if kind < 0.20:
            return Answer(text, usage=None, stop_reason=chance.choice(("cut", "stop")))
        if kind < 0.24:
            return Answer("", error=ProviderConnectionError("The connection broke."))
        return Answer(chance.choice((text, '{"a": 1}')), usage=Usage(size, written))


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def simulated(seed: int) -> tuple[float, float, int]:
    """Hold a conversation at random; return its cap, what was billed, and how many requests were sent."""
    chance = random.Random(seed)
    prices = (chance.uniform(0.1, 30), chance.uniform(0.1, 90))
    biller = Biller(prices[0] / 1e6, prices[1] / 1e6, chance)
    window = chance.choice((None, 600, 2_000))
    provider = ScriptedProvider(biller.answer, window=window, model="anthropic/claude-sonnet-4-6")
    provider.catalogue = "anthropic"
    most = chance.randrange(20, 200)
    cap = chance.uniform(0.5, 12) * most * biller.output
    overflow = chance.choice(("trim", "summarise"))
    chat = Chat(
        provider=provider, prices=prices, max_cost=cap, max_tokens=most, on_overflow=overflow,
        window=chance.choice((None, 4_000)),
    )  # fmt: skip
    for _ in range(chance.randrange(4, 10)):
        prompt = "Why? " + "word " * chance.choice((1, 30, 200))
        with suppress(ChatError):
            what = chance.random()
            if what < 0.5:
                chat.send(prompt)
            elif what < 0.65:
                chat.send(prompt, schema=SCHEMA)
            elif what < 0.85:
                side_by_side(chat, prompt, chance.randrange(2, 5))
            elif what < 0.95:
                chat.summarize(method="model")
            else:
                cap *= 1.5
                chat.configure(max_cost=cap)
    return cap, biller.billed, biller.requests


@pytest.mark.parametrize("simulations", [40, pytest.param(1_000, marks=pytest.mark.load)])
def test_no_conversation_of_many_passes_its_cap(simulations: int) -> None:
    came = [simulated(seed) for seed in range(simulations)]
    assert max(billed - cap for cap, billed, _ in came) <= 0
    assert sum(requests for *_, requests in came) > 3 * simulations
    assert sum(billed > 0.5 * cap for cap, billed, _ in came) > 0.2 * simulations  # caps are used
