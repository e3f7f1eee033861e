"""The live gauge with its buttons. The panel shows each result and error, because no cell would."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...context.context_info import Plan
from ...errors import in_words
from ..text import spoken_html, text_html
from .clicks import button
from .gauge import not_drawn, plan_line
from .gauge_page import BUTTONS, GAUGE_STYLE, PressResult, bar_html, lines_html
from .pressing import WRITING, Pressing
from .static_twin import LIVE

ICONS = {"Undo": "undo", "Redo": "repeat"}  # Font Awesome 4; the tooltip is the button's name
OFF = "jctx-off"  # the class of a button that can do nothing; it stays enabled, else it would lose the keyboard's focus


class GaugePanel:
    """The gauge's widget: a bar, a line, and buttons that show what they will do and what they did."""

    def __init__(self, pressing: Pressing) -> None:
        self._pressing, self._result = pressing, PressResult()
        pressing.listeners.append(self._say)
        self._build()
        self.update()

    def update(self) -> None:
        """Redraw the panel."""
        with self._pressing.lock:
            if not self._pressing.writing:  # the result of a click is outdated after the next action
                self._result, self._spoken.value = PressResult(), ""
            self._draw()

    def _say(self, result: PressResult, aloud: bool) -> None:
        """Show a line in the panel, and announce it to screen readers."""
        self._result = result
        if aloud:
            self._speak(result.text, result.role)
        self._draw()

    def _speak(self, text: str, role: str) -> None:
        self._spoken.value = spoken_html(text, role, "jctx-hidden")

    def _draw(self) -> None:
        try:
            self._draw_now()
        except Exception as error:  # a turn must not fail because of the gauge
            # in place of the bar, whose figures are outdated
            alert = f'<div class="jctx-detail jctx-rest jctx-alert">{text_html(not_drawn(error))}</div>'
            self._bar.value = ""
            self._lines.value = f'<div class="jctx"><div class="jctx-details">{alert}</div></div>'
            self._speak(in_words(error), "alert")

    def _draw_now(self) -> None:
        controls = self._pressing.controls
        info, plans = controls.read(), controls.plans()
        by_name = {name: plans[name.lower()] for name in BUTTONS}
        self._bar.value = bar_html(info)
        self._lines.value = lines_html(info, by_name, self._result, controls.name())
        undone = {"Undo": info.undo, "Redo": info.redo}
        for name, plan in by_name.items():
            what = undone.get(name)
            self._draw_button(name, plan, f"{name}: {what}" if what else plan_line(name, plan))

    def _draw_button(self, name: str, plan: Plan, tip: str) -> None:
        here, writing = self._buttons[name], self._pressing.writing
        with here.hold_sync():
            here.description = "" if name in ICONS else name
            here.tooltip = WRITING if writing else tip
            is_off = writing or not plan.possible
            if writing and name == "Summarise":
                here.description, here.tooltip = "Cancel", "Cancel: stop the summary that is being written"
                is_off = False
            (here.add_class if is_off else here.remove_class)(OFF)

    def _build(self) -> None:
        import ipywidgets

        plain = ipywidgets.Layout(overflow="visible")
        cut = ipywidgets.Layout(overflow="hidden")  # a longer label is whole in the tooltip
        style = ipywidgets.HTML(GAUGE_STYLE, layout=ipywidgets.Layout(display="none"))
        self._bar, self._lines, self._spoken = (ipywidgets.HTML(layout=plain) for _ in range(3))
        self._buttons = {name: self._button(name, cut) for name in BUTTONS}
        toolbar = ipywidgets.HBox([*self._buttons.values()], layout=plain)
        head = ipywidgets.Box([self._bar, toolbar, self._lines], layout=plain)
        self.widget = ipywidgets.VBox([style, head, self._spoken], layout=plain)
        named = {"grid": head, "toolbar": toolbar, "lines": self._lines, "panel": self.widget}
        for name, widget in named.items():
            widget.add_class(f"jctx-{name}")
        self.widget.add_class(LIVE)

    def _button(self, name: str, layout: Any) -> Any:
        classes = ["do", f"do-{name.lower()}", "key", f"key-{name.lower()}"]
        face = {"icon": ICONS[name], "tooltip": name} if name in ICONS else {"description": name}
        return button(partial(self._pressing.press, name), classes, layout, **face)
