"""When an answer that grows is shown again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from screens import ANSWER, LETTERS_A_TOKEN, Screen

from jupyter_ctx.display.answer import growing
from jupyter_ctx.display.answer.columns import AnswerColumns
from jupyter_ctx.display.answer.growing import SLOWEST, interval
from jupyter_ctx.display.answer.stream import NotebookView


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
