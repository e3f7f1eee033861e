"""What becomes of a notebook's conversations when its kernel is restarted, killed, moved, copied or started twice."""

from __future__ import annotations

import ast
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client import KernelManager
from kernels import Kernel, error, shown, widgets
from nbclient import NotebookClient

LOAD = "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat"
USE = "%chat use local/smollm2@256 --max-tokens 8"
STORED = "tored answer; nothing was sent"
LONG = "%%chat\n" + " ".join(f"On day {day} we saw {3 * day} birds." for day in range(1, 8))
TALK = "get_chat().add_messages([{'role': 'user', 'content': 'Say one.'}, {'role': 'assistant', 'content': 'One.'}])"
LOOP = "for n in {}: get_ipython().run_cell_magic('chat', '{}', f'Say {{n}}.')"
HANDLE = "vscode-notebook-cell:/x.ipynb#W1sZmlsZQ%3D%3D"  # VS Code may give it to another cell in its next window
PROMPTS = "[turn.prompt for turn in get_chat().turns]"
IS_MODEL_LOADED = "'xllamacpp' in __import__('sys').modules"


class Notebook:
    """A notebook whose kernel can be started again and again; it keeps its id, as with every front end."""

    def __init__(self, manager: KernelManager, folder: Path) -> None:
        self._manager, self._folder = manager, folder
        self._path = "x.ipynb"
        self._kernel: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs now."""
        assert self._kernel is not None
        return self._kernel

    def start(self, path: str | None = None, **variables: str) -> str:
        """Start the kernel, killing the one before; what loading the extension said."""
        self._path = path or self._path
        variables = {**os.environ, "JPY_SESSION_NAME": str(self._folder / self._path), **variables}
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

    def run(self, source: str, cell: str | None = None, **options: Any) -> str:
        """What a cell shows that must succeed."""
        outputs = self.kernel.run(source, cell, **options)
        assert self.kernel.reply["status"] == "ok", shown(outputs)
        return shown(outputs)

    def run_all(self, cells: Mapping[str, str]) -> dict[str, str]:
        """What each cell shows, by its id."""
        return {cell: self.run(source, cell) for cell, source in cells.items()}

    def fail(self, source: str, cell: str | None = None, **options: Any) -> str:
        """The one line of a cell that must fail."""
        outputs = self.kernel.run(source, cell, **options)
        assert self.kernel.reply["status"] == "error", shown(outputs)
        assert len(shown(outputs).strip().splitlines()) == 1, shown(outputs)
        return f"{self.kernel.reply['ename']}: {self.kernel.reply['evalue']}"

    def value(self, expression: str) -> Any:
        """What an expression is, in the kernel."""
        return ast.literal_eval(self.kernel.value(f"repr(({expression}))"))

    def crash(self) -> None:
        """End the kernel without a word."""
        os.kill(self.value("__import__('os').getpid()"), signal.SIGKILL)
        while self._manager.is_alive():
            time.sleep(0.01)

    def interrupt(self, source: str, cell: str) -> None:
        """Begin to run a cell, and stop it when its answer begins."""
        message = self.kernel.ask(source, cell)
        while self.kernel.client.get_iopub_msg(timeout=60)["msg_type"] != "update_display_data":
            pass
        self.kernel.manager.interrupt_kernel()
        failed = error(self.kernel.outputs(message))
        assert failed is not None
        assert failed["ename"] == "ChatInterrupted"


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


@pytest.mark.load
def test_an_error_is_found_again_and_another_one_is_asked_of_anew(notebook: Notebook) -> None:
    def fails(source: str) -> None:
        notebook.kernel.run(source, "broken")
        assert notebook.kernel.reply["status"] == "error"

    notebook.start()
    notebook.run(USE.replace("256", "512"), "use")
    fails("x = 0\n1 / x")
    notebook.run("%%chat --error", "ask")
    sources = notebook.run("print(get_chat().turns[0].record.sources)")
    assert "error of cell [3] (ZeroDivisionError, " in sources
    notebook.start()
    assert notebook.run("print(get_chat().turns[0].record.sources)", "see") == sources
    fails("x = 0\n1 / x")
    assert STORED in notebook.run("%%chat --error", "ask"), "the same error in the cell of the same number"
    fails("x = ''\n1 / x")
    assert STORED not in notebook.run("%%chat --error", "ask")


def test_restart_and_run_all_costs_nothing(notebook: Notebook) -> None:
    cells = {
        "use": USE,
        "x": "x = 4",
        "one": "%%chat -o first\nSay one.",
        "loop": LOOP.format([1, 2, 3], ""),
        "more": "%%chat --append\nMore please.",
        "filled": "%%chat -t 0.7 -s 'Be brief.' --set top_k=20\nWhat is {{ x }}?",
        "again": "%chat continue",
        "side": "%%chat -i side\nSay hello.",
    }
    asks = ("one", "loop", "more", "filled", "again", "side")
    for said in notebook.run_all(cells).values():
        assert STORED not in said
    events = "get_chat().conversation.events"
    count, turns, info = notebook.value(f"len({events}), {PROMPTS}, str(get_chat().info())")
    reply = notebook.value("get_chat().turns[0].reply")

    notebook.start()
    said = notebook.run_all(cells)
    assert {cell: said[cell].count(STORED) for cell in asks} == {**dict.fromkeys(asks, 1), "loop": 3}
    assert reply.strip() in said["one"]
    assert notebook.value(IS_MODEL_LOADED) is False
    assert notebook.value(f"{{type(event).__name__ for event in {events}[{count}:]}}") == {"Kept"}
    assert notebook.value(f"{PROMPTS}, str(get_chat().info())") == (turns, info)
    assert notebook.value("first.text, first.stored") == (reply, True)
    assert notebook.value("_.stored") is True
    numbers = notebook.value("[row.cell for row in get_chat().history()]")
    assert numbers == ["[4]", "[5]", "[5]", "[5]", "[6]", "[7]", "[8]"], "they are those of the kernel that runs"

    assert notebook.run("%chat undo").startswith("Undid the turn")
    assert notebook.value("[row.cell for row in get_chat().history()]") == numbers[:-1]
    assert STORED not in notebook.run(cells["one"], "one")
    assert notebook.value("len(get_chat().desk.versions(1)), len(get_chat().turns)") == (2, len(turns) - 1)


@pytest.mark.load
def test_what_has_changed_is_asked_anew(notebook: Notebook, real_model: str) -> None:
    changes = {  # of a conversation's only cell
        "prompt": ("%%chat -i prompt\nSay one.", "%%chat -i prompt\nSay two."),
        "model": ("%%chat -i model\nSay one.", "%%chat -i model -m local/smollm2@512\nSay one."),
        "temperature": ("%%chat -i temperature\nSay one.", "%%chat -i temperature -t 0.9\nSay one."),
        "length": ("%%chat -i length\nSay one.", "%%chat -i length --max-tokens 6\nSay one."),
        "parameter": ("%%chat -i parameter\nSay one.", "%%chat -i parameter --set top_k=1\nSay one."),
        "system": ("%%chat -i system\nSay one.", "%%chat -i system -s 'Be brief.'\nSay one."),
        "ask": ("%%chat -i ask\nSay one.", "%%chat -i ask --ask\nSay one."),
        "value": ("%%chat -i value\nSay {{ x }}.",) * 2,
        "once": ("%%chat -i once --no-history\nSay one.",) * 2,
        "first": ("%%chat -i order\nSay one.", "%%chat -i order\nSay 1."),
        "after": ("%%chat -i order\nSay two.",) * 2,
        "stopped": (f"%%chat -i stopped -m {real_model} --max-tokens 150 --set ignore_eos=true\nCount.",) * 2,
        "loop": (LOOP.format([1, 2, 3], "-i loop"), LOOP.format([1, 22, 3], "-i loop")),
        HANDLE: ("%%chat -i handle\nSay one.",) * 2,
        "same": ("%%chat -i same\nSay one.",) * 2,
    }
    notebook.run(f"{USE}\nx = 1")
    for cell, (source, _) in changes.items():
        if cell == "stopped":
            notebook.interrupt(source, cell)
        else:
            notebook.run(source, cell)
    notebook.start()
    notebook.run(f"{USE}\nx = 2")
    stored = {cell: notebook.run(source, cell).count(STORED) for cell, (_, source) in changes.items()}
    assert stored == {**dict.fromkeys(changes, 0), "same": 1, "loop": 1}
    notebook.run("%chat switch loop")
    assert notebook.value(PROMPTS) == ["Say 1.", "Say 22.", "Say 3."]
    notebook.run(changes[HANDLE][1], HANDLE)
    notebook.run("%chat switch handle")
    assert notebook.value("[row.versions for row in get_chat().history()]") == [1, 2], "it holds within one kernel"


@pytest.mark.load
def test_cuts_trims_summaries_and_marks_made_later_cost_nothing_either(notebook: Notebook) -> None:
    wood = "It is made of wood. " * 8
    cells = {"use": USE.replace("256", "512")}
    cells |= {f"crate {n}": f"%%chat\nCrate {n} weighs {100 + n} kilograms. {wood}" for n in range(3)}
    cells |= {"summarise": "%chat summarise", "after summary": "%%chat\nSay one."}
    cells |= {f"long {n}": f"{LONG} Day {n}." for n in range(4)}
    cells |= {"trim": "%chat trim 1", "after trim": "%%chat\nSay two."}
    cells |= {"pin": "%chat pin 1", "exclude": "%chat exclude 6"}
    said = notebook.run_all(cells)
    assert any("Left out" in said[f"long {number}"] for number in range(4)), said
    assert "Left out" in said["trim"]
    assert "Summarised" in said["summarise"]
    notebook.start()
    said = notebook.run_all(cells)
    asks = {cell for cell, source in cells.items() if source.startswith("%%chat")}
    assert {cell for cell in asks if STORED in said[cell]} == asks
    assert notebook.value(IS_MODEL_LOADED) is False


@pytest.mark.load
def test_a_run_without_a_reader_asks_unless_it_is_told_to_show_what_is_stored(
    tmp_path: Path, local_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "of whoever started it.ipynb"))

    def run() -> list[str]:
        notebook = nbformat.v4.new_notebook()
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (LOAD, USE, "%%chat\nSay one.", "%%chat\nSay 2.")]
        NotebookClient(notebook, kernel_name="python3").execute()
        return ["\n".join(shown_in(output) for output in cell.outputs) for cell in notebook.cells]

    run()
    last = run()
    assert not any("Going on" in said or "fork" in said or STORED in said for said in last)
    monkeypatch.setenv("JUPYTER_CTX_REPLAY", "1")
    again = run()
    assert all(STORED in said for said in again[2:])
    assert [said.splitlines()[0] for said in again[2:]] == [said.splitlines()[0] for said in last[2:]]


def shown_in(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.mark.load
def test_restore_may_be_asked_for_or_off(notebook: Notebook) -> None:
    ask, off = (f"get_ipython().config.Chat.restore = {how!r}" for how in ("ask", "off"))
    notebook.run(TALK)
    notebook.start()
    notebook.run(ask)
    notebook.run("%chat status", typed=["y"])
    assert notebook.kernel.asked == ["Go on with 1 turn of 'main', last used just now? [Y/n] "]
    assert notebook.value(PROMPTS) == ["Say one."]
    notebook.start()
    notebook.run(ask)
    assert "Going on" not in notebook.run("%chat status", typed=["n"])
    assert notebook.value(PROMPTS) == []
    assert re.search(r"^main-2 +0 turns.* current\nmain +1 turn ", notebook.run("%chat list"), re.M)
    assert notebook.run("%chat switch main") == "Talking in 'main': 1 turn.\n"
    notebook.run("%chat config restore off")
    notebook.start()
    assert notebook.value(PROMPTS) == []
    notebook.run("%chat switch main\n%chat config restore auto")
    notebook.start()
    notebook.run(off)
    assert notebook.value(PROMPTS) == []


def save(path: Path, cells: Mapping[str, str]) -> None:
    """Write a notebook's file, as a front end does."""
    listed = [nbformat.v4.new_code_cell(source, id=cell) for cell, source in cells.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=listed), path)


