"""Rows asked by threads and processes of the user's own."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from answering_rows import KEY, answering_rows, shout

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


class Listening(Executor):
    """Hands calls on, and keeps them as they would be sent."""

    def __init__(self, to: Executor) -> None:
        self.to, self.sent = to, list[bytes]()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent.append(pickle.dumps((fn, args, kwargs)))
        return self.to.submit(fn, *args, **kwargs)


def test_threads_of_the_users_own_ask_through_the_connections_of_the_run() -> None:
    with answering_rows() as asked, ThreadPoolExecutor(3) as threads:
        assert replies(sweep("{{ text }}", WORDS, executor=threads, **asked.model)) == [w.upper() for w in WORDS]
        assert asked.most <= 3
    assert {request["authorization"] for request in asked.requests} == {f"Bearer {KEY}"}


def test_no_key_is_sent_to_another_process(processes: ProcessPoolExecutor) -> None:
    with answering_rows() as asked:
        listening = Listening(processes)
        run = sweep("{{ text }}", WORDS, executor=listening, repeat=2, system="Be brief.", **asked.model)
        with pytest.raises(ChatError, match="its key is in the memory of the process that began the run"):
            run.result(60)
    assert listening.sent
    assert not any(KEY.encode() in sent for sent in listening.sent)
    assert not asked.requests


def test_an_address_without_a_key_is_asked_from_other_processes(processes: ProcessPoolExecutor) -> None:
    with answering_rows() as asked:
        run = sweep("{{ text }}", WORDS, executor=processes, repeat=2, system="Be brief.", **asked.open_model)
        assert replies(run) == [word.upper() for word in WORDS for _ in range(2)]


def test_a_provider_that_was_handed_in_is_not_sent_away(processes: ProcessPoolExecutor) -> None:
    guest = ScriptedProvider()
    with pytest.raises(ChatError, match="run without executor="):
        sweep("{{ text }}", WORDS, provider=guest, executor=processes).result(60)
    assert not guest.requests


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


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match=r"client\.get_executor"):
        sweep("{{ text }}", WORDS, provider=ScriptedProvider(), executor="dask")


class Endless(Executor):
    """An executor that takes whatever it is given, as one of thousands of workers would."""

    def __init__(self) -> None:
        self.taken = list[Future[Any]]()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.taken.append(Future())
        return self.taken[-1]


def test_thousands_of_workers_are_not_given_all_rows_at_once() -> None:
    endless = Endless()
    run = sweep(
        "{{ text }}", [f"word {n}" for n in range(3_000)], provider=ScriptedProvider(), executor=endless, yes=True
    )
    while not endless.taken:
        time.sleep(0.01)
    time.sleep(0.2)
    given = len(endless.taken)
    run.cancel()
    assert run.wait(60)
    assert 1 <= given <= 100
    assert all(future.cancelled() for future in endless.taken)
