"""What is shown of a run: a bar of tqdm while it goes on, and at its end a line or a card with its figures."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Protocol

from IPython.display import display

from ...display.run_page import CardFigures, card_forms
from ...runtime.frontend import FrontendKind, where
from ...wording import counted, dollars, visible
from ..results.answers import answers_of
from ..results.comparison import RunSummary, score_lines
from ..table.plan import RunPlan
from ..table.results import Results
from .progress import Progress

REDRAW = 0.34  # seconds between drawings
MOST_SENTENCES, MOST_LINES = 12, 6  # that a card shows, and lines of scores


class Watched(Protocol):
    """What is read of a run."""

    name: str
    plan: RunPlan

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
    @property
    def differences(self) -> tuple[str, ...]: ...  # noqa: D102
    def summary(self) -> RunSummary: ...  # noqa: D102


class Bar:
    """Shows how far a run has come: nothing of it by itself. A bar that cannot be drawn does not end a run.

    ``shows`` is what it has shown once the run has ended: "figures", "differences", the "sentences" to quote,
    and the "answers".
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

    def _draw(self) -> None:
        pass

    def _end(self) -> None:
        pass


class LastLine(Bar):
    """One line at the end, where nobody looks while the notebook runs."""

    all_of_it = frozenset({"differences"})

    def _end(self) -> None:
        run = self._run
        print(
            visible(f"{run.name or 'map'}: {run.progress}, {self.seconds:.1f} s"),
            *map(visible, run.differences),
            sep="\n",
        )


class TerminalBar(Bar):
    """A bar of tqdm, and below it at the end the sentences to quote."""

    all_of_it = frozenset({"differences", "sentences"})

    def __init__(self, run: Watched) -> None:
        from tqdm.std import tqdm

        super().__init__(run)
        self._tqdm = _tqdm_of(tqdm, run)

    def _draw(self) -> None:
        _draw(self._tqdm, self._run)

    def _end(self) -> None:
        self._draw()
        self._tqdm.close()
        for line in (*self._run.differences, *sentences_of(self._run)):
            print(visible(line), file=sys.stderr)


class NotebookBar(Bar):
    """A widget of tqdm, in whose place the card of the run stands at the end."""

    all_of_it = frozenset({"figures", "differences", "sentences", "answers"})

    def __init__(self, run: Watched) -> None:
        from tqdm.notebook import tqdm

        super().__init__(run)
        self._tqdm = _tqdm_of(tqdm, run, display=False)
        self._output: Any = display(self._tqdm.container, display_id=True)

    def _draw(self) -> None:
        _draw(self._tqdm, self._run)

    def _end(self) -> None:
        self._output.update(card_forms(run_card(self._run, self.seconds)), raw=True)
        self._tqdm.close()
        self._tqdm.container.close()


def bar_of(run: Watched, wanted: bool | None) -> Bar:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a widget in an open notebook, a line in a terminal, and a last line in a notebook that runs without a
    reader.
    """
    kind = _frontend()
    if wanted is False or (wanted is None and kind is None):
        return Bar(run)
    if kind == "headless":
        return LastLine(run)
    with suppress(Exception):  # such as no ipywidgets
        return NotebookBar(run) if kind == "notebook" else TerminalBar(run)
    return Bar(run)


def _frontend() -> FrontendKind | None:
    """Return where the bar would be; ``None``: nobody looks, as where the output of a script is a file."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return where(shell).kind
    return "terminal" if bool(getattr(sys.stderr, "isatty", bool)()) else None


def _tqdm_of(kind: Any, run: Watched, **more: Any) -> Any:
    """Return a bar of tqdm that starts no thread of its own, and shares no lock with other processes."""
    quiet: Any = type(kind.__name__, (kind,), {"monitor_interval": 0})
    quiet.set_lock(threading.RLock())
    return quiet(total=run.progress.rows, desc=visible(run.name) or None, unit="row", dynamic_ncols=True, **more)


def _draw(bar: Any, run: Watched) -> None:
    """Bring a bar of tqdm up to date with a run."""
    progress = run.progress
    bar.n, bar.initial = progress.done, progress.cached
    bar.set_postfix_str(progress.beside, refresh=False)
    bar.refresh()


# the end


def run_card(run: Watched, seconds: float | None = None) -> CardFigures:
    """Return what the card of a run shows that took so many seconds; ``None``: nothing is said of them."""
    figures = [*ending_figures(run, seconds), *filter(None, [run.why]), *run.differences]
    scores = score_lines(run.summary())[:MOST_LINES]
    return CardFigures(run.name, figures, scores, sentences_of(run), answers_of(run.results))


def ending_figures(run: Watched, seconds: float | None) -> list[str]:
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


def sentences_of(run: Watched) -> list[str]:
    """Return the first sentences to quote of a run, where there are scores."""
    if not any(result.scores for result in run.results):
        return []
    said = list(run.summary().sentences)
    more = len(said) - MOST_SENTENCES
    return [*said[:MOST_SENTENCES], f"… and {more} more: run.summary() has all."] if more > 0 else said
