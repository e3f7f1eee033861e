"""Where the answers of a run are kept, and what happens while that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answering_rows import answering_rows

from jupyter_ctx import AuthenticationError, StoreError, sweep
from jupyter_ctx.storage.database import Database
from jupyter_ctx.testing import ScriptedProvider

WORDS = [f"word {number}" for number in range(30)]


def test_a_run_whose_answers_are_all_there_needs_no_key(tmp_path: Path) -> None:
    store, provider = tmp_path / "store.sqlite", ScriptedProvider("So.", model="openai/gpt-5.2")
    sweep("{{ text }}", WORDS, store=store, provider=provider, api_key="a key", yes=True).result(60)
    run = sweep("{{ text }}", WORDS, store=store, model="openai/gpt-5.2")
    assert list(run.result(60)["reply"]) == ["So."] * 30
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        sweep("{{ text }}", [*WORDS, "one more"], store=store, model="openai/gpt-5.2")


def test_a_disk_that_is_full_costs_no_answer_and_is_said(tmp_path: Path) -> None:
    store, transact = tmp_path / "store.sqlite", Database._transact

    def fail(self: Database, work: Any, *, write: bool) -> Any:
        if write:
            raise StoreError(f"{store} could not be written: the disk is full.")
        return transact(self, work, write=write)

    with answering_rows(seconds=0.02) as asked, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_transact", fail)
        run = sweep("{{ text }}", WORDS, store=store, concurrency=3, **asked.model)
        frame = run.result(60)
    assert list(frame["reply"]) == [word.upper() for word in WORDS]
    assert (frame["error"] == "").all()
    assert any("disk is full" in notice for notice in run.notices)


def test_a_store_that_cannot_be_read_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    store = tmp_path / "missing" / "store.sqlite"
    (tmp_path / "missing").write_text("a file")
    with answering_rows() as asked, pytest.raises(StoreError):
        sweep("{{ text }}", WORDS, store=store, **asked.model).result(60)
    assert asked.prompts == []
