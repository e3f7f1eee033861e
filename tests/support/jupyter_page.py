"""A Jupyter server, and a notebook in a real browser as its user sees it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

SECONDS = 60
VIEWPORT: ViewportSize = {"width": 1200, "height": 900}
# Notebook 7 has the same widgets: it runs with the load, but for one test of each kind
APPS = ("lab", pytest.param("notebook", marks=pytest.mark.load))
CHROMIUM = shutil.which("chromium")
CHECKOUT = Path(__file__).resolve().parents[2]
SCREENSHOTS = CHECKOUT / "test-output"
LABEXTENSION = CHECKOUT / "labextension"
FOLDERS = (
    "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR",
)  # fmt: skip
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    # else cells out of sight are not in the page
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}
OPTIONS = (
    "--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=0", "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
)  # fmt: skip
ADDRESSES = {"lab": "lab/workspaces/{name}/tree/{name}.ipynb?reset&", "notebook": "notebooks/{name}.ipynb?"}

# a key press or a command is lost before all of these are done, however ready the page looks
OPENED = """async () => {
    await window.jupyterapp.restored;
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.context.ready;
    await panel.revealed;
}"""
READY = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.sessionContext.ready;
    await panel.sessionContext.session.kernel.info;
}"""
# into an application that shows nothing else: the same widgets as in a page of its own, without loading the application
OPEN = """async path => {
    const app = window.jupyterapp;
    const panel = await app.commands.execute('docmanager:open', {path, factory: 'Notebook'});
    const end = Date.now() + 20_000;
    while (app.shell.currentWidget !== panel) {  // what has the focus may keep it, such as a dialog
        if (Date.now() > end) throw Error(`${path} stays behind ${app.shell.currentWidget?.id}`);
        app.shell.activateById(panel.id);
        await new Promise(done => setTimeout(done, 20));
    }
}"""
CLOSE = "() => window.jupyterapp.shell.currentWidget.dispose()"
IDLE = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
# the command ends with the cell's execute_reply
RUN = """async ([index, seconds]) => {
    const app = window.jupyterapp;
    const notebook = app.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = index;
    const late = new Promise((_, fail) => setTimeout(fail, 1000 * seconds, Error(`cell ${index} still runs`)));
    if (!await Promise.race([app.commands.execute('notebook:run-cell'), late])) {
        throw Error(JSON.stringify(notebook.activeCell.model.sharedModel.toJSON(), null, 1));
    }
}"""

CHOOSE = """index => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = index;
}"""


