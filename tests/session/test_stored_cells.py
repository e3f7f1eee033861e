"""Run All after a restart shows what each cell was answered, whatever lines between the cells set, clear or undo."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from screens import Unshown
from server import serve

from jupyter_ctx import Chat
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin, fingerprint
from jupyter_ctx.session import actions
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.side_by_side import Candidate, ask_each
from jupyter_ctx.storage.conversation_writer import close_stores

Line = Callable[[Library], object]
Cell = tuple[str, dict[str, Any]] | Line


class Notebook:
    """Runs all cells of one notebook, each time in a new kernel."""

    def __init__(self, folder: Path, url: str, seen: list[dict[str, Any]]) -> None:
        self._folder, self._seen, self._config = folder, seen, {"model": "m", "base_url": url}
        self._runs = 0

    def run_all(self, *cells: Cell) -> tuple[list[int], list[str]]:
        """Return how many requests each cell sent, and the prompts of the conversation at the end."""
        close_stores()
        library = Library(Origin(str(self._folder / "x.ipynb")), self._config, store=self._folder / "store.sqlite")
        sent = []
        for cell in cells:
            before = len(self._seen)
            if callable(cell):
                cell(library)
            else:
                self.ask(library.current, *cell)
            sent.append(len(self._seen) - before)
        return sent, [turn.prompt for turn in library.current.turns]

    def ask(self, chat: Chat, text: str, options: dict[str, Any]) -> None:
        """Run the cell with this text; ``cell`` names it where the text has changed, ``several`` asks so often."""
        several, cell = options.get("several"), options.get("cell", text)
        self._runs += 1
        own = {"cell": cell, "run": str(self._runs), "source": fingerprint(text), "stored": "cell"}
        options = {name: value for name, value in options.items() if name != "several"} | own
        if several is None:
            chat.send(text, **options)
        else:
            among = [Candidate(str(number), {}) for number in range(several)]
            ask_each(chat.session, Prompt.of(text, None, options), among, Unshown())


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with serve(DIALECTS["completions"].answer("A red kite was seen at 7 in the morning.")) as found:
        yield found


@pytest.fixture
def notebook(tmp_path: Path, server: tuple[str, list[dict[str, Any]]]) -> Notebook:
    return Notebook(tmp_path, *server)


def prompt(text: str, **options: Any) -> Cell:
    return text, options


def config(**changes: Any) -> Line:
    return lambda library: library.current.configure(**changes)


def clear(library: Library) -> None:
    library.current.clear()


def new(library: Library) -> None:
    library.new()


def undo(library: Library) -> None:
    library.current.undo()


def summarise(library: Library) -> None:
    change = library.current.session.act(actions.summarize, None, "model", turns=1, by="summary source")
    assert "dropped" not in str(change)


def loop(library: Library) -> None:
    run = os.urandom(4).hex()
    for number in range(3):
        library.current.send(f"Say {number}.", cell="loop", run=run, stored="cell")


ONE, TWO, THREE, FOUR = (prompt(f"{text}?") for text in ("One", "Two", "Three", "Four"))
SEVERAL = prompt("Which?", several=2)
LONG = tuple(prompt(f"{when} do birds eat what they find? " * 30) for when in ("Where", "When", "Why"))


@pytest.mark.parametrize(
    "cells",
    [
        (config(temperature=0.2), ONE, config(temperature=0.5), TWO, config(temperature="none"), THREE),
        (ONE, config(max_tokens=300), TWO, config(effort="low"), THREE),
        (config(model="first"), ONE, config(model="second", window=9_000), TWO),
        (ONE, config(parameters={"seed": 1}), TWO),
        (SEVERAL, config(temperature=0.5), TWO),
    ],
)
def test_what_later_lines_set_asks_nothing_again(notebook: Notebook, cells: tuple[Cell, ...]) -> None:
    _, prompts = notebook.run_all(*cells)
    for _ in range(2):
        sent, again = notebook.run_all(*cells)
        assert not any(sent)
        assert again == prompts


@pytest.mark.parametrize(
    "cells",
    [
        (ONE, TWO, clear, THREE, FOUR),
        (ONE, prompt("Anew?", new=True), TWO, clear, THREE),
        (ONE, new, TWO, new, THREE),
        (ONE, undo, TWO, undo, THREE, FOUR),
        (ONE, clear, undo, TWO),
        (SEVERAL, TWO, clear, THREE, prompt("Who?", several=2), FOUR),
        (ONE, loop, undo, THREE),
        (ONE, SEVERAL, undo, TWO),
        (*LONG, summarise, FOUR, new, prompt("Five?")),
        (clear, *LONG, summarise, FOUR),
        (ONE, config(temperature=0.5), TWO, clear, config(system="Be brief."), THREE, new, FOUR, undo),
    ],
)
def test_what_lines_between_took_out_asks_nothing_again(notebook: Notebook, cells: tuple[Cell, ...]) -> None:
    _, prompts = notebook.run_all(*cells)
    for _ in range(2):
        sent, again = notebook.run_all(*cells)
        assert not any(sent)
        assert again == prompts


@pytest.mark.parametrize("between", [clear, undo])
@pytest.mark.parametrize(
    "changed",
    [
        prompt("Changed?", cell="Two?"),
        prompt("Two?", model="other"),
        prompt("Two?", temperature=0.9),
        prompt("Two?", attachments={"x": 1}),
    ],
)
def test_another_request_is_asked(notebook: Notebook, changed: Cell, between: Line) -> None:
    notebook.run_all(ONE, TWO, between, THREE)
    sent, _ = notebook.run_all(ONE, changed, between, THREE)
    assert sent[:2] == [0, 1]


@pytest.mark.parametrize("between", [clear, new, undo])
def test_a_line_above_that_sets_something_else_now_asks(notebook: Notebook, between: Line) -> None:
    notebook.run_all(config(temperature=0.2), ONE, between, TWO, config(temperature=0.7))
    sent, _ = notebook.run_all(config(temperature=0.4), ONE, between, TWO, config(temperature=0.7))
    assert sent == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("between", [clear, new, undo])
def test_what_follows_an_answer_that_has_changed_is_asked(notebook: Notebook, between: Line) -> None:
    notebook.run_all(ONE, TWO, between, THREE)
    sent, _ = notebook.run_all(prompt("Another?", cell="One?"), TWO, between, THREE)
    assert sent == [1, 1, 0, between is undo]


def test_a_cell_that_runs_twice_in_one_kernel_is_asked(notebook: Notebook) -> None:
    notebook.run_all(ONE, clear, TWO)
    sent, _ = notebook.run_all(ONE, clear, TWO, ONE, TWO)
    assert sent == [0, 0, 0, 1, 1]
