"""The card of a run in its cell: a widget while its kernel lives, with a static twin above it.

While a cell waits for its run, most kernels deliver no click before its end. There the labextension takes the click on
Stop, and interrupts the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..run_page import CARD_STYLE, PER_PAGE, AnswerTable, CardFigures, card_html, card_text, fold_html
from ..text import markdown_block, spoken_html
from .clicks import set_class
from .pager import PAGER_STYLE, Pager
from .static_twin import LIVE, Twin, show

REWRITE = 5.0  # seconds between two static twins, which are what is saved with the notebook
WAITED = "jctx-waited"  # the class of a card whose cell waits for the run
AS_FOUND = "failures first"  # the usual order of the answers
RUN_STYLE = (
    CARD_STYLE + PAGER_STYLE + "<style>"
    ".jctx-run{position:relative;max-width:820px;box-sizing:border-box;padding:10px 14px;border-radius:8px;"
    "border:1px solid var(--jp-border-color2,var(--vscode-panel-border,#ccc));overflow:visible}"
    ".jctx-run .widget-html{margin:0;height:auto;width:auto;overflow:visible}"
    ".jctx-run .widget-html-content{line-height:inherit}"
    ".jctx-run .jctx-cancel{position:absolute;top:8px;right:12px;width:auto;height:26px;line-height:24px;margin:0;"
    "padding:0 10px;border-radius:4px}"
    ".jctx-run .jctx-cancel:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}"
    ".jctx-run:not(:has(.jctx-fold[open])) .jctx-turning{display:none}"
    ".jctx-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "body:not(:has(.jp-Notebook)) .jctx-twin{display:none}"
    "</style>"
)


class RunCard:
    """Shows a run in the cell that runs now; ``stop`` stops it."""

    def __init__(self, card: CardFigures, stop: Callable[[], object]) -> None:
        self._build(stop)
        self._page.value = card_html(card)
        self._written = time.monotonic()
        self._twin: Twin = show(self.widget, _forms(card))

    def draw(self, card: CardFigures) -> None:
        """Draw the card anew, and now and then its twin."""
        self._page.value = card_html(card)
        now = time.monotonic()
        if now - self._written >= REWRITE:
            self._written = now
            self._twin.update(_forms(card))

    def hold(self, *, waited: bool) -> None:
        """Say whether the cell waits for the run from now on."""
        set_class(self.widget, WAITED, on=waited)

    def end(self, card: CardFigures, table: AnswerTable) -> None:
        """Draw the card for the last time, with the table of all answers folded below it."""
        self._stop.layout.display = "none"
        self._page.value = card_html(card)
        self._table = table
        self._pager = Pager(table.head, AS_FOUND, PER_PAGE, self._turn)
        self._fold(is_open=False)
        turning = self._box(self._pager.menu, self._pager.buttons)
        turning.add_class("jctx-turning")
        self._lower.children = (self._rows, turning)
        self._spoken.value = spoken_html(card_text(card), "status", "jctx-hidden")
        self._twin.update(_forms(card, table))

    def _turn(self) -> None:
        self._fold(is_open=True)  # who turns a page sees the table

    def _fold(self, *, is_open: bool) -> None:
        shown = self._pager.in_view(self._table.rows)
        self._rows.value = fold_html(self._table, shown, is_open=is_open)

    def _build(self, stop: Callable[[], object]) -> None:
        import ipywidgets

        hidden = ipywidgets.Layout(display="none")
        style = ipywidgets.HTML(RUN_STYLE, layout=hidden)
        self._page, self._rows, self._spoken = (ipywidgets.HTML() for _ in range(3))
        self._stop = ipywidgets.Button(description="Stop", tooltip="Stop: answers that came are kept")
        self._stop.add_class("jctx-cancel")
        self._stop.on_click(lambda _: stop())
        self._lower = self._box()
        self.widget = self._box(style, self._page, self._stop, self._lower, self._spoken)
        self.widget.add_class("jctx-run")
        self.widget.add_class(LIVE)

    def _box(self, *children: Any) -> Any:
        import ipywidgets

        return ipywidgets.VBox(children, layout=ipywidgets.Layout(overflow="visible"))


def _forms(card: CardFigures, table: AnswerTable | None = None) -> dict[str, str]:
    """Return the static twin."""
    fold = fold_html(table, range(len(table.rows))) if table is not None else ""
    text = card_text(card, table)
    return {
        "text/html": f"{CARD_STYLE}{card_html(card)}{fold}",
        "text/markdown": markdown_block(text),
        "text/plain": text,
    }
