"""Where the gauge is shown: where ``%chat`` asks for it, and as a chip in the toolbar."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from ..chat import Chat
from ..display.text import QUIET, attribute_html, text_bundle
from ..display.widgets.gauge import ButtonResult, gauge_bundle, gauge_text, moment
from ..display.widgets.gauge_panel import GaugePanel
from ..display.widgets.live import StaticFallback
from ..errors import ChatError, in_words
from ..library import Library
from ..runtime.frontend import where
from ..wording.layout import line_width, wrapped
from .cell_prompts import CellPrompts
from .chip_feed import ChipFeed
from .gauge_buttons import GaugeButtons

if TYPE_CHECKING:
    from .chip import Chip

WHEN_STYLE = f"font-size:12px;line-height:18px;{QUIET}"


class CellGauge:
    """The gauge of the conversation that is current in one notebook; ``chip``: ``None`` where there can be none.

    ``prompts`` know the cells that may go with the next one.

    At most one output shows it live: the newest that asked for it. When the next turn begins, that is a snapshot.
    """

    def __init__(self, shell: Any, library: Callable[[], Library], chip: Chip | None, prompts: CellPrompts) -> None:
        self._shell, self._library = shell, library
        self._buttons = GaugeButtons(self._current)
        self._buttons.listeners.append(self._say)
        self._chip = ChipFeed(chip, self._buttons, self.name_of, prompts) if chip is not None else None
        self._panel: GaugePanel | None = None
        self._output: StaticFallback | None = None
        self._result = ButtonResult()
        self._shown: Chat | None = None  # the conversation that the panel shows
        self._heard = set[Chat]()  # conversations whose changes the gauge hears of

    def show(self, chat: Chat) -> None:
        """Show the live gauge; its text in a terminal, in headless runs, and for another conversation."""
        kind = where(self._shell).kind
        with suppress(ChatError):  # the gauge says it
            chat.info()  # as of now
        if kind == "terminal":
            print(wrapped(gauge_text(chat.info(), self.name_of(chat)), line_width(), "  "))
        elif kind == "headless" or chat is not self._current():
            display(self._snapshot(chat), raw=True)
        else:
            self.freeze()
            self._shown, self._panel, self._result = chat, GaugePanel(self._buttons.press), ButtonResult()
            self._draw()
            self._output = StaticFallback(self._panel.widget, partial(self._snapshot, chat))
            self._output.show()
            if chat not in self._heard:
                self._heard.add(chat)
                chat.session.listeners.append(partial(self._changed, chat))

    def after_cell(self) -> None:
        """Show the chip as of the current conversation."""
        if self._chip is not None and self._library().is_open:
            self._chip.follow()

    def follow(self) -> None:
        """Show the conversation that is current now: the gauge of another one is a snapshot."""
        if self._shown is not self._current():
            self.freeze()

    def freeze(self) -> None:
        """Leave a snapshot of the live gauge."""
        output, self._output, self._panel = self._output, None, None
        if output is not None:
            output.freeze()

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self._library().names) > 1 else ""

    def _current(self) -> Chat:
        return self._library().current

    def _changed(self, chat: Chat) -> None:
        """Draw the live output anew after an action; once a turn begins, it is a snapshot."""
        if self._output is None or chat is not self._shown:
            return
        if chat.session.running:
            self.freeze()
            return
        if not self._buttons.writing:  # the result of a click is outdated after the next action
            self._result = ButtonResult()
        self._draw()
        self._output.update()

    def _say(self, result: ButtonResult) -> None:
        """Show a line in the live gauge, and announce it to screen readers."""
        self._result = result
        if self._panel is not None:
            self._panel.speak(result)
        self._draw()

    def _draw(self) -> None:
        with self._buttons.lock:
            panel = self._panel
            if panel is None:
                return
            try:
                info, plans = self._buttons.read()
                panel.draw(info, plans, self._result, self.name_of(self._current()), writing=self._buttons.writing)
            except Exception as error:  # a turn must not fail because of the gauge
                panel.fail(error)

    def _snapshot(self, chat: Chat) -> dict[str, str]:
        """Return the gauge of a conversation as it is now, in static forms that say when that is."""
        try:
            info = chat.session.latest().info
            forms, when = gauge_bundle(info, self.name_of(chat)), moment(info)
        except Exception as error:  # the cell must not fail because of a drawing, or of a model that is not there
            forms, when = text_bundle(in_words(error)), f"after turn {len(chat.turns):,}"
        page = f'<div class="jctx-when" style="{WHEN_STYLE}">{attribute_html(when)}</div>'
        ends = {"text/html": page, "text/markdown": f"\n\n({when})"}
        return {kind: form + ends.get(kind, f"\n({when})") for kind, form in forms.items()}
