"""Damage in the store costs what is damaged, is said, and never what is said afterwards."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from stored_chats import aside, open_chat, prompts, reopen, say

from jupyter_ctx import Chat
from jupyter_ctx.storage.database_tables import ANSWERS, EVENTS
from jupyter_ctx.storage.journal import close_stores

PAGE = 4096
DAMAGES = pytest.mark.parametrize("damages", [2, pytest.param(30, marks=pytest.mark.load)])  # for each way


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with three conversations, long texts among them."""
    file = tmp_path_factory.mktemp("whole") / "store.sqlite"
    for name in ("a", "b", "c"):
        chat = open_chat(file, name)
        say(chat, *(f"{name} {number} " * (number * 37 % 200 + 1) for number in range(25)))
        chat.pin(2)
        chat.undo()
    close_stores()
    return file


def zeros(file: Path, rng: random.Random) -> None:
    """Overwrite bytes with zeros, as a disk does that was full."""
    data = bytearray(file.read_bytes())
    at, size = rng.randrange(len(data)), rng.choice((1, 16, 512, PAGE))
    data[at : at + size] = bytes(len(data[at : at + size]))
    write(file, data)


def noise(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 5, 50))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    write(file, data)


def cut(file: Path, rng: random.Random) -> None:
    data = file.read_bytes()
    write(file, data[: rng.choice((rng.randrange(len(data)), len(data) - PAGE, PAGE, 100, 0))])


def swapped(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    one, two = rng.sample(range(len(data) // PAGE), 2)
    first, second = data[one * PAGE :][:PAGE], data[two * PAGE :][:PAGE]
    data[one * PAGE : (one + 1) * PAGE], data[two * PAGE : (two + 1) * PAGE] = second, first
    write(file, data)


def write(file: Path, data: bytes) -> None:
    """In place, as a disk would."""
    with file.open("r+b") as there:
        there.write(data)
        there.truncate()


WAYS: list[Callable[[Path, random.Random], None]] = [zeros, noise, cut, swapped]


def found_after(chat: Chat, file: Path, said: list[str]) -> None:
    name = chat.name
    again = reopen(file, name)
    assert [prompt for prompt in prompts(again) if prompt.startswith("after")] == said
    assert not any("moved" in notice or "in memory" in notice for notice in again.desk.session.notices())


@DAMAGES
@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_after_a_file_was_damaged_is_there_at_the_next_start(
    whole: Path, tmp_path: Path, way: Callable[[Path, random.Random], None], damages: int
) -> None:
    for seed in range(damages):
        file = tmp_path / f"{seed}.sqlite"
        shutil.copy(whole, file)
        way(file, random.Random(seed))
        chat = open_chat(file, "b")
        say(chat, "after 0", "after 1")
        notices = [notice for notice in chat.desk.session.notices() if "was damaged" in notice]
        assert len(notices) == len(aside(file)) <= 1
        found_after(chat, file, ["after 0", "after 1"])
        close_stores()


def test_a_table_that_has_changed_places_with_an_empty_one_is_not_taken_for_a_damaged_index(
    whole: Path, tmp_path: Path
) -> None:
    file = tmp_path / "store.sqlite"
    shutil.copy(whole, file)
    with closing(sqlite3.connect(file)) as connection:
        found = "SELECT rootpage - 1 FROM sqlite_master WHERE name IN (?, ?)"
        one, two = (page for (page,) in connection.execute(found, (EVENTS, ANSWERS)))
    chat = open_chat(file, "b")
    before = prompts(chat)
    data = file.read_bytes()
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    pages[one], pages[two] = pages[two], pages[one]
    write(file, b"".join(pages))
    say(chat, "after")
    close_stores()
    assert prompts(open_chat(file, chat.name)) == [*before, "after"]
    close_stores()


@DAMAGES
@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_file_may_be_damaged_while_it_is_used(
    whole: Path, tmp_path: Path, way: Callable[[Path, random.Random], None], crash: bool, damages: int
) -> None:
    for seed in range(damages):
        folder = tmp_path / str(seed)
        folder.mkdir()
        file = folder / "store.sqlite"
        shutil.copy(whole, file)
        chat = open_chat(file, "b")
        before = prompts(chat)
        say(chat, "after 0")
        way(file, random.Random(seed))
        say(chat, "after 1", "after 2")
        notices = chat.desk.session.notices()
        if crash:
            shutil.copytree(folder, tmp_path / f"{seed} then")
            file = tmp_path / f"{seed} then" / "store.sqlite"
        close_stores()
        there = prompts(open_chat(file, chat.name))
        assert there[-3:] == ["after 0", "after 1", "after 2"], (seed, notices)
        if aside(file):
            assert there[:-3] == before
        close_stores()
