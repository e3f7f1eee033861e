"""Measure prompts over a table: the time and memory of a run beside the bare SDK and beside peers, and kill -9.

``python -m benchmarks.rows`` prints all tables; ``speed``, ``memory`` or ``kills`` behind it one of them.
``PEERS_PYTHON`` names the interpreter of an environment with chatlas and inspect_ai, where that is another.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measuring import ROOT, in_a_process, in_turn, median_difference, median_ratio

ROWS, AT_ONCE, SECONDS, PAIRS = 1_000, 20, 0.1, 5
MANY = 100_000
KILLS, KILL_ROWS = 50, 5_000

MEASURE = """
import json, os, resource, sys, time
URL, ROWS, AT_ONCE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
TEXTS = [f"Translate row {n} of the table, which has a sentence or two in it, as tables have." for n in range(ROWS)]
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
def measured(run):
    wall, before = time.perf_counter(), cpu()
    answers = run()
    print(json.dumps([time.perf_counter() - wall, cpu() - before]))
    assert sorted(answers) == sorted(text.upper() for text in TEXTS), answers[:3]
"""
SDK = """
import asyncio
from openai import AsyncOpenAI
async def main():
    client, free = AsyncOpenAI(base_url=URL, api_key="k"), asyncio.Semaphore(AT_ONCE)
    async def one(text):
        async with free:
            reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
            return reply.choices[0].message.content
    return await asyncio.gather(*map(one, TEXTS))
measured(lambda: asyncio.run(main()))
"""
OURS = """
import tempfile
from pathlib import Path
import pandas
from jupyter_ctx import sweep
with tempfile.TemporaryDirectory() as folder:
    def run():
        asked = sweep("{{ text }}", TEXTS, model="m", base_url=URL, api_key="k", store=Path(folder) / "store.sqlite",
                      concurrency=AT_ONCE, progress=False, yes=True)
        return list(asked.result()["reply"])
    measured(run)
"""
CHATLAS = """
import asyncio
from chatlas import ChatOpenAICompletions, parallel_chat_text
chat = ChatOpenAICompletions(base_url=URL, api_key="k", model="m")
measured(lambda: asyncio.run(parallel_chat_text(chat, TEXTS, max_active=AT_ONCE, rpm=1_000_000)))
"""
INSPECT = """
import tempfile
os.environ["HTTPAPI_BASE_URL"], os.environ["HTTPAPI_API_KEY"] = URL, "k"
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate
with tempfile.TemporaryDirectory() as folder:
    task = Task(dataset=[Sample(input=text) for text in TEXTS], solver=generate())
    def run():
        logs = eval(task, model="openai-api/httpapi/m", max_connections=AT_ONCE, max_samples=AT_ONCE, log_dir=folder,
                    display="none")
        return [sample.output.completion for sample in logs[0].samples]
    measured(run)
"""
PEERS = {"chatlas": CHATLAS, "inspect_ai": INSPECT}


@contextmanager
def counting_server(seconds: float = SECONDS) -> Iterator[tuple[str, Path]]:
    """The address of a server in a process of its own, and the file in which it notes what it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with in_a_process(ROOT / "benchmarks" / "counting_server.py", log, "--seconds", seconds) as port:
            yield f"http://127.0.0.1:{port}/v1", log


def measured(script: str, url: str, python: str) -> tuple[float, float] | None:
    """Return the seconds and the seconds of CPU that a script takes in a new process; ``None`` where it fails."""
    command = [python, "-W", "ignore", "-c", MEASURE + script, url, str(ROWS), str(AT_ONCE)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if run.returncode:
        print(f"failed: {(run.stderr or run.stdout).strip()[-100:]!r}")
        return None
    return tuple(json.loads(next(line for line in run.stdout.splitlines() if line.startswith("["))))


def speed() -> None:
    """Print the time of a run and of peers, each beside that of the bare SDK in the same round."""
    print(f"{ROWS:,} rows, {AT_ONCE} at a time, {1_000 * SECONDS:.0f} ms each: medians of {PAIRS}, beside the SDK's")
    theirs = os.environ.get("PEERS_PYTHON", sys.executable)
    scripts = {"bare SDK": (SDK, sys.executable), "sweep": (OURS, sys.executable)}
    scripts |= {name: (script, theirs) for name, script in PEERS.items()}
    with counting_server() as (url, _):
        rounds = [
            in_turn(number, *(lambda one=one: measured(one[0], url, one[1]) for one in scripts.values()))  # type: ignore[misc]
            for number in range(PAIRS)
        ]
    for place, name in enumerate(scripts):
        pairs = [(one[0], one[place]) for one in rounds if one[0] and one[place]]
        if not pairs:
            print(f"{name:<14}left out")
            continue
        walls = [(sdk[0], own[0]) for sdk, own in pairs]
        cpus = [(1_000 * sdk[1] / ROWS, 1_000 * own[1] / ROWS) for sdk, own in pairs]
        ratios = sorted(own / sdk for sdk, own in walls)
        print(
            f"{name:<14}{statistics.median(own for _, own in walls):>7.2f} s{median_ratio(walls):>7.2f} of the SDK's "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}){median_difference(cpus):>+7.2f} ms CPU a row",
            flush=True,
        )


