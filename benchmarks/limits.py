"""Ask servers that allow 300 requests a minute, each in its own way: time against the ideal, and requests refused.

A run's rate limiter is driven through simulated time. Answers take 100 ms; a refusal comes after 2 ms, and in the
second column of each pair after 100 ms. The server names no time, the exact time, or whole seconds (retry-after).
*Ideal*: the seconds of a client that knows when each request will be taken. Then servers without a limit that refuse
requests at random, or all of them for some seconds: time against workers that each try again as the SDKs do.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import statistics
from collections import deque
from dataclasses import dataclass
from typing import Any

from jupyter_ctx.experiments.asking.rate_limiter import RateLimiter

ANSWER, REFUSAL = 0.1, 0.002  # seconds
STEP = 1e-4  # that a request takes the coordinator


class Bucket:
    """A token bucket: so many at once, refilled evenly."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.at = rate, burst, burst, 0.0

    def __call__(self, now: float, open_: int = 0) -> float | None:
        self.tokens = min(self.burst, self.tokens + self.rate * (now - self.at))
        self.at = now
        if self.tokens + 1e-9 >= 1:
            self.tokens -= 1
            return None
        return (1 - self.tokens) / self.rate


class Fixed:
    """So many in each window of so many seconds, the first of which began ``phase`` seconds ago."""

    def __init__(self, most: int, window: float, phase: float = 0.0) -> None:
        self.most, self.window, self.phase, self.number, self.count = most, window, phase, -1, 0

    def __call__(self, now: float, open_: int = 0) -> float | None:
        number = int((now + self.phase) // self.window)
        if number != self.number:
            self.number, self.count = number, 0
        if self.count < self.most:
            self.count += 1
            return None
        return (number + 1) * self.window - self.phase - now


class Sliding:
    """So many in any so many seconds."""

    def __init__(self, most: int, window: float) -> None:
        self.most, self.window, self.log = most, window, deque[float]()

    def __call__(self, now: float, open_: int = 0) -> float | None:
        while self.log and self.log[0] <= now - self.window:
            self.log.popleft()
        if len(self.log) < self.most:
            self.log.append(now)
            return None
        return self.log[0] + self.window - now


class AtOnce:
    """So many open requests."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, now: float, open_: int = 0) -> float | None:
        return None if open_ < self.most else 1.0


class Chance:
    """No limit: one in so many requests is refused, whatever happens, for a second where a time is named."""

    def __init__(self, share: float, seed: int = 1) -> None:
        self.share, self.random = share, random.Random(seed)

    def __call__(self, now: float, open_: int = 0) -> float | None:
        return 1.0 if self.random.random() < self.share else None


class Outage:
    """No limit, but nothing is taken in a window of so many seconds."""

    def __init__(self, seconds: float, start: float = 0.0) -> None:
        self.start, self.end = start, start + seconds

    def __call__(self, now: float, open_: int = 0) -> float | None:
        return self.end - now if self.start <= now < self.end else None


class Changing:
    """One limit until a time, then another."""

    def __init__(self, first: Bucket, then: Bucket, at: float) -> None:
        self.first, self.then, self.change = first, then, at

    def __call__(self, now: float, open_: int = 0) -> float | None:
        self.then.at = max(self.then.at, self.change)
        return (self.first if now < self.change else self.then)(now)


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
    limiter,
    server,
    rows: int,
    *,
    told: str = "",
    answer: float = ANSWER,
    refusal: float = REFUSAL,
    seed: int = 1,
) -> Outcome:
    """Run rows through a rate limiter in simulated time."""
    chance, now, number = random.Random(seed), 0.0, itertools.count()
    waiting = rows
    again: list = []  # (when, number, tries)
    events: list = []  # (when, number, tries, began, refused, retry_after)
    open_ = answered = refused = failed = 0
    while waiting or again or events:
        ask = math.inf
        while waiting or again:
            ask = limiter.may_start(now)
            if ask > now:
                break
            if again and again[0][0] <= now:
                tries = heapq.heappop(again)[2]
            elif waiting:
                waiting, tries = waiting - 1, 0
            else:
                ask = again[0][0]
                break
            limiter.started(now)
            wait = server(now, open_)
            if wait is None:
                open_ += 1
                heapq.heappush(events, (now + answer, next(number), tries + 1, now, False, None))
            else:
                after = {"": None, "exact": wait, "whole": float(math.ceil(wait)), "one": 1.0}[told]
                heapq.heappush(events, (now + refusal, next(number), tries + 1, now, True, after))
            now += STEP
        nxt = events[0][0] if events else math.inf
        if min(nxt, ask) == math.inf:
            raise RuntimeError(f"deadlock at {now:.2f}")
        now = max(now, min(nxt, ask))
        while events and events[0][0] <= now:
            _, _, tries, began, was_refused, after = heapq.heappop(events)
            if was_refused:
                refused += 1
                limiter.refused(now, began, after or 0.0)
                at = limiter.retry_at(tries, now, chance, limited=True, named=after or 0.0)
                if at is None:
                    failed += 1
                else:
                    heapq.heappush(again, (at, next(number), tries))
            else:
                open_ -= 1
                answered += 1
                limiter.succeeded(now, began)
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
        wait = server(now, len(ends))
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
                    out = simulated(RateLimiter(20, 20), Chance(share, seed), 1_000, seed=seed, **as_usual)
                    ratios.append(out.seconds / own)
                cells.append(f"{statistics.median(ratios):5.2f} {max(ratios):5.2f}")
        print(f"{100 * share:3.0f} %   " + "   ".join(cells))
    print("\n1000 rows of 0.1 s, 20 at once, nothing taken at first: seconds lost after that, requests refused")
    for seconds in (3, 10, 60):
        cells = list[str]()
        free = simulated(RateLimiter(20, 20), Outage(0), 1_000).seconds
        for told in ("", "exact"):
            for refusal in (REFUSAL, ANSWER):
                out = simulated(RateLimiter(20, 20), Outage(seconds), 1_000, told=told, refusal=refusal)
                cells.append(f"{out.seconds - seconds - free:5.1f} s {out.refused:4}")
        print(f"{seconds:3} s   " + "   ".join(cells))


def main() -> None:
    """Print the tables."""
    without_limit()
    print("\ntime / ideal and refused: no time named; exactly; in whole seconds (each: refused after 2 ms, 100 ms)")
    for rows in (600, 1_000):
        for start, most in ((20, 20), (20, 100)):
            print(f"{rows} rows, {start} to {most} at once")
            for name, make in CASES.items():
                best, cells = ideal_time(make(), rows, most=most), list[str]()
                for told in ("", "exact", "whole"):
                    for refusal in (REFUSAL, ANSWER):
                        out = simulated(RateLimiter(most, start), make(), rows, told=told, refusal=refusal)
                        bad = " " if out.seconds <= 1.2 * best and out.share <= 0.05 and not out.failed else "*"
                        cells.append(f"{out.seconds / best:5.2f} {100 * out.share:4.1f} %{bad}")
                print(f"{name:<26}{best:7.1f}  " + "  ".join(cells))


if __name__ == "__main__":
    main()
