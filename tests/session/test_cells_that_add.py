"""Turns that a cell adds belong to it: run again, it replaces what it added."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells import Cells
from kernels import Kernel, error, shown

ADDS = """for city, country in {cities}:
    _ = get_chat().add_messages([
        {{"role": "system", "content": "Be brief."}},
        {{"role": "user", "content": f"Where is {{city}}?"}}, {{"role": "assistant", "content": f"In {{country}}."}},
    ])"""
TWO, ONE = [("Rome", "Italy"), ("Oslo", "Norway")], [("Bern", "Switzerland")]
STATE = "now = get_chat(); print([t.prompt for t in now.turns], any('stale' in r.states for r in now.history()))"
LOADS = "_ = get_chat().load('talk.json')"


def state(kernel: Kernel) -> str:
    """What the turns asked, and whether any is stale."""
    return shown(kernel.run(STATE)).strip()


@pytest.fixture
def folder(kernel: Kernel, tmp_path: Path) -> Path:
    """The kernel works in a folder of the test's own."""
    kernel.run(f"import os; os.chdir({str(tmp_path)!r})")
    return tmp_path


def test_a_cell_run_again_replaces_what_it_added_and_what_is_the_same_stays(kernel: Kernel, folder: Path) -> None:
    both = "['Where is Rome?', 'Where is Oslo?']"
    for _ in range(3):
        assert error(kernel.run(ADDS.format(cities=TWO), "adds")) is None
        assert state(kernel) == f"{both} False"
    kernel.run("_ = get_chat().export('talk.json')")
    for _ in range(2):
        assert error(kernel.run(LOADS, "loads")) is None
        assert state(kernel) == f"{both[:-1]}, {both[1:]} False"
    kernel.run(ADDS.format(cities=ONE), "adds")
    assert state(kernel) == f"['Where is Bern?', {both[1:]} True"
    kernel.run("_ = get_chat().undo()")
    assert state(kernel) == f"{both[:-1]}, {both[1:]} False"
    kernel.run("_ = get_chat().clear()")
    kernel.run(LOADS, "loads")
    assert state(kernel) == f"{both} False"


def test_a_shell_that_knows_no_cells_adds_each_time(cells: Cells) -> None:
    cells.run("from jupyter_ctx import get_chat")
    for count in (1, 2):
        cells.run(ADDS.format(cities=ONE))
        assert f"{count}\n" in cells.run("print(len(get_chat().turns))")
