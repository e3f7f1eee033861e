"""The gauge: one number, drawn three ways; and the card of %chat status, with the tokens of its parts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from gauge_readings import info
from hostile import NAMES
from html_pages import Seen
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.context_info import ContextInfo, segments_of
from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.display.widgets import gauge
from jupyter_ctx.display.widgets.gauge import SHAPES, bar_parts, gauge_line, gauge_static, gauge_text, live_html

STATES = [(100, "ok"), (600, "half"), (800, "high"), (950, "full"), (1_200, "over")]
SIZES = st.tuples(*[st.floats(0, 50_000)] * 5)


def test_the_line_is_words_with_nouns() -> None:
    now = info(121, window=ContextWindow(1_736, source="server"))
    assert gauge_line(now) == (
        "Context 121 of 1,536 tokens (8 %) · local/smollm2 · window 1,736 from the server, 200 kept for the reply"
    )
    assert " · conversation 'birds' · local/smollm2" in gauge_line(now, "birds")


def test_every_drawing_shows_the_same_number() -> None:
    now = info(640)
    assert 'aria-valuenow="640"' in live_html(now)
    assert 'aria-valuemax="1000"' in live_html(now)
    for drawing in (gauge_line(now), gauge_text(now), gauge_static(now), live_html(now)):
        assert "640 of 1,000 tokens (64 %, half)" in drawing


@pytest.mark.parametrize(("used", "state"), STATES)
def test_a_state_is_a_word_and_a_shape_and_not_a_colour_alone(used: int, state: str) -> None:
    assert len(set(SHAPES.values())) == len(STATES)
    for drawing in (live_html(info(used)), gauge_static(info(used))):
        assert SHAPES[state] in drawing
    assert (f"%, {state})" in gauge_line(info(used))) == (state != "ok")


def test_over_the_limit_it_says_what_the_next_send_does() -> None:
    over = info(1_200)
    assert "tokens (100 %, over) · the next request leaves out 2 turns" in gauge_line(over)
    assert 'aria-valuemax="1200"' in live_html(over), "a meter's value is never above its end"
    assert "the next request summarises 2 turns" in gauge_line(replace(over, on_overflow="summarise"))
    stopped = gauge_line(replace(over, on_overflow="stop", will_leave=0, will_stop=True))
    assert "the next prompt is not sent (on_overflow is stop)" in stopped
    assert "leaves out" not in stopped
    assert "tries the learned limit again" in gauge_line(replace(over, will_leave=0))
    fixed = replace(over, will_leave=0, budget=replace(over.budget, fixed=1_100))
    assert "what is always sent does not fit" in gauge_line(fixed)
    assert "(100 %, over)" in gauge_line(info(1_220))


def test_an_estimate_and_an_assumed_window_are_marked() -> None:
    assert gauge_line(info(640, exact=False)).startswith("Context ~640 of 1,000 tokens (64 %, half)")
    guessed = info(640, window=ContextWindow(1_200))
    assert "(~64 %, half)" in gauge_line(guessed)
    assert "window 1,200 assumed" in gauge_line(guessed)


@given(used=st.integers(0, 3_000), ends=st.integers(0, 1_500))
def test_the_bar_shows_where_the_next_send_makes_room(used: int, ends: int) -> None:
    now = replace(info(used), room_ends=ends)
    sizes = {part.name: part.tokens for part in bar_parts(now)}
    assert sizes.get("free", 0) == max(0, min(ends, now.limit) - used)
    assert sizes.get("free", 0) + sizes.get("margin", 0) == max(0, now.limit - used)
    acting = [part.name for part in bar_parts(now) if part.act]
    assert len(acting) <= 1
    assert acting in ([], ["margin"] if max(ends, used) < now.limit else ["kept for the reply"])


@given(SIZES)
def test_the_parts_of_the_bar_are_what_is_used(sizes: tuple[float, ...]) -> None:
    names = ("system", "pinned", "summary", "earlier turns", "this turn")
    segments = segments_of(zip(names, sizes, strict=True))
    used = round(sum(sizes))
    assert abs(sum(segment.tokens for segment in segments) - used) <= 1  # sums of floats differ by their order
    assert all(abs(segment.tokens - size) <= 1 for segment, size in zip(segments, sizes, strict=True))


@given(used=st.integers(0, 5_000), reserve=st.integers(1, 1_000))
def test_the_bar_ends_with_what_is_kept_for_the_reply_and_has_the_limits_mark_before_it(
    used: int, reserve: int
) -> None:
    budget = Budget(ContextWindow(2_000), reserve, used=used)
    segments = segments_of([("system", 0.0), ("this turn", used)])
    now = ContextInfo("m", budget, segments, 1, 0, 1)
    parts = bar_parts(now)
    ends = [part.end for part in parts]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(1)
    kept = [part for part in parts if part.name == "kept for the reply"]
    assert bool(kept) == (used < 2_000)
    assert all(part.tokens == reserve for part in kept)
    free = [part for part in parts if part.name == "free"]
    assert sum(part.tokens for part in free) == max(0, now.limit - used)


@pytest.mark.parametrize("used", [0, 1, 640, 1_000, 1_100, 9_999])
def test_a_bar_of_letters_is_of_one_length_with_a_line_at_the_limit(used: int) -> None:
    now = info(used)
    bar = gauge_text(now).partition("[")[2].partition("]")[0]
    assert len(bar) == 31
    assert bar.count("|") == 1
    assert bar.index("|") == round(30 * now.limit / max(now.limit + now.budget.reserve, used))


def test_the_static_twin_survives_a_sanitiser() -> None:
    twin = gauge_static(info(640))
    found = Seen(twin)
    assert found.tags == {"div", "span"}
    assert {name for _, name, _ in found.attributes} == {"class", "style", "title"}
    assert "◐ Context 640 of 1,000 tokens (64 %, half)" in "".join(found.text)


# the card of %chat status


def test_every_form_of_the_status_has_the_tokens_of_each_part_and_what_is_free() -> None:
    for form in gauge.status_bundle(info(640)).values():
        shown = "".join(Seen(form).text) if form.startswith("<") else form
        assert "640 of 1,000 tokens" in shown
        for part in ("system 64", "earlier turns 576", "free 360", "kept for the reply 200"):
            assert part in shown


def test_the_status_of_a_terminal_is_the_bar_and_few_lines_more() -> None:
    settings = (("set here", ("temperature 0.2", "on_overflow summarise")), ("at the start", ("max_tokens 16",)))
    said = gauge.status_bundle(info(640), settings=settings, notes=("Price: $1.00 in, $2.00 out",))["text/plain"]
    assert "temperature 0.2, on_overflow summarise (set here); max_tokens 16 (at the start)" in " ".join(said.split())
    assert len(said.splitlines()) <= 8
    assert max(map(len, said.splitlines())) <= 100
    assert "Different" not in gauge.status_bundle(info(640))["text/plain"]


def test_hostile_names_and_settings_become_no_markup() -> None:
    for text in NAMES.values():
        forms = gauge.status_bundle(info(640, model=text), text, [(text, [text])], [text])
        page = Seen(forms["text/html"])
        assert page.tags == {"div", "b", "span"}
        assert not page.odd
        assert {name for _, name, _ in page.attributes} == {"class", "style", "title"}
        assert not re.search(r"<(?=[a-z/!])", forms["text/markdown"], re.I)
        assert not re.search("[\x00-\x08\x1b\u202e]", "".join(forms.values()))
