"""Rows asked in batches of a provider, at half price and within a day; no row is paid twice, whatever is killed when.

Every step is written to the store before the next one is taken: see :mod:`~jupyter_ctx.experiments.batch_job`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from threading import Event

from .. import wording as words
from ..errors import (
    ChatError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    ProviderError,
    StoreError,
    in_words,
)
from ..providers.base import Provider, Reply, Request
from ..providers.batches import BatchResult
from ..providers.lookup import batches_of
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.batches import BatchRecord, BatchTable
from ..storage.keeping import AnswerKeeper
from .ask import AskReply
from .batch_job import BatchJob, LostError
from .batch_plan import deal, fits, is_passing
from .stored import as_stored
from .work import Tried

FIRST_WAIT, LONGEST_WAIT, WAIT_GROWTH = 2.0, 60.0, 1.5  # seconds between two looks at a batch
MOMENT = 0.1  # seconds between two looks at whether the run was stopped
AFTER_CANCEL = 15.0  # seconds to wait for the provider to end a batch
KEPT_BY_PROVIDERS = 31 * 86_400.0  # seconds for which results of batches can be fetched: 29 or 30 days
RESULTS_AT_ONCE = 500  # results in one transaction

ROW_ERRORS = (InvalidRequestError, ContextOverflowError)  # of one request, which is not sent

OnAnswer = Callable[[AnswerKey, StoredAnswer], object]
ToStore = Callable[[AnswerKey, Reply], StoredAnswer]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a run in batches is: rows in all, answered, failed; batches that are open, and their rows done there."""

    rows: int
    answered: int = 0
    failed: int = 0
    batches: int = 0
    done: int = 0

    def __str__(self) -> str:
        left = f", {self.done:,} more done in {words.batches(self.batches)}" if self.batches else ""
        return f"{self.answered:,} of {self.rows:,} rows answered, {self.failed:,} failed{left}"


@dataclass(slots=True)
class _Waiting:
    """A batch, and when it is looked at again."""

    job: BatchJob
    wait: float = FIRST_WAIT
    due: float = field(default_factory=time.monotonic)

    def again(self) -> None:
        self.due, self.wait = time.monotonic() + self.wait, min(LONGEST_WAIT, WAIT_GROWTH * self.wait)

    def at_once(self) -> None:
        self.due, self.wait = time.monotonic(), FIRST_WAIT