MEMORY = """
import gc, json, os, sys, tempfile, time
from pathlib import Path
import pandas
from jupyter_ctx import sweep
from jupyter_ctx.testing import ScriptedProvider
def rss():
    gc.collect()
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) * 1_024
def most():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1_024
kind, rows = sys.argv[1], int(sys.argv[2])
class Says(ScriptedProvider):
    def stream(self, request):
        self.requests.clear()
        yield from super().stream(request)
said = "This is what a model answers to a row. " * int(sys.argv[4])
guest = Says(lambda request: said + request.messages[-1].content[-12:])
def run(count, folder):
    if kind == "documents":
        documents = [f"{n} " + "A long document. " * 500 for n in range(count // 100)]
        table = [{"text": documents[n % len(documents)], "n": n} for n in range(count // 4)]
        grid, data = {"tone": list("abcd")}, sum(map(sys.getsizeof, documents))
    else:
        table = [{"text": f"{n} " + "A row of a table. " * int(sys.argv[3]), "n": n} for n in range(count)]
        grid, data = {}, sum(sys.getsizeof(row["text"]) for row in table)
    asked = sweep("Say {{ tone or '' }} of {{ text }}: {{ n }}" if grid else "Say of {{ text }}: {{ n }}",
                  table, grid, provider=guest, store=Path(folder) / f"{count}.sqlite", progress=False, yes=True)
    assert asked.wait()
    assert len(asked.results) == count and not asked.results.failed, asked.notices
    data += sum(sys.getsizeof(result.reply.text) for result in asked.results)
    return asked, table, data
with tempfile.TemporaryDirectory() as folder:
    warm = run(400, folder)
    del warm
    before, wall, cpu = rss(), time.perf_counter(), time.process_time()
    kept, table, data = run(rows, folder)
    print(json.dumps([data, most() - before, rss() - before, time.perf_counter() - wall, time.process_time() - cpu]))
"""


def memory() -> None:
    """Print the memory and the time of many rows, which a provider in the same process answers at once."""
    print(f"{MANY:,} answers: MB of the rows and answers as texts, of the process over them, and time a row")
    print(f"{'':<44}{'texts':>7}{'most':>7}{'ratio':>7}{'after':>7}{'ms':>7}{'CPU ms':>8}")
    for name, kind, row, answer in (
        ("rows of 900 characters, answers of 600", "rows", 50, 15),
        ("rows of 360 characters, answers of 200", "rows", 20, 5),
        ("documents of 8,500 characters, 4 arms", "documents", 0, 15),
    ):
        command = [sys.executable, "-c", MEMORY, kind, str(MANY), str(row), str(answer)]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode:
            print(f"{name:<44}{said.stderr.strip().splitlines()[-1]}")
            continue
        data, most, after, wall, cpu = json.loads(said.stdout)
        figures = f"{data / 1e6:>7.0f}{most / 1e6:>7.0f}{most / data:>7.2f}{after / 1e6:>7.0f}"
        print(f"{name:<44}{figures}{1_000 * wall / MANY:>7.2f}{1_000 * cpu / MANY:>8.2f}", flush=True)


KILLED = """
import sys
from jupyter_ctx import sweep
print("begun", flush=True)
run = sweep("{{ text }}", [f"row {n}" for n in range(int(sys.argv[3]))], model="m", base_url=sys.argv[1], api_key="k",
            store=sys.argv[2], concurrency=20, progress=False, yes=True)
run.wait()
print(len(run.results), len(run.results.failed), flush=True)
"""


def kills() -> None:
    """Kill a run at fifty random moments, begin it again each time, and print what was asked twice."""
    chance = random.Random(14)
    with counting_server(0.05) as (url, log), tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", KILLED, url, str(Path(folder) / "store.sqlite"), str(KILL_ROWS)]
        again, committed_again = list[int](), 0
        for _ in range(KILLS):
            run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert run.stdout is not None
            run.stdout.readline()
            known, before = _committed(Path(folder) / "store.sqlite", url), _asked(log)
            time.sleep(chance.uniform(0.0, 1.4))
            run.kill()
            run.communicate()
            new = _asked(log) - before
            again.append(sum(1 for prompt in new if before[prompt]))
            committed_again += sum(1 for prompt in new if prompt in known)
        end = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        asked = _asked(log)
    print(
        f"{KILLS} kills of a run of {KILL_ROWS:,} rows, {AT_ONCE} at a time; at the end {end[1]} rows, {end[2]} failed"
    )
    print(f"committed rows asked again: {committed_again}")
    print(f"asked twice after a kill: at most {max(again)}, {statistics.mean(again):.1f} on average")
    print(f"requests in all: {sum(asked.values()):,}, {sum(asked.values()) - KILL_ROWS:,} more than rows")


def _asked(log: Path) -> Counter[str]:
    """Return how often each prompt was asked."""
    lines = (json.loads(line) for line in log.read_text().splitlines()) if log.exists() else ()
    return Counter(prompt for kind, prompt in lines if kind == "asked")


def _committed(store: Path, url: str) -> set[str]:
    """Return the prompts whose answers are in the store."""
    from jupyter_ctx.config.settings import default_settings
    from jupyter_ctx.conversation.messages import Message
    from jupyter_ctx.session.ask import Ask
    from jupyter_ctx.storage.stored_answers import Answers

    settings, answers = default_settings({}, {"model": "m", "base_url": url}), Answers(store)
    keys = [(Ask((Message("user", f"row {n}"),), settings).digest(), 0) for n in range(KILL_ROWS)]
    try:
        found = answers.find(keys).values()
        return {answer.reply.text.lower() for answer in found if answer.reply is not None}
    finally:
        answers.close()


TABLES = {"speed": speed, "memory": memory, "kills": kills}


def main() -> None:
    """Print the tables that are asked for."""
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
        print()


if __name__ == "__main__":
    main()
