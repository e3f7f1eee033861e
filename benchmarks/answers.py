"""Measure storing and finding answers of experiments, and asking rows in a batch, beside doing it by hand.

*By hand* is a table of JSON texts written and read by sqlite3 alone, and the bare SDK of OpenAI with the same requests
in a file, whose results are parsed as JSON and stored nowhere. The server is one of the tests', in a process of its
own.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.experiments.batch import batch_job, batch_run
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.storage.stored_answers import AnswerKey, Answers, StoredAnswer

ANSWERS, AT_ONCE = 100_000, 1_000
ROWS, RUNS = 20_000, 3
TEXT = "It sailed on through the night. " * 10
WAIT = 0.1  # seconds between looks at a batch
SERVER = "import sys; sys.path[:0] = ['tests/support', '.']; from benchmarks.answers import serve; serve()"


def serve() -> None:
    """Serve batches until the end of input."""
    with importlib.import_module("batch_servers").batch_server() as accounts:
        print(accounts.url, flush=True)
        sys.stdin.read()


def timed(act: Callable[[], Any]) -> tuple[float, float]:
    """Return the time and the CPU time of a call in seconds."""
    began, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - began, time.process_time() - cpu


def keys(count: int) -> list[AnswerKey]:
    """Return the keys of so many answers, five repeats of each row."""
    return [(f"{number // 5:032x}", number % 5) for number in range(count)]


def store_ours(file: Path) -> tuple[float, float]:
    """Return the seconds that writing and finding all answers take."""
    answers, wanted = Answers(file), keys(ANSWERS)
    rows = [(key, StoredAnswer(TEXT, usage=Usage(100, 20), model="openai/gpt-5.2", cost=0.001)) for key in wanted]
    written, _ = timed(lambda: [answers.write(rows[i : i + AT_ONCE]) for i in range(0, ANSWERS, AT_ONCE)])
    found, _ = timed(lambda: answers.find(wanted))
    answers.close()
    return written, found


def store_by_hand(file: Path) -> tuple[float, float]:
    """Return the same by sqlite3, in transactions of as many rows."""
    wanted = keys(ANSWERS)
    body = {"text": TEXT, "usage": {"input_tokens": 100, "output_tokens": 20}, "model": "openai/gpt-5.2", "cost": 0.001}
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        connection.execute("CREATE TABLE answers (digest TEXT, repeat INT, body TEXT, PRIMARY KEY (digest, repeat))")

        def write() -> None:
            for i in range(0, ANSWERS, AT_ONCE):
                connection.execute("BEGIN")
                rows = [(*key, json.dumps(body)) for key in wanted[i : i + AT_ONCE]]
                connection.executemany("INSERT INTO answers VALUES (?, ?, ?)", rows)
                connection.execute("COMMIT")

        def find() -> None:
            one = "SELECT body FROM answers WHERE digest = ? AND repeat = ?"
            found = {key: json.loads(connection.execute(one, key).fetchone()[0]) for key in wanted}
            assert len(found) == ANSWERS

        return timed(write)[0], timed(find)[0]


def batch_ours(url: str, file: Path) -> None:
    """Ask all rows in a batch, and store the answers."""
    requests = {(f"{row:032x}", 0): Request((Message("user", f"{TEXT}{row}"),), max_tokens=50) for row in range(ROWS)}
    batch_job.FIRST_WAIT = batch_job.LONGEST_WAIT = batch_run.FIRST_WAIT = WAIT
    keeper = Answers(file)
    provider = get_provider("m", base_url=f"{url}/v1", api_key="key-0123456789")
    sys.path.append("tests/support")
    assert len(importlib.import_module("batch_runs").ask(keeper, provider, requests)) == ROWS
    keeper.close()


def batch_by_hand(url: str, file: Path) -> None:
    """Ask the same by the bare SDK."""
    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key="key-0123456789")
    with file.open("w", encoding="utf-8") as lines:
        for row in range(ROWS):
            body = {"model": "m", "messages": [{"role": "user", "content": f"{TEXT}{row}"}], "max_tokens": 50}
            line = {"custom_id": str(row), "method": "POST", "url": "/v1/chat/completions", "body": body}
            lines.write(json.dumps(line) + "\n")
    with file.open("rb") as lines:
        uploaded = client.files.create(file=lines, purpose="batch")
    window: Any = "24h"
    batch = client.batches.create(
        input_file_id=uploaded.id, endpoint="/v1/chat/completions", completion_window=window, metadata={"a": "b"}
    )
    while batch.status != "completed":
        time.sleep(WAIT)
        batch = client.batches.retrieve(batch.id)
    found = client.files.content(batch.output_file_id or "").text.splitlines()
    texts = {line["custom_id"]: line["response"]["body"]["choices"][0]["message"] for line in map(json.loads, found)}
    assert len(texts) == ROWS
    client.close()


def memory(act: Callable[[], Any]) -> float:
    """Return the most memory that a call takes, in MB."""
    tracemalloc.start()
    act()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as name:
        folder, names = Path(name), iter(range(1_000))

        def new() -> Path:
            return folder / f"{next(names)}"

        stores = [(store_ours(new()), store_by_hand(new())) for _ in range(RUNS)]
        print(f"| {ANSWERS:,} answers, s | ours | by hand | ratio |\n|---|---:|---:|---:|")
        for number, what in enumerate((f"written, {AT_ONCE:,} at a time", "found")):
            pairs = [(our[number], hand[number]) for our, hand in stores]
            print_row(what, pairs)
        with subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            batch_ours(f"{url}/warm", new())
            batch_by_hand(f"{url}/warm", new())
            asked = list[tuple[tuple[float, float], tuple[float, float]]]()
            for run in range(RUNS):
                ours = timed(partial(batch_ours, f"{url}/o{run}", new()))
                asked.append((ours, timed(partial(batch_by_hand, f"{url}/h{run}", new()))))
            most = memory(lambda: batch_ours(f"{url}/om", new())), memory(lambda: batch_by_hand(f"{url}/hm", new()))
            server.communicate()
        print(f"\n| {ROWS:,} rows in a batch | ours | by hand | ratio |\n|---|---:|---:|---:|")
        print_row("s", [(our[0], hand[0]) for our, hand in asked])
        print_row("CPU s", [(our[1], hand[1]) for our, hand in asked])
        print_row("MB", [most])


def print_row(what: str, pairs: list[tuple[float, float]]) -> None:
    """Print the medians of pairs, and of their ratios."""
    ours, hand = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"| {what} | {ours:.2f} | {hand:.2f} | {statistics.median(one / other for one, other in pairs):.2f} |")


if __name__ == "__main__":
    main()
