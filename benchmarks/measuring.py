"""What benchmarks share: servers in processes of their own, kernels, and ratios of figures that were taken in pairs."""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ROOT / "tests" / "support"
if str(SUPPORT) not in sys.path:  # servers, kernels and pages of the tests are used here, too
    sys.path.append(str(SUPPORT))

if TYPE_CHECKING:
    from kernels import Kernel

KEY = "key-0123456789abcdef-secret"
SERVE = "--serve"  # the argument with which a benchmark's module runs its server


def is_installed(module: str) -> bool:
    """Return whether a module, or the package that it is a part of, is installed."""
    return importlib.util.find_spec(module.partition(".")[0]) is not None


@contextmanager
def in_a_process(*command: object) -> Iterator[str]:
    """The first line that a Python process prints, such as the address of its server."""
    words = [sys.executable, *map(str, command)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def serving(module: str, *arguments: object) -> Any:
    """The address of the server that a module of the benchmarks is with these arguments."""
    return in_a_process("-m", module, SERVE, *arguments)


@contextmanager
def kernel_in(folder: str, **environment: str) -> Iterator[tuple[Kernel, Callable[[], float]]]:
    """A kernel of a new notebook in a folder, with a configuration of its own, and a clock of its CPU seconds."""
    from jupyter_client import KernelManager
    from kernels import Kernel

    own = {name: f"{folder}/{name.lower()}" for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    notebook = {"JPY_SESSION_NAME": f"{folder}/{uuid4().hex}.ipynb", "PYTHONPATH": str(ROOT)}
    hidden = {"PYTHONDONTWRITEBYTECODE", "JUPYTER_CTX_STORE"}
    inherited = {name: value for name, value in os.environ.items() if name not in hidden}
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel(env={**inherited, **own, **notebook, **environment})
    kernel = Kernel(manager)
    process_clock = ~int(kernel.value("__import__('os').getpid()")) << 3 | 2  # Linux: readable from outside
    try:
        yield kernel, lambda: time.clock_gettime(process_clock)
    finally:
        kernel.client.stop_channels()
        manager.shutdown_kernel(now=True)


def run_cell(kernel: Kernel, source: str) -> None:
    """Run a cell that must not fail."""
    from kernels import error

    failed = error(kernel.run(source))
    assert failed is None, "\n".join(failed["traceback"])


def median_ms(work: Callable[[], object], runs: int, *, clock: Any = time.perf_counter) -> float:
    """Return the median time of a call, in milliseconds, after one call that warms up."""
    work()
    times = []
    for _ in range(runs):
        begun = clock()
        work()
        times.append(1_000 * (clock() - begun))
    return statistics.median(times)


def in_turn(number: int, *acts: Callable[[], Any]) -> list[Any]:
    """Return what each act returns; the one that begins changes with the number of the round."""
    first = number % len(acts)
    order = [*range(first, len(acts)), *range(first)]
    results = {place: acts[place]() for place in order}
    return [results[place] for place in range(len(acts))]


def median_ratio(pairs: Iterable[Sequence[float]]) -> float:
    """Return the median of ratios, each of the second figure of a pair to the first."""
    return statistics.median(second / first for first, second in pairs)


def median_difference(pairs: Iterable[Sequence[float]]) -> float:
    """Return the median of differences, each of the second figure of a pair to the first."""
    return statistics.median(second - first for first, second in pairs)