class BatchRun:
    """Asks the rows of one run, all of one model, in batches.

    ``requests`` are read when a batch is handed in, each one twice; a mapping that makes them on the way is enough.
    ``kept`` turns a reply into what is stored of it (its cost, whether it was truncated); its key may be of a row that
    another run has asked. ``notices`` is where lines go that are to be shown once; ``cost_note`` says what the price is
    based on. Raises InvalidRequestError where the provider takes no batches.
    """

    cost_note = "Batches cost half: the listed price of a batch, else half of the usual price."

    def __init__(
        self,
        keeper: AnswerKeeper,
        provider: Provider,
        requests: Mapping[AnswerKey, Request],
        *,
        kept: ToStore = lambda key, reply: as_stored(Tried(AskReply(reply, False))),  # noqa: ARG005
        notices: list[str] | None = None,
    ) -> None:
        self._service = batches_of(provider)
        self._keeper, self._requests, self._kept = keeper, requests, kept
        self._endpoint = provider.endpoint
        self._table = BatchTable(keeper.answers)
        self._open = set(requests)  # rows without an outcome
        self._jobs: list[_Waiting] = []
        self._elsewhere: list[BatchRecord] = []  # that other runs work on
        self._counts = {True: 0, False: 0}  # rows that failed, and that did not
        self._end = float("inf")
        self._on_answer: OnAnswer = lambda key, answer: None  # noqa: ARG005
        self._is_stale = False  # whether batches have changed, and the store could not be asked
        self._troubles: set[str] = set()
        self.notices = notices if notices is not None else []

    @property
    def progress(self) -> BatchProgress:
        """Return how far it is."""
        jobs = [waiting.job for waiting in self._jobs]
        done = sum(job.status.done for job in jobs)
        return BatchProgress(len(self._requests), self._counts[False], self._counts[True], len(jobs), done)

    def run(self, on_answer: OnAnswer, cancelled: Event, left: Event | None = None) -> None:
        """Ask the rows, and return when each has an outcome, or when it is stopped.

        ``on_answer`` hears of each row once, after its answer was stored (or waits in the keeper for the store).
        ``cancelled``: the provider is asked to end its batches; what was answered is kept, the other rows stay unasked.
        ``left``: nothing is waited for any more; the batches go on, and the next run fetches their answers.
        Raises StoreError before anything was sent, and a ChatError where the provider refuses for good.
        """
        try:
            self.begin(on_answer, asks=not cancelled.is_set())
            while not self.is_over and not (left is not None and left.is_set()):
                self.advance(is_cancelled=cancelled.is_set())
                self._pause(cancelled, left)
        finally:
            self.let_go()

    # the steps of a run, for one thread that drives several

    def begin(self, on_answer: OnAnswer, *, asks: bool = True) -> None:
        """Take up open batches, and begin others for the rest of the rows. Raises a ChatError."""
        self._on_answer = on_answer
        self._tidy()
        self._gather(asks=asks)

    @property
    def is_over(self) -> bool:
        """Whether nothing is waited for: each row has an outcome, or was cancelled."""
        return time.monotonic() > self._end or not (self._jobs or self._elsewhere or self._is_stale)

    @property
    def due(self) -> float:
        """The time, by the monotonic clock, at which there may be something to do."""
        dues = [waiting.due for waiting in self._jobs if not waiting.job.over]
        return min(dues) if dues and not self._elsewhere else min([*dues, time.monotonic() + FIRST_WAIT])

    def advance(self, *, is_cancelled: bool) -> None:
        """Take the steps that are due; ``is_cancelled``: towards the end of all batches. Raises a ChatError."""
        if is_cancelled:
            self._end = min(self._end, time.monotonic() + AFTER_CANCEL)
            self._cancel()
        self._step()
        self._gather_again(asks=not is_cancelled)

    def let_go(self) -> None:
        """Let other runs work on the batches."""
        self._table.let_go(waiting.job.record for waiting in self._jobs)

    # which batches there are

    def _tidy(self) -> None:
        """Forget batches whose answers are stored, or that the provider has forgotten: a run was killed before."""
        for record in self._table.open(self._endpoint):
            is_old = time.time() - record.created > KEPT_BY_PROVIDERS
            if self._table.is_held(record) or not (is_old or self._open.isdisjoint(record.asked)):
                continue
            if is_old or len(self._keeper.find(record.asked)) == len(record.asked):
                self._table.end(record)

    def _gather(self, *, asks: bool) -> None:
        """Take up the open batches that have rows of this run, and begin others for the rest."""
        self._jobs = [waiting for waiting in self._jobs if not waiting.job.over]
        while True:
            rest = self._open - self._taken_up()
            if not rest or not asks:
                return
            sized = self._sized([key for key in self._requests if key in rest])
            parts = deal(sized, self._service.most_requests, self._service.most_bytes)
            records = self._table.intend(self._endpoint, parts)
            if not parts or (records and not self._answered_meanwhile(records)):
                self._jobs += [_Waiting(BatchJob(record, self._table, self._service)) for record in records]
                return

    def _gather_again(self, *, asks: bool) -> None:
        """Gather once more where a batch is over, here or in another run, or where the store had failed."""
        try:
            if self._is_stale or any(waiting.job.over for waiting in self._jobs) or self._is_free_now():
                self._is_stale = True
                self._gather(asks=asks)
                self._is_stale = False
        except StoreError as error:
            self._say(error)

    def _taken_up(self) -> set[AnswerKey]:
        """Return the rows that are in open batches; those of batches that nobody works on are this run's now."""
        mine = {waiting.job.record.id: waiting.job.record for waiting in self._jobs}
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
                self._jobs.append(_Waiting(BatchJob(taken, self._table, self._service)))
        elsewhere = {record.id for record in self._elsewhere}
        over = [key for record in before if record.id not in elsewhere | mine.keys() for key in record.asked]
        self._fetch(over)
        return {key for record in (*mine.values(), *self._elsewhere) for key in record.asked}

    def _sized(self, keys: Iterable[AnswerKey]) -> list[tuple[AnswerKey, int]]:
        """Return the rows with their sizes in bytes; a row that no batch takes fails."""
        sized = list[tuple[AnswerKey, int]]()
        for key in keys:
            try:
                size = self._service.size(self._requests[key])
            except ROW_ERRORS as error:
                self._keep([(key, _failure(in_words(error)))])
                continue
            if fits(size, self._service.most_bytes):
                sized.append((key, size))
            else:
                most = self._service.most_bytes
                why = f"The request has {size:,} bytes, and a batch takes {most:,}: send fewer or smaller files."
                self._keep([(key, _failure(why))])
        return sized

    def _answered_meanwhile(self, records: list[BatchRecord]) -> bool:
        """Return whether another run has stored answers to any of these rows; then they are not asked."""
        found = self._fetch([key for record in records for key in record.asked])
        for record in records if found else ():
            self._table.end(record)
        return found

    def _fetch(self, keys: list[AnswerKey]) -> bool:
        """Report the stored answers to rows of this run; return whether there are any."""
        found = self._keeper.find((key for key in keys if key in self._open), failed=False)
        self._report(found.items())
        return bool(found)

    def _is_free_now(self) -> bool:
        """Return whether a batch that another run works on is over, or nobody works on it any more."""
        if not self._elsewhere:
            return False
        now = {record.id: record for record in self._table.open(self._endpoint)}
        return any(record.id not in now or not self._table.is_held(now[record.id]) for record in self._elsewhere)

    # one batch

    def _step(self) -> None:
        for waiting in self._jobs:
            if waiting.due > time.monotonic():
                continue
            state = waiting.job.state
            try:
                self._advance(waiting.job)
            except LostError:
                continue
            except ChatError as error:
                self._endure(waiting.job, error)
            if waiting.job.state == state:
                waiting.again()
            else:
                waiting.at_once()

    def _advance(self, job: BatchJob) -> None:
        """Take the next step with one batch. Raises a ChatError."""
        if job.state == "intended":
            job.hand_in(self._requests.__getitem__)
        elif job.state == "sending":
            references = (waiting.job.record.reference for waiting in self._jobs)
            job.look_for({reference for reference in references if reference})
        elif job.look():
            self._collect(job)

    def _endure(self, job: BatchJob, error: ChatError) -> None:
        """Go on after an error that passes, and say it once. Raises any other."""
        if isinstance(error, ModelNotFoundError) and job.record.reference:
            raise ProviderError(
                f"{self._service.adapter.at.address} does not know the batch {job.record.reference} with this key: "
                "use the key with which it was begun, or ask its rows now, without batch=True.",
                status=404,
            ) from None
        if not isinstance(error, StoreError) and not is_passing(error):
            raise error
        self._say(error)

    def _say(self, error: ChatError) -> None:
        said = in_words(error)
        if said not in self._troubles:
            self._troubles.add(said)
            self.notices.append(f"{said} The batches are looked at again.")

    def _collect(self, job: BatchJob) -> None:
        """Store the results of a batch that has ended, then forget it."""
        was_cancelled = job.state == "cancelling"  # perhaps by an earlier run: then its rows are asked again
        results = iter(job.results())
        while part := list(islice(results, RESULTS_AT_ONCE)):
            outcomes = ((key, self._outcome(job, key, result, was_cancelled)) for key, result in part)
            self._keep([(key, answer) for key, answer in outcomes if answer is not None])
        if not self._keeper.settle():
            raise StoreError(f"{self._keeper.waiting:,} answers of a batch are in memory only.")
        if job.is_cancelled_here:
            self._open.difference_update(job.record.asked)
        job.forget()

    def _outcome(self, job: BatchJob, key: AnswerKey, result: BatchResult, was_cancelled: bool) -> StoredAnswer | None:
        """Return what is stored of a result; ``None``: nothing, for a row that this side has cancelled."""
        if result.reply is not None:
            return self._kept(key, result.reply)
        if result.error is not None:
            return _failure(in_words(result.error))
        return None if was_cancelled else _failure(job.why_missing(result))

    def _keep(self, answers: list[tuple[AnswerKey, StoredAnswer]]) -> None:
        self._keeper.keep(answers)
        self._report(answers)

    def _report(self, answers: Iterable[tuple[AnswerKey, StoredAnswer]]) -> None:
        for key, answer in answers:
            if key in self._open:
                self._open.discard(key)
                self._counts[answer.failed] += 1
                self._on_answer(key, answer)

    # stopping

    def _cancel(self) -> None:
        """Ask for the end of each batch; one that may have been handed in is looked for first."""
        self._elsewhere = []
        for waiting in self._jobs:
            state = waiting.job.state
            try:
                if not waiting.job.over:
                    waiting.job.cancel()
            except LostError:
                continue
            except ChatError as error:
                self._endure(waiting.job, error)
            if waiting.job.state != state:
                waiting.at_once()

    def _pause(self, cancelled: Event, left: Event | None) -> None:
        """Wait until the next batch is due, or the run is stopped."""
        was_cancelled = cancelled.is_set()
        end = self.due
        while (now := time.monotonic()) < end:
            if (cancelled.is_set() and not was_cancelled) or (left is not None and left.is_set()):
                return
            time.sleep(min(MOMENT, end - now))


def _failure(why: str) -> StoredAnswer:
    return StoredAnswer(error=why or "no reason was given", answered=False)
