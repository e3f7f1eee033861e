"""The bar of a run on a page."""

from __future__ import annotations

import html
import time
from contextlib import suppress

from ..display.widgets.static_twin import LIVE, show
from ..wording import visible
from .drawn_bar import DrawnBar, quiet_kind
from .progress import Progress

REWRITE = 5.0  # seconds between two texts above the bar, which are what is saved with the notebook


class PageBar(DrawnBar):
    """A widget on a page, above it the same as text, which is what a saved notebook shows."""

    def __init__(self, progress: Progress, name: str) -> None:
        from tqdm.notebook import tqdm

        super().__init__()
        self._name, self._begun = name, time.monotonic()
        self._tqdm = quiet_kind(tqdm)(total=progress.rows, desc=visible(name) or None, unit="row", display=False)
        self._tqdm.container.add_class(LIVE)
        self._twin, self._written = show(self._tqdm.container, self._forms(progress)), self._begun

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Draw how far the run has come."""
        super().show(progress, last=last)
        now = time.monotonic()
        if last or now - self._written >= REWRITE:
            self._written = now
            with suppress(Exception):
                self._twin.update(self._forms(progress))

    def _forms(self, progress: Progress) -> dict[str, str]:
        text = progress.after(time.monotonic() - self._begun, self._name)
        return {"text/html": f"<code>{html.escape(text)}</code>", "text/plain": text}
