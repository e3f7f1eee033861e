"""What carries a run out: finds the stored answers, has the others asked, and keeps what came."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ..config.settings import Settings
from ..conversation.messages import new_id
from ..errors import ChatError, in_words
from ..models.request_price import worst_case
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.keeping import AnswerKeeper
from .ask import Ask, Asker
from .bars import bar_of
from .batch_engine import BatchEngine
from .delivery import Arrival, Delivery, Done
from .drawn_bar import Bar
from .engine import Ended, Engine, RowRequest, is_local
from .governor import MOST_AT_ONCE, START_AT_ONCE, Governor
from .money import Purse
from .options import Options
from .plan import AnswerPlace, Looked, RunPlan
from .progress import Progress
from .quote import with_limit
from .results import Result, Results
from .scorers import Scorers
from .stored import as_stored, as_tried
from .threads import Threads
from .work import Here, Tried, close_run, open_run

LOCAL_AT_ONCE = 2  # requests to a local model: one is answered while the next is on its way
AFTER_CTRL_C = 0.95  # seconds that a run may take to stop


class Conductor:
    """Carries a run out, in a thread of its own.

    ``asker`` asks the models, ``keeper`` has the stored answers. ``paid``: US dollars that the pilot took, which the
    cap holds for too. ``is_pilot``: another run goes on with the store. ``at_end`` is called when all is kept.

    begun: when, as ISO 8601 has it; empty: not yet
    ended: how the run ended, once it has
    """

    def __init__(
        self,
        plan: RunPlan,
        looked: Looked,
        asker: Asker,
        keeper: AnswerKeeper,
        options: Options,
        scorers: Scorers,
        *,
        paid: float | None = None,
        is_pilot: bool = False,
        at_end: Callable[[], object] | None = None,
    ) -> None:
        self._plan, self._looked, self._asker, self._keeper, self._options = plan, looked, asker, keeper, options
        self._paid, self._is_pilot, self._at_end = paid, is_pilot, at_end
        self._id, self._models = new_id(), asker.models
        self._results: list[Result | None] = [None] * len(plan)
        self._places = _by_key(plan, looked)
        self._stored = self._found()
        self._progress = Progress(len(plan))
        self._done = threading.Event()
        self._lanes: dict[tuple[object, ...], str] = {}
        self._purse = Purse(options.max_cost)
        if paid:
            self._purse.settle(None, paid)
        self._executor = options.executor or Threads(options.concurrency or MOST_AT_ONCE, "jupyter_ctx ask")
        self._engine: Engine | None = None
        self._bar: Bar | None = None
        self._delivery = Delivery(plan, scorers, self._send, self._keep)
        self.begun, self.ended = "", Ended()

    # reading

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        away = self._engine.away if self._engine is not None and not self.is_done else ""
        return replace(self._progress, away=away) if away else self._progress

    @property
    def results(self) -> Results:
        """The answers so far, in the order of the rows."""
        return Results(result for result in self._results if result is not None)

    @property
    def cost(self) -> float | None:
        """US dollars spent since the run began, without its pilot; ``None`` where no price is known."""
        spent = self._purse.spent
        return spent if spent is None or self._paid is None else spent - self._paid

    @property
    def missing(self) -> list[AnswerPlace]:
        """The first place of each answer that is not stored, until the run begins."""
        return [places[0] for key, places in self._places.items() if key not in self._stored]

    @property
    def is_done(self) -> bool:
        """Whether the run has ended, and all that came is kept."""
        return self._done.is_set()

    # running

    def begin(self) -> None:
        """Begin; a run that has begun goes on."""
        if self._engine is None:
            self._engine = self._new_engine()
            self.begun = datetime.now(UTC).isoformat(timespec="seconds")
            self._bar = bar_of(self._progress, self._options.name, self._options.progress)
            threading.Thread(target=self._go, args=(self._engine,), name="jupyter_ctx run", daemon=True).start()

    def stop(self) -> None:
        """Send nothing more, and return at once; answers that came are kept."""
        if self._engine is not None:
            self._engine.stop()

    def leave(self) -> None:
        """Stop, but leave to the next run what goes on elsewhere by itself; wait about a second for the end."""
        if self._engine is not None:
            self._engine.leave()
        self.wait(AFTER_CTRL_C)

    def wait(self, seconds: float) -> bool:
        """Wait for the end, so many seconds at most; return whether it has come."""
        return self._done.wait(seconds)

    # what happens

    def _go(self, engine: Engine) -> None:
        """Run to the end."""
        open_run(self._id, Here(self._asker, engine.begun, lambda: engine.is_stopped))
        atexit.register(self._done.wait, AFTER_CTRL_C)  # where Python ends meanwhile, what came is written
        try:
            self._deliver_known()
            engine.add(self._requests())
            self.ended = engine.run()
        except ChatError as error:
            self.ended = Ended(str(error), failed=True)
        except Exception as error:
            self.ended = Ended(f"The run failed: {in_words(error)}", failed=True)
        finally:
            close_run(self._id)
            self._delivery.end()
            self._keeper.settle()
            if not self._is_pilot:  # else the run goes on with the store
                self._keeper.answers.close()
            if self._options.executor is None:
                self._executor.shutdown(wait=False, cancel_futures=True)
            if self._bar is not None:
                self._bar.show(self._progress, last=True)
            if self._at_end is not None:
                with suppress(Exception):  # the answers are kept, whatever listens
                    self._at_end()
            atexit.unregister(self._done.wait)
            self._done.set()
            atexit.unregister(self._done.wait)

    def _found(self) -> dict[AnswerKey, StoredAnswer]:
        """Return the stored answers; without the failed ones where those are asked again."""
        return self._keeper.find(self._places, failed=not self._options.retry)

    def _deliver_known(self) -> None:
        """Deliver what need not be asked: rows that cannot be filled in, and stored answers."""
        for (arm, row), error in self._looked.errors.items():
            places = [AnswerPlace(row, arm, repeat) for repeat in range(self._plan.repeat)]
            self._delivery.deliver(Arrival(places, Tried(None, error, "row"), cached=False))
        for key in [key for key in self._places if key in self._stored]:
            self._delivery.deliver(Arrival(self._places.pop(key), as_tried(self._stored.pop(key)), cached=True))

    def _requests(self) -> Iterator[RowRequest]:
        """Yield the requests to send: all rows once, then their repeats; a local model's arms one after the other."""
        arms = self._plan.arms
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
            make, done = partial(self._plan.ask, row, arm, shared=shared), partial(self._answered, places)
            yield RowRequest(key, lanes[arm], make, self._worst, done, None if shared is None else group)

    def _write(self, answers: Sequence[tuple[AnswerKey, Tried]]) -> None:
        """Keep answers that came, before they count as done."""
        self._keeper.keep((key, as_stored(tried)) for key, tried in answers)

    def _answered(self, places: list[AnswerPlace], tried: Tried) -> None:
        self._delivery.deliver(Arrival(places, tried, cached=False))

    def _send(self, ask: Ask, repeat: int, done: Done, suffices: Callable[[Tried], bool]) -> None:
        """Send a further request of a row, unless its answer is stored, and suffices where rows are asked again."""
        assert self._engine is not None
        if self._options.max_cost is not None:
            ask = replace(ask, settings=with_limit(self._models, ask.settings))
        key = (ask.digest, repeat)
        stored = self._keeper.find([key], failed=not self._options.retry).get(key)
        if stored is not None and (not self._options.retry or suffices(as_tried(stored))):
            done(as_tried(stored), True)
            return
        self._engine.add(
            [RowRequest(key, self._lane(ask.settings), lambda: ask, self._worst, lambda tried: done(tried, False))],
            soon=True,
        )

    def _keep(self, place: AnswerPlace, result: Result) -> None:
        """Keep a final result, and count it."""
        number = (place.row * len(self._plan.arms) + place.arm) * self._plan.repeat + place.repeat
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
        if self._options.max_cost is None:
            return None
        target = self._asker.target(ask, server=False)
        tokens = sum(target.meter.message(message.content) + message.attached for message in ask.messages)
        return worst_case(self._models, target, tokens)

    def _new_engine(self) -> Engine:
        options = self._options
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


def _by_key(plan: RunPlan, looked: Looked) -> dict[AnswerKey, list[AnswerPlace]]:
    """Return where the answer to each request belongs; rows that ask the same share one."""
    found: dict[AnswerKey, list[AnswerPlace]] = {}
    for place in plan.places:
        digest = looked.digests[place.arm][place.row]
        if digest:
            found.setdefault((digest, place.repeat), []).append(place)
    return found
