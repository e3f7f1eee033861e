"""The coordinator of a run: which request starts when, and what becomes of its answer.

One thread decides everything here; the requests themselves run in an executor. Every answer is written before it is
counted as done, so that a run that is killed asks only again what was on its way.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, field, replace
from pickle import PicklingError
from typing import NamedTuple

from ...conversation.messages import new_id
from ...models.purse import Purse
from ...session.ask import Ask, Asker
from ...session.threads import Threads
from ...storage.stored_answers import Answers
from ..row_request import RowAnswer, RowRequest, as_stored
from ..run_options import Options
from .rate_limiter import MOST_AT_ONCE, START_AT_ONCE, RateLimiter
from .work import Here, Work, close_run, open_run, own_process, work

NO_REQUEST = -1
LOCAL_AT_ONCE = 2  # requests to a local model: one is answered while the next is on its way
TICK = 0.25  # seconds between looks at whether Python is ending
BROKEN = ("cut", "interrupted")  # how an answer ends whose connection was closed
HOPELESS = (BrokenExecutor, CancelledError, ImportError, AttributeError, TypeError, PicklingError)  # for all requests
PASSING = ("busy", "limited")  # faults that are not kept: the next run asks again
LONG_PAUSE = 3.0  # seconds of a pause from which on it is told
BUSY_FROM = 3  # requests of one endpoint that are asked again: from which on it is told
HOPELESS_AFTER = 5  # requests that were given up before any was answered: the server is not there
LAST_WAIT = 0.8  # seconds that a stopped run waits for requests on their way


class Sent(NamedTuple):
    """A request on its way, when it began, the money reserved for it, and its future."""

    job: RowRequest
    began: float
    worst: float | None
    future: Future[RowAnswer]


class Ended(NamedTuple):
    """How a run ended: ``why`` is empty where every request was answered; ``failed``: whether that is an error."""

    why: str = ""
    failed: bool = False


@dataclass(slots=True, eq=False)
class EndpointQueue:
    """The requests to one endpoint that wait, and what decides when they start.

    ``warm`` are groups whose prompt cache is written; ``first`` are those whose first request is on its way.
    """

    limiter: RateLimiter
    waiting: dict[int | None, deque[RowRequest]] = field(default_factory=dict)  # by group
    again: list[tuple[float, int, RowRequest]] = field(default_factory=list)  # a heap of those that are tried again
    warm: set[int | None] = field(default_factory=lambda: {None})
    first: set[int | None] = field(default_factory=set)
    soon: deque[RowRequest] = field(default_factory=deque)  # what an answer has led to, before new rows
    open: int = 0
    answered: bool = False  # any request at all
    given_up: int = 0  # requests, after several tries each

    def add(self, job: RowRequest) -> None:
        """Let a request wait at the end of its group."""
        self.waiting.setdefault(job.group, deque()).append(job)

    def next(self, now: float) -> RowRequest | None:
        """Return the next request that may start, and take it out."""
        if self.soon:
            return self.soon.popleft()
        if self.again and self.again[0][0] <= now:
            job = heapq.heappop(self.again)[2]
            if job.group not in self.warm:
                self.first.add(job.group)
            return job
        for group, jobs in self.waiting.items():
            if group in self.first:
                continue
            if group not in self.warm:
                self.first.add(group)
            job = jobs.popleft()
            if not jobs:
                del self.waiting[group]
            return job
        return None

    def put_back(self, job: RowRequest) -> None:
        """Return a request that could not start to the head of the line."""
        self.first.discard(job.group)
        self.waiting = {job.group: deque([job, *self.waiting.pop(job.group, ())]), **self.waiting}

    def begun(self, job: RowRequest) -> None:
        """Let the other requests of a group start: the first token came, or the first request failed."""
        self.first.discard(job.group)
        self.warm.add(job.group)

    def retry(self, job: RowRequest, at: float, number: int) -> None:
        """Try a request again at a time; it has written no prompt cache."""
        self.first.discard(job.group)
        heapq.heappush(self.again, (at, number, job))

    @property
    def is_empty(self) -> bool:
        """Whether no request waits or is on its way."""
        return not (self.waiting or self.again or self.soon or self.open)


class Engine:
    """Asks the requests of a run until all are answered, the money is spent, somebody stops it, or nothing can succeed.

    Queues of local models are served one after the other, since each needs a server in this process. An answer is
    stored in ``answers`` before it counts as done. ``waits`` is called again and again while the run goes on.
    """

    def __init__(
        self, asker: Asker, answers: Answers, options: Options, purse: Purse, waits: Callable[[], object]
    ) -> None:
        self._run, self._asker, self._models = new_id(), asker, asker.models
        self._answers, self._options, self._purse, self._waits = answers, options, purse, waits
        self._executor = options.executor or Threads(options.concurrency or MOST_AT_ONCE, "jupyter_ctx ask")
        self._queues: dict[str, EndpointQueue] = {}
        self._events = queue.SimpleQueue[tuple[int, Future[RowAnswer] | None]]()
        self._open: dict[int, Sent] = {}  # by number
        self._numbers, self._chance = itertools.count(), random.Random(self._run)
        self._stopped = threading.Event()
        self._ended: Ended | None = None

    @property
    def away(self) -> str:
        """What the run waits for, in words; empty where nothing is worth saying."""
        if self._ended is not None:
            return ""
        queues = [each for each in tuple(self._queues.values()) if not each.is_empty]
        wait = max((each.limiter.paused_until for each in queues), default=0.0) - time.monotonic()
        if wait > LONG_PAUSE:
            return f"the server asks for a pause, {wait:,.0f} s are left"
        again = sum(len(each.again) for each in queues if not each.answered or len(each.again) >= BUSY_FROM)
        return f"{again:,} requests failed and are asked again" if again else ""

    def add(self, jobs: Iterable[RowRequest], *, soon: bool = False) -> None:
        """Add requests, ``soon``: before new rows; in the coordinator's thread, or before it runs."""
        for job in jobs:
            if job.lane not in self._queues:
                self._queues[job.lane] = EndpointQueue(self._limiter(job.lane))
            if soon:
                self._queues[job.lane].soon.append(job)
            else:
                self._queues[job.lane].add(job)

    def stop(self) -> None:
        """Stop as soon as may be, from any thread; answers that came are kept."""
        self._stopped.set()
        self._models.close()
        self._events.put((NO_REQUEST, None))

    def give_up(self, why: str) -> None:
        """Send nothing more, in the coordinator's thread: no other request would succeed either."""
        self._ended = self._ended or Ended(why, failed=True)

    @property
    def is_stopped(self) -> bool:
        """Whether nothing more is sent."""
        return self._stopped.is_set()

    def begun(self, number: int) -> None:
        """Hear that the first token of a request came, from any thread."""
        self._events.put((number, None))

    def run(self) -> Ended:
        """Ask everything, and return how that ended."""
        open_run(self._run, Here(self._asker, self.begun, self._stopped.is_set))
        try:
            while self._ended is None:
                self._waits()
                wait = self._start()
                self._ended = self._ended or self._outcome()
                if self._ended is None:
                    self._take(wait)
            self._leave(self._ended)
            return self._ended
        finally:
            if self._open:
                self._stopped.set()
                self._models.close()
                self._cancel()
            close_run(self._run)

    def end(self) -> None:
        """Let go of the threads: the run has ended, and its answers are stored."""
        if self._options.executor is None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def _limiter(self, lane: str) -> RateLimiter:
        if is_local(lane):
            return RateLimiter(LOCAL_AT_ONCE, LOCAL_AT_ONCE)
        most = self._options.concurrency
        return RateLimiter(most or MOST_AT_ONCE, most or START_AT_ONCE)

    def _outcome(self) -> Ended | None:
        """Return how the run ended, once it has."""
        if not threading.main_thread().is_alive():  # Python is ending
            self.stop()
        if self.is_stopped:
            return Ended("stopped")
        is_busy = self._open or not all(each.is_empty for each in self._queues.values())
        return None if is_busy else Ended()

    def _start(self) -> float:
        """Start every request that may start now; return the seconds until another one may."""
        wait = TICK
        for endpoint in [] if self.is_stopped else self._served():
            while self._ended is None:
                now = time.monotonic()
                at = endpoint.limiter.may_start(now)
                if at > now:
                    wait = min(wait, at - now)
                    break
                job = endpoint.next(now)
                if job is None:
                    wait = min([wait, *(max(0.0, at - now) for at, *_ in endpoint.again[:1])])
                    break
                if not self._submit(endpoint, job, now):
                    break
        return wait

    def _served(self) -> list[EndpointQueue]:
        """Return the queues that may start requests: of those of local models, only the first with any."""
        turn = next((name for name, each in self._queues.items() if is_local(name) and not each.is_empty), None)
        return [each for name, each in self._queues.items() if not is_local(name) or name == turn]

    def _submit(self, endpoint: EndpointQueue, job: RowRequest, now: float) -> bool:
        """Send one request; return whether there was money for it."""
        ask = job.ask
        worst = job.worst(ask)
        if not self._purse.reserve(worst):
            endpoint.put_back(job)
            if not self._open:
                self._ended = Ended(self._purse.said(worst))
            return False
        number = next(self._numbers)
        job.tries += 1
        endpoint.open += 1
        endpoint.limiter.started(now)
        try:
            future = self._executor.submit(work, self._work(ask, number))
        except Exception as error:  # it was shut down, or it died
            self._ended = Ended(_of_the_executor(error), failed=True)
            endpoint.open -= 1
            self._purse.settle(worst, 0.0)
            return False
        self._open[number] = Sent(job, now, worst, future)
        future.add_done_callback(lambda done: self._events.put((number, done)))
        return True

    def _work(self, ask: Ask, number: int) -> Work:
        return Work(self._run, ask, number, own_process(), self._why_only_here(ask))

    def _why_only_here(self, ask: Ask) -> str:
        """Return why no other process can ask this; empty where any can."""
        if self._models.has_guest:
            return f"{ask.model}: a provider that was handed in cannot be sent to another process"
        if self._models.has_key(ask.settings):
            where = ask.settings.base_url
            return f"{where}: its key is in the memory of the process that began the run, and is not sent to others"
        return ""

    def _take(self, wait: float) -> None:
        """Wait for something to happen, and deal with all that has happened."""
        happened = list[tuple[int, Future[RowAnswer] | None]]()
        try:
            happened.append(self._events.get(timeout=wait))
            while True:
                happened.append(self._events.get_nowait())
        except queue.Empty:
            pass
        came = list[tuple[RowRequest, RowAnswer]]()
        for number, future in happened:
            if future is None:
                if number in self._open:
                    job = self._open[number].job
                    self._queues[job.lane].begun(job)
            elif number in self._open:
                came += self._finished(number, future)
        lasting = [(job.key, as_stored(answer)) for job, answer in came if answer.fault not in PASSING]
        if lasting:
            self._answers.keep(lasting)
        for job, answer in came:
            job.done(answer, False)

    def _finished(self, number: int, future: Future[RowAnswer]) -> list[tuple[RowRequest, RowAnswer]]:
        """Settle a request that has ended; return it where it is done and need not be tried again."""
        job, began, worst, _ = self._open.pop(number)
        endpoint, now, answer = self._queues[job.lane], time.monotonic(), _result_of(future)
        endpoint.open -= 1
        cost = answer.reply.cost if answer.reply is not None else None if answer.billed else 0.0
        self._purse.settle(worst, cost)
        answer = _without_cut(answer)
        _tell(endpoint.limiter, answer, now, began)
        if answer.fault == "run":
            self._ended = self._ended or Ended(answer.error, failed=True)
            return []
        if answer.fault in PASSING:
            if self._stopped.is_set() or self._ended is not None:
                return []
            is_limited, named = answer.fault == "limited", answer.retry_after or 0.0
            at = endpoint.limiter.retry_at(job.tries, now, self._chance, limited=is_limited, named=named)
            if at is not None:
                endpoint.retry(job, at, number)
                return []
            endpoint.given_up += 1
            if not endpoint.answered and endpoint.given_up >= HOPELESS_AFTER:
                why = f"{answer.error} {endpoint.given_up} requests failed several times, and none was answered."
                self._ended = self._ended or Ended(why, failed=True)
                return []
        else:
            endpoint.answered = True
        endpoint.begun(job)
        if self._stopped.is_set() and (answer.reply is None or answer.reply.stop_reason in BROKEN):
            return []  # its connection was closed
        return [(job, answer)]

    def _leave(self, ended: Ended) -> None:
        """Let requests on their way end: for a moment where others failed, whole where the money is spent."""
        until = float("inf")
        if ended.failed:
            until = time.monotonic() + LAST_WAIT
            self._cancel()
        while self._open and time.monotonic() < until:
            if self._stopped.is_set() or not threading.main_thread().is_alive():
                self._stopped.set()
                until = min(until, time.monotonic() + LAST_WAIT)
                self._models.close()  # again each time: one may have connected meanwhile
                self._cancel()
            self._take(min(TICK, max(0.0, until - time.monotonic())))

    def _cancel(self) -> None:
        """Cancel the requests that have not begun."""
        for number, sent in list(self._open.items()):
            if sent.future.cancel():
                del self._open[number]
                self._queues[sent.job.lane].open -= 1
                self._purse.settle(sent.worst, 0.0)


