"""``%chat handout``: a notebook that carries its answers, opened without a key, elsewhere, under another name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from kernels import Kernel, shown
from nbclient import NotebookClient
from server import events, piece, send, serve, usage

CHAT = "__import__('jupyter_ctx').get_chat()"
KEY = "sk-proj-Zx81kfFq0aPq77Lw2mTn5bYc"
SAME = ("judged.result()['reply'].tolist()", f"[(t.prompt, t.reply) for t in {CHAT}.turns]", f"{CHAT}.system")
HANDED = "anded out with this notebook"
USE = "%load_ext jupyter_ctx\n%chat use m --base-url {url} --window 4000"


def answer(handler: Any, body: Any) -> None:
    """Say how many messages were heard; a city where an object is asked for."""
    said = f"{body['model']} heard {len(body['messages'])}: {str(body['messages'][-1]['content'])[:20]}"
    if "response_format" in body:
        said = json.dumps({"name": "Paris"})
    send(handler, 200, events(piece(said), piece("", "stop"), usage(20, 2)), "text/event-stream")


class Lesson:
    """A notebook's file, and the kernel in which it is opened."""

    def __init__(self, folder: Path, cells: Mapping[str, str], kernel: Kernel) -> None:
        self.folder, self.cells, self.kernel = folder, cells, kernel
        self.path = self.write("lesson.ipynb", cells)

    def write(self, name: str, cells: Mapping[str, str]) -> Path:
        """Save a notebook."""
        made = [nbformat.v4.new_code_cell(source, id=cell) for cell, source in cells.items()]
        nbformat.write(nbformat.v4.new_notebook(cells=made), self.folder / name)
        return self.folder / name

    def opened(self, path: Path, store: object = "memory") -> Kernel:
        """Begin anew in the kernel of a notebook, with a store of its own."""
        own = {"JPY_SESSION_NAME": str(path), "JUPYTER_CTX_STORE": str(store)}
        self.kernel.begin_anew()
        self.kernel.run(f"import os; os.environ.update({own}); os.chdir({str(path.parent)!r})")
        return self.kernel


def run_all(kernel: Kernel, cells: Mapping[str, str]) -> dict[str, str]:
    """What each cell shows."""
    said = {}
    for cell, source in cells.items():
        outputs = kernel.run(source, cell)
        assert kernel.reply["status"] == "ok", shown(outputs)
        said[cell] = shown(outputs)
    return said


def executed(path: Path) -> list[str]:
    """What each cell shows in a run without a reader."""
    notebook = nbformat.read(path, 4)
    there = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=120, startup_timeout=120, kernel_name="python3", resources=there)
    client.execute(env={**os.environ, "JUPYTER_CTX_STORE": "memory"})
    return ["".join(each.get("text") or str(each.get("data")) for each in cell.outputs) for cell in notebook.cells]


def moved(path: Path, folder: Path, name: str) -> Path:
    """Put a file into a folder of a student, under another name."""
    folder.mkdir()
    return path.rename(folder / name)


def body_of(path: Path) -> str:
    """What a notebook carries, as JSON."""
    return json.dumps(json.loads(path.read_text())["metadata"]["jupyter_ctx"]["handout"])


CELLS = {
    "use": USE,
    "data": "from dataclasses import dataclass\n@dataclass\nclass City:\n    name: str\n"
    "table = [{'t': 'a'}, {'t': 'b'}]\nwith open('notes.txt', 'w') as file: file.write('Water ' + 'boils.')",
    "system": "%%chat system\nBe brief.",
    "early": "%%chat\nBefore it begins?",
    "clear": "%chat clear",
    "undone": "%%chat\nTaken back?",
    "undo": "%chat undo",
    "first": "%%chat\nHello?",
    "file": "%%chat -a notes.txt\nRead this.",
    "city": "%%chat --schema City -o city\nWhich city?",
    "both": "%%chat -m m -m n\nCompare.",
    "pick": "%chat pick 2",
    "map": "%%chat map table --as judged\nSay {{ t }}.",
    "last": "%%chat\nGo on.",
}  # fmt: skip
ASKING = ("early", "undone", "first", "file", "city", "both", "last")


@pytest.fixture
def lesson(kernel: Kernel, tmp_path: Path) -> Iterator[tuple[Lesson, str, list[Any]]]:
    """A lesson that its teacher ran with a key, the server's address, and what the server was asked."""
    folder = tmp_path / "teacher"
    folder.mkdir()
    with serve(answer) as (url, seen):
        yield Lesson(folder, CELLS | {"use": USE.format(url=url)}, kernel), url, seen
    kernel.run(
        "import os; del os.environ['JPY_SESSION_NAME']; os.environ['JUPYTER_CTX_STORE'] = 'memory'; os.chdir('/')"
    )


