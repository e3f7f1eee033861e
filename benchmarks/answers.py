"""Measure storing and finding answers of experiments, beside doing it by hand.

*By hand* is a table of JSON texts written and read by sqlite3 alone.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.storage.stored_answers import AnswerKey, Answers, StoredAnswer

ANSWERS, AT_ONCE = 100_000, 1_000
RUNS = 3
TEXT = "It sailed on through the night. " * 10


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


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder, names = Path(name), iter(range(1_000))

        def new() -> Path:
            return folder / f"{next(names)}"

        stores = [(store_ours(new()), store_by_hand(new())) for _ in range(RUNS)]
        print(f"| {ANSWERS:,} answers, s | ours | by hand | ratio |\n|---|---:|---:|---:|")
        for number, what in enumerate((f"written, {AT_ONCE:,} at a time", "found")):
            pairs = [(our[number], hand[number]) for our, hand in stores]
            print_row(what, pairs)


def print_row(what: str, pairs: list[tuple[float, float]]) -> None:
    """Print the medians of pairs, and of their ratios."""
    ours, hand = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"| {what} | {ours:.2f} | {hand:.2f} | {statistics.median(one / other for one, other in pairs):.2f} |")


if __name__ == "__main__":
    main()
