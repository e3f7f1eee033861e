"""Hostile values and expressions, each in a process of its own: bounded in time and memory, and all works after."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
from expressions import HOSTILE
from hostile_values import VALUES
from processes import MEGABYTES, SECONDS, each_in_a_process

from jupyter_ctx.runtime import bounds
from jupyter_ctx.runtime.bounds import TooSlowError, bounded_call

EXPRESSIONS = [expression for group in HOSTILE.values() for expression in group]


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("expressions", EXPRESSIONS[::100]),
        ("values", VALUES[::20]),
        pytest.param("expressions", EXPRESSIONS, marks=pytest.mark.load),
        pytest.param("values", VALUES, marks=pytest.mark.load),
    ],
)
def test_each_ends_in_time_and_leaves_a_shell_that_works(kind: str, members: list[str]) -> None:
    outcomes = each_in_a_process(kind, members)
    assert len(outcomes) == len(members)
    beyond = [each for each in outcomes if each.cpu > SECONDS or each.megabytes > MEGABYTES or not each.works]
    assert beyond == []
    seconds = sorted(each.seconds for each in outcomes)
    assert seconds[len(seconds) // 2] < SECONDS  # on a busy machine, some wait for a core
    assert seconds[-1] < 3 * SECONDS


def test_a_call_is_stopped_once_and_what_it_leaves_is_freed_in_its_own_time() -> None:
    freed: list[bool] = []

    class SlowToFree:
        def __del__(self) -> None:
            freed.append(True)

    def call() -> None:
        kept = SlowToFree()
        while kept:
            pass

    before = signal.getsignal(bounds._STOP)
    for _ in range(20):
        with pytest.raises(TooSlowError):
            bounded_call(0.01, call)
        assert signal.getsignal(bounds._STOP) is before
    assert len(freed) == 20


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only Ctrl-C stops such code")
@pytest.mark.parametrize("call", [lambda: re.match("(a+)+$", "a" * 40 + "b"), lambda: 9 ** (9**8)])
def test_compiled_code_that_looks_for_signals_is_stopped(call: Callable[[], object]) -> None:
    begun = time.process_time()
    with pytest.raises(TooSlowError):
        bounded_call(0.05, call)
    assert time.process_time() - begun < 0.5


def test_a_call_within_a_call_has_its_own_time() -> None:
    def inner() -> str:
        with pytest.raises(TooSlowError):
            bounded_call(0.05, lambda: time.sleep(5))
        return "goes on"

    assert bounded_call(5, inner) == "goes on"
    with pytest.raises(TooSlowError):
        bounded_call(0.05, lambda: bounded_call(5, lambda: time.sleep(5)))


def test_a_call_that_returns_just_in_time_returns() -> None:
    ended = 0
    for number in range(200):
        try:
            bounded_call(0.002, lambda number=number: time.sleep(0.0015 + number / 200_000))  # type: ignore[misc]
            ended += 1
        except TooSlowError:
            pass
    time.sleep(0.01)  # nothing comes late
    assert 0 <= ended <= 200


@pytest.mark.parametrize("in_thread", [False, True])
def test_memory_is_looked_at_where_the_system_sets_no_limit(in_thread: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_limit", lambda *_: False)
    raised: list[BaseException] = []

    def read() -> None:
        kept: list[bytes] = []
        try:
            bounded_call(20, lambda: [kept.append(b"x" * 1_000_000) for _ in iter(int, 1)], memory=100_000_000)
        except BaseException as error:
            raised.append(error)

    reader = threading.Thread(target=read) if in_thread else None
    if reader is None:
        read()
    else:
        reader.start()
        reader.join()
    assert [type(error) for error in raised] == [MemoryError]
