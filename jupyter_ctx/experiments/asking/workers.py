"""Who sends a run's requests: threads here, or processes that an executor has elsewhere.

Threads of ``concurrent.futures`` are waited for when Python ends: a server that is silent would hold it for minutes.
Those here never keep Python from ending.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from ...conversation.messages import new_id
from ...errors import (
    AuthenticationError,
    BudgetExceededError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    in_words,
)
from ...models.registry import Models
from ...providers.error_mapping import BUSY
from ...runtime.redaction import Redactor
from ...session.ask import Ask, Asker
from ...session.complete import StreamListener, may_be_billed
from ...storage.stored_answers import Fault, Outcome

T = TypeVar("T")
OF_THE_RUN = (AuthenticationError, BudgetExceededError, MissingDependencyError, ModelNotFoundError)
OVERLOADED = 529  # the status of a server that asks for fewer requests


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What the process that began a run has for it: its connections, who hears of first tokens, whether it stops."""

    asker: Asker
    begun: Callable[[int], object]
    is_stopped: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Task:
    """One request to try, as it is handed to an executor; it holds no key.

    run: the id of the run, by which the process that began it finds its connections
    ask: the request
    number: of the try, to announce its first token
    begun_in: the process that began the run
    only_there: why no other process can ask; empty where any can
    """

    run: str
    ask: Ask
    number: int
    begun_in: tuple[str, int]
    only_there: str = ""


_runs: dict[tuple[str, int], LocalContext] = {}  # by run and process: a forked one has no connections
_MODULE = new_id()  # forked processes have it too, those of other machines have not


def own_process() -> tuple[str, int]:
    """Return what names this process among those of all machines."""
    return _MODULE, os.getpid()


def open_run(run: str, here: LocalContext) -> None:
    """Let this process answer a run's requests through its own connections."""
    _runs[run, os.getpid()] = here


def close_run(run: str) -> None:
    """Forget a run."""
    _runs.pop((run, os.getpid()), None)


def run_task(task: Task) -> Outcome:
    """Try to get one answer. Raises nothing but KeyboardInterrupt and SystemExit."""
    here = _runs.get((task.run, os.getpid()))
    has_ended = here.is_stopped() if here is not None else task.begun_in == own_process()
    if has_ended:
        return Outcome(error="The run has ended.", fault="busy")
    if here is None and task.only_there:
        return Outcome(error=f"{task.only_there}: run without executor=.", fault="run")
    try:
        if here is None:
            return _own_asker(os.getpid()).answered(task.ask)
        return here.asker.answered(task.ask, StreamListener(on_first=partial(here.begun, task.number)))
    except Exception as error:
        return _failed(error, elsewhere=here is None)


@cache
def _own_asker(process: int) -> Asker:
    """Return what asks in a worker process: its keys come from its own environment."""
    del process  # a forked one must not use its parent's connections
    return Asker(Models())


def _failed(error: Exception, *, elsewhere: bool) -> Outcome:
    text = in_words(error, Redactor().masked)
    after = error.retry_after if isinstance(error, RateLimitError) else None
    if isinstance(error, AuthenticationError) and elsewhere:
        text += " Keys are not sent to other processes: set the key in the environment of the workers."
    reply = getattr(error, "reply", None)  # one that was all thinking: paid, and no answer
    return Outcome(reply, reply is not None, text, fault_of(error), after, may_be_billed(error))


def fault_of(error: Exception) -> Fault:
    """Return whose fault an error is."""
    if isinstance(error, OF_THE_RUN):
        return "run"
    if isinstance(error, RateLimitError):
        return "limited" if error.helps_to_wait else "row"
    if isinstance(error, ProviderConnectionError):
        return "busy"
    if isinstance(error, ProviderError):
        return "limited" if error.status == OVERLOADED else "busy" if error.status in BUSY else "row"
    return "row"


class _Call(NamedTuple):
    future: Future[Any]
    run: Callable[[], Any]


class Threads(Executor):
    """Runs each call in a thread; at most so many at once. A thread is begun when none is free."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._calls = queue.SimpleQueue[_Call | None]()
        self._threads = self._waiting = 0  # begun, and calls that wait or run
        self._lock = threading.Lock()
        self._ended = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function in a thread. Raises RuntimeError after :meth:`shutdown`."""
        with self._lock:
            if self._ended:
                raise RuntimeError("it was shut down")
            future = Future[T]()
            self._calls.put(_Call(future, partial(fn, *args, **kwargs)))
            self._waiting += 1
            if self._threads < min(self._waiting, self._most):
                self._threads += 1
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and let the threads end; nothing is waited for."""
        del wait
        with self._lock:
            self._ended = True
        while cancel_futures and not self._calls.empty():
            call = self._calls.get_nowait()
            if call is not None:
                call.future.cancel()
        for _ in range(self._threads):
            self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            if call.future.set_running_or_notify_cancel():
                try:
                    result = call.run()
                except BaseException as error:  # the future tells it
                    call.future.set_exception(error)
                else:
                    call.future.set_result(result)
            del call
            with self._lock:
                self._waiting -= 1
