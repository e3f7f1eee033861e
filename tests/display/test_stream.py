"""An answer while it grows."""

from __future__ import annotations

import gc
import os
import random
import re
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from hostile import ANSWERS, pieces
from screens import Screen

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.answer.markdown import bundle
from jupyter_ctx.display.answer.stream import NotebookView, TerminalView


def test_nothing_comes_after_the_last_update(screen: Screen) -> None:
    threads = threading.active_count()
    for _ in range(20):
        view = NotebookView()
        view.sent("m")
        view.feed("one ")
        view.feed("two")  # waits for its timer
        view.close()
        assert set(screen.shown[-1]) == {"text/html", "text/markdown", "text/plain"}
    assert threading.active_count() == threads
    count = len(screen.shown)
    time.sleep(0.6)
    assert len(screen.shown) == count


def interrupt_after(seconds: float) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Hold the garbage collector: Python swallows an interrupt that arrives in one of its callbacks."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
def test_an_interrupt_at_any_moment_holds_nothing_up(screen: Screen) -> None:
    dice = random.Random(0)
    for _ in range(25):
        view, seconds = NotebookView(), dice.uniform(0.001, 0.05)
        interrupt = threading.Thread(target=interrupt_after, args=(seconds,))
        fed = 0
        try:
            interrupt.start()
            view.sent("m")
            while interrupt.is_alive():
                view.feed(f"{fed} ")
                fed += 1
            interrupt.join()
        except KeyboardInterrupt:
            interrupt.join()
        view.close(["Interrupted"])
        assert screen.shown[-1]["text/plain"].startswith("".join(f"{number} " for number in range(fed)))
        assert screen.shown[-1]["text/plain"].endswith("[ctx] Interrupted")
        assert set(screen.shown[-1]) == {"text/html", "text/markdown", "text/plain"}
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_a_headless_run_shows_it_once(screen: Screen) -> None:
    view = NotebookView(["above"], streaming=False)
    view.begin()
    view.think("hm")
    view.feed("one ")
    view.feed("two")
    assert screen.shown == []
    view.close()
    assert len(screen.shown) == 1


def test_thought_is_shown_while_it_comes_and_folded_above_the_answer(screen: Screen) -> None:
    view = NotebookView()
    view.think("let me see")
    view.tick()
    assert not view.started
    assert "Thinking…" in screen.shown[0]["text/html"]
    assert "let me see" in screen.shown[0]["text/html"]
    view.feed("yes")
    assert view.started
    view.close(footer=Footer("m", Usage(10, 40, reasoning_tokens=30), 1.0))
    final = screen.shown[-1]
    assert final["text/html"].index("Thought for 30 tokens") < final["text/html"].index("yes")
    assert "10 in · 40 out · 1.0 s" in final["text/html"]
    assert final["text/plain"] == final["text/markdown"] == "yes"


def test_text_that_turned_out_to_be_thought_is_folded_at_the_end(screen: Screen) -> None:
    view = NotebookView()
    view.feed("let me see</think>yes")
    view.correct("yes", "let me see")
    view.close()
    final = screen.shown[-1]
    assert final["text/plain"] == "yes"
    assert final["text/html"].index("let me see") < final["text/html"].index("yes")


def test_a_terminal_says_once_why_it_waits_and_that_the_model_thinks(capsys: pytest.CaptureFixture[str]) -> None:
    view = TerminalView(["above"])
    view.begin()
    view.sent("m", "Too long; sending again")
    view.think("let me ")
    view.think("see")
    view.feed("yes")
    view.close(["below"])
    lines = ["[ctx] above", "[ctx] Too long; sending again…", "[ctx] Thinking…", "yes", "[ctx] below"]
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize("seed", range(3))
def test_the_last_update_is_the_whole_answer_in_whatever_pieces_it_came(screen: Screen, seed: int) -> None:
    text = "\n\n".join(answer for answer in ANSWERS.values() if len(answer) < 1_000)
    view = NotebookView()
    for piece in pieces(text, seed):
        view.feed(piece)
    view.close()
    assert screen.shown[-1] == bundle(text)


def test_json_is_code_while_it_grows_and_where_it_breaks_off(screen: Screen) -> None:
    view = NotebookView(is_json=True)
    view.sent("m")
    for piece in ('{"a": "*up*', "* and <b>away</b> ```", "\n$x$"):
        view.feed(piece)
        time.sleep(0.3)
    view.close()
    assert len(screen.shown) >= 2
    for forms in screen.shown:
        assert not re.search("<(em|i)>", forms["text/html"])
        assert "<pre" in forms["text/html"]
    assert screen.shown[-1]["text/markdown"].startswith('````json\n{"a": "*up**')
