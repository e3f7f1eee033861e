"""What caching has saved, as `%chat status` says it: figures that follow from the reports of answers alone."""

from __future__ import annotations

from typing import Any

import pytest
from priced import CACHED, INPUT, WRITTEN, Priced

from jupyter_ctx import Chat, Usage
from jupyter_ctx.session.usage_table import saved_by_caching
from jupyter_ctx.testing import Answer, ScriptedProvider
from jupyter_ctx.wording import dollars


def caching(reads: int, writes: int) -> Any:
    """What a server reports that reads and writes so many tokens."""
    return Answer("Yes.", usage=Usage(10_000, 100, cache_read_tokens=reads, cache_write_tokens=writes))


def told(provider: Any, turns: int = 1, **given: Any) -> str:
    chat = Chat(provider=provider, **{"max_tokens": 500, **given})
    for _ in range(turns):
        chat.send("Hello.")
    return saved_by_caching(chat.usage(), chat.session.token_prices)


@pytest.mark.parametrize("counts", [[(5_000, 0)], [(5_000, 900), (9_000, 0)], [(100, 1_000)]])
def test_caching_saves_what_reading_costs_less_without_what_writing_costs_more(counts: list[tuple[int, int]]) -> None:
    line = told(Priced([caching(*each) for each in counts]), len(counts))
    reads, writes = (sum(each) for each in zip(*counts, strict=True))
    saved = reads * (INPUT - CACHED) - writes * (WRITTEN - INPUT)
    sign = "−" if saved < 0 else ""
    read = f"{reads:,} of {10_000 * len(counts):,} input tokens were read from caches"
    assert line == f"Saved by caching: {sign}{dollars(abs(saved))}; {read}"


@pytest.mark.parametrize("provider", [Priced("Yes."), ScriptedProvider("Yes.")])
def test_a_conversation_without_caches_has_saved_nothing(provider: ScriptedProvider) -> None:
    assert told(provider) == ""


def test_writes_that_are_kept_for_an_hour_cost_more() -> None:
    line = told(Priced(caching(0, 8_000)), cache_ttl="1h")  # twice the price of input
    assert line == "Saved by caching: −$0.024; 0 of 10,000 input tokens were read from caches"


def test_an_unknown_price_leaves_the_tokens() -> None:
    line = told(ScriptedProvider(caching(900, 0)), 6)
    assert line == "Saved by caching: 5,400 of 60,000 input tokens were read from caches"


def test_prices_that_are_given_tell_what_caching_saved_at_a_gateway() -> None:
    provider = ScriptedProvider(caching(8_000, 0), model="anthropic/x")
    assert told(provider, prices=(3, 15, 0.3)).startswith("Saved by caching: $0.022;")
