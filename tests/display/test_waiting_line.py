"""Who is waited for, and how long, while no text arrives; and how often an answer that grows is drawn."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import ANSWER, LETTERS_A_TOKEN, Screen

from jupyter_ctx.display.answer import growing
from jupyter_ctx.display.answer.columns import AnswerColumns
from jupyter_ctx.display.answer.growing import SILENT_SECONDS, SLOWEST, STALLED_SECONDS, GrowingAnswer, interval
from jupyter_ctx.display.answer.stream import NotebookView

MODEL = "openai/gpt-5.2"
AGAIN = "Too long; sending again without turns 1 to 14"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float, view: NotebookView) -> None:
        """Let time pass, and the view show what is due then."""
        self.now += seconds
        view.tick()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_after_a_second_of_silence_it_is_said_who_is_waited_for_and_each_second_how_long(
    screen: Screen, clock: Clock
) -> None:
    view, said = NotebookView(clock=clock), []
    view.sent(MODEL)
    for _ in range(13):
        clock.wait(0.25, view)
        said.append(screen.text)
    view.feed("The sky")
    view.tick()
    view.close()
    lines = [f"Waiting for {MODEL}… {second} s" for second in (1, 2, 3)]
    assert list(dict.fromkeys(said)) == ["", *lines]
    assert len(screen.shown) == 3 + 2, "one update for each second, one for the text, one for the whole"
    assert screen.text == "The sky\n"
    assert not any("Waiting" in form for forms in screen.shown[3:] for form in forms.values())


def test_a_recovery_is_said_at_once_and_counted_with_the_wait_before_it(screen: Screen, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    clock.now += 0.4
    view.sent(MODEL, AGAIN)
    assert screen.text == f"{AGAIN}…"
    clock.wait(1.7, view)
    assert screen.text == f"{AGAIN}. Waiting for {MODEL}… 2 s"
    view.feed("yes")
    view.close()
    assert AGAIN not in screen.text


def test_a_stream_that_stalls_says_so_below_its_text_and_goes_on(screen: Screen, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    view.feed("one ")
    clock.wait(2.9, view)
    assert "Waiting" not in screen.text
    clock.wait(0.2, view)
    assert screen.text == f"one\nWaiting for more from {MODEL}… 3 s"
    clock.wait(62, view)
    assert screen.text.endswith("1 min 05 s")
    clock.now += 0.5
    view.feed("two")
    view.tick()
    assert screen.text.strip() == "one two"
    view.close()


def test_while_a_function_runs_its_call_is_shown_with_its_seconds(screen: Screen, clock: Clock) -> None:
    view = NotebookView(clock=clock)
    view.sent(MODEL)
    view.calling("rows(country='NO')")
    clock.wait(2.1, view)
    assert screen.text == "Calling rows(country='NO')… 2 s"
    view.close()


def test_the_seconds_tick_by_themselves_and_the_thread_ends_with_the_answer(screen: Screen) -> None:
    view, left = NotebookView(), NotebookView()
    for each in (view, left):
        each.sent(MODEL, AGAIN)
    screen.wait_for(" 1 s")
    view.close()
    left.leave()
    left.sent(MODEL)
    assert "jupyter_ctx drawing" not in {thread.name for thread in threading.enumerate()}


def test_each_of_several_answers_says_whom_it_waits_for(screen: Screen) -> None:
    view = AnswerColumns(["a", "b"])
    view.begin()
    view.sent(0, "openai/a")
    view.sent(1, "openai/b", AGAIN)
    view.feed(0, "The sky")
    screen.wait_for('aria-hidden="true"> 1 s')
    assert f"{AGAIN}. Waiting for openai/b… 1 s" in screen.text
    assert "openai/a" not in screen.text
    view.failed(1, "refused")
    view.close(0)
    assert "Waiting" not in screen.text


@given(st.lists(st.tuples(st.floats(0, 20), st.sampled_from(["sent", "arrived", "look"])), max_size=12))
def test_a_wait_is_said_only_after_silence_and_never_ahead_of_time(steps: list[tuple[float, str]]) -> None:
    clock, since, flows = Clock(), None, False
    wait = GrowingAnswer(clock)
    for seconds, what in steps:
        now = clock.now = clock.now + seconds
        if what == "sent":
            since = now if since is None or flows else since
            flows = False
            wait.sent(MODEL)
        elif what == "arrived" and since is not None:
            since, flows = now, True
            wait.feed("x")
        silent = now - since if since is not None else 0.0
        words, said = wait.line
        assert bool(words) == (since is not None and silent >= (STALLED_SECONDS if flows else SILENT_SECONDS))
        assert not words or said.endswith((f"{int(silent) % 60} s", f"{int(silent) % 60:02} s"))


# how often it is drawn


class Page(Screen):
    """A screen on a clock of its own."""

    def __init__(self) -> None:
        super().__init__(lambda: self.now)
        self.now = 0.0

    def grow(self, feed: Callable[[str], object], tick: Callable[[], object], tokens: int, speed: float) -> None:
        """Feed an answer that comes at so many tokens a second."""
        for token in range(tokens):
            self.now = token / speed
            feed(ANSWER[round(token * LETTERS_A_TOKEN) : round((token + 1) * LETTERS_A_TOKEN)])
            tick()

    def most_in_a_second(self) -> int:
        return max(sum(start <= at < start + 1 for at in self.times[:-1]) for start in self.times)

    def bytes(self) -> int:
        return sum(len(form.encode()) for forms in self.shown for form in forms.values())


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    page = Page()
    monkeypatch.setattr(growing, "display", page.display)
    monkeypatch.setattr(growing.LiveOutput, "start", lambda _: None)  # the clock of the test ticks
    return page


@pytest.mark.parametrize("speed", [25, 100, 400])
def test_two_thousand_tokens_are_drawn_at_most_eight_times_a_second(page: Page, speed: float) -> None:
    view = NotebookView(clock=lambda: page.now)
    page.grow(view.feed, view.tick, 2_000, speed)
    view.close()
    assert page.most_in_a_second() <= 8
    assert len(page.shown) > 2_000 / speed, "at least once a second"
    assert page.bytes() <= 3_000_000


@pytest.mark.parametrize("count", [2, 6])
def test_many_answers_are_drawn_no_more_often_than_one(page: Page, count: int) -> None:
    view = AnswerColumns([f"provider/model-{number}" for number in range(count)], clock=lambda: page.now)
    page.grow(lambda piece: [view.feed(number, piece) for number in range(count)], view.tick, 1_000, 100)
    view.close(None)
    assert page.most_in_a_second() <= 8
    assert page.bytes() <= 1_000_000 * count


def test_a_longer_answer_is_drawn_less_often_and_a_piece_waits_for_little_more_than_a_second() -> None:
    assert interval(0) < interval(8_800) < 0.6 < interval(30_000) <= interval(10**7) == SLOWEST < 1.5
