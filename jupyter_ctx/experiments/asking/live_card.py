"""What a run shows in its cell while it goes on and at its end, and which kind of bar that is."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import replace

from ...display.run_page import AnswerTable, CardFigures, ScoreLine
from ...display.widgets.run_card import RunCard
from ...runtime.frontend import FrontendKind, where
from ...wording import counted, dollars
from ..results.answer_rows import answer_cells, answer_place, answer_texts, failures_first
from ..statistics.running import RunningScore
from ..statistics.significance import Interval
from ..statistics.tally import number
from ..statistics.verdicts import ArmRow, number_text, percent
from ..table.results import Result
from .progress import Bar, LastLine, TerminalBar, Watched, ending_figures, quotable

MOST_LINES = 6  # of scores
MOST_FAILURES, MOST_NEWEST = 3, 5  # answers that are shown while the run goes on
PACE_DRAWINGS = 30  # over which the rows a second are taken: ten seconds


class CardBar(Bar):
    """The card of a run in its cell. It counts each answer as it comes, so that every drawing takes the same time."""

    all_of_it = frozenset({"sentences", "table"})

    def __init__(self, run: Watched) -> None:
        super().__init__(run)
        self._scores: dict[tuple[str, str], RunningScore] = {}  # by scorer and arm
        self._scorers: dict[str, None] = {}  # in the order in which they come
        self._failed, self._wrong = deque[Result](maxlen=MOST_FAILURES), deque[Result](maxlen=MOST_FAILURES)
        self._newest = deque[Result](maxlen=MOST_FAILURES + MOST_NEWEST)
        self._pace = deque([(self._begun, 0)], maxlen=PACE_DRAWINGS)
        self._card = RunCard(self._figures(), run.cancel)

    def _keep(self, result: Result, key: Hashable) -> None:
        self._newest.append(result)
        if result.failed:
            self._failed.append(result)
        self._scorers |= dict.fromkeys(result.scores)
        for name, score in result.scores.items() if result.counts else ():
            value = number(score)
            if value is None:
                continue
            running = self._scores.setdefault((name, result.arm), RunningScore())
            running.add(key, value)
            if name == self._first_scorer and running.is_rate and value == 0.0:
                self._wrong.append(result)

    def hold(self, *, waited: bool) -> None:
        """Let Stop interrupt the cell where one waits for the run."""
        self._card.hold(waited=waited)

    def _draw(self) -> None:
        self._card.draw(self._figures())

    def _end(self) -> None:
        run, failed = self._run, self._run.progress.failed
        results = failures_first(run.results, self._first_scorer)
        head, *rows = answer_cells(results, run.plan, list(self._scorers))
        count = counted(len(rows), "answer")
        table = AnswerTable(
            head, rows, answer_place(head, self._scorers), lambda index: answer_texts(results[index]),
            f"{count}, {failed:,} failed" if failed else count,
        )  # fmt: skip
        figures = [*ending_figures(run, self.seconds), *filter(None, [run.why])]
        card = CardFigures(run.name, run.progress.done, run.progress.rows, figures)
        if self._scorers:
            summary = run.summary()
            scores = [_line(*each) for each in map(_measured, summary) if each is not None]
            card = replace(card, scores=scores[:MOST_LINES], sentences=quotable(summary))
        self._card.end(card, table)

    @property
    def _first_scorer(self) -> str:
        return next(iter(self._scorers), "")

    def _figures(self) -> CardFigures:
        """Return what the card shows while the run goes on."""
        run, progress = self._run, self._run.progress
        cost = [_of_range(progress.cost, run.estimate.cost)] if progress.cost else []
        figures = [progress.counted, *progress.counts, *cost, *self._rows_a_second(progress.done)]
        figures += filter(None, [progress.away])
        order = [(name, arm) for name in self._scorers for each, arm in self._scores if each == name]
        scores = [_line(*key, self._scores[key].interval, self._scores[key].is_rate) for key in order[:MOST_LINES]]
        first = [*self._failed, *reversed(self._wrong)][:MOST_FAILURES]
        newest = [each for each in reversed(self._newest) if not any(each is other for other in first)]
        head, *rows = answer_cells([*first, *newest[:MOST_NEWEST]], run.plan, list(self._scorers))
        return CardFigures(run.name, progress.done, progress.rows, figures, scores, AnswerTable(head, rows))

    def _rows_a_second(self, done: int) -> Iterable[str]:
        """Yield the pace of the last ten seconds, where there is one."""
        self._pace.append((self._clock(), done))
        (began, before), (now, _) = self._pace[0], self._pace[-1]
        if done > before and now > began:
            yield f"{(done - before) / (now - began):,.1f} answers/s"


def bar_of(run: Watched, wanted: bool | None) -> Bar:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a card in an open notebook, a bar in a terminal, and a last line in a notebook that runs without a reader.
    """
    kind = _frontend()
    if wanted is False or (wanted is None and kind is None):
        return Bar(run)
    if kind == "headless":
        return LastLine(run)
    with suppress(Exception):  # such as no ipywidgets
        return CardBar(run) if kind == "notebook" else TerminalBar(run)
    return Bar(run)


def _frontend() -> FrontendKind | None:
    """Return where the bar would be; ``None``: nobody looks, as where the output of a script is a file."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return where(shell).kind
    return "terminal" if bool(getattr(sys.stderr, "isatty", bool)()) else None


def _of_range(cost: float, told: tuple[float, float | None] | None) -> str:
    """Return what was spent, of the range that was told before."""
    if told is None:
        return dollars(cost)
    low, high = told
    if high is None:
        return f"{dollars(cost)} of {dollars(low)} or more"
    least, most = dollars(low), dollars(high)
    return f"{dollars(cost)} of {most}" if least == most else f"{dollars(cost)} of {least} to {most}"


def _measured(row: ArmRow) -> tuple[str, str, Interval, bool] | None:
    """Return a row of a summary as a line takes it; ``None`` where no answer has a score."""
    if row.value is None:
        return None
    low, high = (math.nan if end is None else end for end in (row.low, row.high))
    return row.scorer, row.arm, Interval(row.value, low, high, row.n), row.kind != "mean"


def _line(scorer: str, arm: str, interval: Interval, is_rate: bool) -> ScoreLine:
    """Return a rate or a mean as a line of the card."""
    text = percent if is_rate else number_text
    rows = counted(interval.n, "row")
    label = f"{scorer}, {arm}" if arm else scorer
    if not interval.is_known:
        return ScoreLine(text(interval.value), label, rows)
    spread = f"{text(interval.low)} to {text(interval.high)}".replace(" %", "", 1)
    ends = (interval.low, interval.value, interval.high) if is_rate else None
    return ScoreLine(text(interval.value), label, f"{spread}, {rows}", ends)
