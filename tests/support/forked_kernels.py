"""Kernels that start at once: each is forked from a process that has imported what they all import, but for our own.

The folder beside this file registers ``forked`` as a way to start kernels; JUPYTER_DEFAULT_PROVISIONER_NAME chooses it.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

IMPORTED = (
    "ipykernel.kernelapp", "ipykernel.ipkernel", "ipywidgets", "openai.resources.chat.completions",
    "openai.resources.responses", "tiktoken", "genai_prices", "markdown_it",
    "mdit_py_plugins.dollarmath", "pygments.lexers", "msgspec", "regex", "psutil",
)  # fmt: skip


class ForkedProvisioner(LocalProvisioner):  # type: ignore[misc]
    """Starts a kernel in a fork of the nursery."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> dict[str, Any]:
        self.process = Forked(cmd, options.get("env") or dict(os.environ), options.get("cwd"))
        self.pid = self.pgid = self.process.pid
        return dict(self.connection_info)


class Forked:
    """A kernel's process, in the form of ``subprocess.Popen``; it is the nursery's child, not ours."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], env: dict[str, str], cwd: str | None) -> None:
        self.pid = _nursery.start({"argv": command[2:], "env": env, "cwd": cwd})

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.005)
        return 0

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class _Nursery:
    """The process that kernels are forked from; it ends with this one, and they with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def start(self, order: dict[str, Any]) -> int:
        """Fork a kernel, and return the number of its process."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    start_new_session=True,
                )  # fmt: skip
                atexit.register(self._end)
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())

    def _end(self) -> None:
        assert self._process is not None
        self._process.communicate()


_nursery = _Nursery()


def _orders() -> Iterator[dict[str, Any]]:
    """Yield what each kernel is to be started with, in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who has ended is forgotten
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            yield json.loads(line)
            return
        print(child, flush=True)


def _be_kernel(argv: list[str], env: dict[str, str], cwd: str | None) -> None:
    """Go on as ``python -m ipykernel_launcher`` would with these arguments, variables and folder."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(cwd or os.getcwd())
    sys.argv = argv
    sys.path[:0] = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()


def main() -> None:
    """Import what kernels import, then fork one for each order."""
    sys.path.remove(str(Path(__file__).parent))  # which a kernel does not have
    for name in IMPORTED:
        importlib.import_module(name)
    for order in _orders():
        _be_kernel(**order)


if __name__ == "__main__":
    main()
