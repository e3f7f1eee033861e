"""The coordinator of a run in batches: which rows are handed in together, and what becomes of their answers.

What an answer leads to, such as a judge's question, goes into a further batch; where its provider takes no batches,
it is asked at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .. import wording as words
from ..errors import ChatError, InvalidRequestError, in_words
from ..providers.base import Provider, Reply, Request
from ..providers.lookup import batches_of
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.keeping import AnswerKeeper
from .ask import Ask, Asker, AskReply
from .batches import MOMENT, BatchRun
from .engine import Ended, Engine, RowRequest
from .stored import as_stored, as_tried
from .work import Tried

SHARE = 0.5  # of the usual price, at most
GOES_ON = "The batches go on at the provider, and the same run begun again fetches their answers"


@dataclass(slots=True, eq=False)
class _Group:
    """The rows of one model that are asked together, with the money reserved for each."""

    jobs: dict[AnswerKey, list[RowRequest]] = field(default_factory=dict)
    worst: dict[AnswerKey, float | None] = field(default_factory=dict)
    run: BatchRun | None = None


class _Requests(Mapping[AnswerKey, Request]):
    """The requests of a group, each made when it is read: prompts need not be kept for a day."""

    def __init__(self, asker: Asker, jobs: Mapping[AnswerKey, list[RowRequest]]) -> None:
        self._asker, self._jobs = asker, jobs

    def __getitem__(self, key: AnswerKey) -> Request:
        return self._asker.planned(_uncached(self._jobs[key][0].make())).request

    def __iter__(self) -> Iterator[AnswerKey]:
        return iter(self._jobs)

    def __len__(self) -> int:
        return len(self._jobs)


class BatchEngine(Engine):
    """Runs jobs as :class:`~jupyter_ctx.experiments.engine.Engine` does, in batches of their providers.

    ``stop`` asks the providers to end the batches; ``leave`` lets them go on, and the next run fetches their answers.
    """

    def __init__(self, asker: Asker, keeper: AnswerKeeper, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._asker, self._keeper = asker, keeper
        self._providers: dict[str, Provider | None] = {}  # by lane; None: it takes no batches
        self._unsent: list[RowRequest] = []
        self._groups: list[_Group] = []
        self._left = threading.Event()
        self._has_news = True  # whether there are jobs, or there is money, that there was not before

    @property
    def away(self) -> str:
        """How far the batches are, in words."""
        runs = [group.run.progress for group in tuple(self._groups) if group.run is not None]
        count, done = sum(run.batches for run in runs), sum(run.done for run in runs)
        return f"{words.batches(count)} at the provider, {done:,} of their rows done there" if count else super().away

    def add(self, jobs: Iterable[RowRequest], *, soon: bool = False) -> None:
        """Add requests; in the coordinator's thread, or before it runs."""
        live = list[RowRequest]()
        for job in jobs:
            if job.lane not in self._providers:
                self._providers[job.lane] = self._provider_of(job.make())
            (live if self._providers[job.lane] is None else self._unsent).append(job)
            self._has_news = True
        super().add(live, soon=soon)

    def stop(self) -> None:
        """Stop as soon as may be, from any thread; answers that came are kept.

        A request that begins a batch is not broken off: nobody would know the batch, to end it.
        """
        self._stopped.set()

    def leave(self) -> None:
        """Wait for nothing any more; from any thread."""
        self._left.set()

    def run(self) -> Ended:
        """Run all jobs and return how that ended."""
        try:
            while (ended := self._advance()) is None:
                self._pause()
        except ChatError as error:
            return Ended(in_words(error), failed=True)
        finally:
            for group in self._groups:
                if group.run is not None:
                    group.run.let_go()
            if self._stopped.is_set():
                self._close()
        return ended

    def _advance(self) -> Ended | None:
        """Take the steps that are due; return how it ended, once it has."""
        live = super().run()
        if live.why and not self.is_stopped:
            return live
        if self._left.is_set() or not threading.main_thread().is_alive():
            return Ended(GOES_ON)
        is_stopped = self.is_stopped
        if self._has_news and not is_stopped:
            self._has_news = False
            why = self._begin_unsent()
            if why and not self._groups:
                return Ended(why)
        for group in self._groups[:]:
            assert group.run is not None
            group.run.advance(is_cancelled=is_stopped)
            if group.run.is_over:
                self._end(group)
        if is_stopped and not self._groups:
            return Ended("stopped")
        return None if self._groups or self._has_news else Ended()

    def _begin_unsent(self) -> str:
        """Hand in what there is money for; return why not all of it was."""
        groups, unsent, why = dict[str, _Group](), list[RowRequest](), ""
        for job in self._unsent:
            group = groups.setdefault(job.lane, _Group())
            if job.key not in group.jobs:
                worst = job.worst(job.make())
                worst = None if worst is None else SHARE * worst
                if not self._purse.reserve(worst):
                    why = why or self._purse.said(worst)
                    unsent.append(job)
                    continue
                group.worst[job.key] = worst
            group.jobs.setdefault(job.key, []).append(job)
        self._unsent = unsent
        for lane, group in groups.items():
            if group.jobs:
                self._begin(lane, group)
        return why

    def _begin(self, lane: str, group: _Group) -> None:
        provider, kept = self._providers[lane], partial(self._kept, group)
        assert provider is not None
        group.run = BatchRun(
            self._keeper, provider, _Requests(self._asker, group.jobs), kept=kept, notices=self._keeper.notices
        )
        if group.run.cost_note not in self._keeper.notices:
            self._keeper.notices.append(group.run.cost_note)
        self._groups.append(group)
        group.run.begin(partial(self._answered, group))

    def _answered(self, group: _Group, key: AnswerKey, stored: StoredAnswer) -> None:
        """Settle the cost of a row, and hand its answer on."""
        tried = as_tried(stored)
        if tried.answered is not None:
            reply, truncated = tried.answered
            tried = replace(tried, answered=AskReply(replace(reply, stored=False), truncated))
        self._settle(group, key, stored.cost if stored.answered else 0.0)
        for job in group.jobs[key]:
            job.done(tried)

    def _settle(self, group: _Group, key: AnswerKey, cost: float | None) -> None:
        if key in group.worst:
            self._purse.settle(group.worst.pop(key), cost)
            self._has_news = self._has_news or bool(self._unsent)

    def _end(self, group: _Group) -> None:
        """Let go of a group that is over; what was cancelled costs nothing."""
        self._groups.remove(group)
        for key in list(group.worst):
            self._settle(group, key, 0.0)

    def _kept(self, group: _Group, key: AnswerKey, reply: Reply) -> StoredAnswer:
        """Return what is stored of a reply; of a row of another run, without knowing how that was asked."""
        mine = key in group.jobs
        job = group.jobs[key][0] if mine else next(iter(group.jobs.values()))[0]
        try:
            return as_stored(Tried(self._asker.from_batch(_uncached(job.make()), reply, is_its_own=mine)))
        except ChatError as error:
            return as_stored(Tried(None, in_words(error), "row"))

    def _provider_of(self, ask: Ask) -> Provider | None:
        provider = self._asker.target(ask, server=False).provider
        try:
            batches_of(provider)
        except InvalidRequestError:
            return None
        return provider

    def _pause(self) -> None:
        """Wait until a batch is due, or the run is stopped."""
        was_stopped = self._stopped.is_set()
        dues = [group.run.due for group in self._groups if group.run is not None]
        while dues and not self._left.is_set() and self._stopped.is_set() == was_stopped:
            rest = min(dues) - time.monotonic()
            if rest <= 0 or not threading.main_thread().is_alive():
                return
            time.sleep(min(MOMENT, rest))


def _uncached(ask: Ask) -> Ask:
    """Return a request that writes no prompt cache: requests of a batch run side by side, and each would pay for it."""
    return replace(ask, shared=None)
