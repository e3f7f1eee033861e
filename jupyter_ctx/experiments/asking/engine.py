"""The coordinator of a run: which request starts when, and what becomes of its answer.

One thread decides everything here; the requests themselves run in other threads, which never keep Python from ending
(those of ``concurrent.futures`` are waited for), or where an executor of the user's runs them. Every answer is written
before it is counted as done, so that a run that is killed asks only again what was on its way.
"""

from __future__ import annotations

import heapq
import itertools
import os
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import NamedTuple

from ...config.settings import Settings
from ...conversation.schema import Schema
from ...errors import (
    AuthenticationError,
    BudgetExceededError,
    ChatError,
    InvalidAnswerError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    in_words,
)
from ...models.cost_budget import CostBudget
from ...models.pricing import worst_case
from ...models.registry import Models
from ...providers.error_mapping import BUSY
from ...runtime.redaction import Redactor
from ...session.ask import Ask, Asker
from ...session.complete import StreamListener, may_be_billed
from ...storage.stored_answers import AnswerKey, Answers, Fault, Outcome
from .rate_limiter import MOST_AT_ONCE, START_AT_ONCE, RateLimiter

LOCAL_AT_ONCE = 2  # requests to a local model: one is answered while the next is on its way
TICK = 0.25  # seconds between looks at whether Python is ending
BROKEN = ("cut", "interrupted")  # how an answer ends whose connection was closed
OF_THE_RUN = (AuthenticationError, BudgetExceededError, MissingDependencyError, ModelNotFoundError)
OVERLOADED = 529  # the status of a server that asks for fewer requests
PASSING = ("busy", "limited")  # faults that are not kept: the next run asks again
LONG_PAUSE = 3.0  # seconds of a pause from which on it is told
HOPELESS_AFTER = 5  # requests that were given up before any was answered: the server is not there
LAST_WAIT = 0.8  # seconds that a stopped run waits for requests on their way


@dataclass(slots=True, eq=False)
class RowRequest:
    """One request of a run.

    key: what its answer is stored under
    ask: the request
    done: is called with what became of it, and whether it was stored, in the coordinator's thread
    schema: what the answer must be, which is asked for once more where it is not; ``None``: anything will do
    group: of the requests that share a long prefix; one goes first, so that a prompt cache is written once
    tries: how often it was sent
    """

    key: AnswerKey
    ask: Ask
    done: Callable[[Outcome, bool], object]
    schema: Schema | None = None
    group: int | None = None
    tries: int = 0


class Ended(NamedTuple):
    """How a run ended: ``why`` is empty where every request was answered; ``error``: of which type that is, if one."""

    why: str = ""
    error: type[ChatError] | None = None


@dataclass(slots=True, eq=False)
class EndpointQueue:
    """The requests to one endpoint that wait, and what decides when they start."""

    limiter: RateLimiter
    is_local: bool = False  # whether its model runs in this process
    waiting: deque[RowRequest] = field(default_factory=deque)
    held: dict[int, deque[RowRequest]] = field(default_factory=dict)  # by group: until its first one is answered
    again: list[tuple[float, int, RowRequest]] = field(default_factory=list)  # a heap of those that are tried again
    open: int = 0
    answered: bool = False  # any request at all
    given_up: int = 0  # requests, after several tries each

    @property
    def is_empty(self) -> bool:
        """Whether no request waits or is on its way."""
        return not (self.waiting or self.held or self.again or self.open)

    def add(self, job: RowRequest, warm: set[int]) -> None:
        """Let a request wait; of a group that is not ``warm`` only the first may start."""
        if job.group is None or job.group in warm:
            self.waiting.append(job)
        elif job.group in self.held:
            self.held[job.group].append(job)
        else:
            self.held[job.group] = deque()
            self.waiting.append(job)

    def next(self, now: float) -> RowRequest | None:
        """Return the next request that may start, and take it out."""
        if self.again and self.again[0][0] <= now:
            return heapq.heappop(self.again)[2]
        return self.waiting.popleft() if self.waiting else None

    def begun(self, job: RowRequest) -> None:
        """Let the other requests of a group start: the first token came, or the first request failed."""
        if job.group is not None:
            self.waiting.extend(self.held.pop(job.group, ()))


