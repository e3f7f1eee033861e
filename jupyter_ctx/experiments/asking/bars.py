"""What is shown of a run: a bar of tqdm while it goes on, and at its end a line or a card with its figures."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from IPython.display import display

from ...display.run_page import CardFigures, card_forms
from ...runtime.frontend import where
from ...wording import counted, dollars, visible
from ..results.comparison import score_lines
from ..results.differences import answers_of

REDRAW = 0.34  # seconds between drawings
MOST_SENTENCES, MOST_LINES = 12, 6  # that a card shows, and lines of scores


Way = Literal["silent", "last line", "terminal", "notebook"]
WAYS: Mapping[Way, frozenset[str]] = {  # what each has shown at the end
    "silent": frozenset(),
    "last line": frozenset({"differences"}),
    "terminal": frozenset({"differences", "sentences"}),
    "notebook": frozenset({"figures", "differences", "sentences", "answers"}),
}


class Bar:
    """Shows how far a run has come, in one of the ways of :data:`WAYS`. A bar that cannot be drawn ends no run.

    run: a :class:`~jupyter_ctx.experiments.run.Run`
    shows: what it has shown once the run has ended: "figures", "differences", the "sentences" to quote, and "answers"
    """

    def __init__(self, run: Any, way: Way = "silent", clock: Callable[[], float] = time.monotonic) -> None:
        self.shows = frozenset[str]()
        self._run, self._way, self._clock = run, way, clock
        self._begun, self._drawn = clock(), -REDRAW
        self._tqdm: Any = None
        if way == "terminal":
            from tqdm.std import tqdm

            self._tqdm = _tqdm_of(tqdm, run)
        elif way == "notebook":
            from tqdm.notebook import tqdm as widget

            self._tqdm = _tqdm_of(widget, run, display=False)
            self._output: Any = display(self._tqdm.container, display_id=True)

    def show(self) -> None:
        """Draw, not more often than the eye can follow."""
        if self._tqdm is None or self._clock() - self._drawn < REDRAW:
            return
        self._drawn = self._clock()
        with suppress(Exception):
            self._draw()

    def end(self) -> None:
        """Draw for the last time."""
        with suppress(Exception):
            self._end(self._clock() - self._begun)
            self.shows = WAYS[self._way]

    def _draw(self) -> None:
        """Bring the bar of tqdm up to date with the run."""
        progress, bar = self._run.progress, self._tqdm
        bar.n, bar.initial = progress.done, progress.cached
        bar.set_postfix_str(progress.beside, refresh=False)
        bar.refresh()

    def _end(self, seconds: float) -> None:
        run = self._run
        if self._way == "last line":
            print(
                visible(f"{run.name or 'map'}: {run.progress}, {seconds:.1f} s"),
                *map(visible, run.differences),
                sep="\n",
            )
        elif self._way == "terminal":
            self._draw()
            self._tqdm.close()
            for line in (*run.differences, *sentences_of(run)):
                print(visible(line), file=sys.stderr)
        elif self._way == "notebook":
            self._output.update(card_forms(run_card(run, seconds)), raw=True)
            self._tqdm.close()
            self._tqdm.container.close()


def bar_of(run: Any, wanted: bool | None) -> Bar:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a widget in an open notebook, a bar in a terminal, and a last line in a notebook that runs without a
    reader.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    is_kernel = shell is not None and hasattr(shell, "kernel")
    is_terminal = bool(getattr(sys.stderr, "isatty", bool)())  # else the output of a script is a file
    if wanted is False or (wanted is None and not is_kernel and not is_terminal):
        return Bar(run)
    kind = where(shell).kind if is_kernel else "terminal"
    with suppress(Exception):  # such as no ipywidgets
        return Bar(run, "last line" if kind == "headless" else "notebook" if kind == "notebook" else "terminal")
    return Bar(run)


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
    results, progress = run.results, run.progress
    asked, answers = counted(len(run.plan.rows), "row"), len(run.plan)
    figures = [asked if answers == len(run.plan.rows) else f"{answers:,} answers to {asked}"]
    counts = {
        "failed": len(results.failed),
        "truncated": len(results.truncated),
        "without a request": progress.cached,
        "not asked": run.unasked,
    }
    figures += [f"{count:,} {what}" for what, count in counts.items() if count]
    figures += [dollars(progress.cost)] if progress.cost else []
    figures += [f"{run.unpriced:,} at an unknown price"] if run.unpriced else []
    figures += [f"{seconds:.1f} s"] if seconds is not None else []
    return figures


def sentences_of(run: Any) -> list[str]:
    """Return the first sentences to quote of a run, where there are scores."""
    if not any(result.scores for result in run.results):
        return []
    said = list(run.summary().sentences)
    more = len(said) - MOST_SENTENCES
    return [*said[:MOST_SENTENCES], f"… and {more} more: run.summary() has all."] if more > 0 else said