def test_a_copied_notebook_starts_with_a_fork_and_goes_its_own_way(
    notebook: Notebook, other: Notebook, tmp_path: Path
) -> None:
    cells = {"load": LOAD, "use": USE, "one": "%%chat\nSay {{ x }}.", "loop": LOOP.format([1, 2], "")}
    save(tmp_path / "x.ipynb", cells)
    notebook.start()
    notebook.run("x = 'one'")
    notebook.run_all(cells)
    save(tmp_path / "copy.ipynb", {**cells, "two": "%%chat\nSay two."})
    other.start("copy.ipynb")
    assert other.run("%chat").splitlines()[0] == (
        f"This notebook is a copy of {tmp_path / 'x.ipynb'}: it starts with 3 turns of 'main', "
        "last used just now. %chat undo puts that back, %chat new starts afresh."
    )
    other.run("%%chat\nSay two.", "two")
    assert (len(notebook.value(PROMPTS)), len(other.value(PROMPTS))) == (3, 4)
    listed = notebook.run("%chat list all")
    assert re.search(rf"^main +4 turns .* in another kernel +{tmp_path / 'copy.ipynb'}$", listed, re.M)
    assert re.search(r"^main +3 turns .* current +this one$", listed, re.M)
    notebook.start()
    other.start()
    assert (len(notebook.value(PROMPTS)), len(other.value(PROMPTS))) == (3, 4)


