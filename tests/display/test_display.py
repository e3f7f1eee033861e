"""The gauge, its buttons, the tables and the answers, as they are seen, heard and operated in a real browser."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from gauge_pages import FOCUSED, GAUGE, LOAD, USE, button, gate, rich
from jupyter_page import SCREENSHOTS, NotebookPage, Open, Server
from nbformat.sign import NotebookNotary
from page_checks import OVERFLOWS, THEMES, complaints
from playwright.sync_api import Locator, expect
from server import serve

if TYPE_CHECKING:
    from browsing import Browsing  # pytest loads it as a plugin, and rewrites its assertions

pytest_plugins = ("browsing",)

SIGNS = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
LONG_NAME = "openai/" + "-".join(f"a-very-long-name-of-a-model-{n}" for n in range(12))


def expect_hint(place: Locator, verb: str, text: str | re.Pattern[str]) -> None:
    hint = place.locator(f".jctx-of-{verb}")
    expect(hint).to_be_visible()
    expect(hint).to_have_text(text)
    expect(place.locator(".jctx-rest")).to_be_hidden()


def figures(text: str, pattern: str) -> list[int]:
    """Numbers in a text, where it has that form."""
    found = re.search(pattern, text)
    assert found is not None, text
    return [int(number.replace(",", "")) for number in found.groups()]


def told(panel: Locator, did: str) -> list[int]:
    """Tokens before and after, as the panel shows and speaks them."""
    expect(panel.locator(".jctx-said")).to_have_text(re.compile(f"^{did}.*→"))
    said = panel.locator(".jctx-said").inner_text()
    expect(panel.get_by_role("status")).to_have_text(said)
    return figures(said, r"\(([\d,]+) → ([\d,]+) tokens\)")


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_gauge_says_how_full_it_is_by_word_sign_length_and_to_a_screen_reader(open_page: Open, app: str) -> None:
    adds = {"ok": 3, "half": 3, "high": 3, "full": 1, "over": 1}
    unknown = "%chat use openai/nobody-knows-it"
    notebook = open_page(LOAD, USE + GAUGE, *(f"fill({turns})" for turns in adds.values()), unknown, app=app)
    notebook.run(0, 1)
    panel = notebook.output(1).locator(".jctx-panel")
    gauge = panel.locator("form")
    for index, (state, sign) in enumerate(SIGNS.items(), 2):
        notebook.run(index)
        expect(gauge).to_have_class(f"jctx jctx-{state}")
        expect(panel.locator(".jctx-sign")).to_have_text(sign)
        line = panel.locator(".jctx-line").inner_text().removeprefix(sign).strip()
        assert line.startswith("Context ~")
        assert f", {state})" in line or state == "ok"
        said = notebook.meter.get_attribute("aria-valuetext") or ""
        assert all(part in said for part in line.split(" · "))
        assert "openai/gpt-4o · window 2,000 (given), 500 kept for the reply" in said
        expect(notebook.meter).to_have_attribute("aria-label", "Context used")
        percent = figures(line, r"\((\d+) %")[0]
        most = int(notebook.meter.get_attribute("aria-valuemax") or "")
        assert round(100 * notebook.used / min(most, 1500)) == percent
        bar = gauge.locator(".jctx-bar").bounding_box()
        newest = gauge.locator(".jctx-this-turn").bounding_box()
        limit = float((gauge.locator(".jctx-limit").get_attribute("style") or "").split(":")[1].rstrip("%;"))
        assert bar is not None
        assert newest is not None
        share = (newest["x"] + newest["width"] - bar["x"]) / (bar["width"] * limit / 100)
        assert abs(100 * share - percent) < 2
        panel.screenshot(path=SCREENSHOTS / f"state-{app}-{state}.png")
    notebook.run(7)
    expect(gauge).to_have_class("jctx jctx-ok jctx-guess")
    expect(panel.locator(".jctx-model")).to_contain_text("assumed")
    expect(gauge.locator(".jctx-this-turn")).to_have_css("background-image", re.compile("repeating-linear-gradient"))
    panel.screenshot(path=SCREENSHOTS / f"state-{app}-assumed.png")
    assert notebook.errors == []
    assert notebook.foreign_requests == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_every_theme_is_readable_and_axe_finds_nothing(open_page: Open, app: str) -> None:
    with serve(rich) as (url, _):
        notebook = open_page(
            LOAD, f"%chat use m --base-url {url} --window 2000\n%chat config summary_model local/smollm2\nfill(9)",
            "%%chat\nShow me all.", "%chat history", "%chat preview", app=app, alone=True,
        )  # fmt: skip
        notebook.run(0, 1, 2, 3, 4)
    panel = notebook.output(2)
    expect(notebook.answer(2).locator("mjx-container")).to_have_count(2)
    button(notebook.output(3), "pin 2")
    notebook.output(3).get_by_label("pin 2").check()
    button(panel, "More").click()
    button(panel, "Settings").click()
    expect(panel.get_by_label("When it is full")).to_be_visible()
    button(panel, "Trim").click()
    expect(panel.locator(".jctx-said")).to_contain_text("→")
    notebook.page.set_viewport_size({"width": 1200, "height": 3000})  # what is out of view has no colours to axe
    notebook.page.mouse.move(0, 0)
    found = {}
    for name, theme in THEMES.items():
        notebook.use_theme(theme)
        for index, what in ((2, "answer"), (3, "history"), (4, "preview")):
            notebook.output(index).screenshot(path=SCREENSHOTS / f"{what}-{app}-{name}.png")
        found[name] = complaints(notebook)
        panel.locator(".jctx-part.jctx-this-turn").focus()
        notebook.page.keyboard.press("ArrowLeft")
        expect(panel.locator(".jctx-part.jctx-earlier-turns")).to_be_focused()
        expect_hint(panel, "earlier-turns", re.compile("earlier turns: "))
        panel.locator(".jctx-panel").screenshot(path=SCREENSHOTS / f"tip-{app}-{name}.png")
    assert found == dict.fromkeys(THEMES, "")
    assert notebook.errors == []
    assert notebook.foreign_requests == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_each_button_shows_what_it_will_do_does_it_and_is_undone(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE + GAUGE, "fill(9)", app=app)
    notebook.run(0, 1)
    panel = notebook.output(1)
    why = {
        "Summarise": "Summarise: nothing to do, there are no turns",
        "Trim": "Trim: nothing to do, there are no turns",
        "Clear": "Clear: nothing to do, there are no turns",
        "Undo": "Undo: nothing to do, nothing was done yet",
        "Redo": "Redo: nothing to do, nothing was undone",
    }
    for name, reason in why.items():
        expect(button(panel, name)).to_have_class(re.compile("jctx-off"))
        expect(button(panel, name)).to_have_attribute("title", reason)
        button(panel, name).hover()
        expect_hint(panel, name.lower(), reason)
    notebook.run(2)
    full = notebook.used
    for name, noun, did in (
        ("Trim", "trim", "Left out"),
        ("Clear", "clear", "Cleared"),
        ("Summarise", "summary", "Summ"),
    ):
        button(panel, name).hover()
        expect_hint(panel, name.lower(), re.compile(rf"{name}: .*→"))
        notebook.page.mouse.move(0, 0)
        expect(panel.locator(f".jctx-of-{name.lower()}")).to_be_hidden()
        button(panel, name).focus()
        notebook.page.keyboard.press("Shift+Tab")
        notebook.page.keyboard.press("Tab")
        expect_hint(panel, name.lower(), re.compile(rf"{name}: .*→"))
        hint = panel.locator(f".jctx-of-{name.lower()}").inner_text()
        button(panel, name).click()
        before, after = told(panel, did)
        assert before == full > after
        expect(notebook.meter).to_have_attribute("aria-valuenow", str(after))
        assert ("at most" in hint) == (name == "Summarise")
        button(panel, f"Undo {noun}").hover()
        expect_hint(panel, "undo", f"Undo: take back the {noun}")
        button(panel, f"Undo {noun}").click()
        expect(notebook.meter).to_have_attribute("aria-valuenow", str(full))
        assert told(panel, "Undid") == [after, full]
    assert notebook.errors == []
    assert notebook.foreign_requests == []


def test_a_summary_can_be_cancelled_and_the_kernel_works_while_it_is_written(open_page: Open) -> None:
    with gate("The", " end") as (answer, asked, _), serve(answer) as (url, seen):
        notebook = open_page(
            LOAD, f"%chat use m --base-url {url} --window 2000\nfill(9)\n%chat", "print('still ' + 'here')"
        )
        notebook.run(0, 1)
        panel, full = notebook.output(1), notebook.used
        button(panel, "Summarise").click()
        expect(button(panel, "Cancel")).to_be_focused()
        expect(panel.locator(".jctx-said")).to_have_text(re.compile(r"Summarising with \S+… \d+ s"))
        assert asked.wait(10)
        expect(button(panel, "Trim")).to_be_disabled()
        notebook.run(2)
        expect(notebook.output(2)).to_contain_text("still here")
        button(panel, "Cancel").click()
        expect(panel.locator(".jctx-said")).to_contain_text("Stopped: no summary was written")
        expect(button(panel, "Summarise")).to_be_focused()
        assert notebook.used == full
        assert len(seen) == 1
    assert notebook.errors == []


def test_the_buttons_are_grey_while_a_cell_runs_and_work_after_it(open_page: Open) -> None:
    with gate("It begins ", "and is whole.") as (answer, asked, go_on), serve(answer) as (url, _):
        notebook = open_page(
            LOAD,
            f"%chat use m --base-url {url} --window 2000\n%chat gauge off\nfill(7)\n%chat",
            "%%chat\nHow many?",
            "%chat history",
        )
        notebook.run(0, 1)
        panel = notebook.output(1)
        notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2 }")
        notebook.command("notebook:run-cell")
        expect(notebook.answer(2)).to_contain_text("It begins")
        assert asked.is_set()
        expect(panel.locator(".jctx-rest")).to_have_text("A turn is running: the buttons work again when it has ended.")
        for name in ("Summarise", "Trim", "Clear", "Undo added messages", "Redo", "More"):
            expect(button(panel, name)).to_be_disabled()
        go_on.set()
        expect(notebook.answer(2)).to_contain_text("It begins and is whole.")
        button(panel, "Clear").click()
        expect(panel.locator(".jctx-said")).to_contain_text("Cleared 8 turns")
        expect(notebook.meter).to_have_attribute("aria-valuenow", "0")
        button(panel, "Undo clear").click()
        expect(panel.locator(".jctx-said")).to_contain_text("Undid the clear")
        notebook.run(3)
        rows = notebook.output(3).locator("tbody tr:visible")
        expect(rows).to_have_count(8)
        expect(rows.last).to_contain_text("It begins and is whole.")
        expect(rows.last).to_contain_text("sent")
    assert notebook.errors == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_everything_can_be_done_with_the_keyboard_alone(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE + GAUGE, "fill(9)", app=app)
    notebook.run(0, 1, 2)
    panel, press, full = notebook.output(1), notebook.page.keyboard.press, notebook.used
    notebook.page.mouse.move(0, 0)
    panel.locator(".jctx-part").first.focus()
    reached = [notebook.page.evaluate(FOCUSED)]
    for _ in range(5):
        press("ArrowRight")
        reached.append(notebook.page.evaluate(FOCUSED))
        expect(panel.locator(".jctx-detail:visible")).to_have_text(reached[-1])
    starts = ("earlier turns: ", "this turn", "margin: ", "kept for the reply: ", "50 % ", "1,200 tokens: ")
    assert [text.startswith(start) for text, start in zip(reached, starts, strict=True)] == [True] * 6
    button(panel, "Trim").focus()
    press("Shift+Tab")
    press("Tab")
    for key in ("Enter", "Space"):
        expect(button(panel, "Trim")).to_be_focused()
        press(key)
    expect(panel.locator(".jctx-said")).to_contain_text("Nothing to trim")
    expect(button(panel, "Trim")).to_be_focused()
    for name, used in (("Clear", 0), ("Undo clear", None), ("Redo", 0), ("Undo clear", None), ("Undo trim", full)):
        named = panel.locator(f".jctx-do-{name.split()[0].lower()}")
        named.focus()
        press("Enter")
        if used is not None:
            expect(notebook.meter).to_have_attribute("aria-valuenow", str(used))
        expect(named).to_be_focused()
    button(panel, "More").focus()
    press("Shift+Tab")
    press("Tab")
    press("Enter")
    expect(button(panel, "History")).to_be_visible()
    press("Tab")
    press("ArrowRight")  # the tabs are one stop
    expect(button(panel, "History")).to_be_focused()
    press("Enter")
    expect(panel.get_by_label("pin 9")).to_be_visible()
    panel.get_by_label("pin 8").focus()
    press("Space")
    expect(panel.get_by_label("pin 8")).to_be_checked()
    expect(panel.get_by_label("pin 8")).to_be_focused()
    expect(panel.locator(".jctx-part.jctx-pinned")).to_have_attribute("aria-label", re.compile("pinned turns"))
    assert notebook.errors == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_after_a_reload_the_gauge_acts_and_after_a_restart_its_twin_is_there(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE + GAUGE, "fill(9)", app=app, alone=True)
    notebook.run(0, 1, 2)
    panel, twin, full = notebook.output(1), notebook.output(1).locator(".jctx-twin"), notebook.used
    expect(twin).to_be_hidden()
    notebook.save()
    notebook.reload()
    expect(twin).to_be_hidden()
    button(panel, "Clear").click()
    expect(notebook.meter).to_have_attribute("aria-valuenow", "0")
    button(panel, "Undo clear").click()
    expect(notebook.meter).to_have_attribute("aria-valuenow", str(full))
    notebook.restart()
    expect(twin).to_be_visible()
    expect(twin).to_contain_text("▲ Context after turn 9: ~")
    expect(panel.get_by_role("button")).to_have_count(0)
    expect(notebook.meter).to_have_count(0)
    notebook.output(1).screenshot(path=SCREENSHOTS / f"restarted-{app}.png")
    assert notebook.errors == []


@pytest.fixture(scope="module")
def saved(server: Server, browsing: Browsing) -> nbformat.NotebookNode:
    """A notebook with an answer and everything that we show, as it was saved."""
    with browsing.awake() as browser, serve(rich) as (url, _):
        cells = (
            LOAD, f"%chat use m --base-url {url} --window 2000\nfill(9)", "%%chat\nShow me all.", "%chat history",
        )  # fmt: skip
        notebook = NotebookPage(browser, server, cells)
        notebook.run(0, 1, 2, 3)
        expect(notebook.meter).to_be_visible()
        notebook.save()
        found = nbformat.read(notebook.path, 4)
        notebook.close()
        return found


def written(server: Server, saved: nbformat.NotebookNode, *, trusted: bool, kernel: bool) -> Path:
    """The notebook in another file."""
    path = server.notebooks / f"n{secrets.token_hex(4)}.ipynb"
    copy = nbformat.from_dict(saved)
    copy.metadata["copy"] = path.stem  # else the signature of the first would do
    if not kernel:
        name = {"name": "gone", "display_name": "Gone", "language": "gone"}
        copy.metadata |= {"kernelspec": name, "language_info": {"name": "gone"}}
    nbformat.write(copy, path)
    if trusted:
        NotebookNotary(data_dir=str(server.notebooks.parent / "jupyter_data_dir")).sign(copy)
    return path


@pytest.mark.parametrize("kernel", [True, False], ids=["with a new kernel", "with no kernel"])
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_a_saved_notebook_shows_the_answers_and_the_twins(
    open_page: Open, server: Server, saved: nbformat.NotebookNode, trusted: bool, kernel: bool
) -> None:
    notebook = open_page(saved=written(server, saved, trusted=trusted, kernel=kernel), kernel=kernel)
    if not kernel:
        choice = notebook.page.get_by_role("dialog")
        choice.get_by_role("combobox").select_option(label="No Kernel")
        choice.get_by_role("button", name="Select").click()
    answer, twins = notebook.output(2), notebook.page.locator(".jctx-twin, .jp-RenderedHTML:has-text('Context after')")
    expect(answer).to_contain_text("return 3.14159 * radius**2")
    expect(answer).to_contain_text("Glomma")
    expect(answer.get_by_text("Context after turn 10: ")).to_be_visible()
    expect(answer.get_by_text("Context after turn 10: ")).to_have_count(1)
    expect(twins.first).to_be_visible()
    expect(notebook.output(3).get_by_text("On day 8 we saw")).to_have_count(1)
    for index, widget in ((2, 2), (3, 1)):  # what is left of the widget is not seen
        rest = notebook.output(index).locator(".jp-OutputArea-child").nth(widget)
        expect(rest).to_be_hidden() if trusted else expect(rest).to_have_text("")
    shown = notebook.page.locator(".jp-Notebook").inner_text()
    assert "displaying widget" not in shown
    assert "Loading widget" not in shown
    notebook.page.locator(".jp-Notebook").screenshot(
        path=SCREENSHOTS / f"reopened-{'trusted' if trusted else 'untrusted'}-{'new' if kernel else 'no'}-kernel.png"
    )
    assert notebook.errors == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_narrow_pane_any_script_and_a_long_name_stay_inside_the_box(open_page: Open, app: str) -> None:
    with serve(rich) as (url, _):
        notebook = open_page(
            LOAD, f"%chat use {LONG_NAME} --base-url {url} --window 2000\n%chat config summary_model local/smollm2",
            "fill(5)", "%%chat\nSome foreign text", "%%chat\nShow me all.", "%chat history", "%chat preview",
            app=app, alone=True,
        )  # fmt: skip
        notebook.run(0, 1, 2, 3, 4, 5, 6)
    panel = notebook.output(4)
    expect(notebook.answer(3).locator("p").first).to_have_css("direction", "rtl")
    button(panel, "More").click()
    button(panel, "Settings").click()
    expect(panel.get_by_label("When it is full")).to_be_visible()
    found = {}
    for width in (1200, 480):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        if app == "lab" and width < 1000:
            notebook.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        notebook.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        for index in (3, 4, 5, 6):
            notebook.output(index).screenshot(path=SCREENSHOTS / f"width-{app}-{width}-{index}.png")
        found[width] = notebook.page.evaluate(OVERFLOWS)
    assert found == {1200: [], 480: []}
    assert complaints(notebook) == ""
    assert notebook.errors == []


def test_turns_are_pinned_excluded_and_sorted_in_the_table_and_settings_act(open_page: Open) -> None:
    notebook = open_page(
        LOAD, USE + GAUGE, "fill(2)\nfill(1, 90)\nfill(2)", "%chat history", "%chat history", "%chat status",
        "c = get_chat().config; print(c.on_overflow, c.compact_at)",
    )  # fmt: skip
    notebook.run(0, 1, 2, 3, 4)
    panel, one, other = notebook.output(1), notebook.output(3), notebook.output(4)
    one.get_by_label("pin 2").check()
    expect(other.get_by_label("pin 2")).to_be_checked()
    expect(panel.locator(".jctx-part.jctx-pinned")).to_have_attribute(
        "aria-label", re.compile(r"pinned turns: \d+ tokens")
    )
    used = notebook.used
    other.get_by_label("exclude 3").check()
    expect(one.get_by_label("exclude 3")).to_be_checked()
    expect(one.locator("tbody tr:visible").nth(2)).to_contain_text("excluded")
    expect(notebook.meter).not_to_have_attribute("aria-valuenow", str(used))
    assert notebook.used < used
    notebook.run(5)
    expect(notebook.output(5)).to_contain_text(re.compile(r"pinned \d+"))
    button(panel, "Undo exclude").click()
    expect(one.get_by_label("exclude 3")).not_to_be_checked()
    one.get_by_label("Sort by").select_option("tokens")
    for view in (one, other):
        expect(view.get_by_label("largest first")).to_be_checked()
    for view in (one, other):
        expect(view.locator("tbody:visible tr:first-child td:nth-child(4)")).to_have_text("3")
        sizes = [int(text.strip("~")) for text in view.locator("tbody:visible td:nth-child(8)").all_inner_texts()]
        assert len(sizes) == 5
        assert sizes == sorted(sizes, reverse=True)
    button(panel, "More").click()
    button(panel, "Settings").click()
    panel.get_by_label("When it is full").select_option("send nothing")
    panel.get_by_label("Full is at").select_option("80 % of the limit")
    expect(notebook.output(6)).to_be_empty()
    while "stop 0.8" not in notebook.output(6).inner_text():  # the next cell may run before a choice gets there
        notebook.run(6)
    assert notebook.errors == []
