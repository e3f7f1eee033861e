"""When an answer that grows is shown again."""

from __future__ import annotations

import pytest
from screens import ANSWER, LETTERS_A_TOKEN

from jupyter_ctx.display.answer.growing_answer import PartialPage
from jupyter_ctx.display.answer.live_output import LONG_ANSWER, SentUpdate, due, is_frugal
from jupyter_ctx.display.answer.markdown import answer_html, bundle


class Run:
    """An answer of so many characters that comes at so many tokens a second, on a clock of its own."""

    def __init__(self, length: int, speed: float) -> None:
        self.updates: list[tuple[float, int]] = []
        self.waited: list[float] = []
        self._text, self._sent, self._draft = (
            (ANSWER * (length // len(ANSWER) + 1))[:length],
            SentUpdate(),
            PartialPage(),
        )
        waiting: float | None = None
        for number in range(1, int(length / LETTERS_A_TOKEN) + 1):
            now, there = number / speed, round(number * LETTERS_A_TOKEN)
            while waiting is not None and (then := due(self._sent, waiting, there)) < now:
                self._show(then, waiting, there - round(LETTERS_A_TOKEN))
                waiting = None
            waiting = now if waiting is None else waiting
            if due(self._sent, waiting, there) <= now:
                self._show(now, waiting, there)
                waiting = None

    def _show(self, now: float, waiting: float, length: int) -> None:
        page = answer_html(self._draft.page(self._text[:length], colourful=is_frugal(self._sent, length)))
        self._sent = self._sent.then(now, len(page.encode()), 0.0)
        self.updates.append((now, self._sent.size))
        self.waited.append(now - waiting)

    @property
    def total(self) -> int:
        final = sum(len(form.encode()) for form in bundle(self._text).values())
        return sum(size for _, size in self.updates) + final

    def in_a_second(self) -> list[list[int]]:
        """What came in the second from each update on."""
        return [[size for at, size in self.updates if start <= at < start + 1] for start, _ in self.updates]


@pytest.mark.parametrize("speed", [25, 50, 100, 200])
def test_two_thousand_tokens_take_less_than_a_megabyte(speed: int) -> None:
    assert Run(8_800, speed).total <= 1_000_000


@pytest.mark.parametrize("speed", [25, 200, 2_000])
def test_at_most_twelve_updates_and_two_hundred_kilobytes_come_in_a_second(speed: int) -> None:
    seconds = Run(20_000, speed).in_a_second()
    assert max(map(len, seconds)) <= 12
    assert max(map(sum, seconds)) <= 200_000


@pytest.mark.parametrize("length", [8_800, LONG_ANSWER])
def test_no_piece_waits_for_half_a_second(length: int) -> None:
    assert max(Run(length, 400).waited) < 0.5


def test_a_fast_answer_is_shown_as_often_as_it_may_be() -> None:
    assert sum(len(updates) == 12 for updates in Run(8_800, 200).in_a_second()) > 20


def test_a_slow_rendering_is_waited_for() -> None:
    assert due(SentUpdate(at=10.0, size=100, total=100, seconds=2.0), 10.0, 1_000) == 12.0


def test_beyond_fifty_thousand_characters_the_rate_counts_for_more_than_patience() -> None:
    sent = SentUpdate(at=10.0, size=400_000, total=10**7)
    assert due(sent, 10.0, LONG_ANSWER) < 10.5
    assert due(sent, 10.0, LONG_ANSWER + 1) > 12.0


def test_the_first_piece_is_shown_at_once() -> None:
    assert due(SentUpdate(), 5.0, 1) <= 5.0
