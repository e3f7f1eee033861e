"""Ask servers that allow 300 requests a minute, each in its own way: time against the ideal, and requests refused.

A run's governor is driven through simulated time. Answers take 100 ms; a refusal comes after 2 ms, and in the second
column of each pair after 100 ms. The server names no time, the exact time, or the time in whole seconds (retry-after).
*Ideal*: the seconds of a client that knows when each request will be taken. Then servers without a limit that refuse
requests at random, or all of them for some seconds: time against workers that each try again as the SDKs do.

``python -m benchmarks.limits --real`` asks a server on loopback instead, 600 rows in about a minute for each way, and
where there is no limit also by OpenAI's SDK with its own retries.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import random
import statistics
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jupyter_ctx.experiments.asking.governor import Governor

ALLOWED = 300  # a minute
ANSWER, REFUSAL = 0.1, 0.002  # seconds
SHARES = (0.0, 0.01, 0.05, 0.2)  # of requests, refused at random

Decide = Callable[[float], float | None]  # the time of a request -> None: taken, else seconds until one would be


class Bucket:
    """A token bucket: so many at once, refilled evenly."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.at = rate, burst, burst, 0.0

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        self.tokens = min(self.burst, self.tokens + self.rate * (now - self.at))
        self.at = now
        if self.tokens + 1e-9 >= size:
            self.tokens -= size
            return None
        return (size - self.tokens) / self.rate