def is_local(lane: str) -> bool:
    """Return whether a lane is that of a model that runs in this process."""
    return lane.startswith("local ")


def _without_cut(answer: RowAnswer) -> RowAnswer:
    """Return a broken-off answer as a fault that another try may mend; what came is kept where none does."""
    if answer.reply is None or answer.reply.stop_reason != "cut" or answer.fault:
        return answer
    return replace(answer, error="The answer broke off before its end, in every try.", fault="busy")


def _tell(limiter: RateLimiter, answer: RowAnswer, now: float, began: float) -> None:
    """Tell the rate limiter how a request ended that began at a time."""
    if answer.fault == "limited":
        limiter.refused(now, began, answer.retry_after or 0.0)
    elif answer.fault == "busy":
        limiter.failed()
    else:
        limiter.succeeded(now, began)


def _result_of(future: Future[RowAnswer]) -> RowAnswer:
    """Return what became of a request. An executor that died ends the run, a worker that died does not."""
    error = CancelledError("it cancelled a request") if future.cancelled() else future.exception()
    if error is None:
        return future.result()
    return RowAnswer(error=_of_the_executor(error), fault="run" if isinstance(error, HOPELESS) else "busy", billed=True)


def _of_the_executor(error: BaseException) -> str:
    return f"The executor failed ({type(error).__name__}: {str(error) or 'it said no more'}): begin another one."
