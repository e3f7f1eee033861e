"""Rows asked by an executor of the user's own, such as processes elsewhere."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from answering_rows import answering_rows, shout

from jupyter_ctx import ChatError, InvalidRequestError, sweep
from jupyter_ctx.experiments.run import Run
from jupyter_ctx.testing import ScriptedProvider

WORDS = [f"word {number}" for number in range(30)]


def replies(run: Run) -> list[str | None]:
    assert run.wait(60), run
    return [None if result.reply is None else result.reply.text for result in run.results]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


def test_an_address_without_a_key_is_asked_from_other_processes(processes: ProcessPoolExecutor) -> None:
    with answering_rows() as asked:
        run = sweep("{{ text }}", WORDS, executor=processes, repeat=2, system="Be brief.", **asked.open_model)
        assert replies(run) == [word.upper() for word in WORDS for _ in range(2)]


def test_no_key_and_no_provider_is_sent_to_another_process(processes: ProcessPoolExecutor) -> None:
    with answering_rows() as asked, pytest.raises(InvalidRequestError, match="no key is sent"):
        sweep("{{ text }}", WORDS, executor=processes, **asked.model)
    with pytest.raises(InvalidRequestError, match="no provider"):
        sweep("{{ text }}", WORDS, provider=ScriptedProvider(), executor=processes)
    assert not asked.prompts


def test_a_pool_that_dies_ends_the_run_and_what_came_is_kept() -> None:
    free = threading.Event()

    def says(prompt: str) -> str:
        if int(prompt.split()[1]) >= 10:
            free.wait(5)
        return shout(prompt)

    with answering_rows(says) as asked, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        run = sweep("{{ text }}", WORDS, executor=pool, **asked.open_model)
        while run.progress.done < 10:
            time.sleep(0.02)
        os.kill(next(iter(pool._processes)), signal.SIGKILL)
        with pytest.raises(ChatError, match=r"executor failed \(BrokenProcessPool.*10 of 30 answers are kept"):
            run.result(60)
        free.set()
        asked.prompts.clear()
        assert replies(sweep("{{ text }}", WORDS, **asked.open_model)) == [word.upper() for word in WORDS]
    assert len([p for p in asked.prompts if int(p.split()[1]) < 10]) == 0
