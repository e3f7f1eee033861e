"""How far a run has come: as figures, as a bar in a terminal, or in one line at its end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ...wording import counted, dollars, visible
from ..money.estimate import Estimate
from ..results.comparison import RunSummary
from ..table.plan import RunPlan
from ..table.results import Result, Results

REDRAW = 0.34  # seconds between drawings: three a second, and the card now and then draws its static twin
MOST_SENTENCES = 12  # that are shown at the end


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    rows: answers that are wanted, one for each row, arm and repeat
    done: those that are there, failed ones included
    failed: rows without an answer, or without a valid one
    cached: answers that needed no request: stored already, or that of a row which asks the same
    asked: answers that were asked of a model in this run
    cost: US dollars spent in this run; ``None`` where no price is known
    unpriced: answers that are billed at a price that nobody knows
    away: what the run waits for, in words; empty where nothing is worth saying
    goes_on: whether more may come
    """

    rows: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    asked: int = 0
    cost: float | None = None
    unpriced: int = 0
    away: str = ""
    goes_on: bool = True

    @property
    def left(self) -> float | None:
        """US dollars that the other rows will cost if they are like those asked so far; ``None``: unknown."""
        if self.cost is None or not self.asked:
            return None
        return self.cost / self.asked * (self.rows - self.done) if self.goes_on else 0.0

    def __str__(self) -> str:
        return ", ".join([self.counted, *filter(None, [self.beside])])

    @property
    def counted(self) -> str:
        """The number of answers that are there, of all."""
        return f"{self.done:,} of {counted(self.rows, 'answer')}"

    @property
    def counts(self) -> list[str]:
        """How many rows failed, or needed no request."""
        counts = [(self.failed, "failed"), (self.cached, "without a request")]
        return [f"{count:,} {what}" for count, what in counts if count]

    @property
    def beside(self) -> str:
        """What to know beside the number of rows: how many failed or needed no request, and the money."""
        parts = self.counts
        if self.cost is not None:
            left = f" so far, about {dollars(self.left)} left" if self.left else ""
            parts.append(f"{dollars(self.cost)}{left}")
        parts += [f"{self.unpriced:,} at an unknown price"] if self.unpriced else []
        parts += [self.away] if self.away else []
        return ", ".join(parts)

    def after(self, seconds: float, name: str) -> str:
        """Return how far a run of this name has come after so many seconds, in one line."""
        return visible(f"{name or 'map'}: {self}, {seconds:.1f} s")


class Watched(Protocol):
    """What a bar reads of a run."""

    name: str
    plan: RunPlan
    estimate: Estimate

    @property
    def progress(self) -> Progress: ...  # noqa: D102
    @property
    def results(self) -> Results: ...  # noqa: D102
    @property
    def unasked(self) -> int: ...  # noqa: D102
    @property
    def unpriced(self) -> int: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102
    def summary(self) -> RunSummary: ...  # noqa: D102
    def cancel(self) -> None: ...  # noqa: D102


def quotable(summary: RunSummary) -> list[str]:
    """Return the first sentences of a summary."""
    said = list(summary.sentences)
    more = len(said) - MOST_SENTENCES
    return [*said[:MOST_SENTENCES], f"… and {more} more: run.summary() has all."] if more > 0 else said


def sentences_of(run: Watched) -> list[str]:
    """Return the sentences to quote of a run, where there are scores."""
    return quotable(run.summary()) if any(result.scores for result in run.results) else []


def ending_figures(run: Watched, seconds: float) -> list[str]:
    """Return the figures of a run at its end: its rows, what is missing or stored, its cost and its time."""
    results, progress = run.results, run.progress
    counts = [
        (len(results.failed), "failed"), (len(results.truncated), "truncated"), (progress.cached, "without a request"),
        (run.unasked, "not asked"),
    ]  # fmt: skip
    cost = [dollars(progress.cost)] if progress.cost else []
    cost += [f"{run.unpriced:,} at an unknown price"] if run.unpriced else []
    asked, answers = counted(len(run.plan.rows), "row"), len(run.plan)
    head = asked if answers == len(run.plan.rows) else f"{answers:,} answers to {asked}"
    return [head, *(f"{count:,} {what}" for count, what in counts if count), *cost, f"{seconds:.1f} s"]


class Bar:
    """Shows how far a run has come: nothing of it by itself. A bar that cannot be drawn does not end a run.

    ``shows`` is what it has shown once the run has ended: "sentences", and the "table".
    """

    all_of_it: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, run: Watched, clock: Callable[[], float] = time.monotonic) -> None:
        self.shows = frozenset[str]()
        self._run, self._clock = run, clock
        self._begun, self._drawn = clock(), -REDRAW

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return self._clock() - self._begun

    def keep(self, result: Result, key: Hashable) -> None:
        """Count an answer; rows with the same ``key`` were asked the same."""
        with suppress(Exception):
            self._keep(result, key)

    def hold(self, *, waited: bool) -> None:
        """Let Stop interrupt the cell where one waits for the run."""

    def show(self) -> None:
        """Draw, not more often than the eye can follow."""
        now = self._clock()
        if now - self._drawn >= REDRAW:
            self._drawn = now
            with suppress(Exception):
                self._draw()

    def end(self) -> None:
        """Draw for the last time."""
        with suppress(Exception):
            self._end()
            self.shows = self.all_of_it

    def _keep(self, result: Result, key: Hashable) -> None:
        pass

    def _draw(self) -> None:
        pass

    def _end(self) -> None:
        pass


class LastLine(Bar):
    """One line at the end, where nobody looks while the notebook runs."""

    def _end(self) -> None:
        print(self._run.progress.after(self.seconds, self._run.name))


class TerminalBar(Bar):
    """A bar of tqdm, and below it at the end the sentences to quote."""

    all_of_it = frozenset({"sentences"})

    def __init__(self, run: Watched) -> None:
        super().__init__(run)
        from tqdm.std import tqdm

        label = visible(run.name) or None
        self._tqdm = _quiet(tqdm)(total=run.progress.rows, desc=label, unit="row", dynamic_ncols=True)

    def _draw(self) -> None:
        bar, progress = self._tqdm, self._run.progress
        bar.n, bar.initial = progress.done, progress.cached
        bar.set_postfix_str(progress.beside, refresh=False)
        bar.refresh()

    def _end(self) -> None:
        self._draw()
        self._tqdm.close()
        for sentence in sentences_of(self._run):
            print(visible(sentence), file=sys.stderr)


def _quiet(kind: Any) -> Any:
    """Return a kind of tqdm that starts no thread of its own, and shares no lock with other processes."""
    quiet: Any = type(kind.__name__, (kind,), {"monitor_interval": 0})
    quiet.set_lock(threading.RLock())
    return quiet
