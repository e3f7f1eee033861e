"""Pictures: without pyplot and its windows, and each with its figures as text."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from base64 import b64decode
from html import unescape

import pytest

from jupyter_ctx import Chat, InvalidRequestError, MissingDependencyError, Usage
from jupyter_ctx.display.turn_plot import Picture, TurnFigures, draw_turns, turns_text
from jupyter_ctx.magics.run_commands import turn_figures
from jupyter_ctx.testing import Answer, ScriptedProvider

WORDS = "the ship sailed on through a night of storm and rain while Anna wrote letters home about it. "


def is_image(picture: Picture) -> bool:
    data = picture._repr_mimebundle_()
    assert data["text/plain"] == picture.text == repr(picture)
    (alt,) = re.findall(r' alt="([^"]*)"', data["text/html"])
    assert unescape(alt) == picture.text[:1000]
    return b64decode(data["image/png"]).startswith(b"\x89PNG")


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
    picture = draw_turns(figures, chat.info().limit)
    assert is_image(picture)
    assert [turn.input for turn in figures] == [row.input_tokens for row in chat.usage()]
    assert max(turn.input for turn in figures) <= chat.info().limit == 1_300
    events = [turn.event for turn in figures]
    assert "cut" in events, "the window holds nine of these turns"
    assert [at for at, event in enumerate(events, 1) if "summary" in event] == [13]
    assert "limit now 1,300" in picture.text
    assert [text.get_text() for text in picture.figure.axes[0].texts] == events
    _, names = picture.figure.axes[0].get_legend_handles_labels()
    assert set(names) == {"input", "input, cached", "output", "limit now"}


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
    assert is_image(draw_turns([figures], 8_000))
    assert turns_text([figures], 8_000).splitlines()[-1].split() == ["1", "100", "80", "5"]


SCRIPT = """
import sys
from jupyter_ctx.display.turn_plot import TurnFigures, draw_turns
before = "matplotlib" in sys.modules
draw_turns([TurnFigures(1, 100, 80, 5)], 8_000)._repr_mimebundle_()
print(before, "matplotlib.pyplot" in sys.modules)
"""


def test_matplotlib_is_imported_when_a_picture_is_drawn_and_pyplot_never() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_without_matplotlib_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "jupyter_ctx\[pictures\]"'):
        draw_turns([TurnFigures(1, 100, 80, 5)], 8_000)