class _Sent(NamedTuple):
    """A request on its way: its queue, when it began, the money reserved for it, and its future in an executor."""

    job: RowRequest
    endpoint: EndpointQueue
    began: float
    worst: float | None
    future: Future[Outcome] | None


class Engine:
    """Asks the requests of a run until all are answered, the money is spent, somebody stops it, or nothing can succeed.

    Queues of local models are served one after the other, since each needs a server in this process. An answer is
    stored in ``answers`` before it counts as done. ``waits`` is called again and again while the run goes on.
    """

    def __init__(
        self,
        asker: Asker,
        answers: Answers,
        cost_budget: CostBudget,
        waits: Callable[[], object],
        executor: Executor | None = None,
        concurrency: int | None = None,
    ) -> None:
        self._asker, self._models = asker, asker.models
        self._answers, self._cost_budget, self._waits = answers, cost_budget, waits
        self._executor, self._concurrency = executor, concurrency
        self._tasks = queue.SimpleQueue[tuple[int, RowRequest] | None]()
        self._threads = 0  # that answer them
        self._queues: dict[str, EndpointQueue] = {}
        self._queue_of: dict[int, tuple[Settings, EndpointQueue]] = {}  # by the identity of settings
        self._warm = set[int]()  # groups whose prompt cache is written
        self._events = queue.SimpleQueue[tuple[int, Outcome | None]]()
        self._open: dict[int, _Sent] = {}  # by number
        self._numbers, self._chance = itertools.count(1), random.Random()
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
        again = sum(job.tries > 0 for each in queues for *_, job in tuple(each.again))  # not those of judges
        return f"{again:,} requests failed and are asked again" if again else ""

    def queue_of(self, settings: Settings) -> EndpointQueue:
        """Return where requests with these settings wait: one endpoint's limits hold for all who ask there."""
        known = self._queue_of.get(id(settings))
        if known is not None:
            return known[1]
        name = self._models.target(settings, ask=False).provider.endpoint
        if name not in self._queues:
            is_local, most = name.startswith("local "), self._concurrency
            limits = (LOCAL_AT_ONCE,) * 2 if is_local else (most or MOST_AT_ONCE, most or START_AT_ONCE)
            self._queues[name] = EndpointQueue(RateLimiter(*limits), is_local)
        self._queue_of[id(settings)] = settings, self._queues[name]
        return self._queues[name]

    def add(self, jobs: Iterable[RowRequest]) -> None:
        """Add the requests of rows, before it runs."""
        for job in jobs:
            self.queue_of(job.ask.settings).add(job, self._warm)

    def add_soon(self, job: RowRequest) -> None:
        """Add what an answer has led to, which goes before new rows; in the coordinator's thread."""
        endpoint = self.queue_of(job.ask.settings)
        heapq.heappush(endpoint.again, (0.0, next(self._numbers), job))

    def stop(self) -> None:
        """Stop as soon as may be, from any thread; answers that came are kept."""
        self._stopped.set()
        self._models.close()
        self.begun(0)

    def give_up(self, why: str, error: type[ChatError] = ChatError) -> None:
        """Send nothing more, in the coordinator's thread: no other request would succeed either."""
        self._ended = self._ended or Ended(why, error)

    def begun(self, number: int) -> None:
        """Hear that the first token of a request came, from any thread."""
        self._events.put((number, None))

    def run(self) -> Ended:
        """Ask everything, and return how that ended."""
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
            for _ in range(self._threads):
                self._tasks.put(None)

    def _outcome(self) -> Ended | None:
        """Return how the run ended, once it has."""
        if not threading.main_thread().is_alive():  # Python is ending
            self.stop()
        if self._stopped.is_set():
            return Ended("stopped")
        is_busy = self._open or not all(each.is_empty for each in self._queues.values())
        return None if is_busy else Ended()

    def _start(self) -> float:
        """Start every request that may start now; return the seconds until another one may."""
        wait = TICK
        local = next((each for each in self._queues.values() if each.is_local and not each.is_empty), None)
        for endpoint in () if self._stopped.is_set() else self._queues.values():
            while self._ended is None and (endpoint is local or not endpoint.is_local):
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

    def _submit(self, endpoint: EndpointQueue, job: RowRequest, now: float) -> bool:
        """Send one request; return whether there was money for it."""
        worst = self._worst(job)
        if not self._cost_budget.reserve(worst):
            endpoint.waiting.appendleft(job)
            if not self._open:
                self._ended = Ended(self._cost_budget.said(worst))
            return False
        number = next(self._numbers)
        job.tries += 1
        endpoint.open += 1
        endpoint.limiter.started(now)
        future = None
        if self._executor is not None:
            future = self._hand_over(self._executor, number, job)
        else:
            self._tasks.put((number, job))
            if self._threads <= len(self._open):
                self._threads += 1
                threading.Thread(target=self._work, name="jupyter_ctx ask", daemon=True).start()
        self._open[number] = _Sent(job, endpoint, now, worst, future)
        return True

    def _hand_over(self, executor: Executor, number: int, job: RowRequest) -> Future[Outcome] | None:
        """Have a request answered by an executor."""
        try:
            future = executor.submit(answered_elsewhere, job.ask, is_checked=job.schema is not None)
        except Exception as error:  # it was shut down, or it died
            self._events.put((number, Outcome(error=_of_the_executor(error), fault="run")))
            return None
        future.add_done_callback(lambda done: self._events.put((number, _outcome_of(done))))
        return future

    def _work(self) -> None:
        """Answer one request after the other."""
        while (task := self._tasks.get()) is not None:
            number, job = task
            outcome = Outcome(error="The run has ended.", fault="busy")
            if not self._stopped.is_set():
                coming = StreamListener(on_first=partial(self.begun, number))
                outcome = answered(self._asker, job.ask, coming, job.schema)
            self._events.put((number, outcome))

    def _worst(self, job: RowRequest) -> float | None:
        """Return the US dollars that a request may cost at most; ``None``: unknown, or there is no cap.

        Of one whose functions may be called each round is reserved when it is sent.
        """
        if not self._cost_budget.is_capped:
            return None
        ask = job.ask
        if ask.tools:
            return 0.0
        target = self._asker.target(ask, server=False)
        tokens = sum(map(target.message_tokens, ask.messages))
        return worst_case(self._models, target, tokens, ask.messages, tries=1 if job.schema is None else 2)

    def _take(self, wait: float) -> None:
        """Wait for something to happen, and deal with all that has happened."""
        happened = list[tuple[int, Outcome | None]]()
        try:
            happened.append(self._events.get(timeout=wait))
            while True:
                happened.append(self._events.get_nowait())
        except queue.Empty:
            pass
        came = list[tuple[RowRequest, Outcome]]()
        for number, outcome in happened:
            if number not in self._open:
                continue
            if outcome is None:
                self._warmed(self._open[number])
            else:
                came += self._finished(self._open.pop(number), outcome)
        lasting = [(job.key, answer) for job, answer in came if answer.fault not in PASSING]
        if lasting:
            self._answers.keep(lasting)
        for job, answer in came:
            job.done(answer, False)

    def _warmed(self, sent: _Sent) -> None:
        """Let the other requests of a group start."""
        if sent.job.group is not None:
            self._warm.add(sent.job.group)
            sent.endpoint.begun(sent.job)

    def _finished(self, sent: _Sent, answer: Outcome) -> list[tuple[RowRequest, Outcome]]:
        """Settle a request that has ended; return it where it is done and need not be tried again."""
        job, endpoint, now = sent.job, sent.endpoint, time.monotonic()
        endpoint.open -= 1
        cost = answer.reply.cost if answer.reply is not None else None if answer.billed else 0.0
        self._cost_budget.settle(sent.worst, 0.0 if job.ask.tools else cost)
        _tell(endpoint.limiter, answer, now, sent.began)
        if answer.fault == "run":
            self.give_up(answer.error, answer.cause)
            return []
        if answer.fault not in PASSING:
            endpoint.answered = True
        elif self._stopped.is_set() or self._ended is not None or self._tries_again(sent, answer, now):
            return []
        self._warmed(sent)
        if self._stopped.is_set() and (answer.reply is None or answer.reply.stop_reason in BROKEN):
            return []  # its connection was closed
        return [(job, answer)]

    def _tries_again(self, sent: _Sent, answer: Outcome, now: float) -> bool:
        """Return whether a request that failed in passing is not done: it is sent again, or the run ends."""
        job, endpoint = sent.job, sent.endpoint
        is_limited, named = answer.fault == "limited", answer.retry_after or 0.0
        at = endpoint.limiter.retry_at(job.tries, now, self._chance, limited=is_limited, named=named)
        if at is not None:
            heapq.heappush(endpoint.again, (at, next(self._numbers), job))
            return True
        endpoint.given_up += 1
        if endpoint.answered or endpoint.given_up < HOPELESS_AFTER:
            return False
        self.give_up(f"{answer.error} {endpoint.given_up} requests failed several times, and none was answered.")
        return True

    def _leave(self, ended: Ended) -> None:
        """Let requests on their way end: for a moment where others failed, whole where the money is spent."""
        until = float("inf")
        if ended.error is not None:
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
            if sent.future is not None and sent.future.cancel():
                del self._open[number]
                sent.endpoint.open -= 1
                self._cost_budget.settle(sent.worst, 0.0)


