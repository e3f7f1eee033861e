"""What a session knows beside its conversation: stored whole, restored whole, changed from several threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.usage import Spending
from jupyter_ctx.session.session import Session
from jupyter_ctx.session.state import NotebookState, SessionState
from jupyter_ctx.storage.serialization import StoredState, state_text, stored_state

SETTINGS = Settings(model="openai/gpt-4o")
LINES = st.frozensets(st.text(max_size=20).filter(str.isalnum))
STATES = st.builds(
    SessionState,
    st.builds(replace, st.just(SETTINGS), window=st.integers(2_000, 10**6), compact_at=st.floats(0.1, 1)),
    st.just(SETTINGS),
    warned=LINES,
    spent=st.builds(Spending, st.none() | st.floats(0, 1e6), st.integers(0, 9)),
    counted=st.sampled_from(["", "view"]),
    runs=st.dictionaries(st.text(max_size=9).filter(str.isalnum), st.just({"temperature": 0.5}), max_size=2),
)


def kept(state: SessionState, notebook: NotebookState) -> StoredState:
    return stored_state(state_text(state.stored({}, notebook)))


@given(STATES)
def test_a_restart_keeps_the_state(state: SessionState) -> None:
    assert SessionState(SETTINGS, SETTINGS).restored(kept(state, NotebookState()), {}) == state


def test_a_setting_that_is_given_goes_before_a_stored_one() -> None:
    state = SessionState(replace(SETTINGS, min_turns=3), SETTINGS)
    again = SessionState(SETTINGS, SETTINGS).restored(kept(state, NotebookState()), {"min_turns": 5})
    assert again.settings.min_turns == 5


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_threads_that_change_the_state_at_once_lose_nothing(hasty_threads: None) -> None:
    session, stop, lost = Session(SETTINGS), threading.Event(), list[int]()

    def read_as_the_gauge_does() -> None:
        while not stop.is_set():
            session.change(counted="view")

    thread = threading.Thread(target=read_as_the_gauge_does)
    thread.start()
    for number in range(5_000):
        sent = str(number)
        session.change(runs={sent: {}})
        lost += [number] * any([*session.state.runs] != [sent] for _ in range(20))
    stop.set()
    thread.join()
    assert lost == []