def test_a_second_kernel_on_a_notebook_starts_with_a_fork_and_says_so(notebook: Notebook, other: Notebook) -> None:
    notebook.run(TALK)
    other.start()
    assert other.run("%chat").splitlines()[0] == (
        "Another kernel holds 'main': this is a fork of it, 'main-2', with 1 turn."
    )
    assert re.search(r"^main +1 turn .* in another kernel$", other.run("%chat list"), re.M)
    assert "Another kernel talks in 'main'" in other.fail("%chat delete main")
    said = other.run("%chat switch main").splitlines()
    assert said[:2] == [
        "Another kernel holds 'main': this is a fork of it, 'main-3', with 1 turn.", "Talking in 'main-3': 1 turn.",
    ]  # fmt: skip
    assert any("conversation 'main-3'" in line for line in said[2:]), "the gauge comes along"
    other.run(TALK)
    assert notebook.value(PROMPTS) == ["Say one."]


def test_after_a_crash_another_kernel_goes_on_with_the_conversation(notebook: Notebook, other: Notebook) -> None:
    notebook.run(TALK)
    notebook.crash()
    other.start()
    assert other.run("%chat").startswith("Going on with 1 turn of 'main', ")
    assert re.search(r"^main +1 turn +just now +current$", other.run("%chat list"), re.M)


