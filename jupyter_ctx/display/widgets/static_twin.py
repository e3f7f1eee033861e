"""Show a widget with a static twin above it: the widget is visible while its kernel lives, else the twin.

In a saved notebook a widget's output shows an error or nothing, whatever else the output holds: JupyterLab
shows "model not found". So the twin is an output of its own, and its stylesheet hides one of the two. In an
untrusted notebook, which has no stylesheets, the widget's output is empty.
"""

from __future__ import annotations

from typing import Any

from IPython.display import display

LIVE = "jctx-live"  # the class of every widget that has a twin
VIEW = "application/vnd.jupyter.widget-view+json"
_OUTPUT = ".jp-OutputArea-child"
_TWIN = f"{_OUTPUT}:has(.jctx-twin)"
_ALIVE = f".{LIVE}:not(.jupyter-widgets-disconnected)"  # as after a restart of the kernel
TWIN_STYLE = (
    "<style>"
    f"{_TWIN}:has(+ {_OUTPUT} {_ALIVE}){{display:none}}"
    f"{_TWIN} + {_OUTPUT}:not(:has({_ALIVE},[data-mime-type])){{display:none}}"  # a widget's output names no type
    "</style>"
)


class Twin:
    """The static output above a widget, kept up to date with it."""

    def __init__(self, forms: dict[str, str]) -> None:
        self._forms = forms
        self._handle: Any = display(_styled(forms), raw=True, display_id=True)

    def update(self, forms: dict[str, str]) -> None:
        """Replace the output if its forms have changed."""
        if forms != self._forms and self._handle is not None:
            self._forms = forms
            self._handle.update(_styled(forms), raw=True)


def show(widget: Any, forms: dict[str, str]) -> Twin:
    """Show a widget of the CSS class LIVE in the running cell, with its twin above, and return the twin."""
    twin = Twin(forms)
    view = widget._repr_mimebundle_()
    display({VIEW: view[VIEW], "text/plain": ""}, raw=True)
    return twin


class GaugePlace:
    """The place of the gauge below one chat cell: a box that holds the panel, with its still picture.

    The panel is in the newest place alone. When it leaves for a newer one, a still picture stays, which says of which
    turn it is. The panel leaves by the children of the box, which reach the page after a reload too. ``asked_again``:
    the turn that the cell asked again, or 0.
    """

    def __init__(self, panel: Any, forms: dict[str, str], layout: Any, asked_again: int = 0) -> None:
        import ipywidgets

        self.asked_again, self._still = asked_again, forms["text/html"]
        self._box = ipywidgets.Box([panel], layout=layout)
        self._twin: Twin | None = show(self._box, forms)

    def draw(self, forms: dict[str, str]) -> None:
        """Draw the picture anew, unless it is kept."""
        if self._twin is not None:
            self._still = forms["text/html"]
            self._twin.update(forms)

    def keep(self) -> None:
        """Keep the picture as it is from now on."""
        self._twin = None

    def leave(self) -> None:
        """Let the panel go; the picture stays, and stands in the box for hosts that do not show the twin."""
        import ipywidgets

        self.keep()
        self._box.children = (ipywidgets.HTML(self._still),)


def _styled(forms: dict[str, str]) -> dict[str, str]:
    return {**forms, "text/html": f'{TWIN_STYLE}<div class="jctx-twin">{forms["text/html"]}</div>'}
