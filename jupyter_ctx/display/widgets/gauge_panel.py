"""The live gauge in a cell, with its buttons. It shows each result and error, because no cell would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...context.context_info import ContextInfo, Plan
from ...errors import in_words
from ..text import spoken_html, text_html
from .gauge import BUTTONS, ButtonResult, details_html, live_html, plan_line
from .live import LIVE, button

ICONS = {"Undo": "undo", "Redo": "repeat"}  # Font Awesome 4; the tooltip is the button's name
OFF = "jctx-off"  # the class of a button that can do nothing; it stays enabled, else it would lose the keyboard's focus
_INK = "var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))"
_QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
_ALARM = "var(--jp-error-color1,#c62828)"


def _shown(state: str) -> str:
    """Return the rules by which a button in a state, such as ``:hover``, shows what it would do."""
    pairs = (f".jctx-panel:has(.jctx-key-{name}{state}) .jctx-of-{name}" for name in map(str.lower, BUTTONS))
    hidden = f".jctx-panel:has(.jctx-key{state}) .jctx-detail{{visibility:hidden}}"
    return f"{hidden}{','.join(pairs)}{{visibility:visible}}"


# the line beside the buttons has room for two, so that nothing moves whatever it says;
# the icons of Font Awesome have no name, so that the tooltip is the button's
GAUGE_STYLE = f"""<style>
.jctx-panel{{max-width:1000px;width:100%;box-sizing:border-box;overflow:visible;color:{_INK};
font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif)}}
.jctx-panel .jctx{{font-size:12px;line-height:18px;font-variant-numeric:tabular-nums}}
.jctx-meter{{position:absolute;inset:0;pointer-events:none}}
.jctx-panel .jctx-ok{{color:var(--jp-success-color1,#388e3c)}}
.jctx-panel .jctx-half{{color:var(--jp-brand-color1,#1976d2)}}
.jctx-panel .jctx-high{{color:var(--jp-warn-color1,#b26a00)}}
.jctx-panel :is(.jctx-full,.jctx-over),.jctx-detail.jctx-alert{{color:{_ALARM}}}
.jctx-panel .jctx-row{{display:flex;flex-flow:row wrap;gap:4px 12px;align-items:center;overflow:visible}}
.jctx-panel .jctx-row>*{{margin:0;width:auto;height:auto}}
.jctx-panel .jctx-toolbar{{display:flex;flex-flow:row wrap;gap:4px;overflow:visible}}
.jctx-panel .jctx-lines{{flex:1 1 20em;min-width:0}}
.jctx-details{{display:grid;height:36px;align-items:center;font-size:12px;line-height:18px}}
.jctx-detail{{grid-area:1/1;visibility:hidden;min-width:0;overflow:hidden;overflow-wrap:anywhere;
display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2}}
.jctx-detail.jctx-rest{{visibility:visible}}.jctx-detail.jctx-model{{color:{_QUIET}}}
{_shown(":focus-visible")}{_shown(":hover")}
.jctx-panel .jctx-do{{width:auto;height:24px;line-height:22px;padding:0 8px;margin:0;font-size:12px;
border-radius:4px;border:1px solid var(--jp-border-color1,var(--vscode-button-border,#bdbdbd));
box-sizing:border-box;background-color:var(--jp-layout-color2,transparent);color:inherit;box-shadow:none}}
.jctx-panel .jctx-do .fa{{margin:0}}
.jctx-panel .jctx-do-undo .fa::before{{content:'\\f0e2';content:'\\f0e2' / ''}}
.jctx-panel .jctx-do-redo .fa::before{{content:'\\f01e';content:'\\f01e' / ''}}
.jctx-panel .jctx-do:is(:hover,:focus-visible){{background-color:var(--jp-layout-color3,#bdbdbd)}}
.jctx-panel .jctx-do.{OFF}{{background-color:transparent;border-style:dashed;color:{_QUIET}}}
.jctx-panel .jctx-do:focus-visible{{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-1px}}
.jctx-hidden{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@media (forced-colors:active){{.jctx [title]{{outline:1px solid CanvasText}}
.jctx-panel .jctx-do.{OFF}{{color:GrayText}}}}
body:not(:has(.jp-Notebook)) .jctx-twin{{display:none}}
</style>"""


class GaugePanel:
    """The gauge's widget; ``press`` is called with the name of a button."""

    def __init__(self, press: Callable[[str], object]) -> None:
        import ipywidgets

        plain = ipywidgets.Layout(overflow="visible")
        style = ipywidgets.HTML(GAUGE_STYLE, layout=ipywidgets.Layout(display="none"))
        self._gauge, self._lines, self._spoken = (ipywidgets.HTML(layout=plain) for _ in range(3))
        self._buttons = {name: _button(name, press, plain) for name in BUTTONS}
        toolbar = ipywidgets.HBox([*self._buttons.values()], layout=plain).add_class("jctx-toolbar")
        row = ipywidgets.Box([toolbar, self._lines.add_class("jctx-lines")], layout=plain).add_class("jctx-row")
        self.widget: Any = ipywidgets.VBox([style, self._gauge, row, self._spoken], layout=plain)
        self.widget.add_class("jctx-panel").add_class(LIVE)

    def draw(self, info: ContextInfo, plans: Mapping[str, Plan], result: ButtonResult, name: str = "") -> None:
        """Show a gauge; ``plans`` by button, and the ``result`` of the last click."""
        self._gauge.value = live_html(info)
        self._lines.value = details_html(info, plans, result, name)
        undone = {"Undo": info.undo, "Redo": info.redo}
        for button_name, plan in plans.items():
            what = undone.get(button_name)
            here = self._buttons[button_name]
            with here.hold_sync():
                here.tooltip = f"{button_name}: {what}" if what else plan_line(button_name, plan)
                (here.remove_class if plan.possible else here.add_class)(OFF)

    def fail(self, error: Exception) -> None:
        """Say that the gauge cannot be drawn, in place of figures that are outdated: no turn fails because of it."""
        self._gauge.value = ""
        self._lines.value = f'<div class="jctx-alert">{text_html(in_words(error))}</div>'
        self.speak(ButtonResult(in_words(error), "alert"))

    def speak(self, result: ButtonResult) -> None:
        """Announce a result to screen readers; an empty one is forgotten."""
        self._spoken.value = spoken_html(result.text, result.role, "jctx-hidden") if result.text else ""


def _button(name: str, press: Callable[[str], object], layout: Any) -> Any:
    classes = ["do", f"do-{name.lower()}", "key", f"key-{name.lower()}"]
    face = {"icon": ICONS[name], "tooltip": name} if name in ICONS else {"description": name}
    return button(partial(press, name), classes, layout, **face)