@pytest.mark.load
def test_an_answer_given_after_an_older_one_is_marked_until_that_is_back(notebook: Notebook) -> None:
    def marked() -> list[bool]:
        table, preview = notebook.run("%chat history"), notebook.run("%chat preview")
        assert ("stale" in preview) == ("stale" in table)
        found: list[bool] = notebook.value("['stale' in row.states for row in get_chat().history()]")
        return found

    notebook.run(USE)
    for cell in ("one", "two", "one"):
        notebook.run(f"%%chat\nSay {cell}.", cell)
    assert marked() == [False, True]
    notebook.run("%%chat --append\nSay one.", "one")
    assert notebook.value(PROMPTS) == ["Say one.", "Say two.", "Say one."]
    assert notebook.run("%chat undo").startswith("Undid the turn")
    versions = notebook.run("%chat history 1 --versions")
    assert versions.startswith("Turn 1: %chat pick 1 VERSION brings an answer back\n")
    assert [line.split()[0] for line in versions.splitlines()[2:]] == ["1", "2"]
    assert "current" in versions.splitlines()[3]
    assert "it has had one answer" in notebook.run("%chat history --versions 2")
    assert notebook.run("%chat pick 1 1").startswith("Turn 1 has answer 1 again")
    assert marked() == [False, False]

    notebook.start()
    assert "%chat undo takes back: pick" in notebook.run("%chat status")
    assert notebook.run("%chat undo").startswith("Undid the pick")
    assert marked() == [False, True]
    assert "%chat undo takes back: re-run; %chat redo does again: pick" in notebook.run("%chat status")
    assert notebook.run("%chat undo").startswith("Undid the re-run")
    assert marked() == [False, False]
    notebook.start()
    assert "\nRedid the re-run" in notebook.run("%chat redo")
    assert marked() == [False, True]


