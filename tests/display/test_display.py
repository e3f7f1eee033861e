"""The gauge, its buttons, the tables and the answers, as they are seen, heard and operated in a real browser."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from filled_pages import BAR, COLUMNS, GAUGE, LOAD, SKY, USE, button, rich
from jupyter_page import APPS, SCREENSHOTS, NotebookPage, Open, Server, open_lab
from nbformat.sign import NotebookNotary
from page_checks import OVERFLOWS
from playwright.sync_api import Locator, expect
from server import serve

if TYPE_CHECKING:
    from browsing import Browsing  # pytest loads it as a plugin, and rewrites its assertions

pytest_plugins = ("browsing",)

USE_LOCAL = "%load_ext jupyter_ctx\n%chat use local/smollm2 --window 512 --max-tokens 20"
# where each part of a panel stands, from its left upper corner, and how large it is, in CSS pixels
BOXES = """panel => {
    const from = panel.getBoundingClientRect();
    const found = {panel: [from.width, from.height]};
    const parts = '.jctx-bar, .jctx-line, .jctx-details, .jctx-toolbar, .jctx-do';
    for (const part of panel.querySelectorAll(parts)) {
        if (!part.checkVisibility()) continue;
        const box = part.getBoundingClientRect();
        const name = part.className.match(/jctx-(do-[a-z]+|bar|line|details|toolbar)/)[1];
        found[name] = [box.x - from.x, box.y - from.y, box.width, box.height];
    }
    return found;
}"""


def expect_hint(place: Locator, verb: str, text: str | re.Pattern[str]) -> None:
    hint = place.locator(f".jctx-of-{verb}")
    expect(hint).to_be_visible()
    expect(hint).to_have_text(text)
    expect(place.locator(".jctx-rest")).to_be_hidden()


@pytest.mark.parametrize("app", APPS)
def test_everything_can_be_done_with_the_keyboard_alone_and_nothing_moves(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE + "fill(2)", GAUGE, "fill(3)", "fill(4)", app=app)
    notebook.run(0, 1, 2)
    panel, press = notebook.output(2), notebook.page.keyboard.press
    notebook.page.bring_to_front()  # the browser may have other pages, and the keyboard is that of one
    notebook.page.mouse.move(0, 0)
    place = panel.locator(".jctx-panel")
    notebook.page.evaluate("document.fonts.ready.then(() => true)")  # icons have their width then
    first = place.evaluate(BOXES)
    for index in (3, 4):
        notebook.run(index)
        assert place.evaluate(BOXES) == first, f"cell {index}"
    full = notebook.used
    button(panel, "Summarise").focus()
    press("Tab")
    expect(panel.locator(".jctx-toolbar :focus")).to_have_count(0)
    press("Shift+Tab")
    for name in ("Summarise", "Trim", "Clear"):
        expect(button(panel, name)).to_be_focused()
        expect_hint(panel, name.lower(), re.compile(f"{name}: "))
        press("ArrowRight")
    button(panel, "Trim").hover()
    expect_hint(panel, "trim", re.compile("Trim: "))
    notebook.page.mouse.move(0, 0)
    expect(panel.locator(".jctx-of-trim")).to_be_hidden()
    button(panel, "Trim").focus()
    for key in ("Enter", "Space"):
        expect(button(panel, "Trim")).to_be_focused()
        press(key)
    expect(panel.locator(".jctx-said")).to_contain_text("Nothing to trim")
    expect(button(panel, "Trim")).to_be_focused()
    for name, used in (
        ("Clear", 0),
        ("Undo: clear", None),
        ("Redo: clear", 0),
        ("Undo: clear", None),
        ("Undo: trim", full),
    ):
        named = panel.locator(f".jctx-do-{name.partition(':')[0].lower()}")
        named.focus()
        press("Enter")
        if used is not None:
            expect(notebook.meter).to_have_attribute("aria-valuenow", str(used))
        expect(named).to_be_focused()
        expect(panel.locator(".jctx-said")).to_be_visible()
        assert place.evaluate(BOXES) == first, name
    assert notebook.errors == []


@pytest.fixture(scope="module")
def saved(server: Server, browsing: Browsing) -> nbformat.NotebookNode:
    """A notebook with an answer and everything that we show, as it was saved."""
    with browsing.awake() as browser, serve(rich) as (url, _):
        cells = (
            LOAD, f"%chat use m --base-url {url} --window 2000\nfill(9)", "%%chat\nShow me all.", "%chat history",
            f"{COLUMNS}\nview = stream([RICH, '{SKY}', FOREIGN], pause=0.001)\nview.close(chosen := 1)" + BAR, "%chat",
        )  # fmt: skip
        browsing.lab = browsing.lab or open_lab(browser, server)
        notebook = NotebookPage(browser, server, cells, page=browsing.lab)
        notebook.run(0, 1, 2, 3, 4)
        notebook.run(5)
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


@pytest.mark.parametrize(
    ("trusted", "kernel"),
    [
        pytest.param(True, True, id="trusted, with a new kernel"),
        pytest.param(False, False, id="untrusted, with no kernel"),
    ],
)
def test_a_saved_notebook_shows_the_answers_and_the_twins(
    open_page: Open, server: Server, saved: nbformat.NotebookNode, trusted: bool, kernel: bool
) -> None:
    notebook = open_page(saved=written(server, saved, trusted=trusted, kernel=kernel), kernel=kernel)
    if not kernel:
        choice = notebook.page.get_by_role("dialog")
        choice.get_by_role("combobox").select_option(label="No Kernel")
        choice.get_by_role("button", name="Select").click()
    answer, twins = notebook.output(2), notebook.page.locator(".jctx-twin, .jp-RenderedHTML:has-text('after turn')")
    expect(answer).to_contain_text("return 3.14159 * radius**2")
    expect(answer).to_contain_text("Glomma")
    code = answer.locator(".jctx-answer .highlight pre").first
    expect(code).to_have_css("padding", "8px 12px")
    assert ("var(" in (code.get_attribute("style") or "")) is trusted
    gauge = notebook.output(5)
    expect(gauge.get_by_text("after turn 10", exact=True)).to_be_visible()
    expect(gauge.get_by_text("after turn 10", exact=True)).to_have_count(1)
    expect(twins.first).to_be_visible()
    expect(notebook.output(3).get_by_text("On day 8 we saw")).to_have_count(1)
    rest = gauge.locator(".jp-OutputArea-child").nth(1)  # what is left of the widget is not seen
    expect(rest).to_be_hidden() if trusted else expect(rest).to_have_text("")
    columns = notebook.output(4)
    expect(columns).to_contain_text("2 · anthropic/claude-sonnet-4.5 · t=1 ✓ used in the conversation")
    expect(columns).to_contain_text("1,200 in · 341 out")
    expect(columns).to_contain_text("Answer 2 is used")
    assert notebook.page.evaluate(OVERFLOWS) == []
    shown = notebook.page.locator(".jp-Notebook").inner_text()
    assert "displaying widget" not in shown
    assert "Loading widget" not in shown
    notebook.page.locator(".jp-Notebook").screenshot(
        path=SCREENSHOTS / f"reopened-{'trusted' if trusted else 'untrusted'}-{'new' if kernel else 'no'}-kernel.png"
    )
    assert notebook.errors == []


@pytest.mark.parametrize("app", APPS)
def test_restart_and_run_all_shows_stored_answers_and_asks_for_nothing(open_page: Open, app: str) -> None:
    asking = "%%chat\nWhy is the sky blue?", "%%chat\nAnd at night?"
    notebook = open_page(USE_LOCAL, *asking, "%chat history", "%chat", app=app)
    notebook.run(0, 1, 2, 4)
    answers = [notebook.answer(index).inner_text().split("\n")[0] for index in (1, 2)]
    used, picture = notebook.used, notebook.output(4).locator(".jctx-twin")
    expect(picture).to_be_hidden()
    notebook.restart()
    expect(picture).to_be_visible()
    notebook.run(0)
    expect(notebook.output(0)).to_contain_text("Going on with 2 turns")
    notebook.run(1, 2, 3, 4)
    for index, answer in zip((1, 2), answers, strict=True):
        expect(notebook.output(index)).to_contain_text("stored answer; nothing was sent")
        expect(notebook.answer(index)).to_contain_text(answer)
    expect(notebook.output(3).locator(".jctx-table tbody tr")).to_have_count(2)
    assert notebook.used == used
    notebook.run(1)
    expect(notebook.output(1)).not_to_contain_text("stored answer")
    assert notebook.errors == []