def test_whoever_opens_a_handout_sees_the_answers_without_a_key_or_a_request(lesson: Any, tmp_path: Path) -> None:
    made, _, seen = lesson
    teacher = made.opened(made.path, tmp_path / "teacher.sqlite")
    told = run_all(teacher, made.cells)
    line = shown(teacher.run("%chat handout out.ipynb --clear", "hand"))
    assert "with 10 answers." in line, line
    asked = len(seen)
    assert len(seen) == 10
    carried = body_of(made.folder / "out.ipynb")
    assert "m heard 2: Hello?" in carried
    for private in ("Water boils", str(made.folder), "Be brief"):
        assert private not in carried
    had = [teacher.value(value) for value in SAME]
    copy = moved(made.folder / "out.ipynb", tmp_path / "student", "my homework.ipynb")
    student = made.opened(copy, tmp_path / "student.sqlite")
    again = run_all(student, {**made.cells, "use": USE.format(url="http://127.0.0.1:9/v1")})  # nobody is there
    assert len(seen) == asked, "nothing was sent"
    assert [HANDED in again[cell] for cell in ASKING] == [True] * len(ASKING)
    assert "m heard 2: Hello?" in told["first"]
    assert "m heard 2: Hello?" in again["first"]
    assert student.value("city") == "City(name='Paris')"
    assert [student.value(value) for value in SAME] == had
    assert student.value(f"{CHAT}.info().cost") in ("None", "0.0")
    assert HANDED in shown(student.run(made.cells["first"], "first")), "the cell again"
    assert student.value(f"len({CHAT}.conversation.places[0].versions)") == "1"
    assert len(seen) == asked
    assert sum(HANDED in text for text in executed(copy)) == len(ASKING), "a run without a reader"
    student.run(made.cells["use"], "use")
    assert HANDED not in shown(student.run("%%chat\nGo on, please.", "last"))
    assert HANDED not in shown(student.run("%%chat --ask\nHello?", "first"))
    assert len(seen) == 12


def test_what_is_not_handed_out_is_told_and_no_key_leaves(lesson: Any, tmp_path: Path) -> None:
    made, url, _ = lesson
    cells = {
        "use": USE.format(url=url), "a": "%%chat\nHello?", "alone": "%%chat --no-history\nAlone.",
        "again": "%%chat --no-history\nOnce more.",
        "key": f"key = '{KEY}'", "print": "print(1)", "ask": "%%chat --ask\nOnce more.",
        "both": "%%chat -m m -m n\nCompare.", "hand": "%chat handout h.ipynb",
    }  # fmt: skip
    path = made.write("keys.ipynb", cells)
    kernel = made.opened(path)
    run_all(kernel, {cell: source for cell, source in cells.items() if cell not in ("key", "hand")})
    refused = told(kernel, "%chat handout out.ipynb")
    assert "Cell 5 of the copy (" in refused
    assert KEY not in refused
    del cells["key"]
    made.write("keys.ipynb", {"hand": cells.pop("hand"), **cells})  # which is not carried, but counts
    notebook = json.loads(path.read_text())
    as_json = {"text/plain": "<JSON object>", "application/json": {"db": {"api_key": KEY}}}
    for output in (
        {"output_type": "stream", "name": "stdout", "text": [f"password = {KEY}\n"]},
        {"output_type": "display_data", "data": as_json, "metadata": {}},
    ):
        notebook["cells"][5]["outputs"] = [output]
        path.write_text(json.dumps(notebook))
        assert "Cell 5 of the copy ('print(1)'), or its output" in told(kernel, "%chat handout out.ipynb")
    assert not (made.folder / "out.ipynb").exists()
    line = told(kernel, "%chat handout out.ipynb --clear")
    assert "4 answers" in line
    assert "in 2 cells: 3 ('%%chat --no-history Alone.'), 4 (" in line
    assert "No cell sets" not in line
    copy = (made.folder / "out.ipynb").read_text()
    assert not any(text in copy for text in (KEY, "%chat handout"))
    assert "4 answers" in told(kernel, "%chat handout out.ipynb --clear"), "over an earlier handout"
    for name in ("keys.ipynb", "out.html"):
        assert "must be the name of another notebook" in told(kernel, f"%chat handout {name}")
    assert "exists and is not an earlier export" in told(kernel, "%chat handout lesson.ipynb --clear")
    cells |= {"a": "%%chat\nHello, changed?", "ask": "%%chat --ask\nOnce more, changed.", "both": ""}
    made.write("keys.ipynb", cells)
    assert "no cell of keys.ipynb" in told(kernel, "%chat handout out.ipynb").lower()
    path.unlink()
    assert "The file of this notebook is not known" in told(kernel, "%chat handout out.ipynb")


def test_a_line_says_that_no_cell_sets_the_model_and_what_looks_like_a_key_can_be_handed_out(lesson: Any) -> None:
    made, url, _ = lesson
    cells = {"load": "%load_ext jupyter_ctx", "a": "%%chat\nHello?", "pass": "password = 'Kite77zebra'"}
    path = made.write("large.ipynb", cells)
    (made.folder / "jupyter_ctx.toml").write_text("temperature = 0.5")
    kernel = made.opened(path)
    run_all(kernel, {"load": cells["load"], "use": f"%chat use m --base-url {url}", "a": cells["a"]})
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x " * 300_000}]
    path.write_text(json.dumps(notebook))
    assert "add --no-redact" in told(kernel, "%chat handout out.ipynb")
    line = told(kernel, "%chat handout out.ipynb --no-redact")
    assert "(601.0 kB) with 1 answer." in line
    assert "put %chat use m above" in line


def told(kernel: Kernel, source: str) -> str:
    """What one line says."""
    return shown(kernel.run(source, "told"))
