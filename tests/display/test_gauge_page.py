"""Where the gauge stands on a page, and that nothing of it moves."""

from __future__ import annotations

from gauge_pages import GAUGE, LOAD, USE
from jupyter_page import Open
from playwright.sync_api import expect

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
