"""How far a run has come: in words, as a bar, and as money that the conversation has spent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from dialects import DIALECTS
from server import serve

from jupyter_ctx import Chat
from jupyter_ctx.experiments.asking.progress import Progress
from jupyter_ctx.testing import ScriptedProvider


def test_progress_says_rows_failures_and_money_so_far_and_left() -> None:
    now = Progress(rows=40, done=10, failed=1, cached=2, asked=8, cost=0.08)
    assert str(now) == "10 of 40 answers, 1 failed, 2 without a request, $0.080 so far, about $0.30 left"
    assert str(Progress(rows=2, done=2, asked=2, cost=0.5)) == "2 of 2 answers, $0.50"
    assert str(Progress(rows=2)) == "0 of 2 answers"


def test_a_bar_in_a_terminal_shows_rows_and_the_sentence_to_quote_and_starts_no_thread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Chat(provider=ScriptedProvider("Yes.")).map(
        "Say {{ text }}", ["a", "b", "c", "d"], scorers={"ok": lambda row, reply: row["text"] != "a"}, name="formal",
        store=None, progress=True,
    )  # fmt: skip
    run.wait()
    said = capsys.readouterr()
    assert not [each for each in threading.enumerate() if type(each).__module__.startswith("tqdm")]
    assert (said.out, run.shown) == ("", {"differences", "sentences"})
    assert "formal: 100%" in said.err
    assert "4/4" in said.err
    assert said.err.splitlines()[-1] == run.summary().sentences[0]


def test_no_bar_is_drawn_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    run = Chat(provider=ScriptedProvider("Yes.")).map("Say {{ text }}", ["a", "b"], store=None)
    run.wait()
    assert run.shown == set()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """A conversation with a model that bills 0.315 $ for each answer."""
    body = DIALECTS["anthropic"].answer("Hi", sent=100_000, said=1_000)
    with serve(body, path="") as (url, _):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        yield Chat("anthropic/claude-sonnet-4-6", api_key="sk-none")


def test_what_a_run_costs_counts_in_the_conversation_that_begins_it(priced: Chat) -> None:
    told = list[None]()
    priced.session.listeners.append(lambda: told.append(None))
    before = priced.info()
    run = priced.map("Say {{ text }}", ["a", "b"], store=None)
    run.wait()
    assert run.progress.cost == priced.info().cost == pytest.approx(2 * 0.315)
    assert replace(priced.info(), cost=None) == before
    assert (told, priced.turns) == ([None], ())
    priced.map("Say {{ text }}", ["c"], store=None).wait()
    assert priced.info().cost == pytest.approx(3 * 0.315)
