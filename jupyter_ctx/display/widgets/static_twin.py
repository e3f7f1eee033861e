"""Show a widget with a static twin above it: the widget is visible while its kernel lives, else the twin.

In a saved notebook a widget's output shows an error or nothing, whatever else the output holds: JupyterLab
shows "model not found". So the twin is an output of its own, and its stylesheet hides one of the two. In an
untrusted notebook, which has no stylesheets, the widget's output is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from IPython.display import display

Forms = Mapping[str, str]  # of an output, by type
LIVE = "jctx-live"  # the class of every widget that has a twin
BOX = "jctx-place"  # the class of a box that a widget may leave
FOLLOWS = "jctx-follows"  # the class of what follows the newest answer
VIEW = "application/vnd.jupyter.widget-view+json"
_OUTPUT = ".jp-OutputArea-child"
_TWIN = f"{_OUTPUT}:has(.jctx-twin)"
_ALIVE = f".{LIVE}:not(.jupyter-widgets-disconnected)"  # as after a restart of the kernel
TWIN_STYLE = (
    "<style>"
    f"{_TWIN}:has(+ {_OUTPUT} {_ALIVE}){{display:none}}"
    f"{_TWIN} + {_OUTPUT}:not(:has({_ALIVE},[data-mime-type])){{display:none}}"  # a widget's output names no type
    f"{_OUTPUT}:has(.{BOX}:empty){{display:none}}"
    f".{BOX}>*{{width:100%}}"
    # below the same answer the gauge says how full the window is; a page loaded anew takes no twin away
    f".jp-OutputArea:not(.jctx-has-chip *):is(:has(.{BOX}.{FOLLOWS}:not(:empty)),:has(.{FOLLOWS}):not(:has(.{BOX})))"
    " :is(.jctx-fill,.jctx-percent){display:none!important}"
    "</style>"
)


class Twin:
    """The static output above a widget, kept up to date with it."""

    def __init__(self, forms: Forms, kind: str = "") -> None:
        self._forms, self._kind = forms, kind
        self._handle: Any = display(self._styled(), raw=True, display_id=True)

    def update(self, forms: Forms) -> None:
        """Replace the output if its forms have changed."""
        if forms != self._forms and self._handle is not None:
            self._forms = forms
            self._handle.update(self._styled(), raw=True)

    def withdraw(self) -> None:
        """Take the output from the page."""
        if self._handle is not None:
            self._handle.update({}, raw=True)

    def _styled(self) -> dict[str, str]:
        kind = f" {self._kind}" if self._kind else ""
        page = f'{TWIN_STYLE}<div class="jctx-twin{kind}">{self._forms["text/html"]}</div>'
        return {**self._forms, "text/html": page}


def show(widget: Any, forms: Forms, *, follows: bool = False) -> Twin:
    """Show a widget of the CSS class LIVE in the running cell, with its twin above, and return the twin."""
    twin = Twin(forms, FOLLOWS if follows else "")
    view = widget._repr_mimebundle_()
    display({VIEW: view[VIEW], "text/plain": ""}, raw=True)
    return twin
