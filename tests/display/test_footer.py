"""What an answer took, and what was thought before it."""

from __future__ import annotations

import re

from gauge_readings import info
from hostile import NAMES
from html_pages import Seen

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer import footer as details
from jupyter_ctx.display.answer.footer import Footer, footer_html, footer_line
from jupyter_ctx.display.answer.markdown import bundle
from jupyter_ctx.display.widgets.gauge import share_or_next
from jupyter_ctx.wording import dollars

USAGE = Usage(1_204, 312, cache_read_tokens=602, cache_write_tokens=40, reasoning_tokens=100)


def test_the_line_says_tokens_and_seconds() -> None:
    assert footer_line(Footer("m", USAGE, 4.06)) == "1,204 in · 312 out · 4.1 s"
    assert [footer_line(Footer("m", None, seconds)) for seconds in (75, 119.6)] == ["1 min 15 s", "2 min 00 s"]


def test_the_share_stands_before_the_figures_and_above_the_limit_what_the_next_request_does() -> None:
    page = footer_html(Footer("m", USAGE, 2.0, share=share_or_next(info(640))))
    assert "".join(Seen(page).text).startswith("64 % · 1,204 in")
    assert share_or_next(info(1_100)) == "the next request leaves out 2 turns"


def test_a_routine_remark_stands_in_the_grey_line_and_as_a_sentence_where_there_is_none() -> None:
    footer = Footer("m", Usage(10, 24), 1.0, notes=("stopped at 24 tokens: %chat continue asks for the rest",))
    page = footer_html(footer)
    (figures,) = re.findall(r'<summary><span class="jctx-figures">(.*?)</span>(.*?)</summary>', page)
    assert figures == ("10 in · 24 out · 1.0 s · ", footer.notes[0]), "the chip hides the figures alone"
    forms = bundle("yes", footer=footer)
    assert "jctx-badge" not in forms["text/html"]
    said = "[ctx] Stopped at 24 tokens: %chat continue asks for the rest."
    assert forms["text/plain"] == f"yes\n{said}"
    assert forms["text/markdown"] == f"yes\n\n> **[ctx]** {said[6:]}"
    without_figures = footer_html(Footer(notes=footer.notes))
    assert without_figures.startswith("<div ")
    assert "".join(Seen(without_figures).text) == footer.notes[0]


def test_it_unfolds_to_cost_cache_thinking_model_and_end() -> None:
    footer = Footer("openai/gpt-5.2", USAGE, 4.1, 0.0042, "length", settings="temperature 0.3")
    said = "\n".join(Seen(footer_html(footer)).text)
    parts = "0.0042", "602 tokens (50 % of the input)", "100 tokens", "openai/gpt-5.2", "length", "temperature 0.3"
    assert [part for part in parts if part not in said] == []


def test_what_nobody_knows_is_not_said_and_a_price_is_not_nothing() -> None:
    assert footer_html(Footer("m")) == ""
    page = footer_html(Footer("m", Usage(10, 2)))
    assert "Cost: unknown" in page
    free = footer_html(Footer("local/m", USAGE, is_free=True))
    assert "Cost: free" in free
    assert "cache" not in free, "shares of a cache are told only where something is paid"
    assert "cache" not in page
    assert "Thinking" not in page


def test_a_hostile_name_is_only_text() -> None:
    for name in NAMES.values():
        Seen(footer_html(Footer(name, USAGE, 1.0, 0.1, name))).check()


def test_prices_have_two_figures_that_count() -> None:
    assert [dollars(cost) for cost in (0, 1e-7, 0.00000123, 0.0042, 0.123, 1.5, 1234)] == [
        "$0.00", "$0.00000010", "$0.0000012", "$0.0042", "$0.12", "$1.50", "$1,234.00",
    ]  # fmt: skip


def test_thought_is_folded_counted_and_no_markdown() -> None:
    page = details.thinking_html("**so** <b> $5\nthen", 340)
    assert "<summary>Thought for 340 tokens</summary>" in page
    assert "**so** &lt;b&gt; <span>$</span>5\nthen" in page
    assert "Thought for ~3 tokens" in details.thinking_html("so and so, then")
    assert details.thinking_html("") == ""
    long = details.thinking_html("x" * 60_000)
    assert len(long) < 51_000
    assert "10,000 characters more" in long


def test_while_it_grows_its_end_is_sent() -> None:
    thought = "a" * 5_000 + "z"
    page = details.growing_html(thought, answered=False)
    assert "Thinking… ~1,250 tokens" in page
    assert page.count("a" * 1_999 + "z") == 1
    assert len(page) < 2_500
    assert "Thought for ~1,250 tokens" in details.growing_html(thought, answered=True)


def test_an_answer_that_is_not_whole_says_so_below_it_on_the_page_alone() -> None:
    shown = bundle("Once upon", footer=Footer(seconds=2.04, broken="cut off"))
    assert ">2.0 s · </span>cut off</div>" in shown["text/html"]
    assert "cut off" not in shown["text/plain"] + shown["text/markdown"], "the error says it"