@pytest.mark.load
def test_turns_of_deleted_cells_are_offered_for_exclusion_once(notebook: Notebook) -> None:
    offer = "[ctx] The cell of turn 1 was deleted: %chat exclude 1 leaves it out of what is sent."
    notebook.run(USE)
    notebook.run("%%chat\nSay one.", "one")
    notebook.run("1 + 1", deleted=["one", "of no chat"])
    assert offer in notebook.run("%%chat\nSay two.", "two")
    assert "deleted" not in notebook.run("%%chat\nSay three.", "three")
    assert notebook.value("[row.states[0] for row in get_chat().history()]") == ["sent"] * 3
    assert "cell deleted" in notebook.run("%chat history").splitlines()[2]
    notebook.start()
    assert "deleted" not in notebook.run("%%chat\nSay two.", "two")
    assert "cell deleted" in notebook.run("%chat history")
    assert STORED in notebook.run("%%chat\nSay one.", "one")
    assert "cell deleted" not in notebook.run("%chat history")
    notebook.run("1 + 1", deleted=["one"])
    assert offer in notebook.run("%%chat\nSay three.", "three")


@pytest.mark.load
def test_the_gauge_shows_the_conversation_that_is_talked_in(notebook: Notebook) -> None:
    notebook.run(TALK)
    assert len(widgets(notebook.kernel.run("%chat"))) == 1
    assert "In 'side', a new conversation." in notebook.run("%%chat -i side\nSay two.")
    elsewhere = notebook.kernel.run("%chat -i side")
    assert not widgets(elsewhere)
    assert "Context [" in shown(elsewhere)
    drawn = (
        "__import__('jupyter_ctx.magics.registration').magics.registration.door_of(get_ipython()).magic"
        ".panel().widget.children[1].children[0].value"
    )
    for verb in ("new plans", "switch main", "fork", "switch plans"):
        notebook.run(f"%chat {verb}")
        used = notebook.value("get_chat().info().used")
        assert f'aria-valuenow="{used}"' in notebook.value(drawn), verb
    notebook.run("%chat delete plans", typed=["plans"])
    assert f'aria-valuenow="{notebook.value("get_chat().info().used")}"' in notebook.value(drawn)


def test_delete_asks_for_the_name_again_and_leaves_nothing(notebook: Notebook, tmp_path: Path) -> None:
    notebook.run("get_chat().add_messages([{'role': 'user', 'content': 'My secret is a rose.'}])\n%chat new plans")
    assert "'mine' is not 'main': nothing was deleted" in notebook.fail("%chat delete main", typed=["mine"])
    assert notebook.run("%chat delete main", typed=["main"]).endswith(
        "Deleted 'main' with 1 turn. That cannot be undone.\n"
    )
    (question,) = set(notebook.kernel.asked)
    assert question == "This deletes 'main' with all its turns for good. Type its name to confirm: "
    kept = b"".join(path.read_bytes() for path in (tmp_path / "jupyter_data_dir" / "jupyter_ctx").iterdir())
    assert b"a rose" not in kept
    assert "cannot ask for confirmation" in notebook.fail("%chat delete plans", stdin=False)
