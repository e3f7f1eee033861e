"""How a run ends with its process, also where that is killed, and what becomes of its store meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from answering_rows import Asked, answering_rows, shout
from server import KEY

from jupyter_ctx import AuthenticationError, StoreError, sweep
from jupyter_ctx.experiments.run import Run
from jupyter_ctx.storage.database import Database
from jupyter_ctx.testing import ScriptedProvider

AT_ONCE = 20
WORDS = [f"word {number}" for number in range(30)]
SCRIPT = f"""
import sys, time
from jupyter_ctx import sweep
url, store, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
run = sweep("{{{{{{{{ text }}}}}}}}", [f"row {{{{n}}}}" for n in range(rows)], model="m", base_url=url, api_key="{KEY}",
            store=store, concurrency={AT_ONCE}, progress=False, yes=True)
print("begun", flush=True)
{{then}}
"""


def process(then: str, asked: Asked, store: Path, rows: int) -> subprocess.Popen[str]:
    """Begin a run of so many rows in a process of its own, in which this follows."""
    command = [sys.executable, "-c", SCRIPT.format(then=then), asked.url, str(store), str(rows)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n", started.communicate()[1]
    return started


def go_on(asked: Asked, store: Path, rows: int) -> Run:
    texts = [f"row {number}" for number in range(rows)]
    run = sweep("{{ text }}", texts, store=store, **asked.model)
    assert list(run.result(60)["reply"]) == [text.upper() for text in texts]
    return run


class Answered(list[str]):
    """The prompts whose answers were made."""

    def shout(self, prompt: str) -> str:
        self.append(prompt)
        return shout(prompt)


@pytest.mark.parametrize("seconds", [0.2, 600.0], ids=["answers", "silence"])
def test_the_end_of_python_is_not_held_up_by_a_run(seconds: float, tmp_path: Path) -> None:
    answered, store = Answered(), tmp_path / "store.sqlite"
    with answering_rows(answered.shout, seconds=seconds) as asked:
        started = process("time.sleep(0.4)", asked, store, 10_000)  # a hundred seconds and more
        assert (started.communicate(timeout=60)[1], started.returncode) == ("", 0)
        kept = len(answered) - AT_ONCE
        assert kept <= 0 or go_on(asked, store, len(answered)).progress.cached >= kept


def test_a_run_that_is_killed_asks_again_only_what_was_on_its_way(tmp_path: Path) -> None:
    answered, store = Answered(), tmp_path / "store.sqlite"
    with answering_rows(answered.shout, seconds=0.05) as asked:
        started = process("run.result()", asked, store, 200)
        while len(answered) < 40:
            time.sleep(0.02)
        started.kill()
        started.communicate()
        assert go_on(asked, store, 200).progress.cached
        again = Counter(asked.prompts)
    assert sum(again.values()) - len(again) <= AT_ONCE


def test_runs_of_the_same_rows_at_once_all_have_their_answers(tmp_path: Path) -> None:
    store, rows = tmp_path / "store.sqlite", [f"row {number}" for number in range(30)]
    with answering_rows(seconds=0.1) as asked:
        other = process("run.result()", asked, store, 30)
        runs = [sweep("{{ text }}", rows, store=store, concurrency=2, **asked.model) for _ in range(2)]
        for run in runs:
            assert list(run.result(60)["reply"]) == [row.upper() for row in rows]
        assert (other.communicate(timeout=60)[1], other.returncode) == ("", 0)
        asked.prompts.clear()
        assert go_on(asked, store, 30).progress.cached == 30
    assert asked.prompts == []


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
