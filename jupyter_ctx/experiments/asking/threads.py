"""Threads that send requests, and that never keep Python from ending.

Those of ``concurrent.futures`` are waited for when Python ends: a server that is silent would hold it for minutes.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


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
            self._calls.put(_Call(future, lambda: fn(*args, **kwargs)))
            self._waiting += 1
            if self._threads < min(self._waiting, self._most):
                self._threads += 1
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and let the threads end; nothing is waited for."""
        del wait
        with self._lock:
            self._ended, threads = True, self._threads
        if cancel_futures:
            self._cancel()
        for _ in range(threads):
            self._calls.put(None)

    def _cancel(self) -> None:
        try:
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call.future.cancel()
        except queue.Empty:
            pass

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
