"""The live gauge with its buttons.

Clicks may arrive in any thread, also while a cell runs. A summary is written in a thread of its own;
every other action runs at once. The panel shows each result and error, because no cell would.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...context.context_info import ContextInfo, Plan
from ...errors import ChatError, in_words
from ...runtime.interrupts import Stopper
from ..answer.waiting import TICK_SECONDS, Ticker
from ..text import spoken_html, text_html, to_plain
from .clicks import button, low_layout, set_class, tried
from .gauge import gauge_forms, plan_line
from .gauge_page import BUTTONS, GAUGE_STYLE, OPEN_TAB, TURN_RUNS, PressResult, bar_html, lines_html
from .static_twin import LIVE, GaugePlace, Twin, show

OFF = "jctx-off"  # the class of a button that can do nothing
WRITING = "A summary is being written: Cancel ends it."
TWICE_SECONDS = 0.6  # within which a second press of the button that begins and ends a summary is none


@dataclass(frozen=True, slots=True)
class Controls:
    """What the panel reads, and what its buttons do."""

    read: Callable[[], ContextInfo]
    plans: Callable[[], Mapping[str, Plan]]  # by command, such as "trim"
    act: Callable[[str], object]  # does what a command says, such as "trim"
    summarise: Callable[[Stopper], object]  # may take long; the Stopper ends it
    writer: Callable[[], str]  # the model that writes summaries, or ""
    menu: Mapping[str, Callable[[], Any]]  # by label, what returns the widget of a view: one for a conversation
    name: Callable[[], str] = str  # the conversation's, or "" where it is the only one
    busy: Callable[[], bool] = bool  # whether a turn is running


class GaugePanel:
    """The gauge's widget: a bar, a line, and buttons that show what they will do and what they did."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._lock = threading.RLock()
        self._result, self._pressed = PressResult(), ""
        self._opened = ""  # the tab whose view is shown
        self._fresh = False
        self._work: Stopper | None = None
        self._turned = 0.0  # when a summary was begun or ended
        self._twin: Twin | None = None
        self._place: GaugePlace | None = None
        self._read: tuple[ContextInfo, dict[str, Plan]] | None = None
        self._build()
        self.update()

    def show(self) -> None:
        """Show the panel in the running cell, where it stays; ``update`` refreshes the newest of its static twins."""
        self._twin = show(self.widget, self._forms())

    def follow(self, asked_again: int = 0) -> None:
        """Show the panel in the running cell until a later one takes it over, and leave a still picture here then.

        ``asked_again``: the number of the turn that the cell asked again, or 0.
        """
        with self._lock:
            before, forms = self._place, self._forms(asked_again)
            self._place = GaugePlace(self.widget, forms, self._plain, asked_again)
            if before is not None:
                before.leave()

    def move(self) -> None:
        """Leave the cell where the panel follows: what is asked next belongs to another conversation."""
        with self._lock:
            if self._place is not None:
                self._place.leave()
                self._place = None

    def hold(self) -> None:
        """Keep the still picture below the newest cell as it is: what follows belongs to another cell."""
        if self._place is not None:
            self._place.keep()

    def update(self, change: object = None) -> None:
        """Redraw the panel; ``change`` is the result of a click that had to wait for a turn to end."""
        with self._lock:
            if change is not None:
                self._say(str(change), button=self._pressed)
            elif not self._fresh and self._work is None:
                self._forget()  # the result of a click is outdated after the next turn
            self._fresh = change is not None  # the turn that the click waited for has yet to end
            self._draw()

    def watch(self) -> None:
        """Disable the buttons when a turn begins, and enable them when it has ended."""
        with self._lock, suppress(Exception):  # a turn must not fail because of the gauge
            if self._controls.busy() and self._work is None:
                self._forget()
            if self._read is not None:
                self._draw_words(*self._read)

    def press(self, name: str) -> None:
        """Do what a button does."""
        with self._lock:
            self._pressed = name
            if self._work is not None and name != "Summarise":
                self._say(WRITING, button=name)
                return
        if name == "Summarise":
            self._begin_or_end()
            return
        result, role = tried(lambda: self._controls.act(name.lower()))
        with self._lock:
            self._say(result, role, button=name)

    def unfold(self) -> None:
        """Show the menu's tabs, or hide them with the view that is open."""
        with self._lock:
            self._pressed = "More"
            folded = self._menu.layout.display == "none"
            self._menu.layout.display = None if folded else "none"
            self._open("")

    def toggle(self, name: str) -> None:
        """Open the view of a tab, or close it."""
        with self._lock:
            try:
                self._open("" if name == self._opened else name)
            except ChatError as error:
                self._say(str(error), "alert")

    def _open(self, name: str) -> None:
        """Show the view of a tab, as it is of the conversation that is current now; an empty name: none."""
        self._area.children = (self._controls.menu[name](),) if name else ()
        self._opened = name
        for other, tab in self._tabs.items():
            is_open = other == name
            tab.tooltip = "open: shown below" if is_open else "closed"
            set_class(tab, OPEN_TAB, on=is_open)

    def _forms(self, asked_again: int = 0) -> dict[str, str]:
        """Return the gauge's static forms."""
        try:
            return gauge_forms(self._controls.read(), self._controls.name(), asked_again)
        except Exception as error:  # the cell must not fail because of a drawing
            return {"text/html": text_html(_not_drawn(error)), "text/plain": to_plain(_not_drawn(error))}

    # long work

    def _begin_or_end(self) -> None:
        """Write a summary in a thread of its own; cancel the one that is being written."""
        with self._lock:
            twice, self._turned = time.monotonic() - self._turned < TWICE_SECONDS, time.monotonic()
            if twice:
                return
            if self._work is not None:
                self._work.stop()
                return
            self._work = Stopper()
            self._say("Summarising…", button="Summarise")
        threading.Thread(target=self._summarise, args=(self._work,), name="jupyter_ctx summary", daemon=True).start()

    def _summarise(self, stopper: Stopper) -> None:
        ticker = Ticker(partial(self._show_progress, time.monotonic()), lambda: TICK_SECONDS)
        ticker.start()
        result, role = tried(lambda: self._controls.summarise(stopper))
        ticker.stop()
        with self._lock:
            self._work, self._turned = None, time.monotonic()
            self._say(result, role, button="Summarise")

    def _show_progress(self, begun: float) -> None:
        """Show the seconds that the summary has taken."""
        seconds, writer = time.monotonic() - begun, self._controls.writer()
        by = f" with {writer}" if writer else ""
        with self._lock:
            if self._work is not None and seconds >= TICK_SECONDS:
                self._result = PressResult(f"Summarising{by}… {seconds:.0f} s", button="Summarise")
                self._draw()

    # drawing

    def _say(self, text: str, role: str = "status", button: str = "") -> None:
        """Show a line in the panel, and announce it to screen readers."""
        self._result = PressResult(text, role, button)
        self._speak(text, role)
        self._draw()

    def _forget(self) -> None:
        """Show and announce no result any more."""
        self._result, self._spoken.value = PressResult(), ""

    def _speak(self, text: str, role: str) -> None:
        self._spoken.value = spoken_html(text, role, "jctx-hidden")

    def _draw(self) -> None:
        try:
            self._draw_now()
        except Exception as error:  # a turn must not fail because of the gauge
            # in place of the bar, whose figures are outdated
            alert = f'<div class="jctx-detail jctx-rest jctx-alert">{text_html(_not_drawn(error))}</div>'
            self._bar.value, self._read = "", None
            self._lines.value = f'<div class="jctx"><div class="jctx-details">{alert}</div></div>'
            self._speak(in_words(error), "alert")

    def _draw_now(self) -> None:
        info, plans = self._controls.read(), self._controls.plans()
        by_name = {name: plans[name.lower()] for name in BUTTONS}
        self._read = info, by_name
        self._bar.value = bar_html(info)
        self._draw_words(info, by_name)
        if self._twin is not None:
            self._twin.update(gauge_forms(info, self._controls.name()))
        if self._place is not None:
            self._place.draw(gauge_forms(info, self._controls.name(), self._place.asked_again))
        self._open(self._opened)

    def _draw_words(self, info: ContextInfo, plans: Mapping[str, Plan]) -> None:
        """Draw the lines and the buttons; while a turn runs, they say so."""
        busy = self._controls.busy()
        self._lines.value = lines_html(info, plans, self._result, name=self._controls.name(), busy=busy)
        undone = {"Undo": info.undo, "Redo": info.redo}
        for name, plan in plans.items():
            label = f"{name} {undone[name]}" if undone.get(name) else name
            self._draw_button(name, plan, label, busy=busy)
        self._last.disabled = busy and self._pressed != "More"

    def _draw_button(self, name: str, plan: Plan, label: str, *, busy: bool) -> None:
        """Draw a button: one that was pressed is never disabled, for it would lose the keyboard's focus."""
        here, writing = self._buttons[name], self._work is not None
        blocked = busy or (writing and name != "Summarise")
        with here.hold_sync():
            here.disabled = blocked and name != self._pressed
            if writing and name == "Summarise":
                here.description, here.tooltip = "Cancel", "Cancel: stop the summary that is being written"
                here.remove_class(OFF)
                return
            here.description = label
            here.tooltip = TURN_RUNS if busy else WRITING if blocked else plan_line(name, plan)
            set_class(here, OFF, on=blocked or not plan.possible)

    def _build(self) -> None:
        import ipywidgets

        self._plain = ipywidgets.Layout(overflow="visible")
        self._cut = ipywidgets.Layout(overflow="hidden")  # a longer label is whole in the tooltip
        style = ipywidgets.HTML(GAUGE_STYLE, layout=ipywidgets.Layout(display="none"))
        self._bar, self._lines, self._spoken = (ipywidgets.HTML(layout=self._plain) for _ in range(3))
        self._buttons = {name: self._button(name, partial(self.press, name)) for name in BUTTONS}
        self._tabs = {name: self._tab(name) for name in self._controls.menu}
        folded = ipywidgets.Layout(display="none", flex_flow="row wrap")
        self._menu = ipywidgets.HBox([*self._tabs.values()], layout=folded)
        self._area = ipywidgets.VBox(layout=self._plain)
        self._last = self._button("More", self.unfold)
        self._last.tooltip = "More: preview, history and settings"
        toolbar = ipywidgets.HBox([*self._buttons.values()], layout=self._plain)
        row = ipywidgets.HBox([toolbar, self._last], layout=self._plain)
        head = ipywidgets.Box([self._bar, row, self._lines], layout=self._plain)
        menu = ipywidgets.VBox([self._menu, self._area], layout=self._plain)
        self.widget = ipywidgets.VBox([style, head, menu, self._spoken], layout=self._plain)
        named = {"grid": head, "row": row, "toolbar": toolbar, "lines": self._lines, "panel": self.widget}
        for name, widget in (*named.items(), ("toolbar", self._menu)):
            widget.add_class(f"jctx-{name}")
        self.widget.add_class(LIVE)

    def _button(self, name: str, act: Callable[[], object]) -> Any:
        classes = ["do", f"do-{name.lower()}"]
        if name in BUTTONS:
            classes += ["key", f"key-{name.lower()}"]
        return button(act, classes, self._cut, description=name)

    def _tab(self, name: str) -> Any:
        classes = f"do-{name.lower()}", "tab"
        return button(partial(self.toggle, name), classes, low_layout("0 2px 0 0"), description=name, tooltip="closed")


def _not_drawn(error: Exception) -> str:
    return f"The gauge could not be drawn: {in_words(error).rstrip('.')}. The conversation is not affected."
