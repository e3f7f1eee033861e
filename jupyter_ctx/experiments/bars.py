"""Show how far a run has come: as a bar on a page or in a terminal, or in one line at its end."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from ..runtime.frontend import FrontendKind, where
from ..wording import visible
from .drawn_bar import Bar, DrawnBar, quiet_kind
from .progress import Progress


def bar_of(progress: Progress, name: str, wanted: bool | None) -> Bar | None:
    """Return the bar of a run that begins here, where it is ``wanted``; ``None``: where somebody looks.

    That is a bar on an open notebook or in a terminal, and a last line in a notebook that runs without a reader.
    """
    kind = _frontend()
    if wanted is False or (wanted is None and kind is None):
        return None
    if kind == "headless":
        return LastLine(name)
    with suppress(Exception):  # such as a version of ipywidgets that tqdm does not know
        return _page_bar(progress, name) if kind == "notebook" else TerminalBar(progress, name)
    return None


def _page_bar(progress: Progress, name: str) -> Bar:
    from .page_bar import PageBar

    return PageBar(progress, name)


def _frontend() -> FrontendKind | None:
    """Return where the bar would be; ``None``: nobody looks, as where the output of a script is a file."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return where(shell).kind
    return "terminal" if bool(getattr(sys.stderr, "isatty", bool)()) else None


class TerminalBar(DrawnBar):
    """A bar in a terminal."""

    def __init__(self, progress: Progress, name: str) -> None:
        from tqdm.std import tqdm

        super().__init__()
        self._tqdm = quiet_kind(tqdm)(total=progress.rows, desc=visible(name) or None, unit="row", dynamic_ncols=True)


class LastLine:
    """One line at the end, where nobody looks while the notebook runs."""

    def __init__(self, name: str) -> None:
        self._name, self._begun = name, time.monotonic()

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Print the line when the run has ended."""
        if last:
            with suppress(Exception):
                print(progress.after(time.monotonic() - self._begun, self._name))
