"""The live gauge with its buttons.

Clicks may arrive in any thread, also while a cell runs. A summary is written in a thread of its own;
every other action runs at once. The panel shows each result and error, because no cell would.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ...context.info import ContextInfo, Plan
from ...errors import ChatError, in_words
from ...runtime.interrupts import Stopper
from ..text import spoken_html, text_html, to_plain
from .gauge import BUTTONS, GAUGE_STYLE, gauge_forms, gauge_html
from .static_twin import LIVE, Twin, show

PROGRESS_SECONDS = 1.0  # between two lines of progress


class PanelView(Protocol):
    """A view that a button of the menu opens; ``update`` redraws it."""

    widget: Any

    def update(self) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Controls:
    """What the panel reads, and what its buttons do."""

    read: Callable[[], ContextInfo]
    plans: Callable[[], Mapping[str, Plan]]  # by command, such as "trim"
    summarise: Callable[[Stopper], object]  # may take long; the Stopper ends it
    trim: Callable[[], object]
    clear: Callable[[], object]
    undo: Callable[[], object]
    writer: Callable[[], str]  # the model that writes summaries, or ""
    menu: Mapping[str, Callable[[], PanelView]]  # by label, what makes the view that a button of the menu opens


class GaugePanel:
    """The gauge's widget: a bar, a line, and buttons that show what they will do and what they did."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._lock = threading.RLock()
        self._said, self._role = "", "status"
        self._fresh = False
        self._work: Stopper | None = None
        self._twin: Twin | None = None
        self._opened: tuple[str, PanelView] | None = None
        self._build()
        self.update()

    def show(self) -> None:
        """Show the panel in the running cell; from now on, ``update`` refreshes the static twin there."""
        info = self._controls.read()
        try:
            forms = gauge_forms(info)
        except Exception as error:  # the cell must not fail because of a drawing
            forms = {"text/html": text_html(_not_drawn(error)), "text/plain": to_plain(_not_drawn(error))}
        self._twin = show(self.widget, forms)

    def update(self, change: object = None) -> None:
        """Redraw the panel; ``change`` is the result of a click that had to wait for a turn to end."""
        with self._lock:
            if change is not None:
                self._say(str(change))
            elif not self._fresh and self._work is None:
                self._said = ""  # the result of a click is outdated after the next turn
            self._fresh = change is not None  # the turn that the click waited for has yet to end
            self._draw()

    def press(self, name: str) -> None:
        """Do what a button does."""
        if name == "Summarise":
            self._begin()
            return
        act: Callable[[], object] = getattr(self._controls, name.lower())
        self._settle(name, *_tried(act))

    def cancel(self) -> None:
        """Stop the summary that is being written."""
        with self._lock:
            if self._work is not None:
                self._work.stop()

    def unfold(self) -> None:
        """Show the menu, or hide it with the view that it has opened."""
        with self._lock:
            folded = self._menu.layout.display == "none"
            self._menu.layout.display = None if folded else "none"
            self._opened, self._area.children = None, ()

    def toggle(self, name: str) -> None:
        """Open the view of a button of the menu, or close it."""
        with self._lock:
            opened = name if self._opened is None or self._opened[0] != name else None
            try:
                view = self._controls.menu[name]() if opened else None
            except ChatError as error:
                self._say(str(error), "alert")
                return
            self._opened = (name, view) if view else None
            self._area.children = (view.widget,) if view else ()

    def _settle(self, name: str, said: str, role: str) -> None:
        """Show the result of a button, and move the keyboard's focus off a button that is now disabled."""
        with self._lock:
            self._say(said, role)
            if self._buttons[name].disabled and self.widget._view_count <= 1:  # else another view might take it
                self._first_enabled().focus()

    def _first_enabled(self) -> Any:
        """Return the enabled button that is most likely wanted next."""
        names = ("Undo", "Trim", "Summarise", "Clear")
        return next((self._buttons[name] for name in names if not self._buttons[name].disabled), self._last)

    # long work

    def _begin(self) -> None:
        """Write a summary in a thread of its own; do nothing while one is being written."""
        with self._lock:
            if self._work is not None:
                return
            self._work = Stopper()
            self._cancel.layout.display = ""
            self._say("Summarising…")
        threading.Thread(target=self._summarise, args=(self._work,), name="jupyter_ctx summary", daemon=True).start()

    def _summarise(self, stopper: Stopper) -> None:
        done = threading.Event()
        threading.Thread(target=self._tick, args=(done,), name="jupyter_ctx progress", daemon=True).start()
        said = _tried(lambda: self._controls.summarise(stopper))
        done.set()
        with self._lock:
            self._work = None
            self._cancel.layout.display = "none"
        self._settle("Summarise", *said)

    def _tick(self, done: threading.Event) -> None:
        """Show the seconds that the summary has taken, until ``done``."""
        begun, writer = time.monotonic(), self._controls.writer()
        by = f" with {writer}" if writer else ""
        while not done.wait(PROGRESS_SECONDS):
            with self._lock:
                if not done.is_set():
                    self._said, self._role = f"Summarising{by}… {time.monotonic() - begun:.0f} s", "status"
                    self._draw()

    # drawing

    def _say(self, text: str, role: str = "status") -> None:
        """Show a line in the panel, and announce it to screen readers."""
        self._said, self._role = text, role
        self._speak(text, role)
        self._draw()

    def _speak(self, text: str, role: str) -> None:
        self._spoken.value = spoken_html(text, role, "jctx-hidden")

    def _draw(self) -> None:
        try:
            self._draw_now()
        except Exception as error:  # a turn must not fail because of the gauge
            # in place of the bar, whose figures are outdated
            self._bar.value = (
                f'<div class="jctx"><div class="jctx-said jctx-alert">{text_html(_not_drawn(error))}</div></div>'
            )
            self._speak(in_words(error), "alert")

    def _draw_now(self) -> None:
        info, plans = self._controls.read(), self._controls.plans()
        by_name = {name: plans[name.lower()] for name in BUTTONS}
        self._bar.value = gauge_html(info, by_name, self._said, self._role)
        for name, plan in by_name.items():
            with self._buttons[name].hold_sync():
                self._buttons[name].disabled = self._work is not None or not plan.possible
                if name == "Undo":
                    self._buttons[name].description = f"Undo {info.undo}" if info.undo else name
        if self._twin is not None:
            self._twin.update(gauge_forms(info))
        if self._opened is not None:
            self._opened[1].update()

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        wrap = layout(flex_flow="row wrap", align_items="flex-end", overflow="visible")
        style = ipywidgets.HTML(GAUGE_STYLE, layout=layout(display="none"))
        self._bar = ipywidgets.HTML(layout=layout(flex="1 1 36em", margin="0 12px 0 0", overflow="visible"))
        self._spoken = ipywidgets.HTML(layout=layout(overflow="visible"))
        self._low = layout(width="auto", height="24px", padding="0 6px", margin="0 2px 0 0")
        self._buttons = {name: self._button(name, partial(self.press, name)) for name in BUTTONS}
        self._cancel = self._button("Cancel", self.cancel, layout(width="auto", height="24px", display="none"))
        items = [self._button(name, partial(self.toggle, name)) for name in self._controls.menu]
        self._menu = ipywidgets.HBox(items, layout=layout(display="none"))
        self._last = self._button("More", self.unfold)  # never disabled
        row = [*self._buttons.values(), self._cancel, self._last]
        line = ipywidgets.HBox([self._bar, ipywidgets.HBox(row, layout=wrap)], layout=wrap)
        self._area = ipywidgets.VBox(layout=layout(overflow="visible"))
        self.widget = ipywidgets.VBox(
            [style, line, self._menu, self._area, self._spoken], layout=layout(overflow="visible"), _view_count=0
        )
        for name in ("jctx-panel", LIVE):
            self.widget.add_class(name)

    def _button(self, name: str, act: Callable[[], object], layout: Any = None) -> Any:
        import ipywidgets

        button = ipywidgets.Button(description=name, layout=layout or self._low)
        button.add_class(f"jctx-do-{name.lower()}")
        button.on_click(lambda _: act())
        return button


def _not_drawn(error: Exception) -> str:
    return f"The gauge could not be drawn: {in_words(error).rstrip('.')}. The conversation is not affected."


def _tried(act: Callable[[], object]) -> tuple[str, str]:
    """Return the result of an action as ("…", "status"), or its error as ("…", "alert")."""
    try:
        return str(act()), "status"
    except Exception as error:
        return in_words(error), "alert"
