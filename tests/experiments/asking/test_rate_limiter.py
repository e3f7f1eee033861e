"""A rate limiter is driven through simulated time against servers that count requests in different ways."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx.experiments.asking.rate_limiter import BUSY_TRIES, MOST_AT_ONCE, START_AT_ONCE, RateLimiter

Limit = Callable[[float, int], float | None]  # the time and the open requests -> None: taken; else seconds to wait


class Outcome(NamedTuple):
    seconds: float
    refused: int
    most_open: int
    starts: list[float]


def bucket(rate: float, burst: float) -> Limit:
    tokens, at = burst, 0.0

    def decide(now: float, _open: int) -> float | None:
        nonlocal tokens, at
        tokens, at = min(burst, tokens + rate * (now - at)), now
        if tokens < 1 - 1e-9:
            return (1 - tokens) / rate
        tokens -= 1
        return None

    return decide


def window(most: int, seconds: float, *, phase: float = 0.0) -> Limit:
    counts: dict[int, int] = {}

    def decide(now: float, _open: int) -> float | None:
        number = int((now + phase) // seconds)
        counts[number] = counts.get(number, 0) + 1
        return None if counts[number] <= most else (number + 1) * seconds - phase - now

    return decide


def log(most: int, seconds: float) -> Limit:
    taken = deque[float]()

    def decide(now: float, _open: int) -> float | None:
        while taken and taken[0] <= now - seconds:
            taken.popleft()
        if len(taken) >= most:
            return taken[0] + seconds - now
        taken.append(now)
        return None

    return decide


def by_chance(share: float, seed: int) -> Limit:
    chance = random.Random(seed)
    return lambda _now, _open: 1.0 if chance.random() < share else None


def outage(start: float, end: float) -> Limit:
    return lambda now, _open: end - now if start <= now < end else None


def at_once(most: int) -> Limit:
    return lambda _now, open_: None if open_ < most else 1.0


def run(
    limiter: RateLimiter, limit: Limit, rows: int, *, named: bool = False, answer: float = 0.1, refusal: float = 0.002,
    seed: int = 1,
) -> Outcome:  # fmt: skip
    chance, now, numbers = random.Random(seed), 0.0, itertools.count()
    waiting, again = deque([0] * rows), list[tuple[float, int, int]]()
    ends = list[tuple[float, int, int, float, bool, float | None]]()
    open_ = refused = most_open = 0
    starts = list[float]()
    while waiting or again or ends:
        at = 0.0
        while (again and again[0][0] <= now) or waiting:
            at = limiter.may_start(now)
            if at > now:
                break
            tries = heapq.heappop(again)[2] if again and again[0][0] <= now else waiting.popleft()
            limiter.started(now)
            starts.append(now)
            wait = limit(now, open_)
            took = answer * chance.uniform(0.8, 1.2) if wait is None else refusal
            open_ += wait is None
            most_open = max(most_open, open_)
            told = wait if named else None
            heapq.heappush(ends, (now + took, next(numbers), tries + 1, now, wait is not None, told))
            now += 1e-4
        soonest = ends[0][0] if ends else math.inf
        now = max(
            now, min(soonest, at if at > now else math.inf, again[0][0] if again and again[0][0] > now else math.inf)
        )
        assert now < math.inf, "nothing is open, and nothing may start"
        while ends and ends[0][0] <= now:
            _, number, tries, began, was_refused, named_wait = heapq.heappop(ends)
            if not was_refused:
                open_ -= 1
                limiter.succeeded(now, began)
                continue
            refused += 1
            limiter.refused(now, began, named_wait or 0.0)
            when = limiter.retry_at(tries, now, chance, limited=True, named=named_wait or 0.0)
            assert when is not None, "a row failed"
            heapq.heappush(again, (when, number, tries))
    return Outcome(now, refused, most_open, starts)


def test_without_a_number_requests_at_once_grow_from_twenty_to_a_hundred() -> None:
    found = run(RateLimiter(), lambda _now, _open: None, 6_000, answer=1.0)
    assert sum(start < 0.5 for start in found.starts) == START_AT_ONCE
    assert found.most_open == MOST_AT_ONCE


def test_a_thousand_rows_are_not_slowed_where_nothing_is_refused() -> None:
    found = run(RateLimiter(20, 20), lambda _now, _open: None, 1_000)
    bare = 1_000 / 20 * 0.1
    assert found.refused == 0
    assert found.seconds <= 1.1 * bare


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("limit", "ideal"),
    [
        (lambda: bucket(5, 300), 140), (lambda: bucket(5, 60), 188), (lambda: bucket(5, 10), 198),
        (lambda: window(300, 60), 180), (lambda: log(300, 60), 180), (lambda: window(5, 1, phase=0.3), 199),
    ],
    ids=["bucket 300", "bucket 60", "bucket 10", "fixed minute", "sliding minute", "fixed second"],
)  # fmt: skip
def test_three_hundred_a_minute_are_used_with_few_refusals(
    limit: Callable[[], Limit], ideal: float, named: bool
) -> None:
    found = run(RateLimiter(), limit(), 1_000, named=named)
    assert found.seconds <= 1.35 * ideal
    assert found.refused <= (0.08 if named else 0.15) * (1_000 + found.refused)


def test_a_limit_on_open_requests_is_kept() -> None:
    found = run(RateLimiter(20, 20), at_once(8), 600, answer=5.0)
    assert found.seconds <= 1.35 * 600 / 8 * 5.0
    assert found.refused <= 0.1 * 600


def test_a_limit_that_changes_is_learned_anew() -> None:
    first, then = bucket(5, 60), bucket(15, 1)
    found = run(RateLimiter(), lambda now, open_: (first if now < 60 else then)(now, open_), 1_000)
    assert found.seconds <= 1.35 * 103


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("refusal", [0.002, 0.2])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2])
def test_refusals_at_random_cost_little_more_than_with_the_own_retries_of_the_sdk(
    share: float, refusal: float, named: bool
) -> None:
    wait = 1.0 if named else 0.44  # seconds until an SDK asks again, each of twenty workers for itself
    usual = 600 / 20 * (0.5 + share / (1 - share) * (refusal + wait))
    given = {"named": named, "answer": 0.5, "refusal": refusal}
    found = [run(RateLimiter(20, 20), by_chance(share, seed), 600, seed=seed, **given).seconds for seed in range(7)]
    assert sorted(found)[3] <= 1.2 * usual
    assert max(found) <= 1.6 * usual


def test_many_refusals_at_random_do_not_slow_a_run_ever_more() -> None:
    for seed in range(7):
        found = run(RateLimiter(20, 20), by_chance(0.5, seed), 2_000, answer=0.5, seed=seed)
        assert found.seconds <= 5 * 165  # which twenty workers take that each wait ever longer, as the SDKs do


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("seconds", [3, 10, 60])
def test_a_run_that_begins_while_nothing_is_taken_is_soon_back_at_full_speed(seconds: float, named: bool) -> None:
    found = run(RateLimiter(20, 20), outage(0.0, seconds), 1_000, named=named)
    free = run(RateLimiter(20, 20), lambda _now, _open: None, 1_000).seconds
    assert found.seconds <= seconds + free + 6.0
    probes = [start for start in found.starts if 1.0 < start < seconds]
    pauses = [after - before for before, after in itertools.pairwise(probes)]
    assert len(probes) < (1 if named else 3 + seconds / 2), "a time that is named pauses all rows"
    assert pauses == sorted(pauses, key=lambda pause: round(pause, 1)), "else one goes first, ever later"


def test_a_single_refusal_lets_all_others_start() -> None:
    limiter = RateLimiter(20, 20)
    for number in range(20):
        limiter.started(number * 1e-4)
    limiter.refused(0.1, 7e-4, 30.0)
    assert limiter.may_start(0.1) <= 0.1
    assert limiter.retry_at(1, 0.1, random.Random(1), limited=True, named=30.0) == pytest.approx(30.1, abs=0.1)
    assert 0.2 < (limiter.retry_at(1, 0.0, random.Random(1), limited=True, named=0.0) or 0.0) < 0.6


def test_a_rate_limit_does_not_use_up_a_row_but_faults_do() -> None:
    limiter, chance = RateLimiter(20, 20), random.Random(1)
    assert all(limiter.retry_at(tries, 5.0, chance, limited=True, named=0.0) is not None for tries in range(1, 100))
    waits = [limiter.retry_at(tries, 0.0, chance, limited=False, named=0.0) for tries in range(1, BUSY_TRIES)]
    assert all(wait is not None and wait > 0 for wait in waits)
    assert limiter.retry_at(BUSY_TRIES, 0.0, chance, limited=False, named=0.0) is None


@settings(max_examples=150, deadline=None)
@given(
    most=st.integers(1, 40),
    limit=st.one_of(
        st.builds(bucket, st.floats(0.5, 50), st.floats(1, 100)),
        st.builds(window, st.integers(1, 100), st.floats(0.5, 70)),
        st.builds(log, st.integers(1, 100), st.floats(0.5, 70)),
        st.builds(at_once, st.integers(1, 30)),
    ),
    named=st.booleans(),
    answer=st.floats(0.01, 30),
    refusal=st.floats(0.001, 3),
    seed=st.integers(0, 99),
)
def test_whatever_the_limit_every_row_is_answered(
    most: int, limit: Limit, named: bool, answer: float, refusal: float, seed: int
) -> None:
    found = run(RateLimiter(most, min(most, 20)), limit, 150, named=named, answer=answer, refusal=refusal, seed=seed)
    assert found.most_open <= most


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("suf"), st.floats(0, 20), st.just(0.0) | st.floats(0, 100)), max_size=80))
def test_something_is_open_or_may_start_at_a_finite_time(events: list[tuple[str, float, float]]) -> None:
    limiter, now, open_ = RateLimiter(7, 3), 0.0, deque[float]()
    for kind, seconds, named in events:
        at = limiter.may_start(now)
        if at <= now:
            limiter.started(now)
            open_.append(now)
        else:
            assert at < math.inf or open_
        assert len(open_) <= 7
        now += seconds
        if open_:
            began = open_.pop()
            if kind == "s":
                limiter.succeeded(now, began)
            elif kind == "f":
                limiter.failed()
            else:
                limiter.refused(now, began, named)
    while open_:
        limiter.succeeded(now, open_.pop())
    for _ in range(5):
        now = max(now, limiter.may_start(now))
    assert limiter.may_start(now) <= now