def _tell(limiter: RateLimiter, answer: Outcome, now: float, began: float) -> None:
    """Tell the rate limiter how a request ended that began at a time."""
    if answer.fault == "limited":
        limiter.refused(now, began, answer.retry_after or 0.0)
    elif answer.fault == "busy":
        limiter.failed()
    else:
        limiter.succeeded(now, began)


# one try


def answered(asker: Asker, ask: Ask, coming: StreamListener | None = None, schema: Schema | None = None) -> Outcome:
    """Try to get one answer. Raises nothing, whatever a provider or a function of the user's does."""
    try:
        outcome = asker.answered(ask, coming, schema)
    except BaseException as error:
        reply = getattr(error, "reply", None)  # paid, and no answer: all thinking, or not what the schema allows
        is_less = reply is not None and not isinstance(error, InvalidAnswerError)
        after = error.retry_after if isinstance(error, RateLimitError) else None
        text = in_words(error, Redactor().masked)
        cause = type(error) if isinstance(error, OF_THE_RUN) else ChatError
        return Outcome(reply, is_less, text, fault_of(error), after, may_be_billed(error), cause)
    if outcome.reply is not None and outcome.reply.stop_reason == "cut":
        # another try may mend it; what came is kept where none does
        return replace(outcome, error="The answer broke off before its end, in every try.", fault="busy")
    return outcome


