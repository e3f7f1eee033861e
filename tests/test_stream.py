"""An answer while it grows."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx.display import stream
from jupyter_ctx.display.stream import NotebookView


class Screen:
    """Takes the place of the page: keeps all that is displayed."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, forms: dict[str, str], **_: Any) -> Screen:
        self.shown.append(forms)
        return self

    def update(self, forms: dict[str, str], **_: Any) -> None:
        self.shown.append(forms)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    monkeypatch.setattr(stream, "display", screen.display)
    return screen


def feed(view: NotebookView, pieces: int, clock: list[float], every: float = 0.005) -> None:
    for number in range(pieces):
        view.feed(f"word{number} ")
        clock[0] += every


def test_updates_come_by_time_and_never_for_each_piece(screen: Screen) -> None:
    clock = [0.0]
    view = NotebookView(clock=lambda: clock[0])
    feed(view, 1_000, clock)
    assert 10 <= len(screen.shown) <= 5 * 12 + 1


def test_a_long_answer_sends_no_more_bytes_a_second(screen: Screen) -> None:
    clock = [0.0]
    view = NotebookView(clock=lambda: clock[0])
    view.feed("x" * 60_000)
    feed(view, 1_000, clock)
    assert sum(len(text) for forms in screen.shown for text in forms.values()) <= 3 * 5 * 200_000


def test_the_last_update_always_arrives_with_every_form_and_our_lines(screen: Screen) -> None:
    view = NotebookView(["above"], clock=lambda: 0.0)
    view.feed("one ")
    view.feed("two")
    view.close(["below"])
    assert set(screen.shown[0]) == {"text/html", "text/plain"}
    assert screen.shown[-1]["text/plain"] == "[above]\none two\n[below]"
    assert set(screen.shown[-1]) == {"text/html", "text/markdown", "text/plain"}


def test_a_headless_run_shows_it_once(screen: Screen) -> None:
    view = NotebookView(streaming=False)
    view.feed("one ")
    view.feed("two")
    assert screen.shown == []
    view.close()
    assert len(screen.shown) == 1


def test_nothing_said_leaves_nothing_behind(screen: Screen) -> None:
    NotebookView(["above"]).close()
    assert screen.shown == []
