"""Random conversations that are refused: each recovers, and nothing is lost.

The same cases in thousands are in benchmarks/recovery.py.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator

import pytest

from benchmarks.recovery import KINDS, STATED, Kind, Simulated, prose, run
from jupyter_ctx import Chat, ContextOverflowError, Reply
from jupyter_ctx.context.overflow import Overflow
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.providers.base import Request

LIMIT = 2_000
CASES = 60


@pytest.mark.parametrize("kind", KINDS)
def test_refused_conversations_recover_and_lose_nothing(kind: Kind) -> None:
    outcomes = [run(kind, number) for number in range(CASES)]
    assert all(o.whole and o.goes_on and o.smaller for o in outcomes)
    refused = [o for o in outcomes if o.retries]
    assert len(refused) > CASES / 3
    assert all(o.retries <= 3 for o in refused)
    if kind in STATED:
        assert all(o.recovered and o.retries == 1 for o in refused)
    assert all(o.recovered for o in refused if o.group != "3–20")
    assert statistics.median(o.kept for o in refused if o.recovered) >= 0.5  # 0.55 and more of 10,000


def refused(kind: Kind, size: int, **settings: str) -> tuple[Chat, Simulated]:
    """A chat that takes the window for larger than it is, with a conversation of so many tokens."""
    provider = Simulated(kind, LIMIT, 1.0, random.Random(1))
    told = {"token_counting": "approximate", "max_tokens": 64, "window": 10**6, **settings}
    chat = Chat("openai/gpt-4o", provider=provider, **told)
    for _ in range(size // 50):
        chat.add_messages([{"role": role, "content": prose(20, provider.rng)} for role in ("user", "assistant")])
    return chat, provider


def test_a_stated_limit_is_cut_to_0_6_of_it() -> None:
    chat, provider = refused("full numbers", 5_000)
    chat.send("And now?")
    assert provider.sizes[1:] == [pytest.approx(0.6 * LIMIT, rel=0.05)]


def test_without_numbers_the_first_retry_sends_0_6_of_a_limit_of_0_8_of_what_was_refused() -> None:
    chat, provider = refused("none", 3_000)
    chat.send("And now?")
    first, second = provider.sizes
    assert second == pytest.approx(0.6 * 0.8 * first, rel=0.05)


@pytest.mark.parametrize("size", [5_000, 20_000])
def test_the_second_sends_the_least_where_nobody_states_a_limit(size: int) -> None:
    chat, provider = refused("none", size)
    chat.send("And now?")
    assert len(provider.sizes) == 3
    assert provider.sizes[2] < 100  # the newest turn and the prompt


def test_after_two_retries_it_stops_with_the_figures_and_the_next_cell_begins_below() -> None:
    chat, provider = refused("none", 12_000)
    turns = len(chat.turns)
    with pytest.raises(ContextOverflowError) as raised:
        chat.send(prose(1.1 * LIMIT, provider.rng))
    assert (raised.value.used or 0) > (raised.value.limit or 0) > 0
    assert len(provider.sizes) == 3
    assert len(chat.turns) == turns
    chat.send("And now?")
    assert provider.sizes[3] < provider.sizes[2]


def test_a_recovered_cell_summarises_what_was_left_out_after_its_reply() -> None:
    chat, provider = refused("full numbers", 3_000, on_overflow="summarise")
    reply = chat.send("And now?")
    assert reply.notices[0].startswith("Too long (")
    assert any(notice.startswith("Summarised") for notice in reply.notices)
    assert len(provider.refused) == 1


@pytest.mark.parametrize("window", [None, 16_000, 128_000])
def test_a_turn_that_the_server_counts_many_times_larger_than_reported_stops_no_later_cell(
    window: int | None,
) -> None:
    class Server:
        """Counts long words nine times."""

        def stream(self, request: Request) -> Iterator[str | Reply]:
            size = sum(len(each.text) // 4 * (9 if "Xylophone" in each.text else 1) + 4 for each in request.messages)
            if size > 4_000:
                raise ContextOverflowError("Too long.", overflow=Overflow(context_window=4_000, input_tokens=size))
            text = "Xylophone " * 250 if request.messages[-1].text == "Go on." else "Yes."
            yield text
            yield Reply(text, Usage(size, len(text) // 4))

    chat = Chat("m", provider=Server(), window=window, max_tokens=100)
    for prompt in ("One?", "Two?", "Go on.", "Three?", "Four?"):
        chat.send(prompt)
    assert [turn.prompt for turn in chat.turns] == ["One?", "Two?", "Go on.", "Three?", "Four?"]
