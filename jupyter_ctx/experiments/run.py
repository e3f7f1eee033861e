"""A run: one prompt asked of many rows, in the background; and what it is told beside prompt, rows and settings."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..config.settings import KEYWORDS, Settings, kept_settings
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, check_whole_number, in_words
from ..models.cost_budget import CostBudget
from ..models.registry import Models
from ..providers.base import Reply
from ..session.ask import Ask, Asker
from ..shown_as import mimebundle
from ..storage.stored_answers import AnswerKey, Answers, Outcome
from ..wording import counted, did_you_mean
from .asking.engine import Ended, Engine, RowRequest
from .asking.progress import Bar, Progress, bar_of
from .money import Estimate, run_parts
from .results.export import ReadSide, RunRecord, export_run
from .table.plan import AnswerPlace, RunPlan
from .table.results import Done, Result, ResultBuilder, Results

MOST_WORDLESS = 3  # answers of each arm that were all thinking, before any other came: each is paid
POLL = 0.05  # seconds between looks for Ctrl-C
AFTER_CTRL_C = 0.95  # seconds that a run may take to stop
Again = Callable[["Run", Mapping[str, Any]], "Run"]  # begins a run anew, with some settings and options changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run asks.

    repeat: how often each row is asked
    schema: what each answer must be: a pydantic model, a dataclass, a TypedDict or a JSON schema
    tools: functions that the model may call, which change nothing: their calls are the column "calls"
    scorers: functions of a row and its reply, alone, in a list or by name
    group: the column whose equal values belong together, such as questions about one document
    max_cost: most US dollars that the run may cost; ``None``: no such cap
    spent: US dollars of max_cost that are spent already, as by an earlier run of the same cell
    limit: rows to ask, the first ones; ``None``: all
    retry: whether rows that failed are asked again
    concurrency: requests at once; ``None``: it adapts to the server
    executor: where requests run, with the keys in its own environment; ``None``: in threads
    name: what tables and pictures call the run
    dry_run: whether only the price is told, and nothing is sent
    yes: whether it may begin without asking, above the setting confirm_cost
    names: values that the template may use beside the columns, such as a notebook's variables
    store: where answers are kept: as for Chat, and "default" by default; ``None``: in memory only
    progress: whether a bar is shown; ``None``: where somebody looks
    agree: puts a question to the user; ``None``: nobody can be asked
    tell: is given the run before it begins, to show what it may cost
    """

    repeat: int = 1
    schema: Any = None
    tools: Any = ()
    scorers: Any = ()
    group: str | None = None
    max_cost: float | None = None
    spent: float = 0.0
    limit: int | None = None
    retry: bool = False
    concurrency: int | None = None
    executor: Executor | None = None
    name: str = ""
    dry_run: bool = False
    yes: bool = False
    names: Mapping[str, Any] = field(default_factory=dict)
    store: str | Path | None = "default"
    progress: bool | None = None
    agree: Callable[[str], bool] | None = None
    tell: Callable[[Any], object] | None = None

    def __post_init__(self) -> None:
        check_whole_number("repeat", self.repeat, least=1)
        for name, value in {"limit": self.limit, "concurrency": self.concurrency}.items():
            if value is not None:
                check_whole_number(name, value, least=1)
        cost = self.max_cost
        if cost is not None and (isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < 1e9):
            raise InvalidRequestError(f"max_cost is {cost!r}: it must be US dollars above 0.")
        if self.tools and self.executor is not None:
            raise InvalidRequestError("tools= are called here, and executor= asks elsewhere: leave one out.")


