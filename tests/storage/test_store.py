"""What was said is there again: events as rows, restarts, and everything that can go wrong with a database."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from event_sequences import actions, state
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interpreters import python
from requirements import need
from server import send, serve
from stored_chats import MODEL, aside, open_chat, prompts, reopen, say

import jupyter_ctx.storage.conversation_writer
import jupyter_ctx.storage.database
from jupyter_ctx import Chat
from jupyter_ctx.config.settings import default_settings
from jupyter_ctx.conversation.events import Cleared, Event, Redone, TurnAdded, Undone
from jupyter_ctx.conversation.messages import Turn, TurnRecord
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.session.actions import set_memory
from jupyter_ctx.session.session import Session
from jupyter_ctx.storage.conversation_writer import ConversationWriter, close_stores
from jupyter_ctx.storage.database_tables import CONVERSATIONS, EVENTS, SCHEMA_VERSION

Sql = Callable[..., list[Any]]
Content = Callable[[], str]
Lock = Callable[[], contextlib.AbstractContextManager[None]]


def numbered(count: int) -> list[str]:
    return [f"turn {number}" for number in range(count)]


def library(address: str | Path, notebook: str = "/n/a.ipynb") -> Library:
    return Library(Origin(notebook, "k"), {"model": MODEL}, store=address)


# what is stored is what there was


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(done=actions(kept=True), again=st.sets(st.integers(0, 25)), back=st.integers(0, 3))
def test_the_fold_of_the_stored_events_is_the_live_state(
    address: str, done: list[Any], again: set[int], back: int
) -> None:
    journal = ConversationWriter(address, Origin())
    session = Session(default_settings({}, {"model": MODEL}), journal=journal)
    session.restore(journal.open())
    live = session.conversation
    for number, event in enumerate(done):
        session.record(event)
        if number in again and live.undo_label:
            session.record(Undone())
            session.record(Redone())
    for _ in range(back):
        if live.undo_label:
            session.record(Undone())
    if back > 1 and live.redo_label:
        session.record(Redone())
    journal.close()
    stored = ConversationWriter(address, Origin()).open(journal.name).conversation
    assert stored.events == live.events
    assert list(map(asdict, stored.events)) == list(map(asdict, live.events)), "records too, which equality leaves out"
    assert state(stored) == state(live)
    assert (stored.undo_label, stored.redo_label) == (live.undo_label, live.redo_label)
    assert session.notices() == ()


def test_what_no_database_takes_as_text_is_replaced_and_fails_nothing(address: str, tmp_path: Path) -> None:
    name = tmp_path / os.fsdecode(b"caf\xe9.md")
    name.write_text("Be short.")
    chat = open_chat(address)
    chat.session.act(set_memory, name)
    say(chat, "one")
    assert chat.session.notices() == ()
    assert prompts(reopen(address)) == ["one"]
    assert "caf?.md" in str(reopen(address).conversation.memory)


def test_a_place_whose_name_is_no_text_is_a_notice(address: str) -> None:
    chat = library(address, os.fsdecode(b"/n/caf\xe9.ipynb")).current
    say(chat, "one")
    (notice,) = chat.session.notices()
    assert "kept in memory" in notice


# what is never stored


def test_no_key_and_no_password_is_ever_stored(address: str, content: Content, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("sk-secret-1", "user-secret-2", "pass-secret-3", "query-secret-4", "header-secret-5", "key-secret-6")

    def answer(handler: Any, _: Any) -> None:
        send(handler, 200, DIALECTS["completions"].answer("Hi", sent=30, said=2), "text/event-stream")

    with serve(answer) as (url, _):
        for where in (f"{url}?key=query-secret-4", url.replace("://", "://user-secret-2:pass-secret-3@")):
            with pytest.raises(InvalidRequestError) as raised:
                Chat("m", store=address, base_url=where)
            assert "secret" not in str(raised.value)
        chat = Chat("m", store=address, name="c", api_key="sk-secret-1", base_url=url)
        chat.configure(parameters={"extra_headers": {"X-Key": "header-secret-5"}})
        chat.models.set_key("openai", "key-secret-6")
        chat.send("Hello.", parameters={"extra_headers": {"X-Key": "header-secret-5"}})
        chat.configure(model="openai/gpt-4o")
        monkeypatch.setenv("OLLAMA_HOST", url.removesuffix("/v1").replace("://", "://user-secret-2:pass-secret-3@"))
        chat.send("Hello, Ollama.", model="ollama/m")
        with pytest.raises(InvalidRequestError):
            chat.configure(model="m", base_url=where)
        chat.configure(model="m", base_url=url)
        chat.send("Again.")
        assert chat.session.notices() == ()
    close_stores()
    found = content()
    assert "Again." in found
    assert [secret for secret in secrets if secret in found] == []


def test_memory_as_a_store_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CTX_STORE", "memory")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    lib = library("default")
    say(lib.current, "one")
    assert [row.name for row in lib.rows()] == ["main"]
    say(lib.new("two"), "two")
    assert prompts(lib.switch("main")) == ["one"]
    assert lib.current.session.notices() == ()
    assert sorted(tmp_path.rglob("*")) == before


def test_on_a_disk_that_machines_share_there_is_no_shared_memory_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jupyter_ctx.storage.database, "is_on_network", lambda path: True)
    file = tmp_path / "store.sqlite"
    lib = library(file)
    say(lib.current, "one")
    say(lib.new("gone"), "apricot")
    lib.delete("gone", confirm="gone")
    assert [path.name for path in tmp_path.glob("store.sqlite*")] == ["store.sqlite"]
    assert b"apricot" not in file.read_bytes()
    close_stores()
    assert prompts(library(file).get("main")) == ["one"]


@pytest.mark.parametrize("mode", [None, 0o644, 0o666])
def test_only_the_owner_may_read_the_file(tmp_path: Path, mode: int | None) -> None:
    file = tmp_path / "folder" / "store.sqlite"
    if mode is not None:
        say(open_chat(file), "one")
        close_stores()
        file.chmod(mode)
    say(open_chat(file), "one")
    for path in file.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_deleted_conversation_is_gone_for_good(address: str, content: Content) -> None:
    lib = library(address)
    kept, gone = lib.current, lib.new("gone")
    for number in range(60):  # side by side on the same pages of the file, which are split again and again
        say(kept, f"fine {number} " * (number % 7))
        say(gone, f"apricot {number} " * (number * 11 % 50))
    gone.configure(model="ollama/apricot")
    assert "apricot" in content()
    row = lib.find("gone")
    lib.delete(row.name, confirm=row.name)
    assert (row.name, row.turns) == ("gone", 60)
    assert "apricot" not in content()
    assert len(library(address).get("main").turns) == 60


def test_while_another_program_reads_the_file_a_deleted_text_may_stay_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", 0.3)
    file = tmp_path / "store.sqlite"
    lib = library(file)
    say(lib.new("gone"), "apricot")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute(f"SELECT count(*) FROM {EVENTS}").fetchall()
        lib.delete("gone", confirm="gone")
        say(lib.current, "later")
        (notice,) = lib.current.session.notices()
        assert "while another program reads it" in notice
        assert b"apricot" in Path(f"{file}-wal").read_bytes()
    close_stores()
    assert b"apricot" not in file.read_bytes()
    assert not Path(f"{file}-wal").exists()


# other versions, and damaged rows


def test_a_store_of_another_version_is_moved_aside_with_one_line(address: str, sql: Sql) -> None:
    say(open_chat(address), "one")
    close_stores()
    sql(f"UPDATE {SCHEMA_VERSION} SET version = 99")
    chat = open_chat(address)
    say(chat, "two", "three")
    (notice,) = chat.session.notices()
    (kept,) = Path(address).parent.glob("store.sqlite.other-version-*")
    assert f"is kept as {kept.name} beside a new file: its version is 99" in notice
    assert prompts(reopen(address)) == ["two", "three"]
    with contextlib.closing(sqlite3.connect(kept)) as connection:
        assert connection.execute(f"SELECT count(*) FROM {EVENTS}").fetchall() == [(1,)]


def said_in_turns(address: str, events: Sequence[Event]) -> None:
    """A conversation with a row for each event."""
    session = Session(default_settings({}, {"model": MODEL}), journal=ConversationWriter(address, Origin()))
    assert session.journal is not None
    session.restore(session.journal.open("c"))
    for event in events:
        session.record(event)
    close_stores()


def turns(count: int) -> list[Event]:
    return [TurnAdded(Turn(prompt, f"re: {prompt}", record=TurnRecord("m", id=prompt))) for prompt in numbered(count)]


@pytest.mark.parametrize("change", ["body = '{\"turn\": 7}'", "body = x'00ff00'", "kind = 'sung'", None])
def test_a_damaged_row_costs_that_row_and_is_left(address: str, sql: Sql, change: str | None) -> None:
    said_in_turns(address, turns(5))
    sql(f"UPDATE {EVENTS} SET {change} WHERE seq = 1" if change else f"DELETE FROM {EVENTS} WHERE seq = 1")
    before = sql(f"SELECT seq, kind, body FROM {EVENTS}")
    rest = [prompt for prompt in numbered(5) if prompt != "turn 1"]
    chat = open_chat(address)
    assert prompts(chat) == rest
    assert chat.session.notices() == ("1 damaged row of 'c' cannot be read: what they held is left out.",)
    say(chat, "later")
    assert prompts(reopen(address)) == [*rest, "later"]
    assert [row for row in before if row not in sql(f"SELECT seq, kind, body FROM {EVENTS}")] == []


@pytest.mark.parametrize(
    ("events", "lost", "left"),
    [
        ([*turns(2), Undone(), Redone()], 1, ["turn 0"]),
        ([*turns(2), Undone(), Redone()], 2, ["turn 0", "turn 1"]),
        ([*turns(2), Undone(), Redone()], 3, ["turn 0"]),
        ([*turns(2), Cleared(), *turns(1), Undone(), Undone()], 2, ["turn 0", "turn 1"]),
        ([*turns(2), Cleared(), *turns(1)], 2, ["turn 0", "turn 1", "turn 0"]),
    ],
)
def test_undo_and_redo_beside_a_row_that_is_gone_mean_what_they_meant(
    address: str, sql: Sql, events: list[Event], lost: int, left: list[str]
) -> None:
    said_in_turns(address, events)
    sql(f"DELETE FROM {EVENTS} WHERE seq = ?", lost)
    chat = open_chat(address)
    assert prompts(chat) == left
    is_last = lost + 1 == len(events)  # nobody knows of what is gone from the end
    assert len(chat.session.notices()) == (0 if is_last else 1)


def test_a_state_that_cannot_be_read_costs_no_turn(address: str, sql: Sql) -> None:
    say(open_chat(address), "one")
    close_stores()
    sql(f"UPDATE {CONVERSATIONS} SET state = 'nonsense'")
    chat = open_chat(address)
    say(chat, "two")
    (notice,) = chat.session.notices()
    assert "what was learned of the model, begin anew" in notice
    assert prompts(reopen(address)) == ["one", "two"]


# a database that cannot be used now


def test_a_lock_in_the_middle_costs_one_notice_and_one_wait(address: str, locked: Lock) -> None:
    chat = open_chat(address)
    say(chat, "turn 0")
    with locked():
        begun = time.monotonic()
        say(chat, "turn 1")
        waited = time.monotonic() - begun
        (notice,) = chat.session.notices()
        begun = time.monotonic()
        say(chat, "turn 2", "turn 3")
        chat.pin(1)
        again = time.monotonic() - begun
        assert chat.session.notices() == ()
    assert again < 3 * waited, "it waits for one, not for each of three"
    assert address in notice
    assert "locked by another program: end that" in notice
    assert prompts(chat) == numbered(4)
    say(chat, "turn 4")
    (notice,) = chat.session.notices()
    assert "Saved again" in notice
    assert prompts(reopen(address)) == numbered(5)
    assert reopen(address).conversation.places[0].pinned


def test_what_waits_in_another_conversation_is_written_with_the_next_turn_that_is_saved(
    address: str, sql: Sql, locked: Lock
) -> None:
    here, other = open_chat(address, "here"), open_chat(address, "other")
    say(here, "one")
    say(other, "turn 0")
    with locked():
        say(other, "turn 1")
    say(here, "two")
    assert sql(f"SELECT turns FROM {CONVERSATIONS} WHERE name = 'other'") == [(2,)]  # before anything is closed
    assert "Saved again" in other.session.notices()[-1]


def test_a_lock_at_the_beginning_is_no_error_and_what_was_said_is_saved_later(address: str, locked: Lock) -> None:
    say(open_chat(address), "before")
    close_stores()
    with locked():
        chat = open_chat(address)
        say(chat, "one", "two")
        assert len(chat.session.notices()) == 1
    say(chat, "three")
    assert "Saved again" in chat.session.notices()[0]
    assert (chat.name, prompts(chat)) == ("c-2", ["one", "two", "three"])
    assert prompts(reopen(address, "c-2")) == ["one", "two", "three"]
    assert prompts(reopen(address)) == ["before"]


FULL = """
import resource, sys
from jupyter_ctx import Chat
chat = Chat("openai/gpt-4o", store=sys.argv[1], name="c")
def say(prompt):
    chat.add_messages([{"role": "user", "content": prompt}])
    print(len(chat.turns), *chat.session.notices())
