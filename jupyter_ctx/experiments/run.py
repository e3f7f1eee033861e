"""A run: one prompt asked of many rows, in the background."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..config.settings import Settings, kept_settings
from ..conversation.messages import new_id
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, in_words
from ..models.registry import Models
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.keeping import AnswerKeeper
from ..wording import rows
from .ask import Ask, Asker
from .bars import bar_of
from .batch_engine import BatchEngine
from .charts import draw_heat_map, draw_rates
from .comparison import RunSummary, summary
from .delivery import Arrival, Delivery, Done
from .drawn_bar import Bar
from .engine import Ended, Engine, RowRequest, is_local
from .export import export_run
from .governor import MOST_AT_ONCE, START_AT_ONCE, Governor
from .money import Estimate, Purse, worst_case
from .options import Options
from .pictures import Picture
from .plan import AnswerPlace, Looked, RunPlan
from .progress import Progress
from .quote import quoted, with_limit
from .record import RunRecord
from .results import Result, Results
from .scorers import Scorers
from .stored import as_stored, as_tried
from .threads import Threads
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
        pilot: Run | None = None,
        ended: Callable[[Run], object] | None = None,
        *,
        is_pilot: bool = False,
    ) -> None:
        self.name, self.plan, self.options, self._notes = options.name, plan, options, notes
        self._looked, self._models, self._keeper = looked, models.apart(), keeper
        self._is_pilot = is_pilot
        self._at_end, self._paid = ended, pilot.progress.cost if pilot is not None else None
        self._asker, self._id = Asker(self._models), new_id()
        self._scorers = Scorers.of(options.scorers)
        self._results: list[Result | None] = [None] * len(plan)
        self._places = _by_key(plan, looked)
        self._stored = self._found()
        self._progress = Progress(len(plan))
        self._ended, self._done = Ended(), threading.Event()
        self._lanes: dict[tuple[object, ...], str] = {}
        self._purse = Purse(options.max_cost)
        self._executor = options.executor or Threads(options.concurrency or MOST_AT_ONCE, "jupyter_ctx ask")
        self._engine: Engine | None = None
        self._begun = ""  # when, as ISO 8601 has it
        self._bar: Bar | None = None
        self.estimate = self._estimated(pilot)
        self._delivery = Delivery(plan, self._scorers, self._send, self._keep)

    def __repr__(self) -> str:
        state = "ended" if self._done.is_set() else "running" if self._engine else "not begun"
        return f"Run({self.name or 'unnamed'}: {self.progress}, {state})"

    # reading

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        away = self._engine.away if self._engine is not None and not self._done.is_set() else ""
        return replace(self._progress, away=away) if away else self._progress

    @property
    def results(self) -> Results:
        """The answers so far, in the order of the rows; what was not asked is not among them."""
        return Results(result for result in self._results if result is not None)

    @property
    def cost(self) -> float | None:
        """US dollars spent since the run began, without its pilot; ``None`` where no price is known."""
        spent = self._purse.spent
        return spent if spent is None or self._paid is None else spent - self._paid

    @property
    def unpriced(self) -> int:
        """How many answers of this run are billed at a price that nobody knows."""
        settings = {arm.label: arm.settings for arm in self.plan.arms}
        asked = [
            each for each in self.results if each.reply is not None and not each.cached and each.reply.cost is None
        ]
        billed = {
            arm
            for arm in {each.arm for each in asked}
            if self._models.target(settings[arm], ask=False).provider.catalogue
        }
        return sum(each.arm in billed for each in asked)

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know of the run, a line each."""
        ending = [self._ending()] if self._done.is_set() and self._ended.why else []
        return tuple(dict.fromkeys([*self._notes, *self._keeper.notices, *ending]))

    @property
    def group(self) -> str | None:
        """The column that says which rows belong together."""
        return self.options.group

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The values of each name in the grid."""
        found: dict[str, list[Any]] = {}
        for arm in self.plan.arms:
            for name, value in arm.values.items():
                values = found.setdefault(name, [])
                values += [value] if value not in values else []
        return found

    def summary(self) -> RunSummary:
        """Return the rate or the mean of each arm by each scorer, with 95 % intervals and a sentence to quote."""
        return summary(self.results, group=self.group)

    def rates(self, scorer: str | None = None, *, dark: bool = False) -> Picture:
        """Draw the rate or the mean of each arm with its interval, by one scorer; without a name, the first."""
        return draw_rates(self, scorer, dark=dark)

    def heat_map(
        self, scorer: str | None = None, *, x: str | None = None, y: str | None = None, dark: bool = False
    ) -> Picture:
        """Draw the rate or the mean for each pair of values of two parameters of the grid."""
        return draw_heat_map(self, scorer, x=x, y=y, dark=dark)

    def export(self, path: str | Path) -> Path:
        """Write all that is needed to repeat the run to a .json or .ipynb file, without keys, and return its path."""
        plan, first = self.plan, self.plan.arms[0].settings
        settings = {name: value for name, value in kept_settings(Settings(), first).items() if name not in self.grid}
        targets = [self._models.target(arm.settings, ask=False) for arm in plan.arms]
        record = RunRecord(
            plan.template.text, plan.rows, self.results, {**settings, "model": first.model},
            windows={target.model: target.window for target in targets}, grid=self.grid, repeat=plan.repeat,
            schema=plan.schema.json if plan.schema is not None else None, scorers=self._scorers.sources,
            names=plan.template.names, group=self.group, name=self.name, begun=self._begun,
        )  # fmt: skip
        return export_run(record, path, self._models.secrets)

    # running

    def begin(self) -> Run:
        """Begin; a run that has begun goes on."""
        if self._engine is None:
            self._engine = self._new_engine()
            self._begun = datetime.now(UTC).isoformat(timespec="seconds")
            self._bar = bar_of(self._progress, self.name, self.options.progress)
            threading.Thread(target=self._go, args=(self._engine,), name="jupyter_ctx run", daemon=True).start()
        return self

    def cancel(self) -> None:
        """Stop the run, and return at once; answers that came are kept. A provider is asked to end its batches."""
        if self._engine is not None:
            self._engine.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended, or for so many seconds; return whether it has.

        Ctrl-C stops the run: raises ChatInterrupted. Batches go on at the provider, and the same run begun again
        fetches their answers.
        """
        if self._engine is None:
            raise InvalidRequestError("The run has not begun: begin() begins it; dry_run=True only tells its price.")
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        try:
            while not self._done.wait(max(0.0, min(POLL, until - time.monotonic()))):
                if time.monotonic() >= until:
                    return False
        except KeyboardInterrupt:
            if self._engine is not None:
                self._engine.leave()
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
        open_run(self._id, Here(self._asker, engine.begun, lambda: engine.is_stopped))
        atexit.register(self._done.wait, AFTER_CTRL_C)  # where Python ends meanwhile, what came is written
        try:
            self._deliver_known()
            engine.add(self._requests())
            self._ended = engine.run()
        except ChatError as error:
            self._ended = Ended(str(error), failed=True)
        except Exception as error:
            self._ended = Ended(f"The run failed: {in_words(error)}", failed=True)
        finally:
            close_run(self._id)
            self._delivery.end()
            self._keeper.settle()
            if not self._is_pilot:  # else the run goes on with the store
                self._keeper.answers.close()
            if self.options.executor is None:
                self._executor.shutdown(wait=False, cancel_futures=True)
            if self._bar is not None:
                self._bar.show(self._progress, last=True)
            if self._at_end is not None:
                with suppress(Exception):  # the answers are kept, whatever listens
                    self._at_end(self)
            atexit.unregister(self._done.wait)
            self._done.set()
            atexit.unregister(self._done.wait)

    def _estimated(self, pilot: Run | None) -> Estimate:
        """Return what the answers may take that are not stored; the pilot's have been paid."""
        missing = [places[0] for key, places in self._places.items() if key not in self._stored]
        if self._paid:
            self._purse.settle(None, self._paid)
        seen = pilot.results if pilot is not None else ()
        return quoted(
            self.plan, self._looked, self._asker, missing, self._scorers.judges, seen,
            batch=self.options.batch,
        )  # fmt: skip

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

    def _requests(self) -> Iterator[RowRequest]:
        """Yield the requests to send: all rows once, then their repeats; a local model's arms one after the other."""
        arms = self.plan.arms
        lanes = [self._lane(arm.settings) for arm in arms]

        def order(item: tuple[AnswerKey, list[AnswerPlace]]) -> tuple[int, ...]:
            row, arm, repeat = item[1][0]
            return (arm if is_local(lanes[arm]) else 0, repeat, row, arm)

        missing = sorted(self._places.items(), key=order, reverse=True)
        self._places.clear()  # each is let go once it is answered
        while missing:
            key, places = missing.pop()
            row, arm, _ = places[0]
            shared, group = self._looked.shared(row, arm), self._looked.groups[arm][row]
            make, done = partial(self.plan.ask, row, arm, shared=shared), partial(self._answered, places)
            yield RowRequest(key, lanes[arm], make, self._worst, done, None if shared is None else group)

    def _write(self, answers: Sequence[tuple[AnswerKey, Tried]]) -> None:
        """Keep answers that came, before they count as done."""
        self._keeper.keep((key, as_stored(tried)) for key, tried in answers)

    def _answered(self, places: list[AnswerPlace], tried: Tried) -> None:
        self._delivery.deliver(Arrival(places, tried, cached=False))

    def _send(self, ask: Ask, repeat: int, done: Done, suffices: Callable[[Tried], bool]) -> None:
        """Send a further request of a row, unless its answer is stored, and suffices where rows are asked again."""
        assert self._engine is not None
        if self.options.max_cost is not None:
            ask = replace(ask, settings=with_limit(self._models, ask.settings))
        key = (ask.digest, repeat)
        stored = self._keeper.find([key], failed=not self.options.retry).get(key)
        if stored is not None and (not self.options.retry or suffices(as_tried(stored))):
            done(as_tried(stored), True)
            return
        self._engine.add(
            [RowRequest(key, self._lane(ask.settings), lambda: ask, self._worst, lambda tried: done(tried, False))],
            soon=True,
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

        make = partial(BatchEngine, self._asker, self._keeper) if options.batch else Engine
        return make(
            self._id, self._executor, governor, self._purse, self._write,
            is_guest=self._models.has_guest,
            needs_key=lambda ask: self._models.has_key(ask.settings), close=self._models.close,
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
