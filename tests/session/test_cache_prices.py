"""What a prompt costs before it is sent, also while the provider's prompt cache is warm, and once it is cold."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dialects import DIALECTS, answering
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import CACHED, INPUT, Priced

from jupyter_ctx import Chat
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.models.pricing import RequestPrice, sending_text
from jupyter_ctx.testing import Answer

NOW = time.mktime((2026, 12, 3, 14, 27, 0, 0, 0, -1))  # of the time of day that is shown
LONG = "word " * 8_000
PRICES = (3.0, 15.0, 0.3)


@contextmanager
def talk(dialect: str, model: str, *, written: int = 9_000, read: int = 0, **more: Any) -> Iterator[Chat]:
    """A chat whose server has reported what it keeps of its first prompt."""
    spoken = DIALECTS[dialect]
    answer = spoken.answer("Yes.", sent=9_100, said=3, cached=read, written=written)
    with answering(spoken, answer) as (chat, _):
        other = Chat(model, base_url=chat.config.base_url, api_key="none", **{"prices": PRICES, **more})
        other.send(LONG)
        yield other


def said_at(chat: Chat, seconds: float) -> str:
    """What a preview says so many seconds after the last reply."""
    return sending_text(price_at(chat, seconds))


def price_at(chat: Chat, seconds: float) -> RequestPrice:
    """The price of a preview so many seconds after the last reply."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jupyter_ctx.session.tables.time", lambda: replied_at(chat) + seconds)
        return chat.preview("And now?").price


def replied_at(chat: Chat) -> float:
    return chat.turns[-1].record.at or 0.0


@pytest.mark.parametrize(("ttl", "minutes", "premium"), [("5m", 5, 1.25), ("1h", 60, 2.0)])
def test_anthropic_keeps_a_prompt_for_its_time_to_live(ttl: str, minutes: int, premium: float) -> None:
    with talk("anthropic", "anthropic/claude-opus-5-5", cache_ttl=ttl) as chat:
        price = price_at(chat, 60 * minutes - 60)
        assert price.cached_tokens == 9_100
        assert price.cached_until == pytest.approx(replied_at(chat) + 60 * minutes, abs=60)
        assert price.low == pytest.approx(9_100 * CACHED + (price.input_tokens - 9_100) * INPUT)
        assert price.input == pytest.approx(price.input_tokens * INPUT * premium)
        until = time.strftime("%H:%M", time.localtime(price.cached_until))
        assert re.fullmatch(rf"~\$0\.00\d+ to send until {until}, ~\$0\.0\d+ after", said_at(chat, 0))
        cold = said_at(chat, 60 * minutes)
        assert re.fullmatch(r"~\$0\.0\d+ to send", cold)
        assert cold.split()[0] == said_at(chat, 0).split(", ")[1].split()[0]


@pytest.mark.parametrize(("model", "minutes"), [("openai/gpt-6.1-sol", 30), ("openai/gpt-5.5", None)])
def test_openai_keeps_it_for_half_an_hour_where_it_says_so(model: str, minutes: int | None) -> None:
    with talk("completions", model, read=4_000, written=4_000) as chat:
        price = chat.preview("And now?").price
        assert price.cached_tokens == 9_100
        assert price.cached_until == (
            None if minutes is None else pytest.approx(replied_at(chat) + 60 * minutes, abs=60)
        )
        assert ("if still cached" in said_at(chat, 0)) == (minutes is None)
        assert "cached" not in said_at(chat, 3_600)


def test_where_no_report_shows_a_cache_nothing_is_said_of_one() -> None:
    with talk("completions", "openai/gpt-6.1-sol", written=0) as chat:
        assert chat.preview("And now?").price.cached_tokens == 0
        assert re.fullmatch(r"~\$0\.0\d+ to send", said_at(chat, 0))


def test_what_changes_the_beginning_makes_the_cache_cold() -> None:
    with talk("anthropic", "anthropic/claude-opus-5-5") as chat:
        chat.configure(system="Be brief.")
        assert chat.preview("And now?").price.cached_tokens == 0


def test_it_is_warm_as_long_as_its_server_says() -> None:
    chat = Chat(provider=Priced(Answer("Yes.", usage=Usage(9_000, 3, cache_write_tokens=9_000))), max_tokens=500)
    chat.send(LONG)
    one = chat.preview("And now?").price
    assert "until 14:28" in sending_text(one._replace(cached_until=NOW + 60))
    assert "if still cached" in sending_text(one)
    assert " until" not in sending_text(one._replace(cached_tokens=0, low=one.input))


@settings(max_examples=30, deadline=None)
@given(prompts=st.lists(st.text("ab c", min_size=1, max_size=4_000).filter(str.strip), min_size=1, max_size=5))
def test_the_cost_lies_in_the_range_that_was_told(prompts: list[str]) -> None:
    chat = Chat(provider=Priced("Yes, indeed. " * 40), max_tokens=500, token_counting="provider")
    for prompt in prompts:
        price = chat.preview(prompt).price
        cost = chat.send(prompt).cost
        assert price.low is not None
        assert price.high is not None
        assert cost is not None
        assert price.low <= cost <= price.high
