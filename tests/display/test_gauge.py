"""The gauge: one number, drawn three ways."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from gauge_readings import info
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.info import ContextInfo, Plan, segments_of
from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.display.widgets.gauge import (
    GAUGE_STYLE,
    SEGMENT_KINDS,
    bar_parts,
    gauge_html,
    gauge_line,
    gauge_static,
    gauge_terminal,
    gauge_text,
    limit_mark,
    plan_line,
    short,
)
from jupyter_ctx.display.widgets.tables import status_text

STATES = [(100, "ok"), (600, "half"), (800, "high"), (950, "full"), (1_200, "over")]
SIZES = st.tuples(*[st.floats(0, 50_000)] * 5)


def drawn(now: ContextInfo) -> str:
    return gauge_html(now, {})


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_234, "1.2k"),
        (12_345, "12.3k"),
        (272_000, "272k"),
        (400_000, "400k"),
        (1_000_000, "1M"),
        (1_047_576, "1.05M"),
    ],
)
def test_figures_are_short_as_people_read_them(tokens: int, said: str) -> None:
    assert short(tokens) == said


def test_every_drawing_shows_the_same_number() -> None:
    now = info(640)
    assert 'aria-valuenow="640"' in drawn(now)
    assert 'aria-valuemax="1000"' in drawn(now)
    for drawing in (gauge_line(now), gauge_text(now), gauge_static(now), drawn(now)):
        assert "640 / 1k (64 %)" in drawing
    assert re.search(r"used +640", status_text(now, 3))


@pytest.mark.parametrize(("used", "state"), STATES)
def test_a_state_is_a_word_and_a_shape_and_not_a_colour_alone(used: int, state: str) -> None:
    lines = {state: gauge_line(info(used)) for used, state in STATES}
    assert len({line[0] for line in lines.values()}) == len(STATES)
    assert state == "ok" or f") {state}" in lines[state]


def test_over_the_limit_it_says_what_the_next_send_leaves_out() -> None:
    assert "over: the next send leaves out 2 turns" in gauge_line(info(1_200))
    assert 'aria-valuemax="1200"' in drawn(info(1_200)), "a meter's value is never above its end"


def test_an_estimate_and_an_assumed_window_are_marked() -> None:
    assert gauge_line(info(640, exact=False)).startswith("◐ ~640 / 1k (64 %)")
    guessed = info(640, window=ContextWindow(1_200))
    assert "(~64 %)" in gauge_line(guessed)
    assert "window 1.2k assumed" in gauge_line(guessed)
    assert "jctx-guess" in drawn(guessed)
    assert "jctx-guess" not in drawn(info(640))


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
    kept = [part for part in parts if part.name == "reserve"]
    assert bool(kept) == (used < 2_000)
    assert all(part.tokens == reserve for part in kept)
    free = [part for part in parts if part.name == "free"]
    assert sum(part.tokens for part in free) == max(0, now.limit - used)
    assert limit_mark(now) == pytest.approx(now.limit / max(2_000, used))


def test_a_part_names_itself_with_its_tokens_and_what_changes_it() -> None:
    assert 'data-tip="earlier turns: 576 tokens; reduce with %chat summarise or trim"' in drawn(info(640))
    assert 'data-tip="kept for the reply: 200 tokens; change with %chat config max_tokens"' in drawn(info(640))
    assert "RULER" in drawn(info(640)), "the 50 % mark names its source"
    assert all(kind.change for kind in SEGMENT_KINDS.values())


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan("leave out 12 turns", before=8_102, after=4_911), "leave out 12 turns, 8.1k → 4.9k"),
        (Plan("send 3 older turns as a summary", before=900, after=400, at_most=True),
         "send 3 older turns as a summary, 900 → at most 400"),
        (Plan("take back the trim"), "take back the trim"),
        (Plan("nothing was said yet", possible=False), "nothing to do, nothing was said yet"),
    ],
)  # fmt: skip
def test_a_button_says_what_it_will_do_or_why_it_can_do_nothing(plan: Plan, said: str) -> None:
    assert plan_line("Trim", plan) == f"Trim: {said}"
    assert f"Trim: {said}" in gauge_html(info(640), {"Trim": plan})


@pytest.mark.parametrize("used", [0, 1, 640, 1_000, 1_100, 9_999])
def test_a_bar_of_letters_is_of_one_length_with_a_line_at_the_limit(used: int) -> None:
    now = info(used)
    for drawing in (gauge_text(now), gauge_terminal(now, coloured=False)):
        bar = drawing.partition("[")[2].partition("]")[0]
        assert len(bar) == 31
        assert bar.count("|") == 1
        assert bar.index("|") == round(limit_mark(now) * 30)
    coloured = gauge_terminal(now, coloured=True)
    assert coloured != gauge_terminal(now, coloured=False)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == gauge_terminal(now, coloured=False)


def test_what_is_saved_as_text_needs_no_special_font_for_its_bar() -> None:
    assert gauge_text(info(640)).partition("]")[0].isascii()


def test_a_hostile_model_name_is_only_text() -> None:
    name = '"><script>1</script>\x1b[31m'
    for drawing in (drawn(info(1, model=name)), gauge_static(info(1, model=name))):
        assert "<script" not in drawing
        assert "\x1b" not in drawing
    assert "\x1b" not in gauge_text(info(1, model=name))


class Attributes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)


def test_the_static_twin_survives_a_sanitiser_and_names_its_turn() -> None:
    twin = gauge_static(info(640))
    found = Attributes()
    found.feed(twin)
    assert found.tags == {"div", "span"}
    assert found.names == {"style", "title"}
    assert "var(" not in twin
    assert "Context after turn 3: ◐ 640 / 1k (64 %)" in twin


def test_every_part_has_a_colour_of_its_own() -> None:
    assert (
        len({kind.colour for kind in SEGMENT_KINDS.values()})
        == len({kind.glyph for kind in SEGMENT_KINDS.values()})
        == len(SEGMENT_KINDS)
    )
    for name in SEGMENT_KINDS:
        assert f".jctx-{name.replace(' ', '-')}{{" in GAUGE_STYLE
