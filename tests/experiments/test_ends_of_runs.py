"""How a run ends with its process: at the end of Python, and where the process is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_rows import KEY

from jupyter_ctx import sweep
from jupyter_ctx.experiments.run import Run

SERVER = Path(__file__).parents[1] / "support" / "counting_server.py"
AT_ONCE = 20


class Counting:
    """A server in a process of its own, and what it was asked."""

    def __init__(self, log: Path, seconds: float) -> None:
        command = [sys.executable, str(SERVER), str(log), "--seconds", str(seconds)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"
        self._log = log

    def lines(self, what: str) -> list[str]:
        return [prompt for kind, prompt in map(json.loads, self._log.read_text().splitlines()) if kind == what]


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Counting]:
    server = Counting(tmp_path / "log", 0.05)
    yield server
    server.process.kill()
    server.process.communicate()


SCRIPT = """
import sys, time
from jupyter_ctx import sweep
url, store, rows, ends = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
run = sweep("{{{{ text }}}}", [f"row {{n}}" for n in range(rows)], model="m", base_url=url, api_key="{key}",
            store=store, concurrency={at_once}, progress=False, yes=True)
print("begun", flush=True)
{then}
"""


def process(then: str, counting: Counting, store: Path, rows: int) -> subprocess.Popen[str]:
    script = SCRIPT.format(key=KEY, at_once=AT_ONCE, then=then)
    command = [sys.executable, "-c", script, counting.url, str(store), str(rows), ""]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n", started.communicate()[1]
    return started


def go_on(counting: Counting, store: Path, rows: int) -> Run:
    texts = [f"row {number}" for number in range(rows)]
    run = sweep("{{ text }}", texts, model="m", base_url=counting.url, api_key=KEY, store=store, yes=True)
    assert list(run.result(60)["reply"]) == [text.upper() for text in texts]
    return run


@pytest.mark.parametrize("seconds", [0.2, 600.0], ids=["answers", "silence"])
def test_the_end_of_python_is_not_held_up_by_a_run(seconds: float, tmp_path: Path) -> None:
    server, store = Counting(tmp_path / "log", seconds), tmp_path / "store.sqlite"
    try:
        started = process("time.sleep(0.4)", server, store, 10_000)  # a hundred seconds and more
        _, errors = started.communicate(timeout=60)
        assert (started.returncode, errors) == (0, "")
        answered = len(server.lines("answered"))
        if answered:
            assert go_on(server, store, answered).progress.cached >= answered - AT_ONCE
    finally:
        server.process.kill()
        server.process.communicate()


def test_a_run_that_is_killed_asks_again_only_what_was_on_its_way(counting: Counting, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    started = process("run.result()", counting, store, 200)
    while len(counting.lines("answered")) < 40:
        time.sleep(0.02)
    started.kill()
    started.communicate()
    run = go_on(counting, store, 200)
    assert run.progress.cached
    again = Counter(counting.lines("asked"))
    assert sum(again.values()) - len(again) <= AT_ONCE
