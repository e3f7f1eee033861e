"""The gauge's menu: tabs, one for each view, and below them the view of the tab that is open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...errors import ChatError

OPEN_TAB = "jctx-open"  # the class of the tab whose view is shown


class PanelView(Protocol):
    """A view that a tab of the menu opens."""

    widget: Any


class PanelMenu:
    """A folded row of tabs, and the view that one of them has opened.

    ``views``: by label, what returns the view, the same one for the same conversation. ``say`` shows an error, given
    as its text and "alert". ``lock`` is that of the panel, for a click may come while the panel is drawn.
    """

    def __init__(
        self,
        views: Mapping[str, Callable[[], PanelView]],
        say: Callable[[str, str], object],
        lock: threading.RLock | None = None,
    ) -> None:
        self._views, self._say, self._lock = views, say, lock or threading.RLock()
        self._opened: tuple[str, PanelView] | None = None
        self._build()

    def unfold(self) -> None:
        """Show the tabs, or hide them with the view that is open."""
        with self._lock:
            folded = self.tabs.layout.display == "none"
            self.tabs.layout.display = None if folded else "none"
            self._show(None)

    def toggle(self, name: str) -> None:
        """Open the view of a tab, or close it."""
        with self._lock:
            wanted = self._opened is None or self._opened[0] != name
            try:
                self._show((name, self._views[name]()) if wanted else None)
            except ChatError as error:
                self._say(str(error), "alert")

    def update(self) -> None:
        """Show the view of the conversation that is current now; each redraws itself when its own changes."""
        with self._lock:
            if self._opened is None:
                return
            name, view = self._opened
            current = self._views[name]()
            if current is not view:
                self._show((name, current))

    def _show(self, opened: tuple[str, PanelView] | None) -> None:
        self._opened = opened
        self.area.children = (opened[1].widget,) if opened else ()
        for name, tab in self._tabs.items():
            self._mark(tab, is_open=opened is not None and opened[0] == name)

    def _mark(self, tab: Any, *, is_open: bool) -> None:
        with tab.hold_sync():
            tab.tooltip = "open: shown below" if is_open else "closed"
        (tab.add_class if is_open else tab.remove_class)(OPEN_TAB)

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        low = layout(width="auto", height="24px", padding="0 8px", margin="0 2px 0 0")
        self._tabs = dict[str, Any]()
        for name in self._views:
            self._tabs[name] = tab = ipywidgets.Button(description=name, layout=low)
            tab.add_class(f"jctx-do-{name.lower()}")
            tab.add_class("jctx-tab")
            tab.on_click(lambda _, name=name: self.toggle(name))
        self.tabs = ipywidgets.HBox(list(self._tabs.values()), layout=layout(display="none", flex_flow="row wrap"))
        self.tabs.add_class("jctx-toolbar")
        self.area = ipywidgets.VBox(layout=layout(overflow="visible"))
        style = ipywidgets.HTML(MENU_STYLE, layout=layout(display="none"))
        self.widget = ipywidgets.VBox([style, self.tabs, self.area], layout=layout(overflow="visible"))
        self._show(None)


MENU_STYLE = (
    "<style>"
    # a sign that is no part of the button's name, where the browser knows how to say so
    ".jctx-tab::before{content:'▸ ';content:'▸ ' / ''}"
    f".{OPEN_TAB}::before{{content:'▾ ';content:'▾ ' / ''}}"
    f".jctx-toolbar .{OPEN_TAB}{{font-weight:600;box-shadow:inset 0 -2px 0 var(--jp-brand-color1,#1976d2)}}"
    f"@media (forced-colors:active){{.jctx-toolbar .{OPEN_TAB}{{border:1px solid}}}}"
    "</style>"
)
