"""How far a run has come: as figures, as a bar where somebody looks, or in one line at its end."""

from __future__ import annotations

import html
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...runtime.frontend import FrontendKind, where
from ...wording import dollars, visible

REDRAW = 0.1  # seconds between drawings of the bar
REWRITE = 5.0  # seconds between two texts above the bar, which are what is saved with the notebook


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    rows: answers that are wanted, one for each row, arm and repeat
    done: those that are there, failed ones included
    failed: rows without an answer, or without a valid one
    cached: answers that were stored already
    asked: answers that were asked of a model in this run, those of its pilot included
    cost: US dollars spent in this run, on its pilot too; ``None`` where no price is known
    away: what is asked in batches of a provider, and how far it is there
    """

    rows: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    asked: int = 0
    cost: float | None = None
    away: str = ""

    @property
    def left(self) -> float | None:
        """US dollars that the other rows will cost if they are like those asked so far; ``None``: unknown."""
        if self.cost is None or not self.asked:
            return None
        return self.cost / self.asked * (self.rows - self.done)

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"{self.done:,} of {self.rows:,} rows", self.beside)))

    @property
    def beside(self) -> str:
        """What to know beside the number of rows: how many failed or were stored, and the money."""
        parts = [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"{self.cached:,} were stored"] if self.cached else []
        if self.cost is not None:
            left = f" so far, about {dollars(self.left)} left" if self.left else ""
            parts.append(f"{dollars(self.cost)}{left}")
        parts += [self.away] if self.away else []
        return ", ".join(parts)

    def after(self, seconds: float, name: str) -> str:
        """Return how far a run of this name has come after so many seconds, in one line."""
        return visible(f"{name or 'map'}: {self}, {seconds:.1f} s")


class LastLine:
    """One line at the end, where nobody looks while the notebook runs."""

    def __init__(self, name: str) -> None:
        self._name, self._begun = name, time.monotonic()

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Print the line when the run has ended."""
        if last:
            with suppress(Exception):
                print(progress.after(time.monotonic() - self._begun, self._name))


class RunBar:
    """A bar of tqdm, drawn at intervals; on a page with the same as text above it, which a saved notebook shows."""

    def __init__(self, progress: Progress, name: str, *, on_page: bool) -> None:
        self._name, self._begun = name, time.monotonic()
        self._drawn, self._written = 0.0, self._begun
        label = visible(name) or None
        if not on_page:
            from tqdm.std import tqdm

            self._tqdm = _quiet(tqdm)(total=progress.rows, desc=label, unit="row", dynamic_ncols=True)
            self._twin = None
            return
        from tqdm.notebook import tqdm as notebook_tqdm

        from ...display.widgets.static_twin import LIVE, show

        self._tqdm = _quiet(notebook_tqdm)(total=progress.rows, desc=label, unit="row", display=False)
        self._tqdm.container.add_class(LIVE)
        self._twin = show(self._tqdm.container, self._forms(progress))

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Draw how far the run has come, not more often than the eye can follow; ``last``: it has ended."""
        now = time.monotonic()
        if not last and now - self._drawn < REDRAW:
            return
        self._drawn = now
        with suppress(Exception):  # a bar that cannot be drawn must not end a run
            self._draw(progress, last=last)
        if self._twin is not None and (last or now - self._written >= REWRITE):
            self._written = now
            with suppress(Exception):
                self._twin.update(self._forms(progress))

    def _draw(self, progress: Progress, *, last: bool) -> None:
        bar = self._tqdm
        bar.n, bar.initial = progress.done, progress.cached
        bar.set_postfix_str(progress.beside, refresh=False)
        bar.refresh()
        if last:
            bar.close()

    def _forms(self, progress: Progress) -> dict[str, str]:
        text = progress.after(time.monotonic() - self._begun, self._name)
        return {"text/html": f"<code>{html.escape(text)}</code>", "text/plain": text}


def bar_of(progress: Progress, name: str, wanted: bool | None) -> LastLine | RunBar | None:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a bar on an open notebook or in a terminal, and a last line in a notebook that runs without a reader.
    """
    kind = _frontend()
    if wanted is False or (wanted is None and kind is None):
        return None
    if kind == "headless":
        return LastLine(name)
    with suppress(Exception):  # such as a version of ipywidgets that tqdm does not know
        return RunBar(progress, name, on_page=kind == "notebook")
    return None


def _frontend() -> FrontendKind | None:
    """Return where the bar would be; ``None``: nobody looks, as where the output of a script is a file."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return where(shell).kind
    return "terminal" if bool(getattr(sys.stderr, "isatty", bool)()) else None


def _quiet(kind: Any) -> Any:
    """Return a kind of tqdm that starts no thread of its own, and shares no lock with other processes."""
    quiet: Any = type(kind.__name__, (kind,), {"monitor_interval": 0})
    quiet.set_lock(threading.RLock())
    return quiet
