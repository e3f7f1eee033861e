"""What the chip in the toolbar shows of the current conversation, and what a click there does.

A page is sent little by itself: the few figures of the chip, once a turn. What its panel shows is sent when the page
asks for it, which it does when the panel is opened and, while that is open, whenever the figures change.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..chat import Chat
from ..display.text import to_plain
from ..display.widgets.clicks import tried
from ..display.widgets.gauge import SHAPES, gauge_line, legend_html, plan_line, share_of
from ..display.widgets.gauge_page import BUTTONS, GAUGE_STYLE, PressResult, bar_html, lines_html
from ..display.widgets.pressing import Pressing
from ..errors import in_words
from .conversation_tables import parts_bundle
from .model_menu import offered_models

if TYPE_CHECKING:
    from .chip import Chip


class ChipFeed:
    """The state of a chip, and the buttons of its panel.

    ``chat`` returns the current conversation, and ``pressing`` does to it what buttons say.
    """

    def __init__(self, chip: Chip, chat: Callable[[], Chat], pressing: Pressing) -> None:
        self._chip, self._chat, self._pressing, self._controls = chip, chat, pressing, pressing.controls
        pressing.listeners.append(self._say)
        self._sent: dict[str, Any] = {}

    def follow(self) -> None:
        """Show the current conversation from now on, and hear what a page asks for."""
        self._chip.hear = self.hear
        self.update()

    def update(self) -> None:
        """Send what has changed."""
        if not self._chip.has_page or self._chat().session.running:  # the end of the turn is told, too
            return
        with self._pressing.lock, suppress(Exception):  # a turn must not fail because of the chip
            figures = self._figures()
            if figures != self._sent:
                self._sent = figures
                self._chip.send(figures)

    def hear(self, data: dict[str, Any]) -> None:
        """Do what a page asks for."""
        if data.get("ask"):
            self._sent = {}
            self.update()
        elif data.get("panel"):
            self._tell_panel(with_style=not data.get("styled"))
        elif data.get("press") in BUTTONS:
            self._pressing.press(data["press"])
        elif data.get("menu"):
            self._chip.send({"models": offered_models(self._chat())})
        elif isinstance(data.get("model"), str):
            self._say(self._with_model(data["model"]))

    def _with_model(self, model: str) -> PressResult:
        """Change the model, and return what came of it: an alert also where the model's key is missing."""
        chat = self._chat()
        text, role = tried(lambda: _use(chat, model))
        return PressResult(text, "alert" if chat.models.missing_key(chat.config) else role)

    def _say(self, result: PressResult, aloud: bool = True) -> None:
        """Let the pages show a line in the panel; ``aloud``: and announce it."""
        said = {"said": to_plain(result.text), "role": result.role, "aloud": aloud}
        self._chip.send({**said, "writing": self._pressing.writing})

    def _figures(self) -> dict[str, Any]:
        """Return what the chip itself shows."""
        try:
            info = self._controls.read()
        except Exception as error:  # as where the model is not there
            return {"shape": "?", "share": "", "title": to_plain(in_words(error)), "model": "chat", "level": ""}
        return {
            "shape": SHAPES[info.state],
            "level": info.state,
            "share": share_of(info),
            "fill": round(min(1.0, info.fill), 3),
            "guess": info.is_guess,
            "model": to_plain(info.model.rpartition("/")[2]),
            "title": gauge_line(info, self._controls.name()),
            "undo": info.undo or "",
            "redo": info.redo or "",
            "writing": self._pressing.writing,
        }

    def _tell_panel(self, *, with_style: bool) -> None:
        """Send what the panel shows: the bar, its parts, the lines, what each button would do, and the next request."""
        try:
            info, plans = self._controls.read(), self._controls.plans()
            by_name = {name: plans[name.lower()] for name in BUTTONS}
            panel = {
                "bar": bar_html(info),
                "parts": legend_html(info),
                "lines": lines_html(info, by_name, PressResult(), self._controls.name()),
                "buttons": [(plan_line(name, plan), plan.possible) for name, plan in by_name.items()],
                "request": parts_bundle(self._chat().preview().shown())["text/html"],
            }
        except Exception as error:
            self._say(PressResult(in_words(error), "alert"))
            return
        style = {"style": GAUGE_STYLE} if with_style else {}
        self._chip.send({"panel": {**panel, **style}})


def _use(chat: Chat, model: str) -> str:
    """Set the model, and return a line on what it is now and on what follows from it. Raises a ChatError."""
    address = chat.config.base_url
    chat.configure(model=model)
    gone = "The server's address went with the model before." if address and chat.config.base_url is None else ""
    return " ".join(filter(None, (f"Model: {chat.config.model}.", gone, chat.models.missing_key(chat.config))))
