"""Pictures: readable on light and dark pages, without pyplot and its windows, and each with its figures as text."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

from jupyter_ctx import Chat, InvalidRequestError, MissingDependencyError, Reply, Usage
from jupyter_ctx.experiments.results.heat_map import draw_heat_map
from jupyter_ctx.experiments.results.pictures import DARK, LIGHT, Palette, Picture, draw_rates
from jupyter_ctx.experiments.results.turn_chart import draw_turns, turn_figures, turns_text
from jupyter_ctx.experiments.table.results import Result
from jupyter_ctx.session.usage_table import Usages
from jupyter_ctx.testing import Answer, ScriptedProvider

WORDS = "the ship sailed on through a night of storm and rain while Anna wrote letters home about it. "


def sweep(tones: tuple[str, ...] = ("formal", "plain"), rows: int = 10) -> list[Result]:
    """Results of a sweep over tone and temperature: all right at 0, three in ten wrong at 1."""
    return [
        Result(
            i, f"tone={tone}, temperature={heat}", 0, {"q": i}, {"tone": tone, "temperature": heat}, "", Reply("x"),
            scores={"ok": not heat or i >= 3, "words": 10.0 * heat + i},
        )
        for tone in tones for heat in (0, 1) for i in range(rows)
    ]  # fmt: skip


def is_image(picture: Picture) -> bool:
    data, metadata = picture._repr_mimebundle_()
    assert data["text/plain"] == picture.text == repr(picture)
    assert metadata["image/png"]["width"] > 0
    (alt,) = re.findall(r' alt="([^"]*)"', data["text/html"])
    assert unescape(alt) == picture.text[:1000]
    return b64decode(data["image/png"]).startswith(b"\x89PNG")


def test_rates_are_drawn_with_their_intervals_and_told_as_text() -> None:
    picture = draw_rates(sweep())
    assert is_image(picture)
    (line,) = (line for line in picture.text.splitlines() if line.startswith("tone=plain, temperature=1"))
    assert line.split()[2:] == ["70", "%", "40", "to", "89", "%", "10"]


def test_means_are_drawn_on_a_scale_of_their_own() -> None:
    picture = draw_rates(sweep(), "words")
    assert is_image(picture)
    assert "14.5" in picture.text


def test_two_parameters_make_a_heat_map_with_a_cell_for_each_pair() -> None:
    picture = draw_heat_map(sweep())
    assert is_image(picture)
    assert [" ".join(line.split()) for line in picture.text.splitlines()[1:]] == [
        "temperature \\ tone formal plain", "0 100 % (10) 100 % (10)", "1 70 % (10) 70 % (10)",
    ]  # fmt: skip
    assert draw_heat_map(sweep(), x="temperature").text.splitlines()[1].startswith("tone \\ temperature")


def test_a_heat_map_of_means_says_what_it_averages() -> None:
    results = [replace(each, values=each.values | {"heads": heads}) for heads in (1, 2) for each in sweep()]
    picture = draw_heat_map(results, "words", x="tone", y="temperature")
    assert is_image(picture)
    assert picture.text.splitlines()[0] == "words (in brackets: rows); heads averaged"
    assert picture.text.splitlines()[-1].split() == ["1", "14.5", "(10)", "14.5", "(10)"]


def test_values_that_look_alike_are_two_columns() -> None:
    results = [
        replace(each, values=each.values | {"tone": 1 if each.values["tone"] == "plain" else "1"}) for each in sweep()
    ]
    assert draw_heat_map(results).text.splitlines()[1].split()[3:] == ["'1'", "1"]


def test_a_cell_without_a_score_says_so() -> None:
    results = [result for result in sweep() if result.arm != "tone=plain, temperature=1"]
    assert draw_heat_map(results).text.splitlines()[-1].split() == ["1", "70", "%", "(10)", "–"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw_rates(sweep(), "okay"), "Did you mean 'ok'"),
        (lambda: draw_rates([Result(0, "", 0, {}, {}, "", Reply("x"))]), "have no scores"),
        (lambda: draw_heat_map(sweep(), x="tune"), "'tune' is no parameter of this sweep. Did you mean 'tone'"),
        (lambda: draw_heat_map([Result(0, "", 0, {}, {"a": 1}, "", Reply("x"), scores={"ok": True})]), "needs two"),
        (lambda: draw_heat_map(sweep(), x="tone", y="tone"), "needs two"),
        (lambda: draw_heat_map(sweep(tuple(map(str, range(41))), 1)), "at most 40 values"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        call()


def test_labels_are_no_formulas_and_signs_that_a_font_lacks_are_no_error() -> None:
    results = sweep(("$x^{2$", "今日は\x1b[31m", "a very long name of a tone, longer than any picture has room for"))
    assert is_image(draw_rates(results))
    assert is_image(draw_heat_map(results))
    assert "\x1b" not in draw_rates(results).text


def contrast(first: str, second: str) -> float:
    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_stands_out_from_its_card(palette: Palette) -> None:
    first, _, output = palette.series
    assert min(contrast(color, palette.card) for color in (palette.ink, palette.quiet)) >= 4.5
    assert min(contrast(color, palette.card) for color in (first, output, palette.alarm)) >= 2.9


@pytest.mark.parametrize("draw", [draw_rates, draw_heat_map])
def test_a_dark_picture_has_a_dark_card(draw: Any) -> None:
    picture = draw(sweep(), dark=True)
    assert is_image(picture)
    assert to_hex(picture.figure.get_facecolor()) == DARK.card
    assert to_hex(draw(sweep()).figure.get_facecolor()) == LIGHT.card


def test_a_picture_is_saved_in_the_format_of_its_name(tmp_path: Path) -> None:
    picture = draw_rates(sweep())
    assert picture.save(tmp_path / "rates.svg").read_text().startswith("<?xml")
    assert picture.save(tmp_path / "rates.png").read_bytes().startswith(b"\x89PNG")
    for bad in ("rates.doc", "missing/rates.png"):
        with pytest.raises(InvalidRequestError, match="cannot be written"):
            picture.save(tmp_path / bad)


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
    figures = turn_figures(chat.conversation, chat.usage())
    picture = draw_turns(figures, chat.info().limit)
    assert is_image(picture)
    assert [turn.input for turn in figures] == [row.input_tokens for row in chat.usage()]
    assert max(turn.input for turn in figures) <= chat.info().limit == 1_300
    assert any(turn.first for turn in figures), "the window holds nine of these turns"
    assert [turn.turn for turn in figures if turn.summarized] == [13]
    assert "limit now 1,300" in picture.text
    assert sum("cut: sent from turn" in line for line in picture.text.splitlines()) == sum(
        turn.first > 0 for turn in figures
    )
    _, names = picture.figure.axes[0].get_legend_handles_labels()
    assert set(names) == {"input", "output", "window", "limit now", "cut", "summary"}


def test_a_cost_has_a_panel_and_a_sum() -> None:
    chat = conversation()
    priced = Usages(row._replace(cost=0.25) for row in chat.usage())
    picture = draw_turns(turn_figures(chat.conversation, priced))
    assert is_image(picture)
    assert len(picture.figure.axes) == 2
    assert picture.text.splitlines()[-1] == "cost of these turns: $4.00"
    some = Usages(row._replace(cost=0.25 if row.turn > 1 else None) for row in chat.usage())
    partly = draw_turns(turn_figures(chat.conversation, some)).text
    assert "cost of 15 of these 16 turns (no price of others): $3.75" in partly


def test_a_conversation_without_reported_tokens_is_refused() -> None:
    chat = Chat("local/smollm2")
    chat.add_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
    with pytest.raises(InvalidRequestError, match="nothing to draw"):
        turn_figures(chat.conversation, chat.usage())


def test_cached_tokens_are_part_of_the_input() -> None:
    chat = Chat(provider=ScriptedProvider(lambda _: Answer("Yes.", usage=Usage(100, 5, cache_read_tokens=80))))
    chat.send("Hi")
    (figures,) = turn_figures(chat.conversation, chat.usage())
    assert (figures.input, figures.cached, figures.output) == (100, 80, 5)
    assert is_image(draw_turns([figures]))
    assert turns_text([figures]).splitlines()[-1].split()[:4] == ["1", "100", "80", "5"]


SCRIPT = """
import sys
from jupyter_ctx import Reply
from jupyter_ctx.experiments.results.pictures import draw_rates
from jupyter_ctx.experiments.table.results import Result
before = "matplotlib" in sys.modules
draw_rates([Result(0, "", 0, {}, {}, "", Reply("x"), scores={"ok": True})])._repr_mimebundle_()
print(before, "matplotlib.pyplot" in sys.modules)
"""


def test_matplotlib_is_imported_when_a_picture_is_drawn_and_pyplot_never() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_without_matplotlib_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "jupyter_ctx\[pictures\]"'):
        draw_rates(sweep())
