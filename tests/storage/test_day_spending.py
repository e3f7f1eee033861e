"""What a user's kernels spend in a day together: reserved in the store, never passed, begun anew at midnight."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from priced import Priced

from jupyter_ctx import BudgetExceededError, Chat, InvalidRequestError, ask, sweep
from jupyter_ctx.storage.day_spending import DayPurse
from jupyter_ctx.storage.journal import close_stores

KERNEL = """
import random, sys
from jupyter_ctx.storage.day_spending import DayPurse

purse, chance, spent = DayPurse(sys.argv[1], 1.0), random.Random(sys.argv[2]), 0.0
for _ in range(12):
    worst = chance.choice((0.01, 0.02))
    if purse.reserve(worst):
        actual = chance.choice((worst, worst / 2, 0.0))
        spent += actual
        purse.settle(worst, actual)
print(spent)
"""


@pytest.fixture(autouse=True)
def stores() -> Iterator[None]:
    """Let go of the databases, which all kernels of this process share."""
    yield
    close_stores()


def left(address: str, cap: float = 1.0, **more: Any) -> float:
    """What is left of a day, as another kernel reads it."""
    (found,) = DayPurse(address, cap, **more).allowances
    return found.left


def test_what_is_reserved_counts_for_all_and_what_it_did_cost_takes_its_place(address: str) -> None:
    one, other = DayPurse(address, 1.0), DayPurse(address, 1.0)
    assert one.reserve(0.7)
    assert not other.reserve(0.4)
    assert "max_cost_day is $1: $0.70 of it" in other.said(0.4)
    one.settle(0.7, 0.25)
    assert left(address) == pytest.approx(0.75)
    assert other.reserve(0.4)
    other.settle(0.4, None)  # unknown: the worst is charged
    assert left(address) == pytest.approx(0.35)
    assert one.reserve(0.0)
    assert not one.reserve(None)


def test_thirty_kernels_at_once_do_not_pass_the_cap(address: str) -> None:
    purses = [DayPurse(address, 1.0) for _ in range(30)]
    taken, start = list[float](), threading.Barrier(len(purses))

    def spend(purse: DayPurse) -> None:
        start.wait()
        taken.extend(0.03 for _ in range(3) if purse.reserve(0.03))

    threads = [threading.Thread(target=spend, args=(purse,)) for purse in purses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 33
    assert left(address) == pytest.approx(1 - 33 * 0.03)


@pytest.mark.load
def test_thirty_processes_at_once_do_not_pass_the_cap(address: str) -> None:
    left(address)
    kernels = [
        subprocess.Popen([sys.executable, "-c", KERNEL, address, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(30)
    ]
    spent = [float(kernel.communicate()[0]) for kernel in kernels]
    assert 0.9 < sum(spent) <= 1.0
    assert left(address) == pytest.approx(1 - sum(spent))


def test_at_midnight_two_kernels_begin_anew_and_what_was_reserved_before_is_charged_to_its_day(address: str) -> None:
    days = [date(2026, 11, 24)]
    one, other = (DayPurse(address, 1.0, today=lambda: days[-1]) for _ in range(2))
    assert one.reserve(0.9)
    assert not other.reserve(0.5)
    days.append(days[0] + timedelta(days=1))
    assert other.reserve(0.5)
    assert one.reserve(0.3)
    assert not other.reserve(0.3)
    one.settle(0.9, 0.1)
    assert left(address, today=lambda: days[0]) == pytest.approx(0.9)
    assert left(address, today=lambda: days[1]) == pytest.approx(0.2)
    (found,) = other.allowances
    assert found.until == datetime(2026, 11, 26).timestamp()


def test_conversations_of_one_store_share_a_day_and_say_what_is_left_of_it(address: str) -> None:
    given: dict[str, Any] = {"store": address, "max_tokens": 1_000, "max_cost_day": 0.05}
    one = Chat(provider=Priced("Yes. " * 4_000), **given)
    other = Chat(provider=Priced("Yes."), **given, name="other")
    one.send("Hello.")  # 0.075 dollars: its server ignores max_tokens
    with pytest.raises(BudgetExceededError, match=r"max_cost_day is \$0\.05: \$0\.0\d+ of it"):
        other.send("Hello.")
    assert other.info().allowances[0].left == 0
    other.configure(max_cost_day=None)
    assert other.send("Hello.").text == "Yes."
    one.close()
    other.close()


def test_requests_apart_from_conversations_count_in_the_default_store(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CTX_STORE", address)
    given: dict[str, Any] = {"max_tokens": 1_000, "max_cost_day": 0.05}
    provider = Priced("Yes.")
    ask("Hello.", provider=Priced("Yes. " * 4_000), **given)
    with pytest.raises(BudgetExceededError, match="max_cost_day"):
        ask("Hello.", provider=provider, **given)
    with pytest.raises(BudgetExceededError, match="max_cost_day"):
        Chat(provider=provider, **given).send("Hello.")
    with pytest.raises(InvalidRequestError, match=r"\$0"):
        sweep("Hello {{ name }}.", [{"name": "Ada"}], provider=provider, **given)
    assert not provider.requests


def test_after_a_surprise_as_much_more_is_reserved_for_all_others(address: str) -> None:
    purse = DayPurse(address, 1.0)
    assert purse.reserve(0.1)
    purse.settle(0.1, 0.3)
    assert purse.reserve(0.1)
    assert left(address) == pytest.approx(1 - 0.3 - 0.33)
    purse.settle(0.1, 0.1)
    assert left(address) == pytest.approx(1 - 0.4)


def test_where_the_store_fails_nothing_is_spent_and_it_says_how_to_go_on(tmp_path: Path) -> None:
    purse = DayPurse(str(tmp_path), 1.0)  # a folder
    assert not purse.reserve(0.3)
    assert purse.said(0.3).startswith("max_cost_day cannot be kept: ")
    assert purse.allowances[0].left == 0
    purse.cap = None
    assert purse.reserve(0.3)
    purse.settle(0.3, 0.3)
