"""``%%chat tokens``, ``%%chat next`` and ``--certainty``: what a model reads, and what it finds likely."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import unescape
from http.server import BaseHTTPRequestHandler

import pytest
from cells import Cells
from IPython.core.error import UsageError
from IPython.utils.capture import capture_output
from server import events, piece, send, serve, usage

from jupyter_ctx import BudgetExceededError, ContextOverflowError, InvalidRequestError, get_chat
from jupyter_ctx.context.logprobs import Token
from jupyter_ctx.display.token_page import MOST_DRAWN
from jupyter_ctx.display.widgets.next_tokens import NextTokens
from jupyter_ctx.models.tokenizer import ranks_of

TEXT = "Straße 😀 costs\n\n  <b>3</b> tokens"


def page(cells: Cells, source: str) -> str:
    with capture_output() as output:
        assert cells.shell.run_cell(source).error_in_exec is None
    return str(output.outputs[0].data["text/html"])


def table(html: str) -> list[tuple[str, int, bytes]]:
    """The tokens of each text with their numbers and bytes."""
    rows = re.findall(r"<tr><td[^>]*>(.*?)</td><td[^>]*>(\d+)</td><td[^>]*>([0-9A-F ]+)</td></tr>", html)
    return [(unescape(label), int(number), bytes.fromhex(data)) for label, number, data in rows]


def test_a_text_is_cut_as_the_model_s_own_server_cuts_it(cells: Cells, local_model: str) -> None:
    html = page(cells, f"%%chat tokens -m {local_model}\n{TEXT}")
    tokens = table(html)
    assert b"".join(data for _, _, data in tokens) == TEXT.encode()
    assert [label for label, _, _ in tokens][:5] == ["Stra", "ß", "e", "‹20 F0 9F 98›", "‹80›"]  # of its smiley
    assert f"tokens: {len(tokens)} · characters: {len(TEXT)} · words: 5" in html
    assert "<b>" not in html


def test_openai_s_vocabularies_are_packaged_and_side_by_side_with_other_models(cells: Cells, local_model: str) -> None:
    html = page(cells, f"%%chat tokens -m {local_model} -m gpt-4o -m gpt-4\nstreet\n---\nStraße")
    assert [int(count) for count in re.findall(r"<strong>tokens: (\d+)", html)] == [1, 1, 1, 3, 2, 2]
    assert ("Stra", ranks_of("o200k_base")[b"Stra"], b"Stra") in table(html)
    assert html.count('role="img"') == 6


def test_of_a_long_text_each_form_shows_the_first_tokens(cells: Cells) -> None:
    text = "The quick brown fox. " * 3_000
    with capture_output() as output:
        cells.shell.run_cell(f"%%chat tokens -m gpt-4o\n{text}")
    forms = output.outputs[0].data
    assert len(table(forms["text/html"])) == MOST_DRAWN
    assert len(forms["text/html"]) < 150_000
    assert forms["text/plain"].count("|␣fox") == forms["text/markdown"].count("|␣fox") == MOST_DRAWN / 5


def test_where_nobody_tells_tokens_the_count_is_an_estimate_and_none_is_shown(cells: Cells) -> None:
    html = page(cells, "%%chat tokens -m claude-sonnet-4-5\nThe street is wide.")
    assert re.search(r"<strong>tokens: ~\d", html)
    assert 'role="img"' not in html
    assert isinstance(cells.fail("%%chat tokens\n "), UsageError)


def told(text: str, *odds: tuple[str, float]) -> dict[str, object]:
    """A piece of an answer with the probabilities of its token, the first of some."""
    tokens = [{"token": token, "logprob": math.log(share)} for token, share in odds]
    chunk = piece(text)
    chunk["choices"][0]["logprobs"] = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    return chunk


ANSWER = events(
    told("Blue", ("Blue", 0.25), ("Grey", 0.5)),
    told(" <b>", (" <b>", 0.99)),
    piece(" sea", "stop"),
    usage(9, 3),
)


def test_next_tokens_of_a_text_that_the_local_model_continues(cells: Cells, real_model: str) -> None:
    shown = cells.run(f"%%chat next -m {real_model} -t 0.5\nThe capital of France is")
    assert re.search(r"␣Paris +9\d\.\d %", shown)
    assert shown.count(" %") >= 10
    assert isinstance(cells.fail(f"%%chat next -m {real_model} -t -1\nx"), InvalidRequestError)
    assert isinstance(cells.fail(f"%%chat next -m {real_model}\n{'x ' * 600}"), ContextOverflowError)
    assert isinstance(cells.fail("%%chat next -m claude-sonnet-4-5\nx"), InvalidRequestError)


def test_where_only_answers_are_told_next_tokens_begin_the_answer_and_are_paid(cells: Cells) -> None:
    def answer(handler: BaseHTTPRequestHandler, _: object) -> None:
        if handler.path.endswith("/chat/completions"):
            send(handler, 200, ANSWER, "text/event-stream")
        else:
            send(handler, 404, "{}")

    with serve(answer) as (url, seen):
        cells.run(f"%chat use m --base-url {url} --prices 1000.0,1000")
        shown = cells.run("%%chat next\nWhich colour is the sky?")
        assert seen[-1]["messages"] == [{"role": "user", "content": "Which colour is the sky?"}]
        assert (seen[-1]["max_tokens"], seen[-1]["top_logprobs"]) == (16, 20)
        asked = len(seen)
        cells.run("%chat config max_cost 0.02")
        assert isinstance(cells.fail("%%chat next\nWhich colour is the sky?"), BudgetExceededError)
        assert len(seen) == asked
    assert re.search(r"m begins its answer.*\nGrey +50\.0 % *\nBlue +25\.0 %", shown, re.S)
    assert get_chat().info().cost == pytest.approx(0.012)


def test_the_slider_asks_nobody_and_a_click_appends_a_token_that_can_be_taken_back() -> None:
    after = {"": {" Paris": 0.5, " the": 0.25, "<b>": 0.25}, " Paris": {".": 0.75, ",": 0.25}}
    asked = list[str]()

    def ask(more: Sequence[Token]) -> tuple[list[Token], str]:
        asked.append("".join(token.data.decode() for token in more))
        return [Token(text.encode(), None, math.log(share)) for text, share in after[asked[-1]].items()], "by m"

    shown = NextTokens("The capital is", ask, 1.0)
    with capture_output():
        shown.show()
    _, controls, bars, _ = shown.widget.children
    field, _, back = controls.children
    tokens = bars.children[0]
    assert (tokens.children[0].description, tokens.children[0].tooltip) == ("␣Paris", "append: 50.0 %")
    field.value = 0.5
    assert re.search(r"␣Paris +66\.7 %\n", shown.forms()["text/plain"])
    tokens.children[0].click()
    back.click()
    tokens.children[0].click()
    assert asked == ["", " Paris", " Paris"]
    assert [each.description for each in tokens.children] == [".", ","]
    assert "The capital is<b> Paris</b>" in shown.forms()["text/html"]
    assert re.search(r"\. +90\.0 %\n", shown.forms()["text/plain"])
    shown.close()


def test_certainty_lists_the_least_certain_tokens_below_the_answer(cells: Cells) -> None:
    with serve(ANSWER) as (url, seen):
        shown = cells.run(f"%%chat --certainty -m m --base-url {url} --window 4000\nWhich colour is the sky?")
    assert seen[-1]["logprobs"] is True
    assert re.search(r"certain tokens:\n.*\n\[Blue\] +25\.0 % +Grey 50\.0 %\n", shown)
    assert shown.count("Blue <b> sea") == 1
    assert [told.token.data for told in get_chat().turns[-1].record.tokens] == [b"Blue", b" <b>"]
