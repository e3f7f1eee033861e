"""No text of one notebook reaches another unasked: what is taken over, what is said of it, and how it is put back."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cells import Open
from dialects import DIALECTS
from server import serve

import jupyter_ctx.storage.database
from jupyter_ctx import Chat, get_chat
from jupyter_ctx.export.conversation_files import carried, written
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin, fingerprint, origin
from jupyter_ctx.storage.journal import close_stores

ANSWER = DIALECTS["completions"].answer("Hi")
BEGIN = "%load_ext jupyter_ctx"
CELLS = {"load": BEGIN, "a": "%%chat\nAlpha?", "b": "%%chat\nBeta?"}
OUTPUT = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "Hi"}}


def write(path: Path, cells: dict[str, str], *, ran: bool = False, **more: Any) -> Path:
    """A notebook's file, as a front end saves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shown = [OUTPUT] if ran else []
    listed = [
        {"cell_type": "code", "id": name, "source": source, "metadata": {}, "outputs": shown, "execution_count": None}
        for name, source in cells.items()
    ]
    path.write_text(json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}))
    return path


class Desk:
    """Opens notebooks in kernels that end before the next one starts, and shows what they send."""

    def __init__(self, folder: Path, url: str, seen: list[dict[str, Any]]) -> None:
        self.folder, self._seen = folder, seen
        self._config = {"model": "m", "base_url": url}
        self._runs = 0

    def open(self, path: Path, kernel: str | None = None, *, others_live: bool = False) -> Library:
        """The conversations of a notebook, in a new kernel."""
        if not others_live:
            close_stores()
        self._runs += 1
        kernel = kernel or f"kernel-{self._runs}"
        return Library(Origin(str(path), kernel), self._config, store=self.folder / "store.sqlite")

    def run(self, library: Library, cell: str, source: str) -> list[str]:
        """Run a cell; what its request carried of the user's."""
        self._runs += 1
        prompt = source.partition("\n")[2]
        library.current.send(prompt, cell=cell, run=str(self._runs), source=fingerprint(source), api_key=None)
        return [message["content"] for message in self._seen[-1]["messages"] if message["role"] == "user"]

    def talk(self, path: Path, cells: dict[str, str] | None = None, **options: Any) -> Library:
        """Run all chat cells of a notebook."""
        library = self.open(path, **options)
        for cell, source in (CELLS if cells is None else cells).items():
            if source.startswith("%%chat"):
                self.run(library, cell, source)
        return library

    def asked(self, path: Path, **options: Any) -> tuple[list[str], list[str]]:
        """What another notebook's first cell sends, and what was said above it."""
        library = self.open(path, **options)
        sent = self.run(library, "new", "%%chat\nNew?")
        return sent, library.notes


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with serve(ANSWER) as found:
        yield found


@pytest.fixture
def desk(tmp_path: Path, server: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, *server)


ALL, FRESH = ["Alpha?", "Beta?", "New?"], ["New?"]


# what goes on, and what is forked


