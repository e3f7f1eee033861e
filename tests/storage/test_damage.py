"""What can be read of a damaged store is copied into a new one, and never what is said afterwards is lost."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from stored_chats import aside, open_chat, prompts, reopen, say

from jupyter_ctx.storage.conversation_writer import close_stores
from jupyter_ctx.storage.database_tables import CONVERSATIONS, EVENTS

PAGE = 4096
NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with three conversations, long texts among them."""
    file = tmp_path_factory.mktemp("whole") / "store.sqlite"
    for name in NAMES:
        say(open_chat(file, name), *(f"{name} {number} " * (number * 37 % 200 + 1) for number in range(25)))
    close_stores()
    return file


@pytest.fixture
def file(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "store.sqlite"))


def overwrite(file: Path, at: int, data: bytes) -> None:
    """In place, as a disk would."""
    with file.open("r+b") as there:
        there.seek(at)
        there.write(data)


def zeros(file: Path, rng: random.Random) -> None:
    """As a disk does that was full."""
    overwrite(file, rng.randrange(file.stat().st_size - PAGE), bytes(rng.choice((16, 512, PAGE))))


def noise(file: Path, rng: random.Random) -> None:
    for _ in range(50):
        overwrite(file, rng.randrange(100, file.stat().st_size), rng.randbytes(1))


def cut(file: Path, rng: random.Random) -> None:
    os.truncate(file, rng.randrange(100, file.stat().st_size))


@pytest.mark.parametrize("damages", [4, pytest.param(30, marks=pytest.mark.load)])
@pytest.mark.parametrize("way", [zeros, noise, cut])
def test_what_is_said_after_a_file_was_damaged_is_there_at_the_next_start(
    whole: Path, tmp_path: Path, way: Callable[[Path, random.Random], None], damages: int
) -> None:
    for seed in range(damages):
        file = Path(shutil.copy(whole, tmp_path / f"{seed}.sqlite"))
        way(file, random.Random(seed))
        chat = open_chat(file, "b")
        say(chat, "after 0", "after 1")
        notices = [notice for notice in chat.session.notices() if "was damaged" in notice]
        assert len(notices) == len(aside(file)) <= 1
        again = reopen(file, chat.name)
        assert prompts(again)[-2:] == ["after 0", "after 1"]
        assert not any("was damaged" in notice for notice in again.session.notices())
        close_stores()


def test_where_all_rows_can_be_read_all_are_copied_and_one_notice_names_the_old_file(whole: Path, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        found = "SELECT rootpage - 1 FROM sqlite_master WHERE name = ?"
        ((index,),) = connection.execute(found, (f"{EVENTS}_cell",)).fetchall()
    overwrite(file, index * PAGE, bytes(PAGE))
    damaged = file.read_bytes()
    chats = {name: open_chat(file, name) for name in NAMES}
    there = {name: prompts(chat) for name, chat in chats.items()}
    (notice,) = (notice for chat in chats.values() for notice in chat.session.notices())
    (kept,) = aside(file)
    assert f"It is kept beside it as {kept.name}; what could be read of it was copied" in notice
    assert kept.read_bytes() == damaged
    close_stores()
    assert there == {name: prompts(open_chat(whole, name)) for name in NAMES}


def test_a_page_that_cannot_be_read_costs_its_rows(file: Path) -> None:
    page = file.read_bytes().index(b"b 12 b 12 ") // PAGE
    overwrite(file, page * PAGE, b"\xff" * PAGE)
    chats = [open_chat(file, name) for name in NAMES]
    counts = [len(chat.turns) for chat in chats]
    assert counts[0] == counts[2] == 25, "on both sides of it"
    assert 0 < counts[1] < 25
    assert "damaged row" in "".join(chats[1].session.notices())


def test_a_row_with_what_its_columns_are_not_for_is_left_out(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"UPDATE {CONVERSATIONS} SET turns = 'many' WHERE name = 'a'")
        connection.execute(f"UPDATE {CONVERSATIONS} SET state = CAST(x'ff61' AS TEXT) WHERE name = 'b'")
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (f"{EVENTS}_digest",)
        ).fetchone()
    overwrite(file, (page - 1) * PAGE, bytes(PAGE))
    assert [len(open_chat(file, name).turns) for name in NAMES] == [0, 25, 25]


@pytest.mark.parametrize("head", [b"", b"SQLite format 3\0"])
def test_of_the_default_store_nothing_may_be_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    say(open_chat("default"), "one")
    close_stores()
    file = tmp_path / "jupyter_ctx" / "history.sqlite"
    file.write_bytes(head + b"No database. " * 5_000)
    chat = open_chat("default")
    say(chat, "two")
    (notice,) = chat.session.notices()
    (kept,) = aside(file)
    assert kept.name in notice
    assert prompts(reopen("default")) == ["two"]


def test_a_file_damaged_while_it_is_used_is_moved_aside_once_and_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    chat, second = open_chat(file), open_chat(file, "second")
    say(chat, "turn 0", "turn 1")
    say(second, "other")
    for path in tmp_path.glob("store.sqlite*"):
        path.write_bytes(b"No database. " * (path.stat().st_size // 13))
    say(chat, "turn 2")
    say(second, "other again")
    assert len([*chat.session.notices(), *second.session.notices()]) == 1
    assert len(aside(file)) == 1
    assert prompts(reopen(file)) == ["turn 0", "turn 1", "turn 2"]
    assert prompts(open_chat(file, "second")) == ["other", "other again"]
