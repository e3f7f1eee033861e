"""How far a run has come: in words, as a bar, and as money that the conversation has spent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from dialects import DIALECTS
from server import serve

from jupyter_ctx import Chat
from jupyter_ctx.experiments.asking.progress import Progress, RunBar, bar_of
from jupyter_ctx.testing import ScriptedProvider


def test_progress_says_rows_failures_and_money_so_far_and_left() -> None:
    now = Progress(rows=40, done=10, failed=1, cached=2, asked=8, cost=0.08)
    assert str(now) == "10 of 40 rows, 1 failed, 2 were stored, $0.080 so far, about $0.30 left"
    assert str(Progress(rows=2, done=2, asked=2, cost=0.5)) == "2 of 2 rows, $0.50"
    assert str(Progress(rows=2)) == "0 of 2 rows"


def test_the_line_at_the_end_has_the_name_and_the_seconds() -> None:
    assert Progress(rows=2, done=2).after(1.26, "formal\x1b[31m") == "formal\ufffd[31m: 2 of 2 rows, 1.3 s"


def test_a_bar_in_a_terminal_shows_rows_and_money_and_starts_no_thread(capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    bar = bar_of(Progress(rows=4), "formal", wanted=True)
    assert isinstance(bar, RunBar)
    bar.show(Progress(rows=4, done=3, failed=1, asked=3, cost=0.3), last=True)
    said = capsys.readouterr().err
    assert threading.active_count() == before
    assert "formal:  75%" in said
    assert "3/4" in said
    assert "1 failed, $0.30 so far, about $0.10 left" in said


def test_no_bar_is_drawn_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    assert bar_of(Progress(rows=4), "", wanted=None) is None
    assert bar_of(Progress(rows=4), "", wanted=False) is None
    chat = Chat(provider=ScriptedProvider("Yes."))
    chat.map("Say {{ text }}", ["a", "b"], store=None).wait()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """A conversation with a model that bills 0.315 $ for each answer."""
    body = DIALECTS["anthropic"].answer("Hi", sent=100_000, said=1_000)
    with serve(body, path="") as (url, _):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        yield Chat("anthropic/claude-sonnet-4-5", api_key="sk-none")


def test_what_a_run_costs_counts_in_the_conversation_that_begins_it(priced: Chat) -> None:
    told = list[object]()
    priced.desk.listeners.append(told.append)
    before = priced.info()
    run = priced.map("Say {{ text }}", ["a", "b"], store=None)
    run.wait()
    assert run.progress.cost == priced.info().cost == pytest.approx(2 * 0.315)
    assert replace(priced.info(), cost=None) == before
    assert (told, priced.turns) == ([None], ())
    priced.map("Say {{ text }}", ["c"], store=None).wait()
    assert priced.info().cost == pytest.approx(3 * 0.315)
    piloted = priced.map("Say {{ text }}", ["d", "e", "f"], store=None, pilot=1, yes=True)
    piloted.wait()
    assert piloted.cost == piloted.progress.cost == pytest.approx(3 * 0.315)
    assert priced.info().cost == pytest.approx(6 * 0.315)


def test_answers_of_a_run_at_an_unknown_price_are_counted(priced: Chat) -> None:
    run = priced.map("Say {{ text }}", ["a", "b"], model="anthropic/claude-nobody-knows", store=None)
    run.wait()
    assert run.progress.cost is None
    assert run.unpriced == priced.info().unpriced == 2


def test_a_server_of_one_s_own_costs_nothing_with_a_cap_and_a_pilot_too(chat: Chat) -> None:
    chat.map("Say {{ text }}", ["a", "b", "c"], store=None, max_cost=1, pilot=2).wait()
    assert (chat.info().cost, chat.info().unpriced) == (None, 0)
