"""How full the context is: one bar, one line, and what can be done about it."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .. import words
from ..context.budget import ContextInfo
from ..errors import ChatError
from .markdown import to_plain

if TYPE_CHECKING:
    import ipywidgets

SHAPES = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
COLOURS = {"ok": "#1976d2", "half": "#1976d2", "high": "#b26a00", "full": "#c62828", "over": "#c62828"}
VARIABLES = {"high": "--jp-warn-color1", "full": "--jp-error-color1", "over": "--jp-error-color1"}
TEXT_WIDTH = 20
BUTTONS = {
    "Summarise": "Send the older turns as a summary; the newest stay as they are",
    "Trim": "Leave out the oldest turns, down to about 60 % of the limit",
    "Clear": "Begin anew; nothing is deleted",
    "Undo": "Take back the last action",
}
PANEL = "max-width:46em;font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5"


def short(tokens: int) -> str:
    """1,234 as 1.2k, as people read it."""
    if tokens < 1_000:
        return str(tokens)
    thousands = tokens / 1_000
    if thousands < 999.5:
        return f"{thousands:.1f}k" if thousands < 99.95 and round(thousands, 1) % 1 else f"{thousands:.0f}k"
    return f"{thousands / 1_000:.2f}M"


def gauge_line(info: ContextInfo) -> str:
    """The one line: figures, state in a word, model, window and who says so."""
    about = "" if info.exact or not info.used else "~"
    word = "" if info.state == "ok" else f" {info.state}"
    word += f": the next send leaves out {words.turns(info.will_leave)}" if info.will_leave else ""
    guess = "~" if info.source == "assumed" else ""
    figures = f"{about}{short(info.used)} / {short(info.limit)} ({guess}{info.fill * 100:.0f} %){word}"
    window = info.budget.window
    parts = [f"{SHAPES[info.state]} {figures}", to_plain(info.model), f"window {window.tokens:,} {window.origin}"]
    parts += [cost_text(info)] if info.cost is not None else []
    parts += [f"{100 * info.cached / info.sent:.0f} % cached"] if info.cached and info.sent else []
    return " · ".join(parts)


def cost_text(info: ContextInfo) -> str:
    """Dollars so far, in two figures that count; what nobody has priced is not taken for nothing."""
    if info.cost is None:
        return "unknown"
    digits = 2 if info.cost >= 1 or not info.cost else 1 - math.floor(math.log10(info.cost))
    return f"{'at least ' if info.unpriced else ''}${info.cost:,.{min(max(digits, 2), 6)}f}"


def gauge_text(info: ContextInfo) -> str:
    """The gauge in plain text."""
    filled = round(TEXT_WIDTH * min(1.0, info.fill))
    return f"Context [{'#' * filled}{'.' * (TEXT_WIDTH - filled)}] {gauge_line(info)}"


def gauge_forms(info: ContextInfo) -> dict[str, str]:
    """The twins for a saved notebook and for terminals."""
    return {"text/html": gauge_static(info), "text/plain": gauge_text(info)}


def _shares(info: ContextInfo) -> tuple[float, float]:
    """Where the fill and the limit's mark stand, in percent of a bar of limit + reserve."""
    length = max(1, info.limit + info.budget.reserve)
    return min(100.0, 100 * info.used / length), 100 * info.limit / length


def gauge_static(info: ContextInfo) -> str:
    """The gauge for a saved notebook: hex colours and visible text survive every sanitiser."""
    fill, mark = _shares(info)
    line = html.escape(gauge_line(info))
    return (
        f'<div title="{line}"><div style="max-width:46em;height:10px;background:#c8c8c8">'
        f'<div style="width:{fill:.1f}%;height:10px;background:{COLOURS[info.state]}"></div></div>'
        f"<span>Context: {line}</span> <span>(limit at {mark:.0f} % of the bar)</span></div>"
    )


