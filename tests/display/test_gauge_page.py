"""The gauge on a page: live, and later a picture."""

from __future__ import annotations

import re

from filled_pages import LOAD, button, rich
from jupyter_page import SCREENSHOTS, NotebookPage, Open
from playwright.sync_api import Locator, expect
from server import serve

pytest_plugins = ("browsing",)


def pictures(notebook: NotebookPage, index: int) -> Locator:
    return notebook.output(index).locator(".jctx-twin")


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
