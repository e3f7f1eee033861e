"""A run: one prompt asked of many rows, in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from ..config.settings import Settings
from ..conversation.messages import new_id
from ..errors import ChatError, ChatInterrupted, in_words
from ..models.registry import Models
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.keeping import AnswerKeeper
from ..wording import rows
from .ask import Ask, Asker
from .delivery import Arrival, Delivery, Done
from .engine import Ended, Engine, RowRequest, is_local
from .governor import MOST_AT_ONCE, START_AT_ONCE, Governor
from .money import Purse, worst_case
from .options import Options
from .plan import AnswerPlace, Looked, RunPlan
from .progress import Bar, Progress
from .results import Result, Results
from .scorers import Scorers
from .stored import as_stored, as_tried
from .work import Here, Tried, close_run, open_run

LOCAL_AT_ONCE = 2  # requests to a local model: one is answered while the next is on its way
POLL = 0.05  # seconds between looks for Ctrl-C
AFTER_CTRL_C = 0.95  # seconds that a run may take to stop


class Run:
    """A prompt asked of many rows. It goes on in the background; :meth:`result` waits for its end.

    name: what tables and pictures call it
    plan: what is asked
    estimate: what it may cost, told before anything is sent
    """

    def __init__(
        self,
        plan: RunPlan,
        looked: Looked,
        models: Models,
        keeper: AnswerKeeper,
        options: Options,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name, self.plan, self.options, self._notes = options.name, plan, options, notes
        self._looked, self._models, self._keeper = looked, models.apart(), keeper
        self._asker, self._id = Asker(self._models), new_id()
        self._scorers = Scorers.of(options.scorers)
        self._results: list[Result | None] = [None] * len(plan)
        self._places = _by_key(plan, looked)
        self._stored = self._found()
        self._progress = Progress(len(plan))
        self._ended, self._done = Ended(), threading.Event()
        self._lanes: dict[tuple[object, ...], str] = {}
        self._purse = Purse(options.max_cost)
        self._executor = options.executor or ThreadPoolExecutor(options.concurrency or MOST_AT_ONCE, "jupyter_ctx ask")
        self._engine: Engine | None = None
        self._bar: Bar | None = None
        self._delivery = Delivery(plan, self._scorers, self._send, self._keep)

    def __repr__(self) -> str:
        state = "ended" if self._done.is_set() else "running" if self._engine else "not begun"
        return f"Run({self.name or 'unnamed'}: {self.progress}, {state})"

    # reading

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        return self._progress

    @property
    def results(self) -> Results:
        """The answers so far, in the order of the rows; what was not asked is not among them."""
        return Results(result for result in self._results if result is not None)

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know of the run, a line each."""
        ending = [self._ending()] if self._done.is_set() and self._ended.why else []
        return tuple(dict.fromkeys([*self._notes, *self._keeper.notices, *ending]))

    # running

    def begin(self) -> Run:
        """Begin; a run that has begun goes on."""
        if self._engine is None:
            self._engine = self._new_engine()
            self._bar = Bar(self._progress, self.name) if self.options.progress else None
            threading.Thread(target=self._go, args=(self._engine,), name="jupyter_ctx run", daemon=True).start()
        return self

    def cancel(self) -> None:
        """Stop the run, and return at once; answers that came are kept."""
        if self._engine is not None:
            self._engine.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended, or for so many seconds; return whether it has.

        Ctrl-C stops the run: raises ChatInterrupted.
        """
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        try:
            while not self._done.wait(max(0.0, min(POLL, until - time.monotonic()))):
                if time.monotonic() >= until:
                    return False
        except KeyboardInterrupt:
            self.cancel()
            self._done.wait(AFTER_CTRL_C)
            raise ChatInterrupted(self._kept()) from None
        return True

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the end and return a DataFrame with a row for each answer; a Polars frame for a Polars table.

        Raises a ChatError where the run failed as a whole, such as for a bad key: the answers that came are in
        :attr:`results`, and the same run begun again asks only for the others. Raises TimeoutError after ``timeout``
        seconds, and ChatInterrupted at Ctrl-C, which stops the run.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"The run goes on after {timeout:g} s: {self.progress}.")
        if self._ended.failed:
            raise ChatError(self._ending())
        return self.results.to_frame()

    # what happens

    def _go(self, engine: Engine) -> None:
        """Run to the end, in a thread of its own."""
        open_run(self._id, Here(self._asker, engine.begun))
        try:
            self._deliver_known()
            engine.add(self._jobs())
            self._ended = engine.run()
        except Exception as error:
            self._ended = Ended(f"The run failed: {in_words(error)}", failed=True)
        finally:
            close_run(self._id)
            self._keeper.settle()
            if self.options.executor is None:
                self._executor.shutdown(wait=False, cancel_futures=True)
            if self._bar is not None:
                self._bar.show(self._progress, last=True)
            self._done.set()

    def _found(self) -> dict[AnswerKey, StoredAnswer]:
        """Return the stored answers; without the failed ones where those are asked again."""
        return self._keeper.find(self._places, failed=not self.options.retry)

    def _deliver_known(self) -> None:
        """Deliver what need not be asked: rows that cannot be filled in, and stored answers."""
        for (arm, row), error in self._looked.errors.items():
            places = [AnswerPlace(row, arm, repeat) for repeat in range(self.plan.repeat)]
            self._delivery.deliver(Arrival(places, Tried(None, error, "row"), cached=False))
        for key in [key for key in self._places if key in self._stored]:
            self._delivery.deliver(Arrival(self._places.pop(key), as_tried(self._stored.pop(key)), cached=True))

    def _jobs(self) -> Iterator[RowRequest]:
        """Yield the requests to send: all rows once, then their repeats; a local model's arms one after the other."""
        arms = self.plan.arms
        lanes = [self._lane(arm.settings) for arm in arms]

        def order(item: tuple[AnswerKey, list[AnswerPlace]]) -> tuple[int, ...]:
            row, arm, repeat = item[1][0]
            return (arm if is_local(lanes[arm]) else 0, repeat, row, arm)

        for key, places in sorted(self._places.items(), key=order):
            row, arm, _ = places[0]
            shared, group = self._looked.shared(row, arm), self._looked.groups[arm][row]
            make, done = partial(self.plan.ask, row, arm, shared=shared), partial(self._answered, places)
            yield RowRequest(key, lanes[arm], make, self._worst, done, None if shared is None else group)

    def _write(self, answers: Sequence[tuple[AnswerKey, Tried]]) -> None:
        """Keep answers that came, before they count as done."""
        self._keeper.keep((key, as_stored(tried)) for key, tried in answers)

    def _answered(self, places: list[AnswerPlace], tried: Tried) -> None:
        self._delivery.deliver(Arrival(places, tried, cached=False))

    def _send(self, ask: Ask, repeat: int, done: Done) -> None:
        """Send a further request of a row, unless its answer is stored."""
        assert self._engine is not None
        key = (ask.digest, repeat)
        stored = self._keeper.find([key], failed=not self.options.retry).get(key)
        if stored is not None:
            done(as_tried(stored), True)
            return
        self._engine.add(
            [RowRequest(key, self._lane(ask.settings), lambda: ask, self._worst, lambda tried: done(tried, False))]
        )

    def _keep(self, place: AnswerPlace, result: Result) -> None:
        """Keep a final result, and count it."""
        number = (place.row * len(self.plan.arms) + place.arm) * self.plan.repeat + place.repeat
        self._results[number] = result
        now = self._progress
        self._progress = replace(
            now, done=now.done + 1, failed=now.failed + result.failed, cached=now.cached + result.cached,
            asked=now.asked + (not result.cached), cost=self._purse.spent,
        )  # fmt: skip
        if self._bar is not None:
            self._bar.show(self._progress)

    def _lane(self, settings: Settings) -> str:
        """Return the name of the lane: the endpoint, whose limits hold for all who ask there."""
        where = (settings.model, settings.base_url, settings.n_ctx or settings.window)
        if where not in self._lanes:
            self._lanes[where] = self._models.target(settings, ask=False).provider.endpoint
        return self._lanes[where]

    def _worst(self, ask: Ask) -> float | None:
        """Return the US dollars that a request may cost at most; ``None``: unknown, or there is no cap."""
        if self.options.max_cost is None:
            return None
        target = self._asker.target(ask, server=False)
        tokens = sum(target.meter.message(message.content) + message.attached for message in ask.messages)
        return worst_case(self._models, target, tokens)

    def _new_engine(self) -> Engine:
        options = self.options
        most = options.concurrency or MOST_AT_ONCE

        def governor(lane: str) -> Governor:
            if is_local(lane):
                return Governor(LOCAL_AT_ONCE, LOCAL_AT_ONCE)
            return Governor(most, options.concurrency or START_AT_ONCE)

        return Engine(
            self._id, self._executor, governor, self._purse, self._write,
            is_guest=self._models.has_guest, close=self._models.close,
        )  # fmt: skip

    def _ending(self) -> str:
        """Return why the run ended early, and what to do."""
        return f"{self._ended.why.rstrip('.')}. {self._kept()}"

    def _kept(self) -> str:
        """Return what an early end leaves."""
        progress = self.progress
        rest = progress.rows - progress.done
        kept = f"{progress.done:,} of {rows(progress.rows)} are kept"
        return f"{kept}; running it again asks only the other {rest:,}." if rest else f"{kept}."


def _by_key(plan: RunPlan, looked: Looked) -> dict[AnswerKey, list[AnswerPlace]]:
    """Return where the answer to each request belongs; rows that ask the same share one."""
    found: dict[AnswerKey, list[AnswerPlace]] = {}
    for place in plan.places:
        digest = looked.digests[place.arm][place.row]
        if digest:
            found.setdefault((digest, place.repeat), []).append(place)
    return found
