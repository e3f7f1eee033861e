"""The places where views show themselves: each is live until something is done elsewhere, and then still.

A place is a static twin, true for its moment, and a box. A box that is still shows the picture, its moment, and how
full the window is now. The live view stays in it: a docked view of the output, which belongs to no moment, shows that.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Any, NamedTuple

from ..text import QUIET, attribute_html
from .clicks import clicked_widget
from .static_twin import BOX, GAUGE_ID, LIVE, STILL, Forms, Twin, show

WHEN_STYLE = f"font-size:12px;line-height:18px;{QUIET}"


class Still(NamedTuple):
    """What a view shows at one moment, in static forms, and the moment in words."""

    forms: Forms
    when: str

    @property
    def dated(self) -> Forms:
        """The forms, each with the moment."""
        plain = f"({self.when})"
        ends = {"text/html": _when_html(self.when), "text/markdown": f"\n\n{plain}"}
        return {kind: form + ends.get(kind, f"\n{plain}") for kind, form in self.forms.items()}


def now_html(text: str, *, linked: bool) -> str:
    """Return how full the window is now, behind the moment of a still place; ``linked``: a live gauge is in sight."""
    words = attribute_html(text)
    now = f'<a class="jctx-now" href="#{GAUGE_ID}">{words} ↗</a>' if linked else f"<span>{words}</span>"
    return f'<div style="{WHEN_STYLE}">· {now}</div>'


def _when_html(when: str) -> str:
    return f'<div class="jctx-when" style="{WHEN_STYLE}">{attribute_html(when)}</div>'


class _Place:
    """One place of a view; ``owner`` is the conversation that it shows."""

    def __init__(self, owner: object, widget: Any, read: Callable[[], Still], *before: Any) -> None:
        import ipywidgets

        self.owner, self._read, self._picture = owner, read, read()
        self.widget = _html(self._picture.forms["text/html"]) if widget is None else widget
        self.widget.add_class(LIVE)
        self._box = ipywidgets.Box([*before, self.widget], layout=ipywidgets.Layout(overflow="visible"))
        self._box.add_class(BOX)
        self._twin: Twin = show(self._box, self._picture.dated, follows=bool(before))

    def draw(self) -> None:
        """Draw the picture anew: its own view has changed something."""
        self._picture = self._read()
        self._twin.update(self._picture.dated)

    def rest(self, now: Any) -> None:
        """Show the picture from now on, its moment, and the line that all still places share."""
        picture = _html(self._picture.forms["text/html"], now)
        when = _html(_when_html(self._picture.when), now)
        picture.add_class("jctx-then-picture")
        with self._box.hold_sync():
            self._box.children = (self.widget, picture, when, now)
            self._box.add_class(STILL)

    def leave(self) -> None:
        """Let the view go; nothing stays here."""
        self._box.children = ()
        self._twin.withdraw()


def _html(text: str, like: Any = None) -> Any:
    """Return a widget of HTML; it shares layout and style with one ``like`` it, which saves two messages."""
    import ipywidgets

    if like is not None:
        return ipywidgets.HTML(text, layout=like.layout, style=like.style)
    return ipywidgets.HTML(text, layout=ipywidgets.Layout(margin="0", overflow="visible"))


class Moments:
    """The places of one notebook; ``now`` returns the HTML that says how full the window is now.

    At most one place of a view is live: what is clicked in the view belongs to that. The place that follows the newest
    cell is beside these.
    """

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        self._lock = RLock()
        self._live: list[_Place] = []
        self._followed: _Place | None = None
        self._line: Any = None  # in all still places
        self._anchor: Any = None

    @property
    def follows(self) -> bool:
        """Whether a view stands below the newest cell."""
        return self._followed is not None

    def show(self, owner: object, widget: Any, read: Callable[[], Still]) -> None:
        """Show a widget of the class LIVE in the running cell; an older place of it is still from now on."""
        with self._lock:
            self.rest(widget)
            self._live.append(_Place(owner, widget, read))

    def follow(self, owner: object, widget: Any, read: Callable[[], Still]) -> None:
        """Show a widget in the running cell until the next one takes it over, and leave nothing here then."""
        with self._lock:
            if self._anchor is None:
                self._anchor = _html(f'<span id="{GAUGE_ID}"></span>')
                self._anchor.add_class("jctx-anchor")
            self.leave()
            self._followed = _Place(owner, widget, read, self._anchor)
            self._tell()

    def leave(self) -> None:
        """Let the view go from the newest cell."""
        with self._lock:
            before, self._followed = self._followed, None
            if before is not None:
                before.leave()

    def rest(self, widget: Any) -> None:
        """Make the live place of a widget still."""
        with self._lock:
            for place in [place for place in self._live if place.widget is widget]:
                self._rest(place)
            self._tell()

    def changed(self, owner: object) -> None:
        """Make places of a conversation still that has changed; those where that was clicked are drawn anew."""
        clicked = clicked_widget()
        with self._lock, suppress(Exception):  # a turn must not fail because of a picture
            for place in [place for place in (*self._live, self._followed) if place and place.owner is owner]:
                if clicked is not None and _holds(place.widget, clicked):
                    place.draw()
                elif place is not self._followed:
                    self._rest(place)
            self._tell()

    def _rest(self, place: _Place) -> None:
        if self._line is None:
            self._line = _html("")
        self._live.remove(place)
        place.rest(self._line)

    def _tell(self) -> None:
        """Say in all still places how full the window is now: one message."""
        if self._line is not None:
            with suppress(Exception):  # where it cannot be told, the cell goes on
                self._line.value = self._now()


def _holds(widget: Any, other: Any) -> bool:
    """Return whether a widget is another, or has it inside."""
    return widget is other or any(_holds(child, other) for child in getattr(widget, "children", ()))
