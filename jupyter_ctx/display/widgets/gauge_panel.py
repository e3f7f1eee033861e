"""The live gauge with its buttons. The panel shows each result and error, because no cell would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ...context.context_info import ContextInfo, Plan
from ...errors import in_words
from ..text import spoken_html, text_html
from .clicks import button, set_class
from .gauge import not_drawn, plan_line
from .gauge_page import BUTTONS, GAUGE_STYLE, TURN_RUNS, PressResult, bar_html, lines_html
from .pressing import TWICE_SECONDS as TWICE_SECONDS
from .pressing import WRITING, Pressing
from .pressing import Controls as Controls
from .static_twin import LIVE

ICONS = {"Undo": "undo", "Redo": "repeat"}  # Font Awesome 4; the tooltip is the button's name
OFF = "jctx-off"  # the class of a button that can do nothing


class GaugePanel:
    """The gauge's widget: a bar, a line, and buttons that show what they will do and what they did."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._lock = threading.RLock()
        self._pressing = Pressing(controls, self._lock, self._say)
        self._result = PressResult()
        self._read: tuple[ContextInfo, dict[str, Plan]] | None = None
        self._build()
        self._pressing.widget = self.widget
        self.update()

    def update(self) -> None:
        """Redraw the panel; while a turn runs, only its buttons, which are disabled."""
        with self._lock, suppress(Exception):  # a turn must not fail because of the gauge
            if not self._pressing.writing:
                self._forget()  # the result of a click is outdated after the next turn
            if not self._controls.busy():
                self._draw()
            elif self._read is not None:
                self._draw_words(*self._read)

    def press(self, name: str) -> None:
        """Do what a button does."""
        self._pressing.press(name)

    # drawing

    def _say(self, result: PressResult, aloud: bool = True) -> None:
        """Show a line in the panel, and announce it to screen readers."""
        self._result = result
        if aloud:
            self._speak(result.text, result.role)
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
            alert = f'<div class="jctx-detail jctx-rest jctx-alert">{text_html(not_drawn(error))}</div>'
            self._bar.value, self._read = "", None
            self._lines.value = f'<div class="jctx"><div class="jctx-details">{alert}</div></div>'
            self._speak(in_words(error), "alert")

    def _draw_now(self) -> None:
        info, plans = self._controls.read(), self._controls.plans()
        by_name = {name: plans[name.lower()] for name in BUTTONS}
        self._read = info, by_name
        self._bar.value = bar_html(info)
        self._draw_words(info, by_name)

    def _draw_words(self, info: ContextInfo, plans: Mapping[str, Plan]) -> None:
        """Draw the lines and the buttons; while a turn runs, they say so."""
        busy = self._controls.busy()
        self._lines.value = lines_html(info, plans, self._result, name=self._controls.name(), busy=busy)
        undone = {"Undo": info.undo, "Redo": info.redo}
        for name, plan in plans.items():
            what = undone.get(name)
            self._draw_button(name, plan, f"{name}: {what}" if what else plan_line(name, plan), busy=busy)

    def _draw_button(self, name: str, plan: Plan, tip: str, *, busy: bool) -> None:
        """Draw a button: one that was pressed is never disabled, for it would lose the keyboard's focus."""
        here, writing = self._buttons[name], self._pressing.writing
        blocked = busy or (writing and name != "Summarise")
        with here.hold_sync():
            here.disabled = blocked and name != self._pressing.pressed
            if writing and name == "Summarise":
                here.description, here.tooltip = "Cancel", "Cancel: stop the summary that is being written"
                here.remove_class(OFF)
                return
            here.description = "" if name in ICONS else name
            here.tooltip = TURN_RUNS if busy else WRITING if blocked else tip
            set_class(here, OFF, on=blocked or not plan.possible)

    def _build(self) -> None:
        import ipywidgets

        self._plain = ipywidgets.Layout(overflow="visible")
        self._cut = ipywidgets.Layout(overflow="hidden")  # a longer label is whole in the tooltip
        style = ipywidgets.HTML(GAUGE_STYLE, layout=ipywidgets.Layout(display="none"))
        self._bar, self._lines, self._spoken = (ipywidgets.HTML(layout=self._plain) for _ in range(3))
        self._buttons = {name: self._button(name, partial(self.press, name)) for name in BUTTONS}
        toolbar = ipywidgets.HBox([*self._buttons.values()], layout=self._plain)
        head = ipywidgets.Box([self._bar, toolbar, self._lines], layout=self._plain)
        self.widget = ipywidgets.VBox([style, head, self._spoken], layout=self._plain)
        named = {"grid": head, "toolbar": toolbar, "lines": self._lines, "panel": self.widget}
        for name, widget in named.items():
            widget.add_class(f"jctx-{name}")
        self.widget.add_class(LIVE)

    def _button(self, name: str, act: Callable[[], object]) -> Any:
        classes = ["do", f"do-{name.lower()}", "key", f"key-{name.lower()}"]
        face = {"icon": ICONS[name], "tooltip": name} if name in ICONS else {"description": name}
        return button(act, classes, self._cut, **face)