def test_a_renamed_notebook_goes_on_with_its_conversation(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(old)
    new = old.rename(desk.folder / "b.ipynb")
    sent, (note,) = desk.asked(new)
    assert sent == ALL
    assert note == (
        f"Going on with 2 turns of 'main', last used just now: this notebook was {old}. "
        "%chat undo puts that back, %chat new starts afresh."
    )
    library = desk.open(new)
    assert [(row.name, row.notebook, row.turns) for row in library.rows(everywhere=True)] == [("main", str(new), 3)]
    assert len(library.current.turns) == 3
    assert library.notes == ["Going on with 3 turns of 'main', last used just now. %chat new starts afresh."]


def test_a_notebook_whose_folder_was_renamed_goes_on_too(desk: Desk) -> None:
    old = write(desk.folder / "project" / "deep" / "a.ipynb", CELLS)
    desk.talk(old)
    (desk.folder / "project").rename(desk.folder / "thesis")
    assert desk.asked(desk.folder / "thesis" / "deep" / "a.ipynb")[0] == ALL


def test_a_copied_notebook_starts_with_a_fork(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS, ran=True)
    desk.talk(old)
    new = Path(shutil.copy(old, desk.folder / "b.ipynb"))
    sent, (note,) = desk.asked(new)
    assert sent == ALL
    assert note.startswith(f"This notebook is a copy of {old}: it starts with 2 turns of 'main', ")
    assert note.endswith(" %chat undo puts that back, %chat new starts afresh.")
    assert len(desk.open(old).current.turns) == 2
    assert len(desk.open(new).current.turns) == 3


def test_every_conversation_of_a_renamed_notebook_whose_cells_are_there_follows(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS)
    library = desk.open(old)
    library.get("side").send("Beta?", cell="b", run="1", source=fingerprint(CELLS["b"]))
    library.get("imported").add_messages([{"role": "user", "content": "From elsewhere."}])
    desk.run(library, "a", CELLS["a"])
    library = desk.open(old.rename(desk.folder / "b.ipynb"))
    assert len(library.current.turns) == 1
    assert {row.name for row in library.rows()} == {"main", "side"}
    library.current.undo()
    assert {row.name for row in library.rows()} == {"main"}
    assert len(library.rows(everywhere=True)) == 4


def test_a_copy_of_what_is_talked_in_takes_what_was_said_until_then(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS)
    first = desk.talk(old)
    new = Path(shutil.copy(old, desk.folder / "b.ipynb"))
    assert desk.asked(new, others_live=True)[0] == ALL
    assert desk.run(first, "c", "%%chat\nMore?") == ["Alpha?", "Beta?", "More?"]


# what does not cross

Setting = Callable[[Desk], Path]


def template(desk: Desk) -> Path:
    """Two notebooks made from one template, whose first cell they share; each has chat cells of its own."""
    desk.talk(write(desk.folder / "a.ipynb", CELLS))
    return write(desk.folder / "b.ipynb", {"load": BEGIN, "c": "%%chat\nGamma?"})


def template_of_a_deleted_one(desk: Desk) -> Path:
    new = template(desk)
    (desk.folder / "a.ipynb").unlink()
    return new


def handout(desk: Desk) -> Path:
    """Another one of the same course: it shares the cells that ran, but not those that were filled in."""
    cells = {"load": BEGIN, "q": "%%chat\nYour question here"}
    mine = {**cells, "q": "%%chat\nMy salary is 1,000. Is that much?"}
    desk.talk(write(desk.folder / "one" / "a.ipynb", mine), mine)
    return write(desk.folder / "two" / "a.ipynb", cells)


def handout_that_was_run(desk: Desk) -> Path:
    """The same handout twice: that of one folder was run and saved, the other was not."""
    desk.talk(write(desk.folder / "one" / "a.ipynb", CELLS, ran=True))
    return write(desk.folder / "two" / "a.ipynb", CELLS)


def copy_made_before_more_was_said(desk: Desk) -> Path:
    old = write(desk.folder / "a.ipynb", CELLS)
    new = Path(shutil.copy(old, desk.folder / "b.ipynb"))
    desk.talk(old, {**CELLS, "c": "%%chat\nSecret?"})
    return new


def copy_beside_a_rename(desk: Desk) -> Path:
    """The renamed one has gone on; the copy knows nothing of that."""
    new = copy_made_before_more_was_said(desk)
    (desk.folder / "a.ipynb").rename(desk.folder / "c.ipynb")
    return new


def two_notebooks_that_went_their_own_ways(desk: Desk) -> Path:
    """Which of them a third copy is of, nothing tells."""
    old = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(old)
    other = write(desk.folder / "b.ipynb", CELLS)
    desk.open(other).new()
    desk.talk(other)
    return write(desk.folder / "c.ipynb", CELLS)


def emptied_copy(desk: Desk) -> Path:
    desk.talk(write(desk.folder / "a.ipynb", CELLS))
    return write(desk.folder / "b.ipynb", {})


def chat_cells_deleted(desk: Desk) -> Path:
    desk.talk(write(desk.folder / "a.ipynb", CELLS))
    return write(desk.folder / "b.ipynb", {"load": BEGIN})


def one_chat_cell_deleted(desk: Desk) -> Path:
    desk.talk(write(desk.folder / "a.ipynb", CELLS))
    return write(desk.folder / "b.ipynb", {"load": BEGIN, "a": CELLS["a"]})


def cleared_turns_whose_cells_are_gone(desk: Desk) -> Path:
    """Undo would bring them back."""
    desk.talk(write(desk.folder / "a.ipynb", CELLS), {"s": "%%chat\nSecret?"}, kernel="k").current.clear()
    desk.talk(desk.folder / "a.ipynb", kernel="k")
    return write(desk.folder / "b.ipynb", CELLS)


def turns_from_elsewhere(desk: Desk) -> Path:
    """No cell of the notebook shows them."""
    library = desk.talk(write(desk.folder / "a.ipynb", CELLS))
    library.current.add_messages([{"role": "user", "content": "Secret."}])
    return write(desk.folder / "b.ipynb", CELLS)


def other_machine(desk: Desk) -> Path:
    desk.talk(write(desk.folder / "a.ipynb", CELLS)).current.close()
    change(desk, "host = 'elsewhere'")
    return (desk.folder / "a.ipynb").rename(desk.folder / "b.ipynb")


def drive_that_is_not_mounted(desk: Desk) -> Path:
    old = write(desk.folder / "drive" / "a.ipynb", CELLS)
    new = write(desk.folder / "b.ipynb", CELLS)
    desk.talk(old)
    close_stores()
    change(desk, "device = device + 1")  # where the drive was, there is only the folder of the disk below it
    old.unlink()
    return new


def file_of_which_nothing_can_be_read(desk: Desk) -> Path:
    desk.talk(write(desk.folder / "a.ipynb", CELLS))
    (desk.folder / "a.ipynb").write_text("half a note")
    return write(desk.folder / "b.ipynb", CELLS)


def notebook_that_has_no_path(desk: Desk) -> Path:
    desk.talk(Path("fileId=1aB"))
    return write(desk.folder / "b.ipynb", CELLS)


def cells_that_only_one_window_names(desk: Desk) -> Path:
    name = "vscode-notebook-cell:/x.ipynb#W1 4711"
    desk.talk(write(desk.folder / "a.ipynb", {name: "%%chat\nSecret?"}), {name: "%%chat\nSecret?"})
    return write(desk.folder / "b.ipynb", {name: "%%chat\nSecret?"})


def exported(desk: Desk) -> list[Path]:
    """One export in two places, and another one of the same conversation."""
    library = desk.talk(write(desk.folder / "a.ipynb", CELLS))
    texts = [written(carried(library.current.conversation), ".ipynb") for _ in range(2)]
    paths = [desk.folder / name / "export.ipynb" for name in ("one", "two", "three")]
    for path, text in zip(paths, (texts[0], texts[0], texts[1]), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    cells = {cell["id"]: cell["source"] for cell in json.loads(texts[0])["cells"]}
    desk.talk(paths[0], cells)
    return paths


def export_in_two_places(desk: Desk) -> Path:
    return exported(desk)[1]


def export_of_the_same_conversation(desk: Desk) -> Path:
    return exported(desk)[2]


APART: tuple[Setting, ...] = (
    template, template_of_a_deleted_one, handout, handout_that_was_run, copy_made_before_more_was_said,
    copy_beside_a_rename, two_notebooks_that_went_their_own_ways, emptied_copy, chat_cells_deleted,
    one_chat_cell_deleted, cleared_turns_whose_cells_are_gone, turns_from_elsewhere, other_machine,
    drive_that_is_not_mounted, file_of_which_nothing_can_be_read, notebook_that_has_no_path,
    cells_that_only_one_window_names, export_in_two_places, export_of_the_same_conversation,
)  # fmt: skip
SILENT = {
    template, template_of_a_deleted_one, emptied_copy, chat_cells_deleted, cells_that_only_one_window_names,
    export_of_the_same_conversation,
}  # fmt: skip


def change(desk: Desk, what: str) -> None:
    """Set a column of all conversations."""
    with contextlib.closing(sqlite3.connect(desk.folder / "store.sqlite", isolation_level=None)) as connection:
        connection.execute(f"UPDATE jupyter_ctx_conversations SET {what}")


@pytest.mark.parametrize("setting", APART, ids=lambda setting: setting.__name__)
def test_a_notebook_begins_anew_where_it_may_be_another_one(desk: Desk, setting: Setting) -> None:
    path = setting(desk)
    sent, notes = desk.asked(path)
    assert sent == FRESH
    if setting in SILENT:
        assert notes == []
        return
    (note,) = notes
    assert note.startswith("This notebook begins anew: ")
    assert note.endswith((" brings it in.", " brings them in."))
    library = desk.open(path)
    arguments = note.rpartition("%chat resume ")[2].partition(" brings ")[0].split()
    assert library.resume(*arguments).changed, "what it says can be done"


# the same path


def test_a_new_notebook_at_the_path_of_one_that_was_renamed_begins_anew(desk: Desk) -> None:
    """Untitled.ipynb is renamed while its kernel runs, and the next new notebook is called Untitled.ipynb again."""
    path = write(desk.folder / "Untitled.ipynb", CELLS)
    first = desk.talk(path, kernel="k1")
    renamed = path.rename(desk.folder / "report.ipynb")
    write(path, {})
    second = desk.open(path, kernel="k2", others_live=True)
    assert desk.run(second, "c", "%%chat\nGamma?") == ["Gamma?"]
    assert second.notes == [
        "This notebook begins anew: 2 turns of 'main' belong to another notebook, which had this path before. "
        f"%chat resume {path}#1 main brings them in."
    ]
    assert [row.name for row in second.rows()] == ["main"]
    assert desk.run(first, "d", "%%chat\nMore?") == ["Alpha?", "Beta?", "More?"]
    assert [row.turns for row in first.rows()] == [3], "the first kernel, too, sees its own notebook's only"
    first.new("plans")
    first.switch("main")
    assert [row.name for row in second.rows()] == ["main"]

    write(renamed, {**CELLS, "d": "%%chat\nMore?"})
    write(path, {"c": "%%chat\nGamma?"})
    assert len(desk.open(renamed, kernel="k1").current.turns) == 3
    assert {row.name for row in desk.open(renamed, kernel="k1").rows()} == {"main", "plans"}
    assert [turn.prompt for turn in desk.open(path).current.turns] == ["Gamma?"]


@pytest.mark.parametrize("cells", [{}, {"load": BEGIN}, {"c": "%%chat\nGamma?"}], ids=["empty", "no chat", "other"])
def test_a_notebook_that_was_emptied_or_replaced_begins_anew(desk: Desk, cells: dict[str, str]) -> None:
    path = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(path)
    write(path, cells)
    sent, (note,) = desk.asked(path)
    assert sent == FRESH
    assert "another notebook, which had this path before" in note


@pytest.mark.parametrize(
    "cells",
    [CELLS, {"a": CELLS["a"]}, {"a": "%%chat\nEdited?", "x": "1 + 1"}, None],
    ids=["all", "one is left", "edited", "no file"],
)
def test_a_notebook_goes_on_where_any_of_its_cells_is_left(desk: Desk, cells: dict[str, str] | None) -> None:
    path = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(path)
    path.unlink() if cells is None else write(path, cells)
    assert desk.asked(path)[0] == ALL


def test_a_restarted_kernel_goes_on_whatever_has_become_of_its_cells(desk: Desk) -> None:
    path = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(path, kernel="k")
    write(path, {})
    assert desk.asked(path, kernel="k")[0] == ALL


def test_a_kernel_that_was_restarted_in_a_copy_starts_with_a_fork(desk: Desk) -> None:
    """Save as: the kernel goes with the copy."""
    path = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(path, kernel="k")
    copy = write(desk.folder / "b.ipynb", {**CELLS, "c": "%%chat\nMore?"})
    assert desk.asked(copy, kernel="k")[0] == ALL
    assert len(desk.open(path).current.turns) == 2


def test_the_same_path_on_another_machine_is_another_notebook_where_they_share_a_server(
    postgres: Any, desk: Desk
) -> None:
    address, path = postgres.new(), write(desk.folder / "a.ipynb", CELLS)

    def open_here(kernel: str) -> Library:
        close_stores()
        return Library(Origin(str(path), kernel), desk._config, store=address)

    for cells, sent in (({"a": CELLS["a"], "x": "1"}, FRESH), (CELLS, ["Alpha?", "Beta?", "New?"])):
        library = open_here(f"k {sent}")
        library.new()
        for cell in ("a", "b"):
            desk.run(library, cell, CELLS[cell])
        close_stores()
        with postgres.connect(address.rpartition("%3D")[2]) as connection:
            connection.execute("UPDATE jupyter_ctx_conversations SET host = 'elsewhere'")
        write(path, cells)
        assert desk.run(open_here(f"j {sent}"), "new", "%%chat\nNew?") == sent


def test_a_renamed_notebook_goes_on_beside_others_that_were_made_from_the_same_template(desk: Desk) -> None:
    task = {"load": BEGIN, "a": CELLS["a"]}
    mine = write(desk.folder / "mine.ipynb", CELLS, ran=True)
    theirs = write(desk.folder / "theirs.ipynb", task, ran=True)
    desk.open(mine).new()
    desk.talk(mine)
    desk.open(theirs).new()
    desk.talk(theirs, task)
    sent, notes = desk.asked(mine.rename(desk.folder / "report.ipynb"))
    assert sent == ALL
    assert notes[0].startswith("Going on with 2 turns of 'main', ")


def test_where_two_notebooks_may_be_meant_both_are_named(desk: Desk) -> None:
    task = {"load": BEGIN, "a": CELLS["a"]}
    for name in ("x.ipynb", "y y.ipynb"):
        path = write(desk.folder / name, task, ran=True)
        desk.open(path).new()
        desk.talk(path, task)
    sent, (note,) = desk.asked(write(desk.folder / "z.ipynb", task, ran=True))
    assert sent == FRESH
    one, two = desk.folder / "x.ipynb", desk.folder / "y y.ipynb"
    assert note == (
        f"This notebook begins anew: 1 turn of 'main' belongs to {two}, which shares cells; "
        f"1 turn of 'main' belongs to {one}, which shares cells. "
        f'%chat resume "{two}" main or %chat resume {one} main brings them in.'
    )


# it can be put back


@pytest.mark.parametrize("copied", [True, False], ids=["copied", "renamed"])
@pytest.mark.parametrize("turns", [0, 1, 2])
def test_one_undo_puts_back_what_was_taken_over(desk: Desk, copied: bool, turns: int) -> None:
    old, new = write(desk.folder / "a.ipynb", CELLS, ran=True), desk.folder / "b.ipynb"
    desk.talk(old)
    shutil.copy(old, new) if copied else old.rename(new)
    library = desk.open(new)
    heard = list[object]()
    library.current.desk.listeners.append(heard.append)
    for number in range(turns):
        assert len(desk.run(library, f"new {number}", "%%chat\nNew?")) == 3 + number
    if turns == 2:
        assert library.current.info().undo == "turn"
        assert str(library.current.undo()).startswith("Undid the turn")
    assert library.current.info().undo == "takeover"
    assert library.current.desk.actions.plans()["undo"].text == "take back the takeover"
    heard.clear()
    said = str(library.current.undo())
    assert said.startswith(f"Undid the takeover: 2 turns of 'main' are left to {old}, and this notebook begins anew")
    assert heard, "what draws the conversation is told"
    assert library.current.turns == ()
    assert {(row.name, row.notebook) for row in library.rows(everywhere=True)} == {
        ("main", str(old)), ("main", str(new)),
    }  # fmt: skip
    assert ("%chat redo brings back what was said since: " in said) == (turns > 0)
    for number in range(turns):
        assert library.current.redo().text == "Redid the turn"
        assert [turn.record.cell for turn in library.current.turns] == [f"new {each}" for each in range(number + 1)]
    assert not library.current.redo().changed
    for _ in range(turns):
        assert library.current.undo().text == "Undid the turn"
    assert desk.run(library, "x", "%%chat\nAlone?") == ["Alone?"]
    assert library.current.undo().text == "Undid the turn"

    library = desk.open(new)
    assert library.current.turns == ()
    if copied:
        assert [turn.prompt for turn in desk.open(old).current.turns] == ["Alpha?", "Beta?"]
    else:
        assert len(library.resume(str(old)).text) > 0
        assert [turn.prompt for turn in library.current.turns] == ["Alpha?", "Beta?"]


@pytest.mark.parametrize("copied", [True, False], ids=["copied", "renamed"])
def test_a_takeover_that_is_declined_leaves_everything_where_it_was(desk: Desk, copied: bool) -> None:
    old, new = write(desk.folder / "a.ipynb", CELLS, ran=True), desk.folder / "b.ipynb"
    desk.talk(old)
    shutil.copy(old, new) if copied else old.rename(new)
    close_stores()
    asked = list[str]()

    def decline(question: str) -> bool:
        asked.append(question)
        return False

    config = {**desk._config, "restore": "ask"}
    library = Library(Origin(str(new), "k"), config, store=desk.folder / "store.sqlite", ask=decline)
    assert desk.run(library, "x", "%%chat\nAlone?") == ["Alone?"]
    assert len(asked) == 1
    rows = {(row.name, row.notebook, row.turns) for row in library.rows(everywhere=True)}
    assert rows == {("main", str(old), 2), ("main", str(new), 1)}


def test_other_actions_after_a_takeover_are_undone_first(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS)
    desk.talk(old)
    library = desk.open(old.rename(desk.folder / "b.ipynb"))
    chat = library.current
    chat.configure(temperature=0.5)
    chat.pin(1)
    assert chat.info().undo == "pin"
    assert chat.undo().text == "Undid the pin"
    assert chat.undo().text.startswith("Undid the takeover")
    assert library.current.config.temperature == 0.5, "what was set here holds"


# in a notebook


def test_the_line_comes_before_anything_is_sent_and_undo_follows_the_page(
    opened: Open,
    tmp_path: Path,
    server: tuple[str, list[dict[str, Any]]],
) -> None:
    url, seen = server
    begin = f"%chat use m --base-url {url}"
    page = opened("a.ipynb")
    write(tmp_path / "a.ipynb", CELLS)
    page.run(begin)
    get_chat().send("Alpha?", cell="a", run="1", source=fingerprint(CELLS["a"]))
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    page, count = opened("b.ipynb"), len(seen)
    page.shell.user_ns["heard"] = []
    shown = page.run("%%chat\nNew?")
    assert shown.startswith("[ctx] Going on with 1 turn of 'main', ")
    assert [message["content"] for message in seen[count]["messages"][::2]] == ["Alpha?", "New?"]
    assert "%chat undo takes back: takeover" in page.run("%chat status")
    assert page.run("%chat undo").startswith("Undid the takeover: 1 turn of 'main' is left to ")
    assert get_chat().turns == ()
    assert "No turns yet" in page.run("%chat history")


# stored answers


def test_a_stored_answer_is_shown_in_its_own_notebook_only(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, user in enumerate(("ann", "bob")):
        monkeypatch.setenv("JUPYTERHUB_USER", user)
        one = desk.open(write(desk.folder / f"{number}a.ipynb", {"a": CELLS["a"]})).current
        assert not one.send("Alpha?", cell="a", run="1", stored="all").stored, user
        close_stores()
        again = desk.open(desk.folder / f"{number}a.ipynb")
        again.new()
        assert again.current.send("Alpha?", cell="x", run="2", stored="all").stored
        other = desk.open(write(desk.folder / f"{number}b.ipynb", {"z": "1"})).current
        assert not other.send("Alpha?", cell="z", run="3", stored="all").stored
        script = Chat("m", base_url=one.config.base_url, store=desk.folder / "store.sqlite", name="script")
        assert not script.send("Alpha?", stored="all").stored


def test_a_fork_shows_the_answers_that_it_was_forked_with(desk: Desk) -> None:
    old = write(desk.folder / "a.ipynb", CELLS, ran=True)
    desk.talk(old)
    copy = desk.open(Path(shutil.copy(old, desk.folder / "b.ipynb"))).current
    assert copy.send("Alpha?", cell="a", run="9", stored="cell").stored


def test_a_run_without_a_reader_finds_the_answers_of_the_notebook_that_it_is(
    desk: Desk, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Session:
        key = b"k"

    class Kernel:
        session, parent = Session(), None

    cells = {"load": BEGIN, "a": CELLS["a"]}
    path = write(desk.folder / "a.ipynb", cells)
    desk.talk(path, cells)
    shell.kernel = Kernel()
    shell.get_parent = lambda: {"content": {"allow_stdin": False}}
    shell.history_manager.input_hist_raw = ["", BEGIN, "# Parameters\nx = 1", CELLS["a"]]
    assert origin(shell).run_of is None
    monkeypatch.setenv("JUPYTER_CTX_REPLAY", "1")
    assert origin(shell) == Origin(None, None, str(desk.folder), str(path))
    write(desk.folder / "b.ipynb", {"x": "1"})
    assert origin(shell).run_of == str(path)
    close_stores()
    run = Library(origin(shell)._replace(kernel="r"), desk._config, store=desk.folder / "store.sqlite")
    assert run.current.turns == ()
    assert run.current.send("Alpha?", stored="all").stored
    write(desk.folder / "b.ipynb", cells)
    assert origin(shell).run_of is None, "it may be either"


# what is deleted


@pytest.mark.parametrize("name", ["main", "side"])
def test_what_was_deleted_does_not_come_back_with_what_waited(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", 0.1)
    monkeypatch.setattr(jupyter_ctx.storage.database, "IMPATIENCE", 0.1)
    path = desk.folder / "a.ipynb"
    library = desk.open(path)
    chat = library.current if name == "main" else library.get("side")
    chat.add_messages([{"role": "user", "content": "apricot"}])
    with contextlib.closing(sqlite3.connect(desk.folder / "store.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        chat.add_messages([{"role": "user", "content": "apricot"}])
        assert "goes on in memory" in chat.desk.session.notices()[0]
        other.execute("ROLLBACK")
    library.delete(name, confirm=name)
    chat.add_messages([{"role": "user", "content": "apricot, by who still holds it"}])
    library.new("another")
    close_stores()
    assert "apricot" not in "".join(file.read_bytes().decode("latin-1") for file in desk.folder.glob("store.sqlite*"))
    assert name not in [row.name for row in desk.open(path).rows() if row.turns]


def test_a_deletion_that_fails_costs_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", 0.1)
    library = desk.open(desk.folder / "a.ipynb")
    library.current.add_messages([{"role": "user", "content": "apricot"}])
    with contextlib.closing(sqlite3.connect(desk.folder / "store.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(jupyter_ctx.StoreError):
            library.delete("main", confirm="main")
    library.current.add_messages([{"role": "user", "content": "plum"}])
    assert [turn.prompt for turn in desk.open(desk.folder / "a.ipynb").current.turns] == ["apricot", "plum"]


# a turn is kept once


@pytest.mark.parametrize("where", ["saving", "a listener", "the notices after it"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_fails_after_a_turn_was_recorded_does_not_record_it_again(
    desk: Desk, where: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = desk.open(desk.folder / "a.ipynb")
    chat = library.current

    def fail(*_: object, **__: object) -> None:
        raise error("it failed")

    if where == "a listener":
        chat.desk.listeners.append(fail)
    elif where == "saving":
        monkeypatch.setattr("jupyter_ctx.storage.journal.to_row", fail)
    else:
        monkeypatch.setattr("jupyter_ctx.session.send.notices_of", fail)
    with pytest.raises((error, KeyboardInterrupt)):
        chat.send("Alpha?", cell="a", run="1")
    assert [(turn.prompt, turn.reply, turn.stop_reason) for turn in chat.turns] == [("Alpha?", "Hi", "stop")]


# who a notebook and a kernel are


def test_a_link_is_the_notebook_that_it_leads_to(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        target, link = write(tmp_path / f"{name}.ipynb", CELLS), tmp_path / "latest.ipynb"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        monkeypatch.setenv("JPY_SESSION_NAME", str(link))
        assert origin(shell).notebook == str(target)


def test_a_kernel_is_known_by_what_no_other_kernel_gets(shell: Any) -> None:
    class Parent:
        connection_file = "/run/kernel-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.json"

    class Session:
        key = b"one"

    class Kernel:
        parent, session = Parent(), Session()

    shell.kernel, shell.get_parent = Kernel(), dict
    assert origin(shell).kernel == "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
    Parent.connection_file = "/run/kernel-7.json"  # in every container, the first console's
    first = origin(shell).kernel
    assert first == origin(shell).kernel, "a restart keeps it"
    Session.key = b"two"
    assert first != origin(shell).kernel
    assert "two" not in str(origin(shell).kernel)
