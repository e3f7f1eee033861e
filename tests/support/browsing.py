"""What the tests in a browser share: one server, one browser, and one page of JupyterLab, for each worker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from jupyter_page import CHROMIUM, SCREENSHOTS, NotebookPage, Open, Server, open_lab
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from requirements import need

PACKAGES = ("jupyterlab", "notebook", "xllamacpp")


@dataclass
class Browsing:
    """A browser whose event loop counts as running only while a test uses it: others may run one of their own."""

    chromium: Browser
    loop: asyncio.AbstractEventLoop
    lab: Page | None = None

    @contextmanager
    def awake(self) -> Iterator[Browser]:
        """Give the browser to the block."""
        asyncio._set_running_loop(self.loop)
        try:
            yield self.chromium
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def everything_is_here() -> None:
    need(CHROMIUM is not None, "chromium")
    for package in PACKAGES:
        need(find_spec(package) is not None, package)
    SCREENSHOTS.mkdir(exist_ok=True)


@pytest.fixture(scope="session")
def server(everything_is_here: None, small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("jupyter"), small_model, [Path(__file__).parent])
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def browsing(everything_is_here: None) -> Iterator[Browsing]:
    with sync_playwright() as playwright:
        seen = "JUPYTER_CTX_SEE" in os.environ  # in a window, slowly enough to follow
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, chromium_sandbox=False, headless=not seen, slow_mo=300 if seen else 0
        )
        browsing = Browsing(browser, asyncio.get_running_loop())
        asyncio._set_running_loop(None)
        yield browsing
        asyncio._set_running_loop(browsing.loop)
        browser.close()


@pytest.fixture
def open_page(server: Server, browsing: Browsing) -> Iterator[Open]:
    """Opens a notebook in the JupyterLab that is open, or ``alone`` in a page that nobody has used."""
    pages: list[NotebookPage] = []

    def open_notebook(*cells: str, app: str = "lab", alone: bool = False, **more: object) -> NotebookPage:
        if app == "lab" and not alone:
            browsing.lab = browsing.lab or open_lab(browser, server)
            more["page"] = browsing.lab
        try:
            pages.append(NotebookPage(browser, server, cells, app, **more))  # type: ignore[arg-type]
        except PlaywrightError:
            if more.get("page") is None:
                raise
            browsing.lab = more["page"] = open_lab(browser, server)  # an earlier test has left a dialog in the old one
            pages.append(NotebookPage(browser, server, cells, app, **more))  # type: ignore[arg-type]
        return pages[-1]

    with browsing.awake() as browser:
        yield open_notebook
        for page in reversed(pages):
            page.close()
