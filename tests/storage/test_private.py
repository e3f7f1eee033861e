"""No text of one notebook reaches another unasked."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dialects import DIALECTS
from server import serve

from jupyter_ctx import Chat, StoreError
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin, fingerprint, origin
from jupyter_ctx.storage.conversation_writer import close_stores

Lock = Callable[[], contextlib.AbstractContextManager[None]]
ANSWER = DIALECTS["completions"].answer("Hi")
BEGIN = "%load_ext jupyter_ctx"
CELLS = {"load": BEGIN, "a": "%%chat\nAlpha?", "b": "%%chat\nBeta?"}


def write(path: Path, cells: dict[str, str]) -> Path:
    """A notebook's file, as a front end saves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = [
        {"cell_type": "code", "id": name, "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for name, source in cells.items()
    ]
    path.write_text(json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


class Desk:
    """Opens notebooks in kernels that end before the next one starts, and shows what they send."""

    def __init__(self, folder: Path, url: str, seen: list[dict[str, Any]]) -> None:
        self.folder, self._seen = folder, seen
        self._config = {"model": "m", "base_url": url}
        self._runs = 0

    def open(self, path: Path, *, others_live: bool = False) -> Library:
        """The conversations of a notebook, in a new kernel."""
        if not others_live:
            close_stores()
        self._runs += 1
        return Library(Origin(str(path), f"kernel-{self._runs}"), self._config, store=self.folder / "store.sqlite")

    def run(self, library: Library, cell: str, source: str) -> list[str]:
        """Run a cell; what its request carried of the user's."""
        self._runs += 1
        prompt = source.partition("\n")[2]
        library.current.send(prompt, cell=cell, run=str(self._runs), source=fingerprint(source), api_key=None)
        return [message["content"] for message in self._seen[-1]["messages"] if message["role"] == "user"]

    def talk(self, path: Path, cells: dict[str, str] | None = None) -> Library:
        """Run all chat cells of a notebook."""
        library = self.open(path)
        for cell, source in (CELLS if cells is None else cells).items():
            if source.startswith("%%chat"):
                self.run(library, cell, source)
        return library

    def asked(self, path: Path) -> tuple[list[str], list[str]]:
        """What another notebook's first cell sends, and what was said above it."""
        library = self.open(path)
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


FRESH = ["New?"]


# what goes on, and what does not cross


@pytest.mark.parametrize("copied", [True, False], ids=["copied", "renamed"])
def test_a_notebook_at_a_new_path_begins_anew_and_one_line_names_what_brings_its_turns_in(
    desk: Desk, copied: bool
) -> None:
    old, new = write(desk.folder / "my a.ipynb", CELLS), desk.folder / "b.ipynb"
    desk.talk(old)
    shutil.copy(old, new) if copied else old.rename(new)
    sent, (note,) = desk.asked(new)
    assert sent == FRESH
    assert note == (
        f"This is a copy of {old}; its conversation starts empty. "
        f"%chat resume '{old}' main brings in 2 turns of 'main'."
    )
    library = desk.open(new)
    assert [turn.prompt for turn in library.current.turns] == FRESH
    assert not any("is a copy of" in note for note in library.notes), "it is said once"
    assert library.resume(str(old), "main").changed, "what it says can be done"
    assert [turn.prompt for turn in library.current.turns] == ["New?", "Alpha?", "Beta?"]
    assert [turn.prompt for turn in desk.open(old).current.turns] == ["Alpha?", "Beta?"]


def test_cells_that_only_one_window_names_are_no_sign(desk: Desk) -> None:
    cells = {"vscode-notebook-cell:/x.ipynb#W1 4711": "%%chat\nSecret?"}
    desk.talk(write(desk.folder / "a.ipynb", {"a": "%%chat\nSecret?"}), cells)
    assert desk.asked(write(desk.folder / "b.ipynb", {"a": "%%chat\nSecret?"})) == (FRESH, [])


# stored answers


def test_a_stored_answer_is_shown_in_its_own_notebook_only(desk: Desk) -> None:
    one = desk.open(write(desk.folder / "a.ipynb", {"a": CELLS["a"]})).current
    assert not one.send("Alpha?", cell="a", run="1", stored="all").stored
    again = desk.open(desk.folder / "a.ipynb")
    again.new()
    assert again.current.send("Alpha?", cell="x", run="2", stored="all").stored
    other = desk.open(write(desk.folder / "b.ipynb", {"z": "1"})).current
    assert not other.send("Alpha?", cell="z", run="3", stored="all").stored
    script = Chat("m", base_url=one.config.base_url, store=desk.folder / "store.sqlite", name="script")
    assert not script.send("Alpha?", stored="all").stored


def test_a_fork_shows_the_answers_that_it_was_forked_with(desk: Desk) -> None:
    path = write(desk.folder / "a.ipynb", CELLS)
    first = desk.talk(path)
    fork = desk.open(path, others_live=True).current
    assert (first.current.name, fork.name) == ("main", "main-2")
    assert fork.send("Alpha?", cell="a", run="9", stored="cell").stored


def test_a_run_without_a_reader_finds_the_answers_of_the_notebook_that_it_is(
    desk: Desk, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {"load": BEGIN, "a": CELLS["a"]}
    path = write(desk.folder / "a.ipynb", cells)
    desk.talk(path, cells)
    shell.kernel = SimpleNamespace(session=SimpleNamespace(key=b"k"), parent=None)
    shell.get_parent = lambda: {"content": {"allow_stdin": False}}
    shell.history_manager.input_hist_raw = ["", BEGIN, "# Parameters\nx = 1", CELLS["a"]]
    assert origin(shell).run_of is None
    monkeypatch.setenv("JUPYTER_CTX_REPLAY", "off")
    assert origin(shell).run_of is None
    monkeypatch.setenv("JUPYTER_CTX_REPLAY", "yes")
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
    desk: Desk, name: str, locked: Lock, content: Callable[[], str]
) -> None:
    path = desk.folder / "a.ipynb"
    library = desk.open(path)
    chat = library.current if name == "main" else library.get("side")
    chat.add_messages([{"role": "user", "content": "apricot"}])
    with locked():
        chat.add_messages([{"role": "user", "content": "apricot"}])
        assert "kept in memory" in chat.session.notices()[0]
    library.delete(name, confirm=name)
    chat.add_messages([{"role": "user", "content": "apricot, by who still holds it"}])
    library.new("another")
    close_stores()
    assert "apricot" not in content()
    assert name not in [row.name for row in desk.open(path).rows() if row.turns]


def test_a_deletion_that_fails_costs_nothing(desk: Desk, locked: Lock) -> None:
    library = desk.open(desk.folder / "a.ipynb")
    library.current.add_messages([{"role": "user", "content": "apricot"}])
    with locked(), pytest.raises(StoreError):
        library.delete("main", confirm="main")
    library.current.add_messages([{"role": "user", "content": "plum"}])
    assert [turn.prompt for turn in desk.open(desk.folder / "a.ipynb").current.turns] == ["apricot", "plum"]


# a turn is kept once


@pytest.mark.parametrize(
    ("where", "error"),
    [("saving", RuntimeError), ("a listener", KeyboardInterrupt), ("the notices after it", RuntimeError)],
)
def test_what_fails_after_a_turn_was_recorded_does_not_record_it_again(
    desk: Desk, where: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = desk.open(desk.folder / "a.ipynb")
    chat = library.current

    def fail(*_: object, **__: object) -> None:
        if where != "a listener" or not chat.session.running:
            raise error("it failed")

    if where == "a listener":
        chat.session.listeners.append(fail)
    elif where == "saving":
        monkeypatch.setattr("jupyter_ctx.storage.conversation_writer.to_row", fail)
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
    parent = SimpleNamespace(connection_file="/run/kernel-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.json")
    session = SimpleNamespace(key=b"one")
    shell.kernel, shell.get_parent = SimpleNamespace(parent=parent, session=session), dict
    assert origin(shell).kernel == "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
    parent.connection_file = "/run/kernel-7.json"  # in every container, the first console's
    first = origin(shell).kernel
    assert first == origin(shell).kernel, "a restart keeps it"
    session.key = b"two"
    assert first != origin(shell).kernel
    assert "two" not in str(origin(shell).kernel)
