"""A conversation as it was said, bounded and harmless."""

from __future__ import annotations

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.conversation.messages import Turn
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.transcript import Transcript, TurnShown, transcript_html, transcript_text


def talk(count: int, reply: str = "Blue.", prompt: str = "Which colour?") -> Transcript:
    figures = Footer("m", Usage(20, 5), 1.5, 0.25)
    turns = [TurnShown(number, Turn(f"{prompt} {number}", reply), figures) for number in range(1, count + 1)]
    return Transcript("m", turns, Footer(usage=Usage(20 * count, 5 * count), seconds=1.5 * count, cost=0.25 * count))


def test_the_newest_turns_are_shown_and_older_ones_counted() -> None:
    page = transcript_html(talk(25))
    assert "5 turns before these" in page
    assert [f"Which colour? {number}<" in page for number in (5, 6, 25)] == [False, True, True]
    assert "25 turns · 500 in · 125 out · 37.5 s · <span>$</span>6.25" in page


def test_a_long_answer_is_cut_and_says_so() -> None:
    long = transcript_html(talk(500, "word " * 10_000))
    assert len(long) < 500_000
    assert "10,000 of 50,000 characters are shown" in long
    assert transcript_html(talk(1, "```\n" + "x\n" * 9_000)).count("characters are shown") == 1


def test_as_text_it_is_a_head_and_a_few_short_lines() -> None:
    lines = transcript_text(talk(40, "word " * 10_000), "Chat('m', 40 turns)").splitlines()
    assert lines[:2] == ["Chat('m', 40 turns)", "… 37 turns before these"]
    assert len(lines) == 8
    assert max(map(len, lines)) < 320


def test_an_answer_in_json_is_a_block_of_code() -> None:
    page = transcript_html(talk(1, '{"a": "*x*"}'))
    assert '<div class="highlight">' in page
    assert "<em>" not in page
