"""When a request is made smaller, how much, and by what means."""

from __future__ import annotations

from typing import Any

import pytest
from ledgers import ledger_of

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.compaction import Cut, RequestSize, decide


def size_of(turns: int, *, lasting: bool = True) -> RequestSize:
    """A request with so many turns of 100 tokens each, at a limit of 1,000."""
    return RequestSize(ledger_of([100] * turns), 1_000, 0, turns, lasting=lasting)


def decided(turns: int, *, lasting: bool = True, **settings: Any) -> Cut:
    return decide(size_of(turns, lasting=lasting), Settings(**settings))


def test_what_fits_is_sent_whole() -> None:
    assert decided(10) == decided(10, on_overflow="stop")
    assert (decided(10).means, decided(10).left_out, decided(10).start) == ("send", 0, 0)


@pytest.mark.parametrize(
    ("settings", "means"),
    [
        ({}, "trim"),
        ({"on_overflow": "summarise"}, "summarise after"),
        ({"on_overflow": "summarise", "compact_at": 0.8}, "summarise before"),
        ({"on_overflow": "summarise", "compact_at": 800}, "summarise before"),
        ({"on_overflow": "summarise", "compact_at": 4_000}, "summarise after"),
        ({"on_overflow": "stop"}, "refuse"),
    ],
)
def test_the_settings_choose_the_means(settings: dict[str, Any], means: str) -> None:
    assert (decided(11, **settings).means, decided(11, **settings).left_out) == (means, 5)


def test_a_request_that_no_later_one_goes_on_from_is_only_trimmed() -> None:
    assert decided(11, lasting=False, on_overflow="summarise").means == "trim"


def test_every_setting_that_demands_room_is_named() -> None:
    decision = decided(9, on_overflow="stop", compact_at=0.8, max_turns=5)
    assert (decision.means, decision.reasons) == ("refuse", ("compact_at 0.8", "max_turns 5"))
    assert decision.start == 6  # 0.6 of five turns stay
    assert decided(9, compact_at=800).reasons == ("compact_at 800",)
    assert decided(8, compact_at=800) == decided(8)
