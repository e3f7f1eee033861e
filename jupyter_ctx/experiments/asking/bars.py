"""How far a run has come, shown while it goes on: a bar of tqdm, or one line at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from IPython.display import display

from ...display.run_page import card_forms
from ...runtime.frontend import FrontendKind, where
from ...wording import visible
from .ending import Watched, run_card, sentences_of

REDRAW = 0.34  # seconds between drawings


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