class Server:
    """Serves JupyterLab and Notebook 7, with every folder of theirs below ``root``.

    ``data`` is a folder of Jupyter's data that it has beside its own; ``imports`` are folders that its kernels
    import from. ``chip``: whether toolbars have the chip, in place of the gauge below the newest chat cell.
    """

    def __init__(self, root: Path, data: Path, imports: Sequence[Path] = (), *, chip: bool = False) -> None:
        self.token, self.notebooks = secrets.token_hex(16), root / "notebooks"
        self.notebooks.mkdir()
        self.address = f"http://127.0.0.1:{_free_port()}"
        self._log = root / "server.log"
        options = (f"--port={urlsplit(self.address).port}", f"--IdentityProvider.token={self.token}")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter", "lab", *OPTIONS, *options, f"--ServerApp.root_dir={self.notebooks}"],
                env=_environment(root, data, imports, chip=chip), stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Until it answers."""
        request = urllib.request.Request(f"{self.address}/api/status", headers={"Authorization": f"token {self.token}"})
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(request, timeout=5):
                return
            time.sleep(0.1)
        raise RuntimeError(f"The server does not answer:\n{self._log.read_text()}")

    def stop(self) -> None:
        """End it with its kernels; they have process groups of their own, so it ends them itself."""
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class NotebookPage:
    """One notebook in a page of its own, or in that of an application that is open; ``app`` is lab or notebook.

    ``saved`` is a notebook to open instead of these cells, ``kernel`` whether it is to have one.
    """

    def __init__(
        self,
        browser: Browser,
        server: Server,
        cells: Sequence[str] = (),
        app: str = "lab",
        *,
        saved: Path | None = None,
        kernel: bool = True,
        page: Page | None = None,
    ) -> None:
        name = saved.stem if saved else f"n{secrets.token_hex(4)}"
        self.path = server.notebooks / f"{name}.ipynb"
        if saved is None:
            _write(self.path, cells)
        self.errors: list[str] = []
        self.foreign_requests: list[str] = []
        self._own = page is None
        self.page = page or new_page(browser)
        self._listeners: list[tuple[Any, Callable[..., None]]] = []
        self.on("pageerror", lambda error: self.errors.append(str(error)))
        self.on("request", lambda request: self._note(request.url, server.address))
        if self._own:
            self.page.goto(f"{server.address}/{ADDRESSES[app].format(name=name)}token={server.token}")
        else:
            self.page.evaluate(OPEN, self.path.name)
        self._wait(kernel)

    def on(self, event: Any, listener: Callable[..., None]) -> None:
        """Listen to the page for as long as this notebook is in it."""
        self.page.on(event, listener)
        self._listeners.append((event, listener))

    def run(self, *indices: int) -> None:
        """Run cells one after the other, each to its end; a cell that fails fails the test."""
        for index in indices:
            self.page.evaluate(RUN, [index, SECONDS])

    def begin(self, index: int) -> None:
        """Run a cell, and do not wait for its end."""
        self.page.evaluate(CHOOSE, index)
        self.command("notebook:run-cell")

    def command(self, name: str, **arguments: str) -> None:
        """Give a command of the application, and do not wait for what it does."""
        self.page.evaluate("([name, args]) => { window.jupyterapp.commands.execute(name, args) }", [name, arguments])

    def restart(self) -> None:
        """Restart the kernel, as the menu does once it is confirmed."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        self.wait_idle()
        # what JupyterLab still asked of the old kernel
        self.errors = [error for error in self.errors if "Canceled future" not in error]

    def shut_down(self) -> None:
        """End the kernel, and leave the notebook open."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def save(self) -> None:
        """As Ctrl+S does."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def reload(self) -> None:
        """Load the page anew, as the browser does; a notebook without a kernel gets a new one."""
        self.page.reload()
        self._wait(kernel=True)

    def wait_idle(self) -> None:
        """Until the kernel has nothing to do."""
        self.page.wait_for_function(IDLE)

    def use_theme(self, name: str) -> None:
        """Light or dark, by the theme's full name."""
        self.command("apputils:change-theme", theme=name)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", name)

    def cell(self, index: int) -> Locator:
        """A cell with its prompt and output."""
        return self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")

    def prompt(self, index: int) -> Locator:
        """A cell's number in brackets: a star while it waits or runs, nothing before."""
        return self.cell(index).locator(".jp-InputPrompt")

    def output(self, index: int) -> Locator:
        """What a cell shows."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    def answer(self, index: int) -> Locator:
        """The model's answer in a cell."""
        return self.output(index).locator(".jctx-answer")

    @property
    def meter(self) -> Locator:
        """Every gauge of the notebook."""
        return self.page.get_by_role("meter")

    @property
    def used(self) -> int:
        """What the gauge says is used, in tokens."""
        return int(self.meter.get_attribute("aria-valuenow") or "")

    def close(self) -> None:
        """End the kernel, for it holds a model, and leave."""
        self.shut_down()
        if self._own:
            self.page.close()
            return
        for event, listener in self._listeners:
            self.page.remove_listener(event, listener)
        self.page.evaluate(CLOSE)
        self.page.set_viewport_size(VIEWPORT)

    def _wait(self, kernel: bool) -> None:
        self.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext")
        self.page.evaluate(OPENED)
        if kernel:
            self.page.evaluate(READY)
            self.wait_idle()
        self.errors.clear()  # Notebook 7 stumbles by itself while it starts

    def _note(self, url: str, home: str) -> None:
        if url.startswith("http") and not url.startswith(f"{home}/"):
            self.foreign_requests.append(url)


Open = Callable[..., NotebookPage]


def new_page(browser: Browser) -> Page:
    """Return an empty page."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(1000 * SECONDS)
    expect.set_options(timeout=1000 * SECONDS)
    return page


def open_lab(browser: Browser, server: Server) -> Page:
    """Return a page with JupyterLab, in which nothing is open yet."""
    page = new_page(browser)
    page.goto(f"{server.address}/lab/workspaces/shared?reset&token={server.token}")
    page.wait_for_function("() => window.jupyterapp?.shell.currentWidget")  # the launcher
    page.evaluate("() => window.jupyterapp.restored")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    return page


def _environment(root: Path, data: Path, imports: Sequence[Path], *, chip: bool) -> dict[str, str]:
    ours = {name: str(root / name.lower()) for name in FOLDERS}
    for plugin, settings in {**SETTINGS, "jupyter-ctx/chip": {"shown": chip}}.items():
        path = Path(ours["JUPYTERLAB_SETTINGS_DIR"], f"{plugin}.jupyterlab-settings")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    users = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_", "OPENAI_"))}
    path = os.pathsep.join([*map(str, imports), *filter(None, [os.environ.get("PYTHONPATH")])])
    starts = {name: value for name, value in os.environ.items() if name == "JUPYTER_DEFAULT_PROVISIONER_NAME"}
    shutil.copytree(LABEXTENSION, root / "checkout/labextensions/jupyter-ctx")  # what is installed may be older
    found = os.pathsep.join(map(str, (root / "checkout", data)))
    return {**users, **ours, **starts, "JUPYTER_PLATFORM_DIRS": "1", "JUPYTER_PATH": found, "PYTHONPATH": path}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write(path: Path, cells: Sequence[str]) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(notebook, path)
