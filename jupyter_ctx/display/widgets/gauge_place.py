"""The place of the gauge below one chat cell.

The panel is in the newest place alone. When it leaves for a newer one, a still picture stays, which says of which
turn it is. The panel leaves by the children of a box, which reach the page after a reload too.
"""

from __future__ import annotations

from typing import Any

from .static_twin import Twin, show


class GaugePlace:
    """A box that holds the panel, with its still picture; ``asked_again``: the turn that the cell asked again, or 0."""

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
