"""The rows of a run in batches of their providers; no row is paid twice, whatever is killed when.

Every step is written to the store before the next one is taken: see :mod:`.batch_job`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from ... import wording as words
from ...errors import (
    ChatError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    ProviderError,
    StoreError,
    in_words,
)
from ...models.purse import Purse
from ...providers.base import Provider, Reply, Request
from ...providers.batch_services import BatchResult, batches_of
from ...session.ask import Ask, Asker, AskReply
from ...storage.batch_records import BatchRecord, BatchTable
from ...storage.stored_answers import AnswerKey, Answers, StoredAnswer
from ..row_request import RowRequest, Tried, as_stored, as_tried
from .batch_job import FIRST_WAIT, BatchJob, LostError, deal, fits, is_passing

AFTER_CANCEL = 15.0  # seconds to wait for the provider to end a batch
KEPT_BY_PROVIDERS = 31 * 86_400.0  # seconds for which results of batches can be fetched: 29 or 30 days
RESULTS_AT_ONCE = 500  # results in one transaction
HALF_PRICE = "Batches cost half: the listed price of a batch, else half of the usual price."
ROW_ERRORS = (InvalidRequestError, ContextOverflowError)  # of one request, which is not sent

Decided = tuple[AnswerKey, StoredAnswer]


class BatchRun:
    """Asks rows of one model in batches: :meth:`begin`, then :meth:`advance` when it is :attr:`due`.

    Raises InvalidRequestError where the provider takes no batches.

    jobs: the requests, those that ask the same under one key; each is made when a batch is handed in, and not kept
    reserved: US dollars that are reserved for each key, and not settled yet
    outcomes: of the rows that were decided since the caller has last emptied it; each one is stored already
    due: the time, by the monotonic clock, at which there may be something to do
    """

    def __init__(
        self,
        asker: Asker,
        answers: Answers,
        provider: Provider,
        jobs: Mapping[AnswerKey, list[RowRequest]],
        reserved: dict[AnswerKey, float | None],
    ) -> None:
        self._service = batches_of(provider)
        self._asker, self._answers = asker, answers
        self.jobs, self.reserved = jobs, reserved
        self._endpoint = provider.endpoint
        self._table = BatchTable(answers)
        self._open = set(jobs)  # rows without an outcome
        self._jobs: list[BatchJob] = []
        self._elsewhere: list[BatchRecord] = []  # that other runs work on
        self._end = float("inf")
        self._is_stale = False  # whether batches have changed, and the store could not be asked
        self._troubles: set[str] = set()
        self.outcomes: list[Decided] = []
        self.due = 0.0

    def begin(self, *, asks: bool = True) -> None:
        """Take up open batches, and begin others for the rest of the rows. Raises a ChatError."""
        self._tidy()
        self._gather(asks=asks)

    @property
    def is_over(self) -> bool:
        """Whether nothing is waited for: each row has an outcome, or was cancelled."""
        return time.monotonic() > self._end or not (self._jobs or self._elsewhere or self._is_stale)

    @property
    def counts(self) -> tuple[int, int]:
        """How many batches are open, and how many of their rows are done at the provider."""
        return len(self._jobs), sum(job.status.done for job in self._jobs)

    def advance(self, *, is_cancelled: bool) -> None:
        """Take the steps that are due; ``is_cancelled``: towards the end of all batches. Raises a ChatError."""
        if is_cancelled:
            self._end = min(self._end, time.monotonic() + AFTER_CANCEL)
            self._cancel()
        for job in self._jobs:
            if job.due <= time.monotonic():
                job.look_again(soon=self._is_moved(job, self._next_step))
        self._gather_again(asks=not is_cancelled)
        dues = [job.due for job in self._jobs if not job.over]
        self.due = min(dues) if dues and not self._elsewhere else min([*dues, time.monotonic() + FIRST_WAIT])

    def let_go(self) -> None:
        """Let other runs work on the batches."""
        self._table.let_go(job.record for job in self._jobs)

    # which batches there are

    def _tidy(self) -> None:
        """Forget batches whose answers are stored, or that the provider has forgotten: a run was killed before."""
        for record in self._table.open(self._endpoint):
            is_old = time.time() - record.created > KEPT_BY_PROVIDERS
            if self._table.is_held(record) or not (is_old or self._open.isdisjoint(record.asked)):
                continue
            if is_old or len(self._answers.find(record.asked)) == len(record.asked):
                self._table.end(record)

    def _gather(self, *, asks: bool) -> None:
        """Take up the open batches that have rows of this run, and begin others for the rest."""
        self._jobs = [job for job in self._jobs if not job.over]
        while True:
            rest = self._open - self._taken_up()
            if not rest or not asks:
                return
            sized = self._sized([key for key in self.jobs if key in rest])
            parts = deal(sized, self._service.most_requests, self._service.most_bytes)
            records = self._table.intend(self._endpoint, parts)
            if not parts or (records and not self._answered_meanwhile(records)):
                self._jobs += map(self._job, records)
                return

    def _job(self, record: BatchRecord) -> BatchJob:
        return BatchJob(record, self._table, self._service)

    def _gather_again(self, *, asks: bool) -> None:
        """Gather once more where a batch is over, here or in another run, or where the store had failed."""
        try:
            if self._is_stale or any(job.over for job in self._jobs) or self._is_free_now():
                self._is_stale = True
                self._gather(asks=asks)
                self._is_stale = False
        except StoreError as error:
            self._note(error)

    def _taken_up(self) -> set[AnswerKey]:
        """Return the rows that are in open batches; those of batches that nobody works on are this run's now."""
        mine = {job.record.id: job.record for job in self._jobs}
        before, self._elsewhere = self._elsewhere, []
        for record in self._table.open(self._endpoint):
            if record.id in mine or self._open.isdisjoint(record.asked):
                continue
            taken = self._table.take(record)
            if taken is None:
                self._elsewhere.append(record)
            elif taken.state == "intended":
                self._table.end(taken)
            else:
                mine[taken.id] = taken
                self._jobs.append(self._job(taken))
        elsewhere = {record.id for record in self._elsewhere}
        over = [key for record in before if record.id not in elsewhere | mine.keys() for key in record.asked]
        self._fetch(over)
        return {key for record in (*mine.values(), *self._elsewhere) for key in record.asked}

    def _sized(self, keys: Iterable[AnswerKey]) -> list[tuple[AnswerKey, int]]:
        """Return the rows with their sizes in bytes; a row that no batch takes fails."""
        sized = list[tuple[AnswerKey, int]]()
        most = self._service.most_bytes
        for key in keys:
            try:
                size = self._service.size(self._request(key))
            except ROW_ERRORS as error:
                self._keep([(key, _failure(in_words(error)))])
                continue
            if fits(size, most):
                sized.append((key, size))
                continue
            why = f"The request has {size:,} bytes, and a batch takes {most:,}: send fewer or smaller files."
            self._keep([(key, _failure(why))])
        return sized

    def _answered_meanwhile(self, records: list[BatchRecord]) -> bool:
        """Return whether another run has stored answers to any of these rows; then they are not asked."""
        is_answered = self._fetch([key for record in records for key in record.asked])
        for record in records if is_answered else ():
            self._table.end(record)
        return is_answered

    def _fetch(self, keys: list[AnswerKey]) -> bool:
        """Count the stored answers to rows of this run as their outcomes; return whether there are any."""
        answers = self._answers.find((key for key in keys if key in self._open), failed=False)
        self._decide(answers.items())
        return bool(answers)

    def _is_free_now(self) -> bool:
        """Return whether a batch that another run works on is over, or nobody works on it any more."""
        if not self._elsewhere:
            return False
        now = {record.id: record for record in self._table.open(self._endpoint)}
        return any(record.id not in now or not self._table.is_held(now[record.id]) for record in self._elsewhere)

    # one batch

    def _is_moved(self, job: BatchJob, step: Callable[[BatchJob], object]) -> bool:
        """Take a step with a batch, and return whether its state is another one. Raises a ChatError that lasts."""
        before = job.state
        try:
            step(job)
        except LostError:
            return True
        except ChatError as error:
            self._endure(job, error)
        return job.state != before

    def _next_step(self, job: BatchJob) -> None:
        if job.state == "intended":
            job.hand_in(self._request)
        elif job.state == "sending":
            job.look_for({each.record.reference for each in self._jobs if each.record.reference})
        elif job.look():
            self._collect(job)

    def _cancel(self) -> None:
        """Ask for the end of each batch; one that may have been handed in is looked for first."""
        self._elsewhere = []
        for job in self._jobs:
            if not job.over and self._is_moved(job, BatchJob.cancel):
                job.look_again(soon=True)

    def _endure(self, job: BatchJob, error: ChatError) -> None:
        """Go on after an error that passes, and note it once. Raises any other."""
        if isinstance(error, ModelNotFoundError) and job.record.reference:
            raise ProviderError(
                f"{self._service.adapter.at.address} does not know the batch {job.record.reference} with this key: "
                "use the key with which it was begun, or ask its rows now, without batch=True.",
                status=404,
            ) from None
        if not isinstance(error, StoreError) and not is_passing(error):
            raise error
        self._note(error)

    def _note(self, error: ChatError) -> None:
        text = in_words(error)
        if text not in self._troubles:
            self._troubles.add(text)
            self._answers.notices.append(f"{text} The batches are looked at again.")

    def _collect(self, job: BatchJob) -> None:
        """Store the results of a batch that has ended, then forget it."""
        was_cancelled = job.state == "cancelling"  # perhaps by an earlier run: then its rows are asked again
        results = iter(job.results())
        while part := list(islice(results, RESULTS_AT_ONCE)):
            answers = ((key, self._answer(job, key, result, was_cancelled)) for key, result in part)
            self._keep([(key, answer) for key, answer in answers if answer is not None])
        if not self._answers.settle():
            raise StoreError(f"{self._answers.waiting:,} answers of a batch are in memory only.")
        if job.is_cancelled_here:
            self._open.difference_update(job.record.asked)
        job.forget()

    def _answer(self, job: BatchJob, key: AnswerKey, result: BatchResult, was_cancelled: bool) -> StoredAnswer | None:
        """Return what is stored of a result; ``None``: nothing, for a row that this side has cancelled."""
        if result.reply is not None:
            return self._to_store(key, result.reply)
        if result.error is not None:
            return _failure(in_words(result.error))
        return None if was_cancelled else _failure(job.why_missing(result))

    def _request(self, key: AnswerKey) -> Request:
        return self._asker.planned(_uncached(self.jobs[key][0].make())).request

    def _to_store(self, key: AnswerKey, reply: Reply) -> StoredAnswer:
        """Return what is stored of a reply; of a row of another run, without knowing how that was asked."""
        is_own = key in self.jobs
        job = self.jobs[key][0] if is_own else next(iter(self.jobs.values()))[0]
        try:
            return as_stored(Tried(self._asker.from_batch(_uncached(job.make()), reply, is_its_own=is_own)))
        except ChatError as error:
            return _failure(in_words(error))

    def _keep(self, answers: list[Decided]) -> None:
        self._answers.keep(answers)
        self._decide(answers)

    def _decide(self, answers: Iterable[Decided]) -> None:
        for key, answer in answers:
            if key in self._open:
                self._open.discard(key)
                self.outcomes.append((key, answer))


