"""What becomes of a notebook's conversations when its kernel is restarted, killed, moved, copied or started twice."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import KernelManager
from kernels import Kernel, shown

LOAD = "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat"
LONG = "%%chat\n" + " ".join(f"On day {day} we saw {3 * day} birds." for day in range(1, 8))
TALK = "get_chat().add_messages([{'role': 'user', 'content': 'Say one.'}, {'role': 'assistant', 'content': 'One.'}])"
PROMPTS = "[turn.prompt for turn in get_chat().turns]"


class Notebook:
    """A notebook whose kernel can be started again and again; it keeps its id, as with every front end."""

    def __init__(self, manager: KernelManager, folder: Path) -> None:
        self._manager, self._folder = manager, folder
        self._kernel: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs now."""
        assert self._kernel is not None
        return self._kernel

    def start(self) -> str:
        """Start the kernel, killing the one before; what loading the extension said."""
        variables = {**os.environ, "JPY_SESSION_NAME": str(self._folder / "x.ipynb")}
        self.leave()
        if self._manager.has_kernel:
            self._manager.restart_kernel(now=True, env=variables)
        else:
            self._manager.start_kernel(env=variables)
        self._kernel = Kernel(self._manager)
        return self.run(LOAD)

    def leave(self) -> None:
        """Talk to the kernel no more."""
        if self._kernel is not None:
            self._kernel.client.stop_channels()

    def run(self, source: str) -> str:
        """What a cell shows that must succeed."""
        outputs = self.kernel.run(source)
        assert self.kernel.reply["status"] == "ok", shown(outputs)
        return shown(outputs)

    def fail(self, source: str) -> str:
        """The one line of a cell that must fail."""
        outputs = self.kernel.run(source)
        assert self.kernel.reply["status"] == "error", shown(outputs)
        assert len(shown(outputs).strip().splitlines()) == 1, shown(outputs)
        return f"{self.kernel.reply['ename']}: {self.kernel.reply['evalue']}"

    def value(self, expression: str) -> Any:
        """What an expression is, in the kernel."""
        return ast.literal_eval(self.kernel.value(f"repr(({expression}))"))


@pytest.fixture(scope="module")
def manager() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(manager: KernelManager, tmp_path: Path, local_model: str) -> Iterator[Notebook]:
    """A notebook that nobody has talked in, with its kernel."""
    notebook = Notebook(manager, tmp_path)
    assert notebook.start() == ""
    yield notebook
    notebook.leave()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Notebook]:
    """A second kernel with an id of its own, not started yet."""
    manager = KernelManager(kernel_name="python3")
    notebook = Notebook(manager, tmp_path)
    yield notebook
    notebook.leave()
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


def test_after_a_restart_everything_is_as_it_was_and_one_line_says_so(notebook: Notebook, tmp_path: Path) -> None:
    known = (
        "[(t.id, t.prompt, t.reply) for t in get_chat().turns], str(get_chat().info()), str(get_chat().config), "
        "get_chat().system, str(get_chat().models.state())"
    )
    assert not list(tmp_path.rglob("*jupyter_ctx*")), "loading has made a file"
    notebook.run("%chat use local/smollm2@256 --window 4096 --max-tokens 8 -t 0.5")
    notebook.run("%%chat system\nBe brief.")
    said = [notebook.run(LONG) for _ in range(4)]
    assert any("Too long (" in line for line in said)
    assert notebook.value("get_chat().info().source") == "learned"
    assert any("makes room" in line for line in said)
    before = notebook.value(known)

    assert notebook.start() == ""
    assert notebook.run("%chat").splitlines()[0] == (
        "Going on with 4 turns of 'main', last used just now. %chat new starts afresh."
    )
    assert "Going on" not in notebook.run("%chat status")
    assert notebook.value(known) == before
    said = [notebook.run("%%chat\nAnd?")]
    assert "Too long" not in said[0]
    assert "makes room" not in said[0]


def test_a_second_kernel_on_a_notebook_starts_with_a_fork_and_says_so(notebook: Notebook, other: Notebook) -> None:
    notebook.run(TALK)
    other.start()
    assert other.run("%chat").splitlines()[0] == (
        "'main' is open already, here or in another kernel: this is a fork of it, 'main-2', with 1 turn."
    )
    assert re.search(r"^main +1 turn .* in another kernel$", other.run("%chat list"), re.M)
    assert "Another kernel talks in 'main'" in other.fail("%chat delete main")
    said = other.run("%chat switch main").splitlines()
    assert said[:2] == [
        "'main' is open already, here or in another kernel: this is a fork of it, 'main-3', with 1 turn.",
        "Talking in 'main-3': 1 turn.",
    ]
    other.run(TALK)
    assert notebook.value(PROMPTS) == ["Say one."]
