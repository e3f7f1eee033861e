"""Where the gauge is shown: where ``%chat`` asks for it, and as a chip in the toolbar."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from ..chat import Chat
from ..display.text import QUIET, attribute_html, plain_forms
from ..display.widgets.gauge import gauge_forms, gauge_text, moment, not_drawn
from ..display.widgets.gauge_panel import GaugePanel
from ..display.widgets.pressing import Controls, Pressing
from ..display.widgets.static_twin import GaugeOutput
from ..errors import ChatError
from ..library import Library
from ..runtime.frontend import where
from ..session import actions
from ..session.summarizer import writer
from ..wording.layout import line_width, wrapped
from .chip_feed import ChipFeed

if TYPE_CHECKING:
    from .chip import Chip

WHEN_STYLE = f"font-size:12px;line-height:18px;{QUIET}"


class CellGauge:
    """The gauge of the conversation that is current in one notebook; ``chip``: ``None`` where there can be none.

    At most one output shows it live: the newest that asked for it. When the next turn begins, that is a snapshot.
    """

    def __init__(self, shell: Any, library: Callable[[], Library], chip: Chip | None) -> None:
        self._shell, self._library = shell, library
        self._pressing = Pressing(self._controls())
        self._chip = ChipFeed(chip, self._current, self._pressing) if chip is not None else None
        self._panel: GaugePanel | None = None
        self._output: GaugeOutput | None = None
        self._followed: Chat | None = None  # the conversation that is shown live
        self._heard = set[Chat]()  # conversations whose changes are heard of

    def show(self, chat: Chat) -> None:
        """Show the live panel; its text in a terminal, in headless runs, and for another conversation."""
        kind = where(self._shell).kind
        with suppress(ChatError):  # the gauge says it
            chat.info()  # as of now
        if kind == "terminal":
            print(wrapped(gauge_text(chat.info(), self.name_of(chat)), line_width(), "  "))
        elif kind == "headless" or chat is not self._current():
            display(self._snapshot(chat), raw=True)
        else:
            self._freeze()
            self._output = GaugeOutput(self.panel().widget, partial(self._snapshot, chat))

    def after_cell(self) -> None:
        """Follow the conversation that a cell has opened or switched to."""
        if self._library().is_open and self._current() is not self._followed:
            self.follow()

    def follow(self) -> None:
        """Show the conversation that is current now; an output that shows another one is a snapshot from now on."""
        chat = self._current()
        if chat is not self._followed:
            self._freeze()
            self._followed = chat
        if chat not in self._heard:
            self._heard.add(chat)
            chat.session.listeners.append(partial(self._changed, chat))
        if self._panel is not None:
            self._panel.update()
        if self._chip is not None:
            self._chip.follow()

    def panel(self) -> GaugePanel:
        """Return the panel: one for all its views, so that they agree."""
        self._panel = self._panel or GaugePanel(self._pressing)
        self.follow()
        return self._panel

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self._library().names) > 1 else ""

    def _current(self) -> Chat:
        return self._library().current

    def _changed(self, chat: Chat) -> None:
        """Draw what is live anew after an action; once a turn begins, the output is a snapshot."""
        if chat is not self._followed:
            return
        if self._chip is not None:
            self._chip.update()
        if self._output is None or self._panel is None:
            return
        if chat.session.running:
            self._freeze()
        else:
            self._panel.update()
            self._output.update()

    def _freeze(self) -> None:
        output, self._output = self._output, None
        if output is not None:
            output.freeze()

    def _snapshot(self, chat: Chat) -> dict[str, str]:
        """Return the gauge of a conversation as it is now, in static forms that say when that is."""
        try:
            info = chat.session.latest().info
            forms, when = gauge_forms(info, self.name_of(chat)), moment(info)
        except Exception as error:  # the cell must not fail because of a drawing, or of a model that is not there
            forms, when = plain_forms(not_drawn(error)), f"after turn {len(chat.turns):,}"
        page = f'<div class="jctx-when" style="{WHEN_STYLE}">{attribute_html(when)}</div>'
        ends = {"text/html": page, "text/markdown": f"\n\n({when})"}
        return {kind: form + ends.get(kind, f"\n({when})") for kind, form in forms.items()}

    def _controls(self) -> Controls:
        """Return what the buttons do to the conversation that is current at the click."""
        chat = self._current
        return Controls(
            read=lambda: chat().session.latest().info,
            plans=lambda: actions.plans(chat().session),
            act=lambda name: getattr(chat(), name)(),
            summarise=lambda stopper: chat().session.act(actions.summarize, stopper=stopper),
            writer=lambda: writer(chat().session),
            name=lambda: self.name_of(chat()),
        )
