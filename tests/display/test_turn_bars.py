"""The tokens of turns as bars."""

from __future__ import annotations

import random

import pytest

from jupyter_ctx import Chat, InvalidRequestError, Usage
from jupyter_ctx.display.turn_bars import turns_bundle
from jupyter_ctx.magics.run_commands import turn_figures
from jupyter_ctx.testing import Answer, ScriptedProvider

WORDS = "the ship sailed on through a night of storm and rain while Anna wrote letters home about it. "


def conversation() -> Chat:
    rng = random.Random(2)
    provider = ScriptedProvider(lambda _: Answer(WORDS * rng.randint(1, 6)), window=1_500)
    chat = Chat("openai/gpt-5.4-mini", provider=provider, max_tokens=200, window=1_500)
    for i in range(16):
        chat.send(WORDS * rng.randint(1, 5))
        if i == 11:
            chat.summarize()
    return chat


def test_the_turns_of_a_conversation_are_drawn_with_limit_cuts_and_summaries() -> None:
    chat = conversation()
    figures = turn_figures(chat.conversation)
    drawn = turns_bundle(figures, chat.info().limit)
    assert [turn.input for turn in figures] == [row.input_tokens for row in chat.usage()]
    assert max(turn.input for turn in figures) <= chat.info().limit == 1_300
    events = [turn.event for turn in figures]
    assert "cut" in events, "the window holds nine of these turns"
    assert [at for at, event in enumerate(events, 1) if "summary" in event] == [13]
    assert all("limit is 1,300 now" in form for form in drawn.values())
    assert drawn["text/html"].count("display:flex") == len(figures)


def test_a_conversation_without_reported_tokens_is_refused() -> None:
    chat = Chat("local/smollm2")
    chat.add_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
    with pytest.raises(InvalidRequestError, match="nothing to draw"):
        turn_figures(chat.conversation)


def test_cached_tokens_are_part_of_the_input() -> None:
    chat = Chat(provider=ScriptedProvider(lambda _: Answer("Yes.", usage=Usage(100, 5, cache_read_tokens=80))))
    chat.send("Hi")
    (figures,) = turn_figures(chat.conversation)
    assert (figures.input, figures.cached, figures.output) == (100, 80, 5)
    last = turns_bundle([figures], 8_000)["text/plain"].splitlines()[-1]
    assert last.split() == ["1", "100", "80", "5"]