class Fixed:
    """So many in each window of so many seconds, the first of which began ``phase`` seconds ago."""

    def __init__(self, most: int, window: float, phase: float = 0.0) -> None:
        self.most, self.window, self.phase, self.number, self.count = most, window, phase, -1, 0

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        number = int((now + self.phase) // self.window)
        if number != self.number:
            self.number, self.count = number, 0
        if self.count < self.most:
            self.count += 1
            return None
        return (number + 1) * self.window - self.phase - now


class Sliding:
    """So many in any so many seconds; ``strict``: refused ones count too."""

    def __init__(self, most: int, window: float, *, strict: bool = False) -> None:
        self.most, self.window, self.strict, self.log = most, window, strict, deque[float]()

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        while self.log and self.log[0] <= now - self.window:
            self.log.popleft()
        if len(self.log) < self.most:
            self.log.append(now)
            return None
        if self.strict:
            self.log.append(now)
            return self.log[len(self.log) - self.most] + self.window - now
        return self.log[0] + self.window - now


class AtOnce:
    """So many open requests."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        return None if open_ < self.most else 1.0


class Chance:
    """No limit: one in so many requests is refused, whatever happens, for a second where a time is named."""

    def __init__(self, share: float, seed: int = 1) -> None:
        self.share, self.random = share, random.Random(seed)

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        return 1.0 if self.random.random() < self.share else None


class Outage:
    """No limit, but nothing is taken in a window of so many seconds."""

    def __init__(self, seconds: float, start: float = 0.0) -> None:
        self.start, self.end = start, start + seconds

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        return self.end - now if self.start <= now < self.end else None


class Changing:
    """One limit until a time, then another."""

    def __init__(self, first: Bucket, then: Bucket, at: float) -> None:
        self.first, self.then, self.change = first, then, at

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        self.then.at = max(self.then.at, self.change)
        return (self.first if now < self.change else self.then)(now)


class Shared:
    """A limit that other clients share, who ask so often a second whatever happens."""

    def __init__(self, limit: Bucket, others: float, seed: int) -> None:
        self.limit, self.others, self.chance, self.next = limit, others, random.Random(seed), 0.0

    def __call__(self, now: float, open_: int = 0, size: float = 1.0) -> float | None:
        while self.next <= now:
            self.limit(self.next)
            self.next += self.chance.expovariate(self.others)
        return self.limit(now)


@dataclass
class Outcome:
    seconds: float
    answered: int
    refused: int
    failed: int

    @property
    def share(self) -> float:
        return self.refused / max(1, self.answered + self.refused)


def simulated(  # noqa: C901
    governor,
    server,
    rows: int,
    *,
    told: str = "",
    answer: Callable[[random.Random], float] | float = ANSWER,
    refusal: float = REFUSAL,
    sizes: Callable[[random.Random], float] | None = None,
    seed: int = 1,
    log=None,
    step=1e-4,
) -> Outcome:
    """Run rows through a governor in simulated time."""
    chance, now, number = random.Random(seed), 0.0, itertools.count()
    waiting = deque((0, sizes(chance) if sizes else 1.0) for _ in range(rows))
    again: list = []
    events: list = []  # (when, number, row, began, refused, retry_after)
    open_ = answered = refused = failed = 0
    while waiting or again or events:
        ask = math.inf
        while waiting or again:
            ask = governor.may_start(now)
            if ask > now:
                break
            if again and again[0][0] <= now:
                tries, size = heapq.heappop(again)[2]
            elif waiting:
                tries, size = waiting.popleft()
            else:
                ask = again[0][0]
                break
            governor.started(now)
            wait = server(now, open_, size)
            took = answer(chance) if callable(answer) else answer
            if wait is None:
                open_ += 1
                heapq.heappush(events, (now + took, next(number), (tries + 1, size), now, False, None))
            else:
                after = {"": None, "exact": wait, "whole": float(math.ceil(wait)), "one": 1.0}[told]
                heapq.heappush(events, (now + refusal, next(number), (tries + 1, size), now, True, after))
            now += step  # a request takes the coordinator some time
        nxt = events[0][0] if events else math.inf
        if min(nxt, ask) == math.inf:
            raise RuntimeError(f"deadlock at {now:.2f}")
        now = max(now, min(nxt, ask))
        while events and events[0][0] <= now:
            _, _, row, began, was_refused, after = heapq.heappop(events)
            if was_refused:
                refused += 1
                governor.refused(now, began, after)
                at = governor.retry_at(row[0], now, chance, limited=True, named=after)
                if at is None:
                    failed += 1
                else:
                    heapq.heappush(again, (at, next(number), row))
                if log:
                    log(now, "refused", answered, governor)
            else:
                open_ -= 1
                answered += 1
                governor.succeeded(now, began)
    return Outcome(now, answered, refused, failed)


def ideal_time(server, rows: int, answer: float = ANSWER, most: int = 100) -> float:
    """Return the seconds that rows take where nothing is refused and nothing waits longer than it must."""
    now, ends = 0.0, []
    done = 0
    last = 0.0
    while done < rows:
        ends = [e for e in ends if e > now]
        if len(ends) >= most:
            now = min(ends)
            continue
        wait = server(now, len(ends), 1.0)
        if wait is None:
            done += 1
            ends.append(now + answer)
            last = now + answer
        else:
            now = min([now + wait, *ends]) if isinstance(server, AtOnce) else now + max(wait, 1e-6)
    return last


CASES = {
    "bucket, burst 300": lambda: Bucket(5, 300),
    "bucket, burst 60": lambda: Bucket(5, 60),
    "bucket, burst 10": lambda: Bucket(5, 10),
    "bucket, burst 1": lambda: Bucket(5, 1),
    "fixed minute": lambda: Fixed(300, 60),
    "fixed minute, half past": lambda: Fixed(300, 60, 30),
    "fixed minute, 50 s past": lambda: Fixed(300, 60, 50),
    "fixed 10 s": lambda: Fixed(50, 10, 3),
    "fixed 1 s": lambda: Fixed(5, 1, 0.3),
    "sliding minute": lambda: Sliding(300, 60),
    "sliding 10 s": lambda: Sliding(50, 10),
    "sliding 1 s": lambda: Sliding(5, 1),
    "8 at once": lambda: AtOnce(8),
    "falls to 100": lambda: Changing(Bucket(5, 60), Bucket(100 / 60, 1), 60),
    "rises to 900": lambda: Changing(Bucket(5, 60), Bucket(15, 1), 60),
}


def with_own_retries(server, rows: int, *, told: str, answer: float, refusal: float, seed: int, workers: int = 20):
    """Return the seconds that workers take who each try again after a while, as the SDKs do."""
    chance, left, now = random.Random(seed), rows, 0.0
    ready = [(0.0, number, 0) for number in range(workers)]
    last = 0.0
    while left:
        now, worker, tries = heapq.heappop(ready)
        wait = server(now)
        if wait is None:
            left, last = left - 1, max(last, now + answer)
            heapq.heappush(ready, (now + answer, worker, 0))
        else:
            own = min(0.5 * 2**tries, 8.0) * chance.uniform(0.75, 1.0)
            heapq.heappush(ready, (now + refusal + (wait if told else own), worker, tries + 1))
    return last


def without_limit() -> None:
    """Print what refusals cost that come from no limit."""
    print("\n1000 rows of 0.5 s, 20 at once, refused at random: time / own retries, median and worst of 15 seeds")
    print("(no time named, refused after 2 ms, 200 ms; a second named, the same)")
    for share in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2):
        cells = list[str]()
        for told in ("", "one"):
            for refusal in (REFUSAL, 0.2):
                as_usual: dict[str, Any] = {"told": told, "answer": 0.5, "refusal": refusal}
                ratios = list[float]()
                for seed in range(15):
                    own = with_own_retries(Chance(share, seed), 1_000, seed=seed, **as_usual)
                    out = simulated(Governor(20, 20), Chance(share, seed), 1_000, seed=seed, **as_usual)
                    ratios.append(out.seconds / own)
                cells.append(f"{statistics.median(ratios):5.2f} {max(ratios):5.2f}")
        print(f"{100 * share:3.0f} %   " + "   ".join(cells))
    print("\n1000 rows of 0.1 s, 20 at once, nothing taken at first: seconds lost after that, requests refused")
    for seconds in (3, 10, 60):
        cells = list[str]()
        free = simulated(Governor(20, 20), Outage(0), 1_000).seconds
        for told in ("", "exact"):
            for refusal in (REFUSAL, ANSWER):
                out = simulated(Governor(20, 20), Outage(seconds), 1_000, told=told, refusal=refusal)
                cells.append(f"{out.seconds - seconds - free:5.1f} s {out.refused:4}")
        print(f"{seconds:3} s   " + "   ".join(cells))


class Handler(BaseHTTPRequestHandler):
    """Answers as OpenAI's Chat Completions do, or with a 429."""

    protocol_version = "HTTP/1.1"
    decide: Any = None
    lock = threading.Lock()
    named = False
    refused = taken = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        kind = type(self)
        with self.lock:
            wait = kind.decide(time.monotonic())
            kind.refused += wait is not None
            kind.taken += wait is None
        if wait is not None:
            body, status = b'{"error": {"message": "Rate limit reached", "type": "requests"}}', 429
        else:
            time.sleep(ANSWER)
            chunk = {"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
            answer = {"id": "1", "created": 1, "model": "any", "usage": usage}
            text = json.dumps({**answer, "object": "chat.completion.chunk", "choices": [chunk]})
            body, status = f"data: {text}\n\ndata: [DONE]\n\n".encode(), 200
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if status == 200 else "application/json")
        self.send_header("content-length", str(len(body)))
        if wait is not None and kind.named:
            self.send_header("retry-after", str(math.ceil(wait)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        return


@contextmanager
def served(limit: Callable[..., float | None], *, named: bool) -> Iterator[tuple[str, Any]]:
    """Serve a limit on loopback: its address, and the handler that counts."""
    begun = time.monotonic()
    members = {"decide": staticmethod(lambda now: limit(now - begun)), "named": named}
    handler = type("Limited", (Handler,), members)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", handler
    server.shutdown()


def by_run(address: str, rows: int) -> tuple[float, int]:
    """Return the seconds of a run, and how many rows failed."""
    from jupyter_ctx.experiments.start import sweep

    begun = time.monotonic()
    table = [f"row {number}" for number in range(rows)]
    options = {"store": None, "yes": True, "progress": False, "concurrency": 20, "window": 8_000}
    run = sweep("{{ text }}", table, model="any", base_url=address, **options)
    run.wait()
    return time.monotonic() - begun, sum(result.failed for result in run.results)


def by_sdk(address: str, rows: int) -> float:
    """Return the seconds of twenty threads with OpenAI's SDK and its own retries."""
    import openai

    begun = time.monotonic()
    client = openai.OpenAI(base_url=address, api_key="none", max_retries=50)

    def ask(number: int) -> None:
        prompt: Any = [{"role": "user", "content": f"row {number}"}]
        with client.chat.completions.create(model="any", messages=prompt, stream=True) as events:
            for _ in events:
                pass

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(ask, range(rows)))
    return time.monotonic() - begun


def real(rows: int = 600) -> None:
    """Print what runs against a real server take."""
    for name in ("bucket, burst 60", "sliding minute", "fixed minute, half past"):
        for named in (False, True):
            with served(CASES[name](), named=named) as (address, handler):
                seconds, failed = by_run(address, rows)
            ideal = ideal_time(CASES[name](), rows, most=20)
            names = "retry-after" if named else "no time"
            share = 100 * handler.refused / (handler.refused + handler.taken)
            print(
                f"{name:<26}{names:<14}{ideal:>6.1f} s{seconds / ideal:>7.2f}{share:>7.1f} %{failed:>4} failed",
                flush=True,
            )
    print("without a limit: a run, seconds; OpenAI's SDK, seconds; failed")
    free: dict[str, Callable[[], Any]] = {
        f"{share:.0%} at random": lambda share=share: Chance(share) for share in SHARES
    }
    free |= {f"nothing for {seconds} s": lambda seconds=seconds: Outage(seconds) for seconds in (3, 10)}
    for name, make in free.items():
        for named in (False, True):
            with served(make(), named=named) as (address, _):
                seconds, failed = by_run(address, rows)
            with served(make(), named=named) as (address, _):
                plain = by_sdk(address, rows)
            names = "retry-after" if named else "no time"
            print(f"{name:<26}{names:<14}{seconds:>6.1f}{plain:>7.1f}{failed:>4}", flush=True)


def main() -> None:
    """Print the tables."""
    if "--real" in sys.argv:
        real()
        return
    without_limit()
    print("\ntime / ideal and refused: no time named; exactly; in whole seconds (each: refused after 2 ms, 100 ms)")
    for rows in (600, 1_000):
        for start, most in ((20, 20), (20, 100)):
            print(f"{rows} rows, {start} to {most} at once")
            for name, make in CASES.items():
                best, cells = ideal_time(make(), rows, most=most), list[str]()
                for told in ("", "exact", "whole"):
                    for refusal in (REFUSAL, ANSWER):
                        out = simulated(Governor(most, start), make(), rows, told=told, refusal=refusal)
                        bad = " " if out.seconds <= 1.2 * best and out.share <= 0.05 and not out.failed else "*"
                        cells.append(f"{out.seconds / best:5.2f} {100 * out.share:4.1f} %{bad}")
                print(f"{name:<26}{best:7.1f}  " + "  ".join(cells))


if __name__ == "__main__":
    main()
