"""Where the gauge stands on a page, and that nothing of it moves."""

from __future__ import annotations

import re

from gauge_pages import GAUGE, LOAD, USE, button, rich
from jupyter_page import SCREENSHOTS, NotebookPage, Open
from playwright.sync_api import Locator, expect
from server import serve

pytest_plugins = ("browsing",)

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


def pictures(notebook: NotebookPage, index: int) -> Locator:
    return notebook.output(index).locator(".jctx-twin")


def test_nothing_moves_when_state_result_plan_or_name_change(open_page: Open) -> None:
    notebook = open_page(f"{LOAD}{USE}fill(2)", GAUGE, "fill(3)", "fill(6)")
    page, panel = notebook.page, notebook.output(1).locator(".jctx-panel")
    notebook.run(0, 1)
    page.mouse.move(0, 0)
    first = panel.evaluate(BOXES)
    for index in (2, 3):
        notebook.run(index)
        assert panel.evaluate(BOXES) == first, f"cell {index}"
    for name in ("trim", "undo", "redo", "undo", "clear", "undo"):
        pressed = panel.locator(f".jctx-do-{name}")
        pressed.click()
        expect(panel.locator(".jctx-said")).to_be_visible()
        expect(pressed).to_be_focused()
        assert panel.evaluate(BOXES) == first, name
        page.mouse.move(0, 0)
    assert notebook.errors == []


def test_a_gauge_is_live_until_the_next_turn_and_a_picture_afterwards_also_after_a_restart(open_page: Open) -> None:
    with serve(rich) as (url, _):
        notebook = open_page(
            LOAD, f"%chat use m --base-url {url} --window 3000", "%%chat\nOne.", "%chat", "%%chat\nTwo."
        )
        notebook.run(0, 1, 2)
        expect(notebook.output(2).locator(".jctx-figures")).to_contain_text(" % · ")
        expect(notebook.meter).to_have_count(0)
        notebook.run(3)
        button(notebook.output(3), "Clear").click()
        expect(notebook.output(3).locator(".jctx-live .jctx")).to_contain_text(re.compile(r"Context ~?[01] of"))
        expect(pictures(notebook, 3)).to_be_hidden()
        button(notebook.output(3), "Undo: clear").click()
        notebook.run(4)
        expect(notebook.meter).to_have_count(0)
        snapshot = notebook.output(3)
        expect(snapshot).to_contain_text("after turn 1")
        snapshot.screenshot(path=SCREENSHOTS / "snapshot.png")
        notebook.restart()
        expect(pictures(notebook, 3)).to_be_visible()
        expect(snapshot.get_by_role("button")).to_have_count(0)
    assert notebook.errors == []
