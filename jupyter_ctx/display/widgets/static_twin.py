"""Show a widget with a static twin above it: the widget is visible while its kernel lives, else the twin.

In a saved notebook a widget's output shows an error or nothing, whatever else the output holds: JupyterLab
shows "model not found". So the twin is an output of its own, and its stylesheet hides one of the two. In an
untrusted notebook, which has no stylesheets, the widget's output is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from IPython.display import display

Forms = Mapping[str, str]  # of an output, by type
LIVE = "jctx-live"  # the class of every widget that has a twin
BOX = "jctx-place"  # the class of a box that a widget may leave
VIEW = "application/vnd.jupyter.widget-view+json"
_OUTPUT = ".jp-OutputArea-child"
_TWIN = f"{_OUTPUT}:has(.jctx-twin)"
_ALIVE = f".{LIVE}:not(.jupyter-widgets-disconnected)"  # as after a restart of the kernel
TWIN_STYLE = (
    "<style>"
    f"{_TWIN}:has(+ {_OUTPUT} {_ALIVE}){{display:none}}"
    f"{_TWIN} + {_OUTPUT}:not(:has({_ALIVE},[data-mime-type])){{display:none}}"  # a widget's output names no type
    f".{BOX}>*{{width:100%}}"
    "</style>"
)


class Twin:
    """The static output above a widget, kept up to date with it."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._handle: Any = display(self._styled(), raw=True, display_id=True)

    def update(self, forms: Forms) -> None:
        """Replace the output if its forms have changed."""
        if forms != self.forms and self._handle is not None:
            self.forms = forms
            self._handle.update(self._styled(), raw=True)

    def _styled(self) -> dict[str, str]:
        page = f'{TWIN_STYLE}<div class="jctx-twin">{self.forms["text/html"]}</div>'
        return {**self.forms, "text/html": page}


class GaugeOutput:
    """An output that shows the live gauge until it is frozen, and then the gauge as it was last.

    ``read`` returns the gauge in static forms.
    """

    def __init__(self, widget: Any, read: Callable[[], Forms]) -> None:
        import ipywidgets

        self._read = read
        self._box = ipywidgets.Box([widget], layout=ipywidgets.Layout(overflow="visible"))
        self._box.add_class(BOX)
        self._twin = show(self._box, read())

    def update(self) -> None:
        """Draw the static forms anew."""
        with suppress(Exception):  # a turn must not fail because of a drawing
            self._twin.update(self._read())

    def freeze(self) -> None:
        """Show the twin alone from now on; the widget that others show, too, stays."""
        with suppress(Exception):
            self._box.children = ()
            close_widgets(self._box)


def close_widgets(widget: Any) -> None:
    """Close a widget with all that it consists of: its page then shows the twin, and the kernel forgets it."""
    for child in getattr(widget, "children", ()):
        close_widgets(child)
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
        if part is not None:
            part.close()


def show(widget: Any, forms: Forms) -> Twin:
    """Show a widget of the CSS class LIVE in the running cell, with its twin above, and return the twin."""
    twin = Twin(forms)
    view = widget._repr_mimebundle_()
    display({VIEW: view[VIEW], "text/plain": ""}, raw=True)
    return twin
