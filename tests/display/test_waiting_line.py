"""Who is waited for, and how long, while no text arrives."""

from __future__ import annotations

import io
import re
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.display.answer import columns, stream
from jupyter_ctx.display.answer.columns import NotebookColumns
from jupyter_ctx.display.answer.stream import NotebookView, TerminalView
from jupyter_ctx.display.answer.waiting import SILENT_SECONDS, STALLED_SECONDS, Wait, waiting_html

MODEL = "openai/gpt-5.2"
AGAIN = "Too long; sending again without the 14 oldest turns"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Output:
    """Takes the place of the page: what the one output shows now, and the shapes that it had."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, forms: dict[str, str], **_: Any) -> Output:
        self.update(forms)
        return self

    def update(self, forms: dict[str, str], **_: Any) -> None:
        self.shown.append(forms)

    @property
    def text(self) -> str:
        page = next(iter(self.shown[-1].values()), "") if self.shown else ""
        return re.sub(r"<[^>]*>", "", page)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    output = Output()
    monkeypatch.setattr(stream, "display", output.display)
    return output


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_after_a_second_of_silence_it_is_said_who_is_waited_for_and_each_second_how_long(
    output: Output, clock: Clock
) -> None:
    view, said = NotebookView(clock=clock), []
    view.sent(MODEL)
    for _ in range(13):
        clock.now += 0.25
        view.tick()
        said.append(output.text)
    view.feed("The sky")
    view.close()
    lines = [f"Waiting for {MODEL}… {second} s" for second in (1, 2, 3)]
    assert list(dict.fromkeys(said)) == ["", *lines]
    assert len(output.shown) == 3 + 2, "one update for each second, one for the text, one for the whole"
    assert output.text == "The sky\n"
    assert not any("Waiting" in form for forms in output.shown[3:] for form in forms.values())


def test_screen_readers_hear_once_who_is_waited_for_and_never_the_seconds(output: Output, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    for _ in range(3):
        clock.now += 1
        view.tick()
    view.close()
    pages = [forms["text/html"] for forms in output.shown[:-1]]
    assert ['role="status"' in page for page in pages] == [True, False, False]
    assert all(re.search(r'<span aria-hidden="true"> \d s</span>', page) for page in pages)


def test_a_recovery_is_said_at_once_and_counted_with_the_wait_before_it(output: Output, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    clock.now += 0.4
    view.sent(MODEL, AGAIN)
    assert output.text == f"{AGAIN}…"
    clock.now += 1.7
    view.tick()
    assert output.text == f"{AGAIN}. Waiting for {MODEL}… 2 s"
    view.feed("yes")
    view.close()
    assert AGAIN not in output.text


def test_a_stream_that_stalls_says_so_below_its_text_and_goes_on(output: Output, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    view.feed("one ")
    clock.now += 2.9
    view.tick()
    assert "Waiting" not in output.text
    clock.now += 0.1
    view.tick()
    assert output.text == f"oneWaiting for more from {MODEL}… 3 s"
    clock.now += 62
    view.tick()
    assert output.text.endswith("1 min 05 s")
    clock.now += 0.5
    view.feed("two")
    assert output.text.strip() == "one two"
    view.close()


def test_what_fails_before_any_text_leaves_nothing_of_the_wait(output: Output, clock: Clock) -> None:
    erased: list[str] = []

    def erase() -> bool:
        erased.append(output.text)
        return True

    for is_alone in (True, False):
        view = NotebookView(clock=clock, erase=erase if is_alone else lambda: False)
        view.sent(MODEL)
        clock.now += 1
        view.tick()
        view.close()
    assert erased == [f"Waiting for {MODEL}… 1 s"], "the cell is emptied where it shows nothing else"
    assert output.shown[-1] == {}, "else the output is"


def test_notices_above_stay_in_every_form_when_nothing_comes(output: Output, clock: Clock) -> None:
    view = NotebookView(["above"], clock=clock)
    view.sent(MODEL)
    view.begin()
    clock.now += 5
    view.tick()
    view.close()
    assert output.text == "ctx above"
    assert output.shown[-1]["text/plain"].strip() == "[ctx] above"


def test_a_question_to_the_user_ends_the_wait_until_something_is_sent(output: Output, clock: Clock) -> None:
    view = NotebookView(clock=clock, erase=lambda: True)
    view.sent(MODEL)
    clock.now += 2
    view.tick()
    view.sent("")
    shown = len(output.shown)
    clock.now += 60
    view.tick()
    assert len(output.shown) == shown
    view.sent(MODEL)
    clock.now += 1
    view.tick()
    assert output.text == f"Waiting for {MODEL}… 1 s", "the time of the question does not count"
    view.close()


def test_headless_runs_plain_answers_and_names_in_html(output: Output, clock: Clock) -> None:
    headless = NotebookView(clock=clock, streaming=False)
    headless.sent(MODEL)
    clock.now += 9
    headless.tick()
    headless.close()
    assert output.shown == []
    plain = NotebookView(clock=clock, plain=True)
    plain.sent(MODEL)
    clock.now += 1
    plain.tick()
    assert output.shown[-1] == {"text/plain": f"\n[ctx] Waiting for {MODEL}… 1 s"}
    plain.close()
    assert "<b>" not in waiting_html("Waiting for <b>…", "1 s")


def test_the_seconds_tick_by_themselves_and_the_thread_ends_with_the_answer(output: Output) -> None:
    view, left = NotebookView(), NotebookView()
    for each in (view, left):
        each.sent(MODEL, AGAIN)
    for _ in range(300):
        if "1 s" in output.text:
            break
        threading.Event().wait(0.01)
    assert "1 s" in output.text
    view.close()
    left.leave()
    left.sent(MODEL)
    assert "jupyter_ctx waiting" not in {thread.name for thread in threading.enumerate()}


def test_each_of_several_answers_says_whom_it_waits_for(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "display", output.display)
    view = NotebookColumns(["a", "b"])
    view.begin()
    assert output.text.count("Waiting for the answer…") == 2
    view.sent(0, "openai/a")
    view.sent(1, "openai/b", AGAIN)
    view.feed(0, "The sky")
    for _ in range(300):
        if "openai/b… 1 s" in output.text:
            break
        threading.Event().wait(0.01)
    assert f"{AGAIN}. Waiting for openai/b… 1 s" in output.text
    assert "openai/a" not in output.text
    view.failed(1, "refused")
    view.close(0)
    assert "Waiting" not in output.text


class Terminal(io.StringIO):
    """A terminal of 40 columns."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_erased(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    view = TerminalView(["above"], clock=clock)
    view.sent(MODEL)
    view.begin()
    clock.now += 1
    view.tick()
    clock.now += 1
    view.tick()
    view.sent(MODEL, AGAIN)
    view.feed("The sky\n")
    clock.now += 9
    view.tick()
    view.close()
    lines = [f"Waiting for {MODEL}… {second} s" for second in (1, 2)]
    again = f"{AGAIN}. Waiting for {MODEL}… 2 s"[:39]
    written = [f"\r{line}\x1b[K" for line in (*lines, again, "")]
    assert terminal.getvalue() == "".join(["[ctx] above\n", *written, "The sky\n\n"])


def test_what_is_no_terminal_has_no_such_line(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    view = TerminalView(clock=clock)
    view.sent(MODEL, AGAIN)
    clock.now += 5
    view.tick()
    view.close()
    assert capsys.readouterr().out == ""


@given(st.lists(st.tuples(st.floats(0, 20), st.sampled_from(["sent", "arrived", "look"])), max_size=12))
def test_a_wait_is_said_only_after_silence_and_never_ahead_of_time(steps: list[tuple[float, str]]) -> None:
    wait, now, since, flows = Wait(), 0.0, None, False
    for seconds, what in steps:
        now += seconds
        if what == "sent":
            since = now if since is None or flows else since
            flows = False
            wait.sent(now, MODEL)
        elif what == "arrived" and since is not None:
            since, flows = now, True
            wait.arrived(now)
        silent = now - since if since is not None else 0.0
        words, said = wait.line(now)
        assert bool(words) == (since is not None and silent >= (STALLED_SECONDS if flows else SILENT_SECONDS))
        assert not words or said.endswith((f"{int(silent) % 60} s", f"{int(silent) % 60:02} s"))
        assert 0.01 <= wait.pause(now) <= 1