def split_options(given: Mapping[str, Any], begun: Options) -> tuple[Options, dict[str, Any]]:
    """Return the options among named arguments, beside those that are there, and the rest, which are settings.

    Raises InvalidRequestError for a name that is neither, with the nearest one.
    """
    known = [each.name for each in fields(begun)]
    unknown = next((name for name in given if name not in known and name not in KEYWORDS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, (*known, *KEYWORDS), "{}=")
        hint = hint or f" There are {', '.join(known)}, and every setting."
        raise InvalidRequestError(f"A run takes no {unknown}=.{hint}")
    options = {name: value for name, value in given.items() if name in known}
    return replace(begun, **options), {name: value for name, value in given.items() if name not in known}


class Run(ReadSide):
    """A prompt asked of many rows. It goes on in a thread of its own; :meth:`result` waits for its end.

    name: what tables and pictures call it
    plan: what is asked
    estimate: what it may cost, told before anything is sent
    begun: when it was begun, as ISO 8601 has it; empty before
    cost_budget: what pays for it
    group: the column that says which rows belong together
    shown: what its bar has shown at the end: "figures", "differences", "sentences", "answers"
    """

    def __init__(
        self,
        plan: RunPlan,
        models: Models,
        answers: Answers,
        options: Options,
        cost_budget: CostBudget,
        notes: tuple[str, ...],
        at_end: Callable[[Run], object] | None,
        again: Again,
    ) -> None:
        self.name, self.group = options.name, options.group
        self.plan, self.options, self.cost_budget = plan, options, cost_budget
        self._notes, self._answers, self._at_end, self._again = notes, answers, at_end, again
        self._models = models.apart()
        asker = Asker(self._models, of_rounds=cost_budget)
        self._targets = [self._models.target(arm.settings, ask=False) for arm in plan.arms]
        self._results: list[Result | None] = [None] * len(plan)
        self._places: dict[AnswerKey, list[AnswerPlace]] = {}  # where each answer belongs: rows that ask the same share
        for place in plan.places:
            self._places.setdefault((plan.prompts[place[:2]].digest, place.repeat), []).append(place)
        self._stored = {**self._handed_out(), **answers.find(self._places, failed=not options.retry)}
        self._progress = Progress(len(plan))
        self._wordless = [0] * len(plan.arms)
        self._further: dict[AnswerKey, AnswerKey] = {}  # to requests such as of judges: as handed out, as stored
        self._engine = Engine(asker, answers, cost_budget, self._show, options.executor, options.concurrency)
        self._builder = ResultBuilder(plan, options.scorers, self._send, self._keep)
        self.begun, self._ended, self._done = "", Ended(), threading.Event()
        self._bar: Bar | None = None
        self.shown = frozenset[str]()
        missing = [places[0] for key, places in self._places.items() if key[0] and key not in self._stored]
        parts = run_parts(asker, plan, missing, options.scorers.judges.values())
        self.estimate = Estimate.of(self._models, parts, cost_budget.cap, options.max_cost)

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        ended = "ended early" if self._ended.why else "ended"
        state = ended if self._done.is_set() else "running" if self.begun else "not begun"
        return f"Run({self.name or 'unnamed'}: {self.progress}, {state})"

    # reading

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        goes_on = not self._done.is_set()
        away = self._engine.away if goes_on else ""
        return replace(self._progress, away=away, cost=self.cost, goes_on=goes_on)

    def stored(self) -> dict[AnswerKey, tuple[Reply, bool]]:
        """Return the replies as they are handed out, also those of judges, and of each whether it is truncated."""
        further = self._answers.find(self._further.values(), failed=False)
        answers = dict[AnswerKey, tuple[Reply, bool]]()
        for anywhere, key in self._further.items():
            answer = further.get(key, Outcome())
            if answer.reply is not None:
                answers[anywhere] = answer.reply, answer.truncated
        for (row, arm, repeat), result in zip(self.plan.places, self._results, strict=True):
            if result is not None and result.reply is not None and not result.error:
                answers[self.plan.ask(row, arm).digest(anywhere=True), repeat] = result.reply, result.truncated
        return answers

    def _handed_out(self) -> dict[AnswerKey, Outcome]:
        """Return the answers to rows that were handed out with the notebook, whatever the address there was."""
        beside, handed = self._answers.beside, dict[AnswerKey, Outcome]()
        for key, places in self._places.items() if beside else ():
            anywhere = self.plan.ask(*places[0][:2]).digest(anywhere=True) if key[0] else ""
            if (anywhere, key[1]) in beside:
                handed[key] = beside[anywhere, key[1]]
        return handed

    @property
    def is_running(self) -> bool:
        """Whether the run has begun and not ended."""
        return bool(self.begun) and not self._done.is_set()

    @property
    def results(self) -> Results:
        """The answers so far, in the order of the rows; once the run has ended, with what was not asked for."""
        return Results(result for result in self._results if result is not None)

    @property
    def unasked(self) -> int:
        """How many answers were not asked for: as yet, or because the run ended before."""
        return len(self.plan) - self._progress.done

    @property
    def cost(self) -> float | None:
        """US dollars spent so far; ``None`` where no price is known."""
        return self.cost_budget.spent

    @property
    def unpriced(self) -> int:
        """How many answers of this run are billed at a price that nobody knows."""
        return self._progress.unpriced

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know of the run, a line each."""
        ending = [self._ending()] if self._done.is_set() and self.why else []
        return tuple(dict.fromkeys([*self._notes, *self._answers.notices, *self.differences, *ending]))

    @property
    def differences(self) -> tuple[str, ...]:
        """What is not sent as it is set, because the model does not take it, a line each."""
        return tuple(dict.fromkeys(line for target in self._targets for line in target.differences()))

    @property
    def why(self) -> str:
        """Why the run ended early; empty where it did not."""
        return self._ended.why

    @property
    def settings(self) -> dict[str, Any]:
        """What requests are sent with, beside the grid: the model, and the settings that differ from the defaults."""
        first = self.plan.arms[0].settings
        settings = {name: value for name, value in kept_settings(Settings(), first).items() if name not in self.grid}
        return {**settings, "model": first.model}

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The values of each name in the grid."""
        return self.plan.grid

    @property
    def record(self) -> RunRecord:
        """The run as it was asked and answered so far: a frozen value, as :func:`load_run` reads one."""
        plan = self.plan
        return RunRecord(
            plan.template.text, plan.rows, self.results, self.settings, grid=self.grid, repeats=plan.repeat,
            schema=plan.schema.json if plan.schema is not None else None, group=self.group, name=self.name,
            begun=self.begun, cost=self.cost, unpriced=self.unpriced, max_cost=self.cost_budget.cap,
        )  # fmt: skip

    def export(self, path: str | Path) -> Path:
        """Write the run to a file without keys, and return its path.

        A .json file has all that was asked and answered, an .html file is a page with verdicts and answers.
        """
        return export_run(self.record, path, self._models.secrets)

    # running

    def begin(self) -> Run:
        """Begin; a run that has begun goes on."""
        if not self.begun:
            self.begun = datetime.now(UTC).isoformat(timespec="seconds")
            self._bar = bar_of(self, self.options.progress)
            threading.Thread(target=self._go, name="jupyter_ctx run", daemon=True).start()
        return self

    def repeat(self, **changes: Any) -> Run:
        """Ask the same of another model, or with other settings, and return the new run, which has begun.

        ``run.repeat(model="openai/gpt-6.2-sol")`` takes the template, the rows, the grid, the scorers and the options
        of this run; ``changes`` are settings and options in their place. Its price is told, and asked about, like
        that of any run. ``compare(run, again)`` calls the two by their names, else by their models. Raises
        InvalidRequestError
        for a setting that is in the grid.
        """
        return self._again(self, changes)

    def cancel(self) -> None:
        """Stop the run, and return at once; answers that came are kept."""
        if self.begun:
            self._engine.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended, or for so many seconds; return whether it has.

        Ctrl-C stops the run: raises ChatInterrupted.
        """
        if not self.begun:
            raise InvalidRequestError("The run has not begun: begin() begins it; dry_run=True only tells its price.")
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        try:
            while not self._done.wait(max(0.0, min(POLL, until - time.monotonic()))):
                if time.monotonic() >= until:
                    return False
        except KeyboardInterrupt:
            self._engine.stop()
            self._done.wait(AFTER_CTRL_C)
            raise ChatInterrupted(self._kept()) from None
        return True

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the end and return a DataFrame with a row for each answer; a Polars frame for a Polars table.

        Raises a ChatError where the run failed as a whole, such as AuthenticationError for a bad key: the answers that
        came are in :attr:`results`, and the same run begun again asks only for the others. Raises TimeoutError after
        ``timeout`` seconds, and ChatInterrupted at Ctrl-C, which stops the run.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"The run goes on after {timeout:g} s: {self.progress}.")
        if self._ended.error is not None:
            raise self._ended.error(self._ending())
        return self.results.to_frame()

    def _ending(self) -> str:
        """Return why the run ended early, and what to do."""
        return f"{self._ended.why.rstrip('.')}. {self._kept()}"

    def _kept(self) -> str:
        """Return what an early end leaves."""
        progress = self.progress
        rest, answers = progress.rows - progress.done, progress.done - progress.failed
        done = f"{answers:,} of {counted(progress.rows, 'answer')} are kept"
        failed = f", {progress.failed:,} failed" if progress.failed else ""
        return f"{done}; running it again asks only the other {rest:,}{failed}." if rest else f"{done}{failed}."

    # what happens, in the thread of the run

    def _go(self) -> None:
        """Run to the end."""
        atexit.register(self._done.wait, AFTER_CTRL_C)  # where Python ends meanwhile, what came is written
        try:
            self._deliver_known()
            self._engine.add(self._requests())
            self._ended = self._engine.run()
        except ChatError as error:
            self._ended = Ended(str(error), type(error))
        except Exception as error:
            self._ended = Ended(f"The run failed: {in_words(error)}", ChatError)
        finally:
            self._builder.end()
            for number, place in enumerate(self.plan.places):
                self._results[number] = self._results[number] or self._builder.unasked(place)
            self._answers.settle()
            self._answers.close()
            self.shown = self._bar.end() if self._bar is not None else self.shown
            if self._at_end is not None:
                with suppress(Exception):  # the answers are kept, whatever listens
                    self._at_end(self)
            atexit.unregister(self._done.wait)
            self._done.set()

    def _show(self) -> None:
        """Draw how far it has come, where somebody looks."""
        if self._bar is not None:
            self._bar.show()

    def _deliver_known(self) -> None:
        """Deliver what need not be asked: rows that cannot be filled in, and stored answers."""
        for key, places in list(self._places.items()):
            if not key[0]:
                for place in places:
                    answer = Outcome(error=self.plan.prompts[place[:2]].error, fault="row")
                    self._builder.add([place], answer, cached=False)
                del self._places[key]
            elif key in self._stored:
                self._builder.add(self._places.pop(key), self._stored.pop(key), cached=True)

    def _requests(self) -> Iterator[RowRequest]:
        """Yield the requests to send: all rows once, then their repeats; a local model's arms one after the other."""
        is_local = [self._engine.queue_of(arm.settings).is_local for arm in self.plan.arms]

        def order(item: tuple[AnswerKey, list[AnswerPlace]]) -> tuple[int, ...]:
            row, arm, repeat = item[1][0]
            return (arm if is_local[arm] else 0, repeat, row, arm)

        missing = sorted(self._places.items(), key=order, reverse=True)
        self._places.clear()  # each is let go once it is answered
        while missing:
            key, places = missing.pop()
            row, arm, _ = places[0]
            done = partial(self._builder.add, places)
            yield RowRequest(key, self.plan.ask(row, arm), done, self.plan.schema, self.plan.prompts[row, arm].group)

    def _send(self, ask: Ask, repeat: int, done: Done) -> None:
        """Send a further request of a row, unless its answer is stored."""
        key, anywhere = (ask.digest(), repeat), (ask.digest(anywhere=True), repeat)
        self._further[anywhere] = key
        answer = self._answers.find([key], failed=not self.options.retry).get(key, self._answers.beside.get(anywhere))
        if answer is not None:
            done(answer, True)
        else:
            self._engine.add_soon(RowRequest(key, ask, done))

    def _keep(self, place: AnswerPlace, result: Result) -> None:
        """Keep a final result, and count it."""
        number = (place.row * len(self.plan.arms) + place.arm) * self.plan.repeat + place.repeat
        self._results[number] = result
        now, reply = self._progress, None if result.cached else result.reply
        is_unpriced = reply is not None and reply.cost is None and not self._targets[place.arm].is_free
        self._progress = replace(
            now, done=now.done + 1, failed=now.failed + result.failed, cached=now.cached + result.cached,
            asked=now.asked + (not result.cached), unpriced=now.unpriced + is_unpriced,
        )  # fmt: skip
        if reply is not None and result.error and not reply.text.strip():
            self._wordless[place.arm] += 1
            if self._progress.done == self._progress.failed and min(self._wordless) >= MOST_WORDLESS:
                self._engine.give_up(f"{result.error} The first {MOST_WORDLESS} were all so, and each is paid.")
        self._show()
