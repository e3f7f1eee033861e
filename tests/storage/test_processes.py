"""Many processes on one database: at once, killed and forked."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from interpreters import python, start
from jupyter_client import KernelManager
from kernels import Kernel, error

from jupyter_ctx import Chat
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.storage.journal import close_stores

MODEL = "openai/gpt-4o"
PROCESSES, KERNELS = 4, 1  # that talk at once
TURNS, KILLS = 40, 8


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

# twenty at once

TALK = f"""
import json
from pathlib import Path
{SAY}
def talk(chat, who, folder, turns):
    times, go = [], Path(folder, "go")
    Path(folder, f"{{who}}.ready").touch()
    while not go.exists():
        time.sleep(0.01)
    for number in range(turns):
        begun = time.perf_counter()
        say(chat, f"{{who}} {{number}}")
        times.append(time.perf_counter() - begun)
    Path(folder, f"{{who}}.json").write_text(json.dumps([chat.name, times, chat.desk.session.notices()]))
"""
IN_PROCESSES = f"""
{TALK}
folder, address, processes, turns = sys.argv[1:]
for number in range(int(processes)):
    if os.fork() == 0:
        talk(Chat({MODEL!r}, store=address, name="shared"), f"process {{number}}", folder, int(turns))
        os._exit(0)
for number in range(int(processes)):
    assert os.wait()[1] == 0
"""
IN_A_KERNEL = f"%load_ext jupyter_ctx\n{TALK}\nfrom jupyter_ctx import get_chat\nchat = get_chat()"


@pytest.fixture
def kernels(address: str) -> Iterator[list[Kernel]]:
    """Real ones, each with a notebook of its own."""
    with contextlib.ExitStack() as stack:
        started = []
        for number in range(KERNELS):
            notebook = {"JPY_SESSION_NAME": f"/n/{number}.ipynb", "JUPYTER_CTX_STORE": address}
            manager = KernelManager(kernel_name="python3")
            manager.start_kernel(env={**os.environ, "JUPYTER_CTX_MODEL": MODEL, **notebook})
            stack.callback(manager.shutdown_kernel, now=True)
            started.append(Kernel(manager))
            stack.callback(started[-1].client.stop_channels)
        yield started


def test_many_processes_lose_nothing_mix_nothing_and_wait_for_less_than_a_second(
    address: str, tmp_path: Path, kernels: list[Kernel]
) -> None:
    asked = []
    for number, kernel in enumerate(kernels):
        assert not error(kernel.run(IN_A_KERNEL))
        asked.append(kernel.ask(f"talk(chat, 'kernel {number}', {str(tmp_path)!r}, {TURNS})", None))
    plain = start(IN_PROCESSES, tmp_path, address, PROCESSES, TURNS)
    begun = time.monotonic()
    while len(list(tmp_path.glob("*.ready"))) < PROCESSES + KERNELS:
        assert time.monotonic() < begun + 60
        time.sleep(0.02)
    begun = time.monotonic()
    (tmp_path / "go").touch()
    assert plain.communicate(timeout=300) == ("", "")
    for message, kernel in zip(asked, kernels, strict=True):
        assert not error(kernel.outputs(message, 300))
    took = time.monotonic() - begun
    told = {file.stem: json.loads(file.read_text("utf-8")) for file in tmp_path.glob("*.json")}
    assert len(told) == PROCESSES + KERNELS
    names = set()
    for who, (name, _, notices) in told.items():
        copied = who.startswith("process") and name != "shared"
        assert [notice.partition(",")[0] for notice in notices] == ["'shared' is open already"] * copied
        one_of_ours = Origin() if who.startswith("process") else Origin(f"/n/{who.split()[1]}.ipynb")
        names.add((one_of_ours, name))
        chat = Library(one_of_ours, {"model": MODEL}, store=address).get(name)
        assert prompts(chat) == [f"{who} {number}" for number in range(TURNS)]
    assert len(names) == PROCESSES + KERNELS
    check(address)
    times = sorted(seconds for _, each, _ in told.values() for seconds in each)
    at = {share: times[int(share * (len(times) - 1))] for share in (0.5, 0.95, 0.999, 1)}
    print(f"{took:.1f} s;", ", ".join(f"{share:.1%} {seconds:.4f} s" for share, seconds in at.items()))
    assert at[0.999] < 1


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
        assert not chat.desk.session.notices(), chat.desk.session.notices()
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
            assert not chat.desk.session.notices()
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
        assert (chat.name, chat.desk.session.notices()) == ("c", ())
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
    (notice,) = chat.desk.session.notices()
    assert "This process was forked" in notice, notice
    sys.exit()
say(chat, "parent 0")
assert os.waitpid(child, 0)[1] == 0
say(chat, "parent 1")
assert not chat.desk.session.notices()
"""
POOLED = f"""
import multiprocessing
{SAY}
chat = Chat({MODEL!r}, store=sys.argv[1], name="c")
say(chat, "before")
def work(number):
    say(chat, f"child {{number}}")
    return chat.name
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        say(chat, "parent 0")
        names = set(pool.map(work, range(40)))
        say(chat, "parent 1")
    say(chat, "parent 2")
    assert "c" not in names and not chat.desk.session.notices()
"""


@pytest.mark.parametrize("source", [FORKED, POOLED], ids=["os.fork", "multiprocessing"])
def test_forked_children_leave_their_parents_conversation_alone(address: str, source: str) -> None:
    assert python(source, address) == ""
    library = Library(Origin(), {"model": MODEL}, store=address)
    chats = {row.name: prompts(library.get(row.name)) for row in library.rows()}
    mine = chats.pop("c")
    assert mine == ["before", *(f"parent {number}" for number in range(len(mine) - 1))]
    assert all(chat[0] == "before" for chat in chats.values())
    children = [prompt for chat in chats.values() for prompt in chat[1:]]
    assert sorted(children) == sorted(f"child {number}" for number in range(len(children)))
    assert len(children) in (2, 40)
    close_stores()
    check(address)
