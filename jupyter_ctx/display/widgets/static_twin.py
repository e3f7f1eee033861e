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


def _styled(forms: dict[str, str]) -> dict[str, str]:
    return {**forms, "text/html": f'{TWIN_STYLE}<div class="jctx-twin">{forms["text/html"]}</div>'}
