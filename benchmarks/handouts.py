"""Thirty students open one handout at once, in one store: requests, errors and seconds of their Run Alls."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import KernelManager

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from headless_runs import executed
from kernels import Kernel
from server import events, piece, running, send, usage

STUDENTS = 30
PROMPTS = ("Hello?", "And then?", "Go on.", "Why?", "Say it shorter.")
HANDED = "anded out with this notebook"


def main() -> None:
    """Print the table."""
    asked = list[Any]()

    class Model(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            send(self, 200, '{"data": []}')

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            send(self, 200, events(piece("So it is."), piece("", "stop"), usage(20, 2)), "text/event-stream")

        def log_message(self, *_: Any) -> None:
            pass

    print(f"{STUDENTS} Run Alls of {len(PROMPTS)} prompts at once, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder, running(Model) as server:
        handout = _handed_out(Path(folder), f"{server}/v1")
        copies = [_copied(handout, Path(folder, f"student {number}")) for number in range(STUDENTS)]
        before, begun = len(asked), time.monotonic()
        shown = executed(*copies, JUPYTER_CTX_STORE=f"{folder}/store.sqlite")
        seconds = time.monotonic() - begun
        handed = sum(HANDED in text for texts in shown for text in texts)
        print(f"{seconds:.1f} s, {len(asked) - before} requests, {handed} answers handed out", flush=True)


def _handed_out(folder: Path, url: str) -> Path:
    """Run a lesson as its teacher, and hand it out."""
    sources = [f"%load_ext jupyter_ctx\n%chat use m --base-url {url}", *(f"%%chat\n{prompt}" for prompt in PROMPTS)]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    lesson = folder / "lesson.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), lesson)
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JPY_SESSION_NAME": str(lesson), "JUPYTER_CTX_STORE": "memory"}, cwd=folder)
    teacher = Kernel(manager)
    for cell in cells:
        teacher.run(cell.source, cell.id)
    teacher.run("%chat handout handout.ipynb --clear")
    teacher.client.stop_channels()
    manager.shutdown_kernel(now=True)
    return folder / "handout.ipynb"


def _copied(handout: Path, folder: Path) -> Path:
    folder.mkdir()
    copy = folder / "my work.ipynb"
    copy.write_bytes(handout.read_bytes())
    return copy


if __name__ == "__main__":
    main()
