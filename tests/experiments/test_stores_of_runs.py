"""Where the answers of a run are kept, and what happens while that fails."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest
from answering_rows import answering_rows

from jupyter_ctx import StoreError, sweep
from jupyter_ctx.storage.answers import Answers

WORDS = [f"word {number}" for number in range(30)]


def test_a_store_that_is_locked_meanwhile_loses_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with answering_rows() as asked:
        sweep("{{ text }}", ["first"], store=store, **asked.model).result(20)
        other = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN EXCLUSIVE")
        threading.Timer(1.0, lambda: (other.execute("ROLLBACK"), other.close())).start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Answers, "find", lambda *_, **__: {})  # it was read before the lock
            run = sweep("{{ text }}", WORDS, store=store, **asked.model)
            assert list(run.result(30)["reply"]) == [word.upper() for word in WORDS]
        asked.prompts.clear()
        again = sweep("{{ text }}", WORDS, store=store, **asked.model)
        again.result(20)
    assert asked.prompts == []
    assert again.progress.cached == 30


def test_a_disk_that_is_full_costs_no_answer_and_is_said(tmp_path: Path) -> None:
    store, full = tmp_path / "store.sqlite", threading.Event()
    write = Answers.write

    def filling(self: Answers, rows: object) -> None:
        if full.is_set():
            raise StoreError(f"{store} could not be written: the disk is full.")
        write(self, rows)  # type: ignore[arg-type]

    with answering_rows(seconds=0.02) as asked, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Answers, "write", filling)
        full.set()
        run = sweep("{{ text }}", WORDS, store=store, concurrency=3, **asked.model)
        frame = run.result(20)
    assert list(frame["reply"]) == [word.upper() for word in WORDS]
    assert (frame["error"] == "").all()
    assert any("disk is full" in notice for notice in run.notices)


def test_a_store_that_cannot_be_read_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    store = tmp_path / "missing" / "store.sqlite"
    (tmp_path / "missing").write_text("a file")
    with answering_rows() as asked, pytest.raises(StoreError):
        sweep("{{ text }}", WORDS, store=store, **asked.model).result(20)
    assert asked.prompts == []


def test_two_runs_of_the_same_rows_at_once_lose_nothing(address: str) -> None:
    with answering_rows(seconds=0.01) as asked:
        runs = [sweep("{{ text }}", WORDS, store=address, **asked.model) for _ in range(2)]
        for run in runs:
            assert list(run.result(30)["reply"]) == [word.upper() for word in WORDS]
        time.sleep(0.01)
        again = sweep("{{ text }}", WORDS, store=address, **asked.model)
        again.result(20)
    assert again.progress.cached == 30
