"""Run All after a restart asks nothing again, for every kind of cell, also where cells were put in above."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from kernels import Kernel, error, shown
from server import events, piece, send, serve, usage

SETUP = """
%load_ext jupyter_ctx
%matplotlib inline
%chat use one --base-url {url} --window 60000
import matplotlib.pyplot as plt, pandas as pd, threading
from jupyter_ctx import get_chat
from typing import TypedDict
class City(TypedDict):
    name: str
class Thing: pass
rows = [{'x': 1}, {'x': 2}]
class Wordy:
    def __repr__(self): return f"{Thing()} at {id(self):#x}"
"""
RUNS_DEEP = "def deep(x):\n    return shallow(x)\ndef shallow(x):\n    raise ValueError(f'bad {Thing()} in {x}')"
CELLS = {  # by name; <name> is the number of another cell
    "frame": "frame = pd.DataFrame({'a': range(40), 'b': [Thing()] * 40})\nframe.head()",
    "plot": "fig, ax = plt.subplots(figsize=(2, 2))\nax.plot([1, 3, 2]);",
    "object": "Wordy()",
    "words": "words = {'one', 'two', 'three', 'four', Thing()}\nwords",
    "failing": "deep('a cell')",
    "wrong": "1 +",
    "adds": "added = get_chat().add_messages([{'role': role, 'content': role} for role in ('user', 'assistant')])",
}
ASKING = {
    "prompt": "%%chat\nHello?",
    "{{ _ }}": "%%chat\nWhat is {{ _ }}?",
    "{{ Out[n] }} of a frame": "%%chat\nRead {{ Out[<frame>] }}.",
    "{{ Out[n] }} of a set": "%%chat\nRead {{ Out[<words>] }}.",
    "{{ In[n] }}": "%%chat\nRead {{ In[<frame>] }}.",
    "-a figure": "%%chat -a fig\nLook.",
    "-a frame": "%%chat -a frame\nRead.",
    "-a file": "%%chat -a notes.txt\nRead.",
    "--error": "%%chat --error\nWhy?",
    "%chat fix": "%chat fix",
    "--schema": "%%chat --schema City -m json\nA city?",
    "-m -m, none taken": "%%chat -m one -m two\nA title?",
    "-n, none taken": "%%chat -n 3\nA title?",
    "-m -m, one failed": "%%chat -m two -m refuses\nA title?",
    "-n, taken": "%%chat -n 2\nA title?",
    "%chat continue": "%chat continue",
    "--append": "%%chat --append\nMore.",
    "a loop": "for n in range(3): get_ipython().run_cell_magic('chat', '', f'Say {n}.')",
    "after system": "%%chat\nWho are you?",
    "after memory": "%%chat\nWhat do I like?",
    "map": "%%chat map rows --yes\nDouble {{ x }}.",
    "%%chat summarise": "%%chat summarise 2\nKeep all names.",
    "-i": "%%chat -i other\nHello there?",
    "after all": "%%chat\nGoodbye.",
    "--new": "%%chat --new\nBegin.",
}
BEFORE = {
    "{{ _ }}": ["words"], "-a figure": ["failing"], "%chat fix": ["wrong"], "after memory": ["%chat memory likes.md"],
    "after system": ["%%chat system\nYou are B."], "%chat continue": ["%chat pick 2"],
    "after all": ["%chat config temperature 0.5", "%chat clear"],
}  # fmt: skip
FAILS = ("failing", "wrong")


def notebook() -> dict[str, str]:
    """The cells in order."""
    cells = {"deep": RUNS_DEEP, **CELLS}
    for name, source in ASKING.items():
        for number, other in enumerate(BEFORE.get(name, ())):
            cells[f"{other if other in CELLS else 'before'} {number} {name}"] = CELLS.get(other, other)
        cells[name] = source
    return cells


def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Answer as the model is named; one refuses, and summaries are long."""
    if body["model"] == "refuses":
        return send(handler, 400, '{"error":{"message":"This model is not for you."}}')
    said = json.dumps({"name": "Rome"}) if body["model"] == "json" else f"```python\nx = {len(body['messages'])}\n```"
    return send(handler, 200, events(piece(said), piece("", "stop"), usage(20, 2)), "text/event-stream")


def run_all(kernel: Kernel, cells: Mapping[str, str], seen: list[Any], inserted: int) -> dict[str, int]:
    """How many requests each cell sent, with so many cells above."""
    numbers: dict[str, int] = {}
    asked = {}
    for number in range(inserted):
        kernel.run(f"{number}", f"new-{number}")
    for name, source in cells.items():
        before = len(seen)
        source = re.sub("<(.*?)>", lambda named: str(numbers[named[1]]), source)
        outputs = kernel.run(source, re.sub(r"\W", "-", name))
        numbers[name] = kernel.reply["execution_count"]
        fails = name.partition(" ")[0] in FAILS
        assert bool(error(outputs)) == fails, (name, shown(outputs))
        asked[name] = len(seen) - before
    return asked


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KernelManager]:
    """A kernel with hashes and addresses of its own in each process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(KernelProvisionerFactory.instance(), "default_provisioner_name", "local-provisioner")
    Path("notes.txt").write_text("Some notes.")
    Path("likes.md").write_text("I like tea.")
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JPY_SESSION_NAME": str(tmp_path / "x.ipynb"), "PYTHONHASHSEED": "1"})
    yield manager
    manager.shutdown_kernel(now=True)


def test_run_all_after_a_restart_asks_nothing_of_any_kind(manager: KernelManager, tmp_path: Path) -> None:
    with serve(answer) as (url, seen):
        cells = {"setup": SETUP.replace("{url}", url), **notebook()}
        kernel = Kernel(manager)
        first = run_all(kernel, cells, seen, 0)
        kernel.client.stop_channels()
        manager.restart_kernel(
            now=True, env={**os.environ, "JPY_SESSION_NAME": str(tmp_path / "x.ipynb"), "PYTHONHASHSEED": "2"}
        )
        again = Kernel(manager)
        asked = run_all(again, cells, seen, 2)
        assert again.value("added.changed") == "False"
        again.client.stop_channels()
    assert [name for name in ASKING if not first[name]] == []
    assert {name: count for name, count in asked.items() if count} == {}


def test_a_pick_holds_in_run_all_though_answers_stand_side_by_side_further_down(
    manager: KernelManager, tmp_path: Path
) -> None:
    turns = "[turn.id for turn in get_chat().turns]"
    cells = {"a": "%%chat -n 2\nA title?", "b": "%chat pick 2", "c": "%%chat\nMore.", "d": "%%chat -n 2\nAnother?"}
    with serve(answer) as (url, seen):
        cells = {"setup": SETUP.replace("{url}", url), **cells}
        kernel = Kernel(manager)
        run_all(kernel, cells, seen, 0)
        before = kernel.value(turns)
        kernel.client.stop_channels()
        manager.restart_kernel(now=True, env={**os.environ, "JPY_SESSION_NAME": str(tmp_path / "x.ipynb")})
        again = Kernel(manager)
        asked = run_all(again, cells, seen, 0)
        assert again.value(turns) == before
        again.client.stop_channels()
    assert not any(asked.values())
