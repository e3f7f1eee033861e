"""The gauge: one number, drawn three ways, and a panel that acts."""

from __future__ import annotations

import re

import pytest

from jupyter_ctx import Chat, ProviderConnectionError
from jupyter_ctx.context.budget import Budget, ContextInfo
from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.display.gauge import GaugePanel, gauge_html, gauge_line, gauge_static, gauge_text, short
from jupyter_ctx.display.tables import status_text

STATES = [(100, "ok"), (600, "half"), (800, "high"), (950, "full"), (1_200, "over")]


def info(
    used: int, *, exact: bool = True, model: str = "local/smollm2", window: ContextWindow | None = None
) -> ContextInfo:
    budget = Budget(window or ContextWindow(1_200, source="server"), 200, used=used, exact=exact)
    return ContextInfo(model, budget, (), in_view=3, left_out=0, will_leave=2 if used > 1_000 else 0)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_234, "1.2k"),
        (12_345, "12.3k"),
        (272_000, "272k"),
        (1_047_576, "1.05M"),
    ],
)
def test_figures_are_short_as_people_read_them(tokens: int, said: str) -> None:
    assert short(tokens) == said


def test_every_drawing_shows_the_same_number() -> None:
    now = info(640)
    assert 'aria-valuenow="640"' in gauge_html(now)
    assert 'aria-valuemax="1000"' in gauge_html(now)
    for drawing in (gauge_line(now), gauge_text(now), gauge_static(now), gauge_html(now)):
        assert "640 / 1k (64 %)" in drawing
    assert re.search(r"used +640", status_text(now, 3))


@pytest.mark.parametrize(("used", "state"), STATES)
def test_a_state_is_a_word_and_a_shape_and_not_a_colour_alone(used: int, state: str) -> None:
    lines = {state: gauge_line(info(used)) for used, state in STATES}
    assert len({line[0] for line in lines.values()}) == len(STATES)
    assert state == "ok" or f") {state}" in lines[state]


def test_over_the_limit_it_says_what_the_next_send_leaves_out() -> None:
    assert "over: the next send leaves out 2 turns" in gauge_line(info(1_200))


def test_an_estimate_and_an_assumed_window_are_marked() -> None:
    assert gauge_line(info(640, exact=False)).startswith("◐ ~640 / 1k (64 %)")
    guessed = info(640, window=ContextWindow(1_200))
    assert "(~64 %)" in gauge_line(guessed)
    assert "window 1,200 assumed" in gauge_line(guessed)
    assert "repeating-linear-gradient" in gauge_html(guessed)
    assert "repeating-linear-gradient" not in gauge_html(info(640))


def test_the_limits_mark_is_where_the_reserve_begins() -> None:
    assert "left:calc(83.33% - 1px)" in gauge_html(info(640))
    assert "width:53.33%" in gauge_html(info(640))
    assert "width:100.00%" in gauge_html(info(9_999))


def test_a_hostile_model_name_is_only_text() -> None:
    name = '"><script>1</script>\x1b[31m'
    for drawing in (gauge_html(info(1, model=name)), gauge_static(info(1, model=name))):
        assert "<script" not in drawing
        assert "\x1b" not in drawing
    assert "\x1b" not in gauge_text(info(1, model=name))


def test_the_static_twin_survives_a_sanitiser() -> None:
    twin = gauge_static(info(640))
    assert "var(" not in twin
    assert "<style" not in twin
    assert twin.startswith("<div title=")


def test_a_button_does_what_it_says_and_undo_names_it(chat: Chat) -> None:
    chat.add_messages([{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}])
    panel = GaugePanel(chat.info, {"Clear": chat.clear, "Undo": chat.undo})
    chat.listeners.append(panel.update)
    bar, row, status = panel.widget.children
    *_, clear, undo = row.children
    full = bar.value
    clear.click()
    assert "Cleared 1 turn (" in status.value
    assert "→" in status.value
    assert bar.value != full
    assert (undo.description, clear.disabled) == ("Undo clear", True)
    undo.click()
    assert (bar.value, undo.description) == (full, "Undo added messages")


def test_what_a_click_did_is_gone_after_the_next_turn(chat: Chat) -> None:
    chat.add_messages([{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}])
    panel = GaugePanel(chat.info, {"Trim": chat.trim})
    chat.listeners.append(panel.update)
    panel.press("Trim")
    status = panel.widget.children[2]
    assert "Nothing to trim" in status.value
    chat.send("Three?")
    assert status.value == ""


def test_an_error_behind_a_button_is_said_in_the_panel() -> None:
    def fail() -> None:
        raise ProviderConnectionError("No connection to <there>.")

    panel = GaugePanel(lambda: info(10), {"Summarise": fail})
    panel.press("Summarise")
    status = panel.widget.children[2].value
    assert 'role="alert"' in status
    assert "No connection to &lt;there&gt;." in status


def test_the_widget_carries_its_twins() -> None:
    forms = GaugePanel(lambda: info(640), {}).widget._repr_mimebundle_()
    assert forms["text/plain"] == gauge_text(info(640))
    assert forms["text/html"] == gauge_static(info(640))
    assert "application/vnd.jupyter.widget-view+json" in forms
