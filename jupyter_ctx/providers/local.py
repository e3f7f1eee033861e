"""A small real model inside this process, served on loopback by llama.cpp (xllamacpp).

Each server belongs to one (file, window); at most two run, and a third waits until one of
them has answered. xllamacpp's Server has no close: it ends
with its last reference, at once when no response is open and after 30 s, holding the
interpreter, when one is. So every open response is ended first.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..context.windows import ContextWindow, Fact
from ..errors import InvalidRequestError, MissingDependencyError, ModelNotFoundError, ProviderError
from .base import Endpoint, ModelInfo, Piece, Provider, Reply, Request
from .model_files import FETCH, MODEL_PACKAGES, find_weights, trained_window
from .openai_chat import ChatCompletions

DEFAULT_N_CTX = 2_048
MOST_SERVERS = 2
CACHE_RAM_MIB = 64  # for prompts of other conversations; the server's default is up to 8 GiB
TEMPERATURE = 0.2
LEAST_N_CTX, MOST_N_CTX, BLOCK = 256, 131_072, 256  # the server rounds up to whole blocks
INSTALL_SERVER = "pip install 'jupyter_ctx[local]'"


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
        name, window = _split_window(name)
        self.name, path = name, _find(name)
        most = max(trained_window(path) or MOST_N_CTX, LEAST_N_CTX)
        if window is not None and not LEAST_N_CTX <= window <= most:
            raise InvalidRequestError(f"local/{name}@{window}: a window from {LEAST_N_CTX} to {most:,} can be served.")
        served = window or min(max(n_ctx or DEFAULT_N_CTX, LEAST_N_CTX), most)
        self.spec = Spec(path, -(-served // BLOCK) * BLOCK)
        self.model = f"local/{name}"
        packaged = name in MODEL_PACKAGES  # the same file on every machine, wherever it is
        self.takes_tools = not packaged  # where the template of the model has them
        self.endpoint = f"local {name if packaged else self.spec.path}@{self.spec.n_ctx}"
        self.tokenizer = f"local {self.spec.path}"

    def stream(self, request: Request) -> Generator[Piece | Reply, None, None]:
        """Yield thoughts and text as they arrive, then exactly one Reply."""
        if request.temperature is None:
            request = replace(request, temperature=TEMPERATURE)
        if request.top_logprobs:  # the probabilities that are told are those without a penalty
            request = replace(request, parameters={"repeat_penalty": 1.0, **request.parameters})
        with _serving(self.spec) as server:
            yield from server.stream(request)

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server is started with."""
        del ask
        return ContextWindow(self.spec.n_ctx, source="server")

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return that the packaged model does not think; of a user's file, its template tells of functions."""
        if self.name in MODEL_PACKAGES:
            return False if fact == "thinking" else None
        if fact != "tools" or not ask:
            return None
        with _serving(self.spec) as server:
            return server.says(fact, ask=True)

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


class _Server(ChatCompletions):
    """One running server, asked with a key of its own, and how many answers are not ended."""

    def __init__(self, spec: Spec) -> None:
        key = os.urandom(24).hex()
        self.open_answers = 0
        self._server: Any = _start(spec, key)
        address = f"{self._server.listening_address}/v1"
        super().__init__(Endpoint("local", "local", address, key, self_hosted=True, extra_body={"repeat_penalty": 1.1}))

    def stop(self) -> None:
        self.close()
        self._server = None


_running: OrderedDict[Spec, _Server] = OrderedDict()  # the last used last
_free = threading.Condition()  # whenever a server has no user any more


@contextmanager
def _serving(spec: Spec) -> Iterator[_Server]:
    """Hold the server for this file and window while the block runs, started where it is not running yet."""
    with _free:
        _free.wait_for(lambda: spec in _running or _has_room())
        server = _running.pop(spec, None) or _Server(spec)
        _running[spec] = server
        server.open_answers += 1
    try:
        yield server
    finally:
        with _free:
            server.open_answers -= 1
            _free.notify_all()


def _has_room() -> bool:
    """Let the server go that was used the longest ago and has no open answer, where there are too many."""
    idle = [spec for spec, server in _running.items() if not server.open_answers]
    if len(_running) >= MOST_SERVERS and idle:
        _running.pop(idle[0]).stop()
    return len(_running) < MOST_SERVERS


@atexit.register
def stop_servers() -> None:
    """Stop all local models."""
    with _free:
        while _running:
            _running.popitem()[1].stop()
        _free.notify_all()


def _start(spec: Spec, key: str) -> Any:
    """Return an xllamacpp server with settings for a notebook: small, quiet, on loopback, with a key.

    Its defaults poll with every core, which makes two kernels fifty times slower; small
    batches let an interrupted prompt free the model within a second.
    """
    try:
        import xllamacpp
    except ImportError:
        raise MissingDependencyError(f"The local model needs xllamacpp: {INSTALL_SERVER}") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(spec.path)
    params.model_alias = {"local"}
    params.n_ctx, params.n_parallel = spec.n_ctx, 1
    params.n_batch = params.n_ubatch = 128
    params.cache_ram_mib, params.verbosity = CACHE_RAM_MIB, 0
    params.cpuparams.n_threads, params.cpuparams.poll = 1, 0  # as fast as two for a small model
    params.cpuparams_batch.n_threads, params.cpuparams_batch.poll = max(1, _cores() - 1), 0
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.endpoint_slots, params.ui = False, False
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ProviderError(
            f"{spec.path.name} could not be loaded ({str(error).rstrip('.')}): it is incomplete or damaged, unknown to"
            f" this xllamacpp, or too large for the memory with a window of {spec.n_ctx:,}."
        ) from None


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _split_window(name: str) -> tuple[str, int | None]:
    """Return a model's name and the window after its ``@``."""
    before, at, digits = name.rpartition("@")
    return (before, int(digits)) if at and re.fullmatch(r"[0-9]{1,12}", digits) else (name, None)


def _find(name: str) -> Path:
    """Return the GGUF file that a name stands for. Raises a ChatError."""
    if name.endswith(".gguf"):
        return Path(name).expanduser().resolve()
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