def gauge_html(info: ContextInfo) -> str:
    """The live gauge: a meter that a screen reader can read, in the theme's colours."""
    fill, mark = _shares(info)
    line, state = html.escape(gauge_line(info)), info.state
    colour = (
        f"var({VARIABLES[state]},{COLOURS[state]})" if state in VARIABLES else f"var(--jp-info-color1,{COLOURS[state]})"
    )
    hatch = ";background-image:repeating-linear-gradient(45deg,transparent 0 4px,rgba(255,255,255,.45) 4px 6px)"
    stripes = hatch if info.source == "assumed" else ""  # the state has its shape and its word
    track, edge = "var(--jp-layout-color2,#eee)", "var(--jp-ui-font-color2,#757575)"
    kept = f"{info.budget.reserve:,} kept for the reply"
    return (
        f'<div class="jctx-gauge" style="{PANEL};margin-top:8px;color:var(--jp-ui-font-color1,inherit)">'
        f'<div role="meter" aria-label="Context used" aria-valuemin="0" aria-valuemax="{info.limit}" '
        f'aria-valuenow="{info.used}" aria-valuetext="{line}" title="{_bar_title(info)}" '
        f'style="position:relative;height:10px;border-radius:5px;overflow:hidden;border:1px solid {edge}">'
        f'<div style="position:absolute;left:0;top:0;bottom:0;width:{mark:.2f}%;background:{track}"></div>'
        f'<div class="jctx-fill" style="position:absolute;left:0;top:0;bottom:0;width:{fill:.2f}%;'
        f'border-right:1px solid {edge};background-color:{colour}{stripes}"></div>'
        f'<div style="position:absolute;left:calc({mark:.2f}% - 1px);top:0;bottom:0;width:2px;'
        f'background:var(--jp-ui-font-color1,#444)"></div></div>'
        f'<div class="jctx-line" style="margin-top:3px">{line} · {kept}</div></div>'
    )


def _bar_title(info: ContextInfo) -> str:
    kept = f"{info.budget.reserve:,} are kept for the reply"
    return f"The mark is the limit of a prompt: {info.limit:,} tokens; beyond it {kept}"


class GaugePanel:
    """The live gauge with its buttons: one widget, shown wherever it is asked for.

    ``read`` gives what to draw, ``actions`` what each button does: called without
    arguments, giving one line to show.
    """

    def __init__(self, read: Callable[[], ContextInfo], actions: Mapping[str, Callable[[], object]]) -> None:
        self._read, self._actions = read, actions
        self._pressed = False
        self.widget = _panel(self)
        self.update()

    def update(self, change: object = None) -> None:
        """Draw what is now; ``change`` is what a click did that had to wait for a turn."""
        bar, status, buttons = self._parts()
        try:
            info = self._read()
        except ChatError as error:
            status.value = _said(str(error), "alert")
            return
        if not self._pressed:  # what a click did is old news after the next turn
            status.value = _said(str(change), "status") if change is not None else ""
        bar.value = gauge_html(info)
        undo = buttons["Undo"]
        undo.description = f"Undo {info.undo}" if info.undo else "Undo"
        undo.disabled = info.undo is None
        for name in ("Summarise", "Trim", "Clear"):
            buttons[name].disabled = not (info.in_view or info.left_out)

    def press(self, name: str) -> None:
        """What a button does; whatever happens is said in the panel, for no cell would show it."""
        _, status, _ = self._parts()
        status.value = _said("…", "status")
        self._pressed = True
        try:
            status.value = _said(str(self._actions[name]()), "status")
        except Exception as error:
            status.value = _said(f"{type(error).__name__}: {error}", "alert")
        finally:
            self._pressed = False

    def forms(self) -> dict[str, str]:
        """The twins of what is drawn now."""
        return gauge_forms(self._read())

    def _parts(self) -> tuple[Any, Any, dict[str, Any]]:
        bar, row, status = self.widget.children
        return bar, status, dict(zip(BUTTONS, row.children, strict=True))


def _said(text: str, role: str) -> str:
    return f'<div role="{role}" style="{PANEL}">{html.escape(to_plain(text))}</div>'


def _panel(panel: GaugePanel) -> ipywidgets.VBox:
    import ipywidgets

    class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets is not typed
        """Carries its own twins in the same output."""

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            forms = super()._repr_mimebundle_(**kwargs)
            return {**forms, **panel.forms()} if isinstance(forms, dict) else forms

    buttons = []
    for name, tooltip in BUTTONS.items():
        button = ipywidgets.Button(description=name, tooltip=tooltip, layout={"width": "auto"})
        button.on_click(lambda _, name=name: panel.press(name))
        buttons.append(button)
    row = ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"})
    return Panel([ipywidgets.HTML(), row, ipywidgets.HTML()])
