"""What a user sees and does in JupyterLab and Notebook 7, in a real browser with a real model."""

from __future__ import annotations

import pytest
from jupyter_page import APPS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LOAD = "%load_ext jupyter_ctx\n%chat use local/smollm2 --window 512 --max-tokens 20"
ASK = "%%chat\nWhy is the sky blue?"


@pytest.mark.parametrize("app", APPS)
def test_restart_and_run_all_shows_stored_answers_and_asks_for_nothing(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, ASK, "%%chat\nAnd at night?", "%chat history", "%chat", app=app)
    notebook.run(0, 1, 2, 4)
    answers = [notebook.answer(index).inner_text().split("\n")[0] for index in (1, 2)]
    used = notebook.used
    notebook.restart()
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
