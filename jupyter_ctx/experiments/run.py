"""A run: one prompt asked of many rows, in the background. Here is what its user holds; a conductor carries it out."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..config.settings import Settings, kept_settings
from ..errors import ChatError, ChatInterrupted, InvalidRequestError
from ..models.registry import Models
from ..storage.keeping import AnswerKeeper
from ..wording import rows
from .ask import Asker
from .charts import draw_heat_map, draw_rates
from .comparison import RunSummary, summary
from .conductor import Conductor
from .export import export_run
from .options import Options
from .pictures import Picture
from .plan import Looked, RunPlan
from .progress import Progress
from .quote import quoted
from .record import RunRecord
from .results import Results
from .scorers import Scorers

POLL = 0.05  # seconds between looks for Ctrl-C


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
        self.name, self.plan, self.options = options.name, plan, options
        self._notes, self._models, self._keeper = notes, models.apart(), keeper
        self._scorers, asker = Scorers.of(options.scorers), Asker(self._models)
        self._conductor = Conductor(
            plan, looked, asker, keeper, options, self._scorers,
            paid=pilot.progress.cost if pilot is not None else None, is_pilot=is_pilot,
            at_end=partial(ended, self) if ended is not None else None,
        )  # fmt: skip
        seen = pilot.results if pilot is not None else ()
        self.estimate = quoted(
            plan, looked, asker, self._conductor.missing, self._scorers.judges, seen, batch=options.batch
        )

    def __repr__(self) -> str:
        state = "ended" if self._conductor.is_done else "running" if self._conductor.begun else "not begun"
        return f"Run({self.name or 'unnamed'}: {self.progress}, {state})"

    # reading

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        return self._conductor.progress

    @property
    def results(self) -> Results:
        """The answers so far, in the order of the rows; what was not asked is not among them."""
        return self._conductor.results

    @property
    def cost(self) -> float | None:
        """US dollars spent since the run began, without its pilot; ``None`` where no price is known."""
        return self._conductor.cost

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
        ending = [self._ending()] if self._conductor.is_done and self._conductor.ended.why else []
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
            names=plan.template.names, group=self.group, name=self.name, begun=self._conductor.begun,
        )  # fmt: skip
        return export_run(record, path, self._models.secrets)

    # running

    def begin(self) -> Run:
        """Begin; a run that has begun goes on."""
        self._conductor.begin()
        return self

    def cancel(self) -> None:
        """Stop the run, and return at once; answers that came are kept. A provider is asked to end its batches."""
        self._conductor.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended, or for so many seconds; return whether it has.

        Ctrl-C stops the run: raises ChatInterrupted. Batches go on at the provider, and the same run begun again
        fetches their answers.
        """
        if not self._conductor.begun:
            raise InvalidRequestError("The run has not begun: begin() begins it; dry_run=True only tells its price.")
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        try:
            while not self._conductor.wait(max(0.0, min(POLL, until - time.monotonic()))):
                if time.monotonic() >= until:
                    return False
        except KeyboardInterrupt:
            self._conductor.leave()
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
        if self._conductor.ended.failed:
            raise ChatError(self._ending())
        return self.results.to_frame()

    def _ending(self) -> str:
        """Return why the run ended early, and what to do."""
        return f"{self._conductor.ended.why.rstrip('.')}. {self._kept()}"

    def _kept(self) -> str:
        """Return what an early end leaves."""
        progress = self.progress
        rest = progress.rows - progress.done
        kept = f"{progress.done:,} of {rows(progress.rows)} are kept"
        return f"{kept}; running it again asks only the other {rest:,}." if rest else f"{kept}."
