"""How far a run has come: as figures, as a bar of tqdm while it goes on, and at its end as a line or a card."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from IPython.display import display

from ...display.run_page import CardFigures, card_bundle
from ...runtime.frontend import where
from ...wording import counted, dollars, visible
from ..results.comparison import score_lines
from ..results.differences import answers_of

REDRAW = 0.34  # seconds between drawings
MOST_LINES = 6  # of scores that a card shows
Way = Literal["terminal", "notebook"]
SHOWS: Mapping[Way, frozenset[str]] = {  # what each has shown at the end
    "terminal": frozenset({"differences", "sentences"}),
    "notebook": frozenset({"figures", "differences", "sentences", "answers"}),
}


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
        return ", ".join([f"{self.done:,} of {counted(self.rows, 'answer')}", *self.figures])

    @property
    def figures(self) -> list[str]:
        """What to know beside the number of rows: how many failed or needed no request, and the money."""
        counts = [(self.failed, "failed"), (self.cached, "without a request")]
        figures = [f"{count:,} {what}" for count, what in counts if count]
        if self.cost:
            left = f" so far, about {dollars(self.left)} left" if self.left else ""
            figures.append(f"{dollars(self.cost)}{left}")
        figures += [f"{self.unpriced:,} at an unknown price"] if self.unpriced else []
        return [*figures, self.away] if self.away else figures


class Bar:
    """Shows how far a run has come, in one of the ways of :data:`SHOWS`. A bar that cannot be drawn ends no run.

    run: a :class:`~jupyter_ctx.experiments.run.Run`
    """

    def __init__(self, run: Any, way: Way, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._way, self._clock = run, way, clock
        self._begun, self._drawn = clock(), -REDRAW
        if way == "terminal":
            from tqdm.std import tqdm

            self._tqdm = _tqdm_of(tqdm, run)
        else:
            from tqdm.notebook import tqdm as widget

            self._tqdm = _tqdm_of(widget, run, display=False)
            self._output: Any = display(self._tqdm.container, display_id=True)

    def show(self) -> None:
        """Draw, not more often than the eye can follow."""
        if self._clock() - self._drawn < REDRAW:
            return
        self._drawn = self._clock()
        with suppress(Exception):
            self._draw()

    def end(self) -> frozenset[str]:
        """Draw for the last time; return what was shown: "figures", "differences", "sentences", "answers"."""
        with suppress(Exception):
            self._end(self._clock() - self._begun)
            return SHOWS[self._way]
        return frozenset()

    def _draw(self) -> None:
        """Bring the bar of tqdm up to date with the run."""
        progress, bar = self._run.progress, self._tqdm
        bar.n, bar.initial = progress.done, progress.cached
        bar.set_postfix_str(", ".join(progress.figures), refresh=False)
        bar.refresh()

    def _end(self, seconds: float) -> None:
        run = self._run
        if self._way == "terminal":
            self._draw()
            self._tqdm.close()
            for line in (*run.differences, *sentences_of(run)):
                print(visible(line), file=sys.stderr)
        else:
            self._output.update(card_bundle(run_card(run, seconds)), raw=True)
            self._tqdm.close()
            self._tqdm.container.close()


def bar_of(run: Any, wanted: bool | None) -> Bar | None:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a widget in an open notebook, and a bar in a terminal; a notebook that runs without a reader has none.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    is_kernel = shell is not None and hasattr(shell, "kernel")
    is_terminal = bool(getattr(sys.stderr, "isatty", bool)())  # else the output of a script is a file
    if wanted is False or (wanted is None and not is_kernel and not is_terminal):
        return None
    kind = where(shell).kind if is_kernel else "terminal"
    with suppress(Exception):  # such as no ipywidgets
        return None if kind == "headless" else Bar(run, "notebook" if kind == "notebook" else "terminal")
    return None


def _tqdm_of(kind: Any, run: Any, **more: Any) -> Any:
    """Return a bar of tqdm that starts no thread of its own, and shares no lock with other processes."""
    quiet: Any = type(kind.__name__, (kind,), {"monitor_interval": 0})
    quiet.set_lock(threading.RLock())
    return quiet(total=run.progress.rows, desc=visible(run.name) or None, unit="row", dynamic_ncols=True, **more)


# the end


def run_card(run: Any, seconds: float | None = None) -> CardFigures:
    """Return what the card of a run shows that took so many seconds; ``None``: nothing is said of them."""
    figures = [*ending_figures(run, seconds), *filter(None, [run.why]), *run.differences]
    scores = score_lines(run.summary())[:MOST_LINES]
    return CardFigures(run.name, figures, scores, sentences_of(run), answers_of(run.results))


def ending_figures(run: Any, seconds: float | None) -> list[str]:
    """Return the figures of a run at its end: its rows, what is missing or stored, its cost and its time."""
    asked, answers = counted(len(run.plan.rows), "row"), len(run.plan)
    rows = asked if answers == len(run.plan.rows) else f"{answers:,} answers to {asked}"
    counts = {"truncated": len(run.results.truncated), "not asked": run.unasked}
    left_out = [f"{count:,} {what}" for what, count in counts.items() if count]
    return [rows, *left_out, *run.progress.figures, *([f"{seconds:.1f} s"] if seconds is not None else [])]


def sentences_of(run: Any) -> list[str]:
    """Return the first sentences to quote of a run, where there are scores."""
    if not any(result.scores for result in run.results):
        return []
    sentences: list[str] = run.summary().first_sentences()
    return sentences
