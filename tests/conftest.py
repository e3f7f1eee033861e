"""What tests share: a real small model, a plain shell, and folders of their own."""

from __future__ import annotations

import atexit
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cells import Cells, Open, plain_shell
from dialects import DIALECTS, Dialect
from hypothesis import HealthCheck, settings
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client import KernelManager
from kernels import Kernel
from requirements import need
from small_model import small

from jupyter_ctx import Chat
from jupyter_ctx.providers import adapter
from jupyter_ctx.providers.local import find_weights
from jupyter_ctx.providers.lookup import SERVICES, key_variables
from jupyter_ctx.storage.conversation_writer import close_stores

# how long an example takes says nothing on a busy machine
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", calm, max_examples=25)
settings.register_profile("deep", calm, max_examples=150)

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background jobs of a shell, and what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform == "linux":
    os.environ.setdefault("JUPYTER_DEFAULT_PROVISIONER_NAME", "forked")  # as support/forked_kernels.py explains

OURS = (
    "JUPYTER_CTX_MODEL", "JUPYTER_CTX_BASE_URL", "JUPYTER_CTX_MODELS", "JUPYTER_CTX_STORE", "JUPYTER_CTX_REPLAY",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run what takes minutes of load, too, and many more examples")
    parser.addoption("--rewrite", action="store_true", help="write what users are told into tests/wordings.json")


def pytest_configure(config: pytest.Config) -> None:
    """Set how many examples a property is tried with, before any test is imported."""
    settings.load_profile("deep" if config.getoption("all") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the load, unless it is asked for."""
    if not config.getoption("all"):
        load = [item for item in items if item.get_closest_marker("load")]
        items[:] = [item for item in items if item not in load]
        config.hook.pytest_deselected(items=load)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings or keys, and what it sets of them is put back."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    addresses = (service.variable for service in SERVICES.values() if service.variable)
    for name in (*key_variables(), *addresses, *OURS):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def closed_stores(own_folders: None) -> Iterator[None]:
    """No test leaves a connection open, or finds what another one has said."""
    yield
    close_stores()


@pytest.fixture
def address(tmp_path: Path) -> str:
    """Where a conversation may be stored: nothing is there yet."""
    return str(tmp_path / "store.sqlite")


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each way of speaking that a provider has."""
    return DIALECTS[request.param]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server is asked again at once."""
    monkeypatch.setattr(adapter, "DELAYS", (0.0, 0.0))


@pytest.fixture(scope="session")
def packaged_model() -> Path:
    """The file of the packaged model, where it is in the environment; a test's own folders never have it."""
    file = find_weights("smollm2")
    need(bool(importlib.util.find_spec("xllamacpp")) and file is not None, "the local model")
    assert file is not None
    return file


@pytest.fixture
def real_model(packaged_model: Path) -> str:
    """The packaged model, with a small window: for what depends on its words, its pace or its file."""
    return f"local/{packaged_model}@512"


@pytest.fixture(scope="session")
def small_model(packaged_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Jupyter's data: in the packaged model's place is one that costs nothing."""
    folder = tmp_path_factory.mktemp("small_model")
    file = folder / "jupyter_ctx" / "smollm2.gguf"
    file.parent.mkdir()
    file.write_bytes(small(packaged_model.read_bytes()))
    return folder


@pytest.fixture
def local_model(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same name, of the small model: here, and in every process that the test starts."""
    monkeypatch.setenv("JUPYTER_PATH", str(small_model))
    return "local/smollm2@512"


@pytest.fixture
def chat(local_model: str) -> Chat:
    """A conversation with the small model, in short replies."""
    return Chat(local_model, max_tokens=16)


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A plain IPython shell of this test's own."""
    yield plain_shell()
    InteractiveShell.clear_instance()


@pytest.fixture
def cells(shell: InteractiveShell) -> Cells:
    """A plain shell with the extension loaded."""
    cells = Cells(shell)
    cells.run("%load_ext jupyter_ctx")
    return cells


@pytest.fixture
def talk(cells: Cells, local_model: str) -> Callable[[str], Any]:
    """Asks in a cell, with a short reply, and gives the Reply."""
    cells.run(f"%chat use {local_model} --max-tokens 16")

    def ask(prompt: str, options: str = "") -> Any:
        cells.run(f"%%chat {options}\n{prompt}")
        return cells.shell.user_ns["_"]

    return ask


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a notebook in a shell of its own, as another kernel would after the first has ended."""
    monkeypatch.chdir(tmp_path)

    def open_notebook(path: str = "x.ipynb") -> Cells:
        close_stores()
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / path))
        cells = Cells(plain_shell())
        atexit.unregister(cells.shell.atexit_operations)  # each takes a quarter of a second
        assert cells.run("%load_ext jupyter_ctx") == ""
        return cells

    yield open_notebook
    InteractiveShell.clear_instance()


@pytest.fixture(scope="session")
def manager() -> Iterator[KernelManager]:
    """Manage a kernel whose conversations are in memory."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JUPYTER_CTX_STORE": "memory"})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture(scope="session")
def connected(manager: KernelManager) -> Iterator[Kernel]:
    """Talk to that kernel: to connect takes longer than many a test."""
    kernel = Kernel(manager)
    yield kernel
    kernel.client.stop_channels()


@pytest.fixture
def kernel(connected: Kernel) -> Kernel:
    """Run cells in that kernel, where nothing was run before."""
    connected.begin_anew()
    connected.asked.clear()
    return connected