def fault_of(error: BaseException) -> Fault:
    """Return whose fault an error is."""
    if isinstance(error, OF_THE_RUN):
        return "run"
    if isinstance(error, RateLimitError):
        return "limited" if error.helps_to_wait else "row"
    if isinstance(error, ProviderConnectionError) or not isinstance(error, Exception):
        return "busy"
    if isinstance(error, ProviderError):
        return "limited" if error.status == OVERLOADED else "busy" if error.status in BUSY else "row"
    return "row"


def answered_elsewhere(ask: Ask, *, is_checked: bool) -> Outcome:
    """Try to get one answer where an executor runs it: keys come from the environment there."""
    schema = Schema.of(ask.schema.json) if is_checked and ask.schema is not None else None
    return answered(_own_asker(os.getpid()), ask, schema=schema)


@cache
def _own_asker(process: int) -> Asker:
    """Return what asks in a worker process."""
    del process  # a forked one must not use its parent's connections
    return Asker(Models())


def _outcome_of(future: Future[Outcome]) -> Outcome:
    """Return what became of a request in an executor; one that dies ends the run."""
    error = CancelledError("it cancelled a request") if future.cancelled() else future.exception()
    return future.result() if error is None else Outcome(error=_of_the_executor(error), fault="run", billed=True)


def _of_the_executor(error: BaseException) -> str:
    return f"The executor failed ({type(error).__name__}: {str(error) or 'it said no more'}): begin another one."
