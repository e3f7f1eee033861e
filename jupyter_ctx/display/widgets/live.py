"""Widgets in the running cell: their buttons, and the static output above each that stands for it once it is gone.

In a saved notebook a widget's output shows an error or nothing, whatever else the output holds: JupyterLab
shows "model not found". So the fallback is an output of its own, and its stylesheet hides one of the two. In an
untrusted notebook, which has no stylesheets, the widget's output is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from IPython.display import display

from ...errors import in_words

LIVE = "jctx-live"  # the class of every widget that has a fallback
VIEW = "application/vnd.jupyter.widget-view+json"
_OUTPUT = ".jp-OutputArea-child"
_FALLBACK = f"{_OUTPUT}:has(.jctx-twin)"
_ALIVE = f".{LIVE}:not(.jupyter-widgets-disconnected)"  # as after a restart of the kernel
FALLBACK_STYLE = (
    "<style>"
    f"{_FALLBACK}:has(+ {_OUTPUT} {_ALIVE}){{display:none}}"
    f"{_FALLBACK} + {_OUTPUT}:not(:has({_ALIVE},[data-mime-type])){{display:none}}"  # a widget's output names no type
    "</style>"
)


class StaticFallback:
    """A widget of the CSS class LIVE, and the output above it that stands for it once it is gone.

    ``draw`` returns the output in its forms, by media type. Before it is shown, it is not drawn.
    """

    def __init__(self, widget: Any, draw: Callable[[], Mapping[str, str]]) -> None:
        self._widget, self._draw = widget, draw
        self._forms: dict[str, str] = {}
        self._handle: Any = None

    def show(self) -> None:
        """Show both in the running cell."""
        self._forms = self._drawn()
        self._handle = display(self._forms, raw=True, display_id=True)
        display({VIEW: self._widget._repr_mimebundle_()[VIEW], "text/plain": ""}, raw=True)

    def update(self) -> None:
        """Draw the output anew, if it has changed."""
        if self._handle is None:
            return
        with suppress(Exception):  # a turn must not fail because of a drawing
            forms = self._drawn()
            if forms != self._forms:
                self._forms = forms
                self._handle.update(forms, raw=True)

    def freeze(self) -> None:
        """Take the widget from the page, and leave what stands for it as it is."""
        with suppress(Exception):
            _close(self._widget)

    def _drawn(self) -> dict[str, str]:
        forms = self._draw()
        page = f'{FALLBACK_STYLE}<div class="jctx-twin">{forms["text/html"]}</div>'
        return {**forms, "text/html": page}


def _close(widget: Any) -> None:
    """Close a widget with all that it consists of: the kernel then forgets it."""
    for child in getattr(widget, "children", ()):
        _close(child)
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
        if part is not None:
            part.close()


def button(act: Callable[[], object], classes: Iterable[str], layout: Any = None, **shown: str) -> Any:
    """Return a button as wide as its label that does something; its CSS classes are named without ``jctx-``."""
    import ipywidgets

    if layout is None:
        layout = ipywidgets.Layout(width="auto", height="24px", padding="0 8px", margin="2px 4px 2px 0")
    made = ipywidgets.Button(layout=layout, **shown)
    for name in classes:
        made.add_class(f"jctx-{name}")
    made.on_click(lambda _: act())
    return made


def tried(act: Callable[[], object]) -> tuple[str, str]:
    """Return the result of a click as (text, "status"), or its error as (text, "alert")."""
    try:
        result = act()
    except Exception as error:  # no cell would show it
        return in_words(error), "alert"
    return "" if result is None else str(result), "status"
