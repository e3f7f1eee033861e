"""Where the gauge is shown: below the newest chat cell, where ``%chat`` asks for it, and as a chip in the toolbar."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from ..chat import Chat
from ..display.text import plain_forms
from ..display.widgets.gauge import gauge_forms, gauge_terminal, moment, not_drawn
from ..display.widgets.gauge_outputs import GaugeOutputs, GaugeSnapshot
from ..display.widgets.gauge_panel import Controls, GaugePanel
from ..errors import ChatError
from ..library import Library
from ..runtime.frontend import Where, where
from ..session import actions
from .chip_feed import ChipFeed

if TYPE_CHECKING:
    from .chip import Chip


class CellGauge:
    """The gauge of the conversation that is current in one notebook; ``chip``: ``None`` where there can be none."""

    def __init__(self, shell: Any, library: Callable[[], Library], chip: Chip | None) -> None:
        self._shell, self._library = shell, library
        self._chip = ChipFeed(chip, self._current, self._controls()) if chip is not None else None
        self._outputs = GaugeOutputs()
        self._panel: GaugePanel | None = None
        self._followed: Chat | None = None  # the conversation that the panel shows
        self._heard = set[Chat]()  # conversations whose changes the gauge hears of
        self._names_it = False  # there are several conversations, of which the gauge names the current one
        self._was_shown = False
        self._at_the_end: Callable[[], None] | None = None  # of the cell that runs: shows the gauge

    def show(self, chat: Chat) -> None:
        """Show the live panel; its text in a terminal, in headless runs, and for another conversation."""
        kind = where(self._shell).kind
        with suppress(ChatError):  # the gauge says it
            chat.info()  # as of now
        if kind == "terminal":
            print(gauge_terminal(chat.info(), coloured=self._has_colours(), name=self.name_of(chat)))
        elif kind == "headless" or chat is not self._current():
            display(self._snapshot(chat).dated, raw=True)
        else:
            self._outputs.show(chat, self.panel(chat).widget, partial(self._snapshot, chat))
        self._was_shown = True

    def begin(self, chat: Chat, place: Where) -> None:
        """Let the chip go with a cell that is about to ask."""
        is_current = chat is self._current()
        self._names_it = self._names_it or not is_current
        if self._chip is not None and is_current:
            self._chip.follow(place.cell)

    def end(self, chat: Chat, place: Where) -> None:
        """Show the gauge below the cell that has asked, at its end; in a terminal, below the first."""
        if chat is not self._current() or not self._follows(chat):
            return
        if place.kind == "notebook":
            self._at_the_end = partial(self._follow_cell, chat)
        elif place.kind == "terminal" and not self._was_shown:
            with suppress(ChatError):  # another model was asked, and the usual one is not there
                self.show(chat)

    def after_cell(self) -> None:
        """Show the gauge where the cell that ends asked for it, and the chip as of the current conversation."""
        show, self._at_the_end = self._at_the_end, None
        if show is not None:
            with suppress(ChatError):
                show()
        if self._chip is not None and self._library().is_open:
            self._chip.follow()

    def follow(self) -> None:
        """Show the conversation that is current now; the gauge goes from the cell of another one to the running one."""
        self._names_it = len(self._library().names) > 1
        if self._panel is None:
            return
        chat, before = self._current(), self._followed
        self.panel(chat)
        if before is not chat and self._follows(chat) and where(self._shell).kind == "notebook":
            self._at_the_end = partial(self._follow_cell, chat)

    def panel(self, chat: Chat | None = None) -> GaugePanel:
        """Return the panel: one for all its views, so that they agree. It hears what happens in a conversation."""
        chat = chat or self._current()
        if self._panel is None:
            self._panel = GaugePanel(self._controls())
            self._names_it = len(self._library().names) > 1
        if self._followed is not chat:
            self._followed = chat
            self._outputs.leave()
            self._outputs.freeze()
        if chat not in self._heard:
            self._heard.add(chat)
            chat.session.listeners += [self._panel.update, partial(self._freeze, chat)]
        self._panel.update()
        return self._panel

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self._library().names) > 1 else ""

    def _current(self) -> Chat:
        return self._library().current

    def _freeze(self, chat: Chat) -> None:
        """Let the outputs of the gauge become snapshots once a turn has ended, or an action was done."""
        if not chat.session.running:
            self._outputs.changed(chat)

    def _follows(self, chat: Chat) -> bool:
        """Return whether the gauge is shown by itself; where the toolbar has a chip, that is enough."""
        return chat.config.gauge != "off" and not (self._chip is not None and self._chip.has_page)

    def _follow_cell(self, chat: Chat) -> None:
        """Show the gauge in the running cell, and let it go from the cell where it was."""
        self._outputs.follow(chat, self.panel(chat).widget, partial(self._snapshot, chat))

    def _has_colours(self) -> bool:
        is_wanted = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        return sys.stdout.isatty() and is_wanted and str(self._shell.colors).lower() != "nocolor"

    def _snapshot(self, chat: Chat) -> GaugeSnapshot:
        """Return the gauge of a conversation as it is now, and when that is."""
        try:
            info = chat.session.latest().info
            return GaugeSnapshot(gauge_forms(info, self.name_of(chat)), moment(info))
        except Exception as error:  # the cell must not fail because of a drawing, or of a model that is not there
            return GaugeSnapshot(plain_forms(not_drawn(error)), f"after turn {len(chat.turns):,}")

    def _controls(self) -> Controls:
        """Return what the buttons do to the conversation that is current at the click."""
        chat = self._current
        return Controls(
            read=lambda: chat().session.latest().info,
            plans=lambda: actions.plans(chat().session),
            act=lambda name: getattr(chat(), name)(),
            summarise=lambda stopper: chat().session.act(actions.summarize, stopper=stopper),
            writer=lambda: actions.writer(chat().session),
            name=lambda: chat().name if self._names_it else "",
            busy=lambda: chat().session.running,
        )
