"""The outputs that show the live gauge: the one that asked for it, and the one that follows the newest cell.

Both show the same widget. Once the conversation has changed, the output that asked for it becomes a snapshot, which
says after which turn it was taken. The one that follows goes on to the next cell, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Any, NamedTuple

from ..text import QUIET, attribute_html
from .clicks import clicked_widget
from .static_twin import BOX, FOLLOWS, Forms, show

WHEN_STYLE = f"font-size:12px;line-height:18px;{QUIET}"


class GaugeSnapshot(NamedTuple):
    """The gauge at one moment, in static forms, and the moment in words."""

    forms: Forms
    when: str

    @property
    def dated(self) -> Forms:
        """The forms, each with the moment."""
        plain = f"({self.when})"
        page = f'<div class="jctx-when" style="{WHEN_STYLE}">{attribute_html(self.when)}</div>'
        ends = {"text/html": page, "text/markdown": f"\n\n{plain}"}
        return {kind: form + ends.get(kind, f"\n{plain}") for kind, form in self.forms.items()}


class _Output:
    """One output of the gauge; ``owner`` is the conversation that it shows."""

    def __init__(self, owner: object, widget: Any, read: Callable[[], GaugeSnapshot], *, follows: bool = False) -> None:
        import ipywidgets

        self.owner, self._widget, self._read = owner, widget, read
        self._box = ipywidgets.Box([widget], layout=ipywidgets.Layout(overflow="visible"))
        for name in (BOX, FOLLOWS) if follows else (BOX,):
            self._box.add_class(name)
        self._forms = read().dated
        self._twin = show(self._box, self._forms, follows=follows)

    def has(self, widget: Any) -> bool:
        """Return whether the output shows a widget."""
        return widget is self._widget

    def draw(self) -> None:
        """Draw the snapshot anew: a click in the gauge has changed the conversation."""
        self._forms = self._read().dated
        self._twin.update(self._forms)

    def freeze(self) -> None:
        """Show the snapshot from now on: where the static twin is not to be seen, the box shows it."""
        import ipywidgets

        self._box.children = (ipywidgets.HTML(self._forms["text/html"]),)

    def leave(self) -> None:
        """Let the gauge go; nothing stays here."""
        self._box.children = ()
        self._twin.withdraw()


class GaugeOutputs:
    """The outputs of one notebook that show the live gauge: at most one of each kind."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._asked: _Output | None = None
        self._following: _Output | None = None

    def show(self, owner: object, widget: Any, read: Callable[[], GaugeSnapshot]) -> None:
        """Show the gauge in the running cell; the output that showed it before is a snapshot from now on."""
        with self._lock:
            self.freeze()
            self._asked = _Output(owner, widget, read)

    def follow(self, owner: object, widget: Any, read: Callable[[], GaugeSnapshot]) -> None:
        """Show the gauge in the running cell until the next one takes it over."""
        with self._lock:
            self.leave()
            self._following = _Output(owner, widget, read, follows=True)

    def leave(self) -> None:
        """Let the gauge go from the newest cell."""
        with self._lock:
            before, self._following = self._following, None
            if before is not None:
                before.leave()

    def freeze(self) -> None:
        """Make the output that asked for the gauge a snapshot."""
        with self._lock:
            before, self._asked = self._asked, None
            if before is not None:
                before.freeze()

    def changed(self, owner: object) -> None:
        """Freeze what shows a conversation that has changed; after a click in the gauge, draw it anew."""
        clicked = clicked_widget()
        with self._lock, suppress(Exception):  # a turn must not fail because of the gauge
            for output in (self._asked, self._following):
                if output is None or output.owner is not owner:
                    continue
                if clicked is not None and output.has(clicked):
                    output.draw()
                elif output is self._asked:
                    self.freeze()
