"""No database is waited for longer than it should be, and Ctrl-C ends the wait; what was said is saved later."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from postgres import Postgres
from stored_chats import open_chat, prompts, reopen, say

import jupyter_ctx.storage.database
from jupyter_ctx.errors import ChatInterrupted, StoreError
from jupyter_ctx.storage.journal import close_stores

LIMIT, SLACK = 2.0, 30.0  # seconds: what the tests wait for at most, and what a busy machine may need beside

Paused = Callable[[], AbstractContextManager[None]]


@pytest.fixture(autouse=True)
def less_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", LIMIT)
    monkeypatch.setattr(jupyter_ctx.storage.database, "LEAST_TRANSACTION", LIMIT)


@pytest.fixture
def paused(postgres: Postgres) -> Paused:
    """The server stands still, with all its processes; its connections stay."""

    @contextmanager
    def pause() -> Iterator[None]:
        assert postgres.process is not None
        server = psutil.Process(postgres.process)
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):  # those that go on may end another
                    process.send_signal(signal.SIGCONT)

    return pause


@contextmanager
def within(seconds: float) -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C is pressed."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()


def test_a_server_that_stands_still_costs_one_wait_and_one_notice(postgres: Postgres, paused: Paused) -> None:
    address = postgres.new()
    chat = open_chat(address)
    say(chat, "turn 0")
    with paused():
        with within(LIMIT + SLACK):
            say(chat, "turn 1")
        (notice,) = chat.desk.session.notices()
        assert "does not answer: see to it that it does. The conversation goes on in memory" in notice
        with within(LIMIT + SLACK):
            say(chat, "turn 2", "turn 3")
        with within(LIMIT + SLACK):
            late = open_chat(address, "late")
        with within(LIMIT + SLACK), pytest.raises(StoreError, match="does not answer"):
            chat.desk.journal.change(name="d")
    say(chat, "turn 4")
    assert "Saved again" in chat.desk.session.notices()[-1]
    say(late, "first")
    assert prompts(reopen(address)) == [f"turn {number}" for number in range(5)]
    assert prompts(open_chat(address, late.name)) == ["first"]


def test_ctrl_c_ends_the_wait_and_loses_nothing(postgres: Postgres, paused: Paused) -> None:
    jupyter_ctx.storage.database.PATIENCE = jupyter_ctx.storage.database.LEAST_TRANSACTION = 30.0
    address = postgres.new()
    chat = open_chat(address)
    say(chat, "turn 0")
    with paused():
        with interrupted_after(0.3), within(25), pytest.raises(ChatInterrupted, match="it was done"):
            say(chat, "turn 1")
        assert "when Ctrl-C was pressed. The conversation goes on in memory" in chat.desk.session.notices()[0]
        with interrupted_after(0.1), within(25), pytest.raises(KeyboardInterrupt):
            open_chat(address, "other")
    say(chat, "turn 2")
    assert "Saved again" in chat.desk.session.notices()[0]
    assert prompts(reopen(address)) == ["turn 0", "turn 1", "turn 2"]
    assert open_chat(address, "other").name == "other"


def test_what_was_written_although_nobody_waited_for_it_is_written_once(postgres: Postgres, paused: Paused) -> None:
    address = postgres.new()
    chat = open_chat(address)
    say(chat, "turn 0")
    jupyter_ctx.storage.database.PATIENCE = jupyter_ctx.storage.database.LEAST_TRANSACTION = (
        0.004  # some of these are given up, at any moment
    )
    for number in range(1, 30):
        say(chat, f"turn {number}")
    jupyter_ctx.storage.database.PATIENCE = jupyter_ctx.storage.database.LEAST_TRANSACTION = 5.0
    time.sleep(0.3)
    say(chat, "turn 30")
    assert chat.name == "c"
    assert not any("Another kernel" in notice for notice in chat.desk.session.notices())
    assert prompts(reopen(address)) == [f"turn {number}" for number in range(31)]


def test_a_server_that_takes_connections_and_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"postgresql://me:word@127.0.0.1:{silent.getsockname()[1]}/db"
        with within(2 * LIMIT + SLACK):
            chat = open_chat(address)
            say(chat, "one")
        (notice,) = chat.desk.session.notices()
        assert "does not answer" in notice
        assert "word" not in notice
        with within(2 * LIMIT + SLACK):
            close_stores()


AT_THE_END = """
import os, signal, sys
import psutil
import jupyter_ctx.storage.database
jupyter_ctx.storage.database.PATIENCE = jupyter_ctx.storage.database.LEAST = 1.0
from jupyter_ctx import Chat
chat = Chat("openai/gpt-4o", store=sys.argv[1], name="c")
chat.add_messages([{"role": "user", "content": "one"}])
print("ready", flush=True)
input()
"""


def test_a_process_ends_although_the_server_stands_still(postgres: Postgres, paused: Paused) -> None:
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", AT_THE_END, postgres.new()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with paused(), within(1.0 + 2 * SLACK):
            _, complaints = process.communicate(b"\n")
        assert (process.returncode, complaints) == (0, b"")


def test_ctrl_c_ends_the_wait_for_a_locked_file(tmp_path: Path) -> None:
    jupyter_ctx.storage.database.PATIENCE = 30.0
    file = tmp_path / "store.sqlite"
    chat = open_chat(file)
    say(chat, "one")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with interrupted_after(0.2), within(25), pytest.raises(ChatInterrupted, match="it was done"):
            say(chat, "two")
        other.execute("ROLLBACK")
    say(chat, "three")
    assert prompts(reopen(file)) == ["one", "two", "three"]


def test_a_pipe_is_no_database_and_nobody_waits_at_it(tmp_path: Path) -> None:
    pipe = tmp_path / "store.sqlite"
    os.mkfifo(pipe)
    with within(2 * LIMIT + SLACK):
        chat = open_chat(pipe)
        say(chat, "one")
    assert "The conversation goes on in memory" in chat.desk.session.notices()[0]
    assert pipe.is_fifo()
