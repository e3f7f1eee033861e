"""Many processes on one database: at once, killed and forked."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from interpreters import python, start

from jupyter_ctx import Chat
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.storage.conversation_writer import close_stores

MODEL = "openai/gpt-4o"
PROCESSES = 4  # that talk at once
TURNS, KILLS = 25, 8


def prompts(chat: Chat) -> list[str]:
    """What was asked; each was answered, and by nobody else."""
    for turn in chat.turns:
        assert turn.reply == f"re: {turn.prompt}"
    return [turn.prompt for turn in chat.turns]


def check(address: str) -> None:
    """A database that was left in peace is whole."""
    with contextlib.closing(sqlite3.connect(address)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# a first turn imports and reads what all need, once for those that are forked from there
SAY = f"""
import os, sys, time
from jupyter_ctx import Chat
def say(chat, prompt):
    chat.add_messages([{{"role": "user", "content": prompt}}, {{"role": "assistant", "content": f"re: {{prompt}}"}}])
say(Chat({MODEL!r}), "warm")
"""

# many at once

TALK = f"""
import json
from pathlib import Path
{SAY}
folder, address, processes, turns = sys.argv[1:]
def talk(chat, who):
    times, go = [], Path(folder, "go")
    Path(folder, f"{{who}}.ready").touch()
    while not go.exists():
        time.sleep(0.01)
    for number in range(int(turns)):
        begun = time.perf_counter()
        say(chat, f"{{who}} {{number}}")
        times.append(time.perf_counter() - begun)
    Path(folder, f"{{who}}.json").write_text(json.dumps([chat.name, times, chat.session.notices()]))
for number in range(int(processes)):
    if os.fork() == 0:
        talk(Chat({MODEL!r}, store=address, name="shared"), f"process {{number}}")
        os._exit(0)
for number in range(int(processes)):
    assert os.wait()[1] == 0
"""


def test_many_processes_lose_nothing_mix_nothing_and_wait_for_less_than_a_second(address: str, tmp_path: Path) -> None:
    talking = start(TALK, tmp_path, address, PROCESSES, TURNS)
    begun = time.monotonic()
    while len(list(tmp_path.glob("*.ready"))) < PROCESSES:
        assert time.monotonic() < begun + 60
        time.sleep(0.02)
    (tmp_path / "go").touch()
    assert talking.communicate(timeout=300) == ("", "")
    told = {file.stem: json.loads(file.read_text("utf-8")) for file in tmp_path.glob("*.json")}
    assert len(told) == PROCESSES
    library = Library(Origin(), {"model": MODEL}, store=address)
    for who, (name, _, notices) in told.items():
        copied = name != "shared"
        assert [notice.partition(",")[0] for notice in notices] == ["'shared' is open already"] * copied
        assert prompts(library.get(name)) == [f"{who} {number}" for number in range(TURNS)]
    assert len({name for name, *_ in told.values()}) == PROCESSES
    check(address)
    times = sorted(seconds for _, each, _ in told.values() for seconds in each)
    assert times[int(0.999 * (len(times) - 1))] < 1


AT_ONCE = f"""
{SAY}
processes, address = sys.argv[1:]
begin = time.time() + 0.1
for number in range(int(processes)):
    if os.fork() == 0:
        while time.time() < begin:
            pass
        chat = Chat({MODEL!r}, store=address, name=f"{{number}}")
        say(chat, f"{{number}}")
        assert not chat.session.notices(), chat.session.notices()
        os._exit(0)
for number in range(int(processes)):
    assert os.wait()[1] == 0
"""


def test_many_processes_may_begin_a_database_at_once(address: str) -> None:
    assert python(AT_ONCE, PROCESSES, address) == ""
    for number in range(PROCESSES):
        assert prompts(Chat(MODEL, store=address, name=str(number))) == [str(number)]
    close_stores()
    check(address)


# killed

KILLED = f"""
import random, signal
{SAY}
for address in sys.stdin:
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        chat = Chat({MODEL!r}, store=address.strip(), name="c")
        assert chat.name == "c", chat.name
        os.write(theirs, b"%9d" % 0)
        while True:
            number = len(chat.turns)
            say(chat, f"turn {{number}}")
            assert not chat.session.notices()
            os.write(theirs, b"%9d" % (number + 1))
    os.close(theirs)
    with open(ours, "rb", buffering=0) as pipe:
        said = pipe.read(9) if random.random() < 0.8 else b""  # it has opened the conversation; or it has not
        time.sleep(random.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        said += pipe.readall()
    print(int(said[-9:] or 0), flush=True)
"""


def test_a_process_that_is_killed_at_any_moment_has_kept_every_turn_that_it_had_finished(address: str) -> None:
    addresses = [f"{address}{number}" for number in range(5)]  # that a file is made may be interrupted, too
    nursery = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    kept = dict.fromkeys(addresses, 0)
    for number in range(KILLS):
        where = addresses[number % len(addresses)]
        nursery.stdin.write(f"{where}\n")
        finished = int(nursery.stdout.readline())
        chat = Chat(MODEL, store=where, name="c")
        assert (chat.name, chat.session.notices()) == ("c", ())
        there = prompts(chat)
        assert there == [f"turn {number}" for number in range(len(there))]
        least = max(finished, kept[where])
        assert least <= len(there) <= least + 1  # one may have been saved and not told of
        kept[where] = len(there)
        close_stores()
        check(where)
    nursery.stdin.close()
    assert nursery.wait() == 0
    nursery.stdout.close()
    assert sum(kept.values()) >= KILLS // 4, "hardly any was killed at work"


# forked

FORKED = f"""
{SAY}
chat = Chat({MODEL!r}, store=sys.argv[1], name="c")
say(chat, "before")
child = os.fork()
if not child:
    say(chat, "child 0")
    say(chat, "child 1")
    (notice,) = chat.session.notices()
    assert "This process was forked" in notice, notice
    sys.exit()
say(chat, "parent 0")
assert os.waitpid(child, 0)[1] == 0
say(chat, "parent 1")
assert not chat.session.notices()
"""


def test_a_forked_child_leaves_its_parents_conversation_alone(address: str) -> None:
    assert python(FORKED, address) == ""
    library = Library(Origin(), {"model": MODEL}, store=address)
    chats = {row.name: prompts(library.get(row.name)) for row in library.rows()}
    assert chats.pop("c") == ["before", "parent 0", "parent 1"]
    assert list(chats.values()) == [["before", "child 0", "child 1"]]
    close_stores()
    check(address)
