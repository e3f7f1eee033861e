"""A widget beside its twin, of which one is seen: the widget while it lives, else the twin.

What a saved notebook says of a widget is an error or nothing, whatever else that output holds:
JupyterLab shows "model not found" in its place. So the twin is an output of its own, just
above, and says by its style which of both is seen. Where styles are taken out of what nobody
trusts, the widget's output is empty.
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
    """The static output above a widget, which is kept as the widget is."""

    def __init__(self, forms: dict[str, str]) -> None:
        self._forms = forms
        self._handle: Any = display(_styled(forms), raw=True, display_id=True)

    def update(self, forms: dict[str, str]) -> None:
        """Show what is now, where that is something else."""
        if forms != self._forms and self._handle is not None:
            self._forms = forms
            self._handle.update(_styled(forms), raw=True)


def show(widget: Any, forms: dict[str, str]) -> Twin:
    """Show a widget of class LIVE in the running cell, with its twin above."""
    twin = Twin(forms)
    view = widget._repr_mimebundle_()
    display({VIEW: view[VIEW], "text/plain": ""}, raw=True)
    return twin


def _styled(forms: dict[str, str]) -> dict[str, str]:
    return {**forms, "text/html": f'{TWIN_STYLE}<div class="jctx-twin">{forms["text/html"]}</div>'}