say("one")
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, most))  # no file may be larger
say("x" * 400_000)
say("y" * 400_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
say("four")
"""


def test_a_full_disk_is_a_notice_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    one, two, three, four = python(FULL, file).splitlines()
    assert (one, three) == ("1", "3")
    assert two.startswith(f"2 {file} cannot be written: see that its disk has room.")
    assert four.startswith("4 Saved again")
    assert [len(prompt) for prompt in prompts(open_chat(file))] == [3, 400_000, 400_000, 4]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:se@cret@host:1/db", "mysql://h/db", "sqlite://host/x", "sqlite:///a.db?mode=ro", "sqlite:///",
        "sqlite:///:memory:", ":memory:", "~nobody-of-this-name/a.db",
    ],
)  # fmt: skip
def test_an_address_that_no_store_can_have_is_refused_at_once_and_not_shown(address: str) -> None:
    with pytest.raises(InvalidRequestError, match="write a file's path, sqlite:///PATH without options") as refused:
        open_chat(address)
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize("address", ["~/a.db", "sqlite:///~/a.db"])
def test_the_home_folder_may_have_its_sign(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    say(open_chat(address), "one")
    assert (tmp_path / "a.db").is_file()


READ_ONLY = """
import sys
from jupyter_ctx import Chat
for file in sys.argv[1:]:
    chat = Chat("openai/gpt-4o", store=file, name="c")
    chat.add_messages([{"role": "user", "content": "two"}])
    print(*chat.session.notices())
"""


def runs_for(user: str) -> bool:
    """Return whether another user can start this Python, and import the package with what it needs."""
    command = [sys.executable, "-c", "from jupyter_ctx import Chat"]
    try:
        done = subprocess.run(command, user=user, cwd="/", env={**os.environ, "HOME": "/"}, capture_output=True)
    except PermissionError:
        return False
    return done.returncode == 0


def test_files_and_folders_of_somebody_else_are_a_notice(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    need(runs_for("nobody"), "a folder of the package and of its Python that 'nobody' may pass")
    folder = Path("/tmp") / f"jupyter_ctx_{os.getpid()}"  # nobody may look into pytest's own
    folder.mkdir()
    try:
        say(open_chat(folder / "a.sqlite"), "one")
        close_stores()
        (folder / "a.sqlite").chmod(0o644)
        (folder / "closed").mkdir(mode=0o700)
        (folder / "damaged.sqlite").write_bytes(b"SQLite format 3\0" + b"No database. " * 1000)
        (folder / "damaged.sqlite").chmod(0o600)
        shutil.chown(folder / "damaged.sqlite", "nobody")
        names = ("a.sqlite", "new.sqlite", "closed/b.sqlite", "c/d.sqlite", "damaged.sqlite")
        tried = [folder / name for name in names]
        env = {**os.environ, "HOME": str(folder)}
        said = python(READ_ONLY, *tried, user="nobody", env=env, cwd="/").splitlines()
        for path, notice in zip(tried, said, strict=True):
            assert notice.startswith(f"{path} ")
            assert "written to" in notice or "allow writing" in notice
            assert "kept in memory" in notice
        assert prompts(open_chat(folder / "a.sqlite")) == ["one"]
    finally:
        close_stores()
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


def test_a_folder_and_a_pipe_are_refused_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(InvalidRequestError, match=f"{tmp_path} is a folder: name a file in it, such as"):
        open_chat(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequestError, match="is not an SQLite database"):
        open_chat(tmp_path / "pipe")


@pytest.mark.parametrize("leftovers", [True, False])
def test_a_file_that_was_deleted_is_written_anew_with_everything(tmp_path: Path, leftovers: bool) -> None:
    file = tmp_path / "store.sqlite"
    chat = open_chat(file)
    say(chat, "turn 0", "turn 1")
    with contextlib.closing(sqlite3.connect(file)) as other:  # as another kernel has it open
        other.execute(f"SELECT count(*) FROM {EVENTS}").fetchall()
        file.unlink()
        if not leftovers:
            Path(f"{file}-wal").unlink()
            Path(f"{file}-shm").unlink()
        say(chat, "turn 2", "turn 3")
        assert chat.session.notices() == ()
    assert prompts(reopen(file)) == numbered(4)


@pytest.mark.parametrize("content", [b"CREATE TABLE jupyter_ctx_conversations\n" * 99, b"\x89PNG\0\0" * 999, b"x"])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "thesis.txt"
    file.write_bytes(content)
    file.chmod(0o644)
    for address in (file, f"sqlite:///{file}"):
        with pytest.raises(InvalidRequestError, match=f"{file} is not an SQLite database, and is left as it is: name"):
            open_chat(address)
    close_stores()
    assert list(tmp_path.iterdir()) == [file]
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (content, 0o644)


def test_another_file_put_in_the_place_of_a_store_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    file, other = tmp_path / "store.sqlite", tmp_path / "thesis.txt"
    chat = open_chat(file)
    say(chat, "one")
    other.write_text("Chapter one.")
    other.rename(file)
    say(chat, "two")
    (notice,) = chat.session.notices()
    assert f"{file} is not an SQLite database, and is left as it is" in notice
    assert (file.read_text(), aside(file)) == ("Chapter one.", [])
    file.unlink()
    say(chat, "three")
    assert prompts(reopen(file)) == ["one", "two", "three"]


# who holds a conversation


def test_a_conversation_that_another_process_has_gone_on_with_is_kept_apart(address: str, sql: Sql) -> None:
    chat = open_chat(address)
    say(chat, "one")
    same = "at, kind, body, sizes, digest"
    sql(f"INSERT INTO {EVENTS} (conversation, seq, {same}) SELECT conversation, 1, {same} FROM {EVENTS}")
    say(chat, "two", "three")
    (notice,) = chat.session.notices()
    assert "Another kernel has gone on with 'c'" in notice
    assert chat.name == "c-2"
    assert prompts(reopen(address, "c-2")) == ["one", "two", "three"]
    assert prompts(open_chat(address)) == ["one", "one"]


def test_a_conversation_deleted_by_another_process_is_written_anew(address: str, sql: Sql) -> None:
    chat = open_chat(address)
    say(chat, "one")
    for table in (EVENTS, CONVERSATIONS):
        sql(f"DELETE FROM {table}")
    say(chat, "two")
    assert prompts(reopen(address)) == ["one", "two"]
