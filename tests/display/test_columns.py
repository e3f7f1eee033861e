"""Answers side by side: while they grow, as they stay, and with their differences marked."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer import columns
from jupyter_ctx.display.answer.column_page import compared_forms
from jupyter_ctx.display.answer.columns import NotebookColumns, TextColumns
from jupyter_ctx.display.answer.footer import Footer

FOOTER = Footer("m", Usage(10, 20), 1.25, 0.0012, "stop")


class Screen:
    """Takes the place of the page: keeps all that is displayed, and when."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []
        self.times: list[float] = []

    def display(self, forms: dict[str, str], **_: Any) -> Screen:
        self.update(forms)
        return self

    def update(self, forms: dict[str, str], **_: Any) -> None:
        self.shown.append(forms)
        self.times.append(time.monotonic())


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    monkeypatch.setattr(columns, "display", screen.display)
    return screen


def test_answers_that_grow_in_threads_of_their_own_are_one_output(screen: Screen) -> None:
    threads = threading.active_count()
    view = NotebookColumns(["a/x · t=0", "b/y · t=1", "c/z"], ["above"])
    view.begin()

    def answer(number: int) -> None:
        for count in range(50):
            view.feed(number, f"word{count} ")
            time.sleep(0.004)
        if number == 2:
            view.failed(number, "The key was refused.")
        else:
            view.done(number, f"Answer of {number}", "", FOOTER, ["cut"])

    workers = [threading.Thread(target=answer, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    view.close(1, ["below"])
    assert all(set(forms) == {"text/html"} for forms in screen.shown[:-1])
    assert len(screen.shown) <= 12 * (screen.times[-1] - screen.times[0]) + 3
    assert screen.shown[-1]["text/plain"].split("\n") == [
        "[ctx] above",
        "[ctx] ── 1 · a/x · t=0 ──",
        "Answer of 0",
        "[ctx] cut",
        "[ctx] ── 2 · b/y · t=1 (✓ used in the conversation) ──",
        "Answer of 1",
        "[ctx] cut",
        "[ctx] ── 3 · c/z ──",
        "".join(f"word{count} " for count in range(50)),
        "[ctx] The key was refused.",
        "[ctx] below",
    ]
    assert "10 in · 20 out · 1.2 s · <span>$</span>0.0012" in screen.shown[-1]["text/html"]
    assert threading.active_count() == threads


def test_another_choice_moves_the_mark(screen: Screen) -> None:
    view = NotebookColumns(["a", "b"], streaming=False)
    for number in range(2):
        view.done(number, "text", "", None, [])
    view.close(0)
    view.choose(1)
    view.choose(None)
    used = [
        [number for number in (1, 2) if f"{number} · {'ab'[number - 1]} (✓" in f["text/plain"]] for f in screen.shown
    ]
    assert used == [[1], [2], []]


def test_a_terminal_prints_whole_answers_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    view = TextColumns(["a", "b"], ["above"])
    view.begin()
    view.done(1, "second", "", FOOTER, [])
    view.failed(0, "Refused.")
    view.close(1, ["below"])
    assert capsys.readouterr().out.split("\n") == [
        "[ctx] above",
        "[ctx] Waiting for 2 answers…",
        "[ctx] ── 1 · a ──",
        "[ctx] Refused.",
        "[ctx] ── 2 · b ──",
        "second",
        "[ctx] 10 in · 20 out · 1.2 s · $0.0012",
        "[ctx] Answer 2 is used: %chat undo takes it back.",
        "[ctx] below",
        "",
    ]


def test_compared_answers_have_their_differences_marked_in_every_form() -> None:
    forms = compared_forms(["a", "b"], ["The sky is blue.", "The sky is red."], [FOOTER, None], 0)
    assert "The sky is {+red+}." in forms["text/plain"]
    assert ">red</mark>." in forms["text/html"]