def _failure(why: str) -> StoredAnswer:
    return StoredAnswer(error=why or "no reason was given", answered=False)


# all models of a run


class ModelBatches:
    """The batches of a run, by model, for the thread of its engine; what an answer leads to goes into further ones.

    ``is_wanted``: whether the run asks in batches at all. ``lack``: why not all requests could be handed in, where
    money is what they lack.
    """

    def __init__(self, asker: Asker, answers: Answers, purse: Purse, *, is_wanted: bool) -> None:
        self._asker, self._answers, self._purse, self.is_wanted = asker, answers, purse, is_wanted
        self._providers: dict[str, Provider | None] = {}  # by lane; None: it takes no batches
        self._unsent: list[RowRequest] = []
        self._runs: list[BatchRun] = []
        self._looked_at: object = None  # the money that there was when the unsent rows were looked at
        self.lack = ""

    @property
    def away(self) -> str:
        """How far the batches are, in words; empty where there is none."""
        counts = [run.counts for run in tuple(self._runs)]
        count, done = sum(batches for batches, _ in counts), sum(done for _, done in counts)
        return f"{words.counted(count, 'batch')} at the provider, {done:,} of their rows done there" if count else ""

    @property
    def is_idle(self) -> bool:
        """Whether no batch is open."""
        return not self._runs

    @property
    def is_empty(self) -> bool:
        """Whether there is no row left to ask either."""
        return not self._runs and not self._unsent

    def takes(self, job: RowRequest) -> bool:
        """Return whether a request goes to a provider that takes batches; then it waits for the next one."""
        if not self.is_wanted:
            return False
        if job.lane not in self._providers:
            self._providers[job.lane] = self._provider_of(job.make())
        if self._providers[job.lane] is None:
            return False
        self._unsent.append(job)
        self._looked_at = None
        return True

    def advance(self, *, is_cancelled: bool) -> float:
        """Take the steps that are due; return the time, by the monotonic clock, of the next. Raises a ChatError."""
        money = (self._purse.spent, self._purse.reserved)
        if self._unsent and not is_cancelled and money != self._looked_at:
            self._begin_unsent()
            self._looked_at = (self._purse.spent, self._purse.reserved)
        for run in self._runs[:]:
            if is_cancelled or run.due <= time.monotonic():
                self._take(run, partial(run.advance, is_cancelled=is_cancelled))
        return min((run.due for run in self._runs), default=float("inf"))

    def let_go(self) -> None:
        """Let other runs work on the batches."""
        for run in self._runs:
            run.let_go()

    def _begin_unsent(self) -> None:
        """Hand in what there is money for."""
        lanes = dict[str, dict[AnswerKey, list[RowRequest]]]()
        reserved = dict[AnswerKey, float | None]()
        unsent, self.lack = list[RowRequest](), ""
        for job in self._unsent:
            jobs = lanes.setdefault(job.lane, {})
            if job.key not in jobs:
                worst = job.worst(job.make(), batch=True)
                if not self._purse.reserve(worst):
                    self.lack = self.lack or self._purse.said(worst)
                    unsent.append(job)
                    continue
                reserved[job.key] = worst
            jobs.setdefault(job.key, []).append(job)
        self._unsent = unsent
        for lane, jobs in lanes.items():
            if jobs:
                self._begin(lane, jobs, {key: reserved[key] for key in jobs})

    def _begin(
        self, lane: str, jobs: dict[AnswerKey, list[RowRequest]], reserved: dict[AnswerKey, float | None]
    ) -> None:
        provider = self._providers[lane]
        assert provider is not None
        run = BatchRun(self._asker, self._answers, provider, jobs, reserved)
        ask = next(iter(jobs.values()))[0].make()
        if self._asker.target(ask, server=False).is_at_provider and HALF_PRICE not in self._answers.notices:
            self._answers.notices.append(HALF_PRICE)
        self._runs.append(run)
        self._take(run, run.begin)

    def _take(self, run: BatchRun, step: Callable[[], object]) -> None:
        """Take a step; settle what was decided, and hand the answers on. What was cancelled costs nothing."""
        try:
            step()
        finally:
            outcomes, run.outcomes = run.outcomes, []
            for key, stored in outcomes:
                self._settle(run, key, stored.cost if stored.answered else 0.0)
                for job in run.jobs[key]:
                    job.done(_as_new(as_tried(stored)), False)
        if run.is_over:
            run.let_go()
            self._runs.remove(run)
            for key in list(run.reserved):
                self._settle(run, key, 0.0)

    def _settle(self, run: BatchRun, key: AnswerKey, cost: float | None) -> None:
        if key in run.reserved:
            self._purse.settle(run.reserved.pop(key), cost)

    def _provider_of(self, ask: Ask) -> Provider | None:
        provider = self._asker.target(ask, server=False).provider
        try:
            batches_of(provider)
        except InvalidRequestError:
            return None
        return provider


def _as_new(tried: Tried) -> Tried:
    """Return an answer of this run, which was stored before it was counted, as one that was not stored."""
    if tried.answered is None:
        return tried
    reply, truncated = tried.answered
    return replace(tried, answered=AskReply(replace(reply, stored=False), truncated))


def _uncached(ask: Ask) -> Ask:
    """Return a request that writes no prompt cache: requests of a batch run side by side, and each would pay for it."""
    return replace(ask, shared=None)
