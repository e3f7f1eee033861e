"""Where the gauge stands on a page, and that nothing of it moves."""

from __future__ import annotations

from gauge_pages import LOAD, button, gate, rich
from gauge_readings import info
from jupyter_page import SCREENSHOTS, NotebookPage, Open
from playwright.sync_api import Locator, expect
from server import serve

from jupyter_ctx.display.answer.footer import Footer, footer_html
from jupyter_ctx.display.widgets.gauge import gauge_static
from jupyter_ctx.display.widgets.gauge_bar import SEGMENT_KINDS

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
SANITIZE = "html => window.jupyterapp.shell.currentWidget.content.rendermime.sanitizer.sanitize(html)"
SELECT = "index => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index }"


def pictures(notebook: NotebookPage, index: int) -> Locator:
    return notebook.output(index).locator(".jctx-twin")


def test_nothing_moves_when_state_result_plan_or_name_change(open_page: Open) -> None:
    with gate("It begins ", "and ends.") as (answer, asked, go_on), serve(answer) as (url, _):
        notebook = open_page(
            f"{LOAD}\n%chat use m --base-url {url} --window 2000\n%chat config summary_model local/smollm2",
            "%%chat\nHow many?", "fill(3)", "fill(6)", "%chat config gauge off",
            "%%chat\nHow many?",
        )  # fmt: skip
        page, panel = notebook.page, notebook.output(1).locator(".jctx-panel")
        go_on.set()
        notebook.run(0, 1, 4)
        go_on.clear()
        asked.clear()
        page.mouse.move(0, 0)
        first = panel.evaluate(BOXES)
        for index in (2, 3):
            notebook.run(index)
            assert panel.evaluate(BOXES) == first, f"cell {index}"
        for name in ("summarise", "undo", "redo", "trim", "undo", "clear", "undo"):
            pressed = panel.locator(f".jctx-do-{name}")
            pressed.click()
            expect(panel.locator(".jctx-said")).to_be_visible()
            expect(pressed).to_be_focused()
            assert panel.evaluate(BOXES) == first, name
            page.mouse.move(0, 0)
        notebook.wait_idle()
        page.evaluate(SELECT, 5)
        notebook.command("notebook:run-cell")
        assert asked.wait(10)
        expect(panel.locator(".jctx-do:disabled")).to_have_count(4)  # all but the one that was pressed
        assert panel.evaluate(BOXES) == first, "a turn runs"
        go_on.set()
        expect(panel.locator(".jctx-do:disabled")).to_have_count(0)
        assert panel.evaluate(BOXES) == first, "a turn has ended"
    assert notebook.errors == []


def test_one_gauge_follows_and_older_cells_keep_the_grey_line_alone_also_after_a_reload(open_page: Open) -> None:
    with serve(rich) as (url, _):
        notebook = open_page(
            LOAD, f"%chat use m --base-url {url} --window 3000", "%%chat\nOne.", "%%chat\nTwo.", "%%chat\nThree.",
            "%chat", alone=True,
        )  # fmt: skip
        fills = [notebook.output(index).locator(".jctx-fill") for index in range(6)]
        notebook.run(0, 1, 2)
        expect(notebook.output(2).get_by_role("meter")).to_have_count(1)
        expect(pictures(notebook, 2)).to_be_hidden()
        expect(fills[2]).to_be_hidden()
        notebook.run(3)
        expect(notebook.meter).to_have_count(1)
        expect(notebook.output(3).get_by_role("meter")).to_be_visible()
        expect(pictures(notebook, 2)).to_have_count(0)
        expect(fills[2]).to_be_visible()
        expect(fills[3]).to_be_hidden()
        rest = notebook.output(2).locator(".jp-OutputArea-child").evaluate_all("all => all.map(e => e.clientHeight)")
        assert rest[1:] in ([0], [0, 0]), "nothing of the gauge is left"
        button(notebook.output(3), "Trim").click()
        notebook.save()
        notebook.reload()
        expect(notebook.output(3).get_by_role("meter")).to_be_visible()
        notebook.run(2)  # again
        expect(notebook.meter).to_have_count(1)
        expect(notebook.output(2).get_by_role("meter")).to_be_visible()
        expect(fills[3]).to_be_visible()
        notebook.run(5)
        expect(notebook.meter).to_have_count(2)  # of the newest chat cell and of %chat
        notebook.run(4)
        expect(notebook.meter).to_have_count(1)
        snapshot = notebook.output(5)
        expect(snapshot).to_contain_text("after turn 2")
        snapshot.screenshot(path=SCREENSHOTS / "snapshot.png")
        kept = notebook.page.evaluate(SANITIZE, gauge_static(info(640)) + footer_html(Footer(fill=0.61)))
        assert "width:60px" in kept
        assert SEGMENT_KINDS["free"].colour in kept, "also in a notebook that is not trusted"
        notebook.restart()
        expect(pictures(notebook, 5)).to_be_visible()
        expect(notebook.meter).to_have_count(0)
        expect(notebook.output(5).get_by_role("button")).to_have_count(0)
    assert notebook.errors == []
