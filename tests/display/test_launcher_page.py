"""The card of JupyterLab's launcher that opens the lessons."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_page import Open, Server
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LAUNCHER = "void window.jupyterapp.commands.execute('launcher:create')"


@pytest.fixture
def copies(server: Server) -> Iterator[Path]:
    folder = server.notebooks / "chat-lessons"
    assert not folder.exists()
    yield folder
    shutil.rmtree(folder)


def test_a_card_copies_the_lessons_once_and_opens_the_first(open_page: Open, copies: Path) -> None:
    page = open_page("x = 1", alone=True).page
    second = copies / "02-when-the-window-fills.ipynb"
    for _ in range(2):
        page.evaluate(LAUNCHER)
        page.locator(".jp-LauncherCard:visible", has_text="Chat lessons").click()
        expect(page.locator("#jp-main-dock-panel .jp-mod-current .lm-TabBar-tabLabel")).to_have_text(
            "01-first-chat.ipynb"
        )
        lesson = json.loads(second.read_text("utf-8"))
        second.write_text(json.dumps({**lesson, "metadata": {**lesson["metadata"], "mine": True}}), "utf-8")
        page.evaluate("void window.jupyterapp.commands.execute('docmanager:close')")
    assert lesson["metadata"]["mine"]
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.sessionContext")
