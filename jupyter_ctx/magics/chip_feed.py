"""What the chip in the toolbar shows of the current conversation, and what a click there does.

A page is sent little by itself: the few figures of the chip, once a turn. What its panel shows is sent when the page
asks for it, which it does when the panel is opened and, while that is open, whenever the figures change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..chat import Chat
from ..config.aliases import load_aliases
from ..display.request_page import cells_html, request_html
from ..display.text import to_plain
from ..display.widgets.gauge import (
    BUTTONS,
    SHAPES,
    ButtonResult,
    details_html,
    gauge_line,
    live_html,
    plan_line,
    share_of,
)
from ..display.widgets.gauge_panel import GAUGE_STYLE
from ..display.widgets.live import tried
from ..errors import ChatError, in_words
from ..models.model_names import LOCAL, MAKERS, known_models
from ..models.registry import key_owner
from ..models.window_tables import resolve_window
from ..providers.lookup import SERVICES
from ..session.session import Session
from ..wording import visible
from .cell_prompts import CellPrompts
from .gauge_buttons import OF_A_TURN, GaugeButtons

if TYPE_CHECKING:
    from .chip import Chip

MOST_MODELS = 15
OF_A_PROVIDER = 3  # the newest models of each provider whose key is there, and of the well-known makers
MODEL_VERSION = re.compile(r"-(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)")


class ChipFeed:
    """The state of a chip, and the buttons of its panel.

    ``name_of`` returns a conversation's name where it matters; ``prompts`` know the cells that may go with one.
    """

    def __init__(self, chip: Chip, buttons: GaugeButtons, name_of: Callable[[Chat], str], prompts: CellPrompts) -> None:
        self._chip, self._buttons, self._name_of, self._prompts = chip, buttons, name_of, prompts
        buttons.listeners.append(self._say)
        self._sent: dict[str, Any] = {}
        self._followed: Session | None = None

    @property
    def _chat(self) -> Chat:
        return self._buttons.chat()

    def follow(self) -> None:
        """Show the current conversation from now on."""
        self._chip.hear = self.hear
        session = self._chat.session
        if session is self._followed:
            return
        if self.update not in session.listeners:
            session.listeners.append(self.update)
        self._followed = session
        self.update()

    def update(self) -> None:
        """Send what has changed."""
        if not self._chip.has_page or self._chat.session.running:  # the end of the turn is told, too
            return
        with self._buttons.lock, suppress(Exception):  # a turn must not fail because of the chip
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
            self._tell_panel()
        elif isinstance(data.get("turn"), int):
            self._buttons.press_turn(str(data.get("press")), data["turn"])
        elif isinstance(data.get("cell"), int):
            self._mark_cell(str(data.get("press")), data["cell"])
        elif data.get("press") in BUTTONS:
            self._buttons.press(data["press"])
        elif data.get("menu"):
            self._chip.send({"models": offered_models(self._chat)})
        elif isinstance(data.get("model"), str):
            self._use(data["model"])
        elif isinstance(data.get("key"), str):
            self._say(ButtonResult(*tried(lambda: self._keep_key(data.get("owner"), data["key"]))))

    def _mark_cell(self, verb: str, number: int) -> None:
        """Pin a cell of the notebook, leave it out, or take that back, and let the panel show it."""
        if verb in OF_A_TURN:
            self._say(ButtonResult(*tried(lambda: self._prompts.mark_cells(verb, [f"In[{number}]"]))))
            self._tell_panel()

    def _use(self, model: str) -> None:
        """Change the model, and tell what came of it; where its key is missing, the page asks for that."""
        chat = self._chat
        text, role = tried(lambda: _use(chat, model))
        lacks_key = role == "status" and bool(chat.models.missing_key(chat.config))
        self._say(ButtonResult(text, "alert" if lacks_key else role))
        if lacks_key:
            self._chip.send({"key_for": key_owner(chat.config)})

    def _keep_key(self, owner: Any, key: str) -> str:
        """Keep a key that was typed into the page, in memory only. Raises a ChatError."""
        self._chat.models.set_key(owner, key)
        return f"The key for {owner} is kept until this kernel ends."

    def _say(self, result: ButtonResult) -> None:
        """Let the pages show a line in the panel, and announce it."""
        line = {"said": to_plain(result.text), "role": result.role, "button": result.button}
        self._chip.send({**line, "writing": self._buttons.writing})

    def _figures(self) -> dict[str, Any]:
        """Return what the chip itself shows."""
        try:
            info = self._chat.session.latest().info
        except Exception as error:  # as where the model is not there
            return {"shape": "?", "share": "", "title": to_plain(in_words(error)), "model": "chat", "level": ""}
        return {
            "shape": SHAPES[info.state],
            "level": info.state,
            "share": share_of(info),
            "fill": round(min(1.0, info.fill), 3),
            "guess": info.is_guess,
            "model": to_plain(info.model.rpartition("/")[2]),
            "title": gauge_line(info, self._name_of(self._chat)),
            "undo": info.undo or "",
            "redo": info.redo or "",
            "writing": self._buttons.writing,
        }

    def _tell_panel(self) -> None:
        """Send what the panel shows: the gauge, what each button would do, and the next request."""
        try:
            info, plans = self._buttons.read()
            panel = {
                "style": GAUGE_STYLE,
                "gauge": live_html(info),
                "details": details_html(info, plans, ButtonResult(), self._name_of(self._chat)),
                "buttons": [(plan_line(name, plan), plan.possible) for name, plan in plans.items()],
                "request": request_html(self._chat.preview()) + self._cells(),
            }
        except Exception as error:
            self._say(ButtonResult(in_words(error), "alert"))
            return
        self._chip.send({"panel": panel})

    def _cells(self) -> str:
        is_on = self._chat.config.cells == "on"
        return cells_html(self._prompts.offered(self._chat), "with the next prompt" if is_on else "for -a cells")


def _use(chat: Chat, model: str) -> str:
    """Set the model, and return a line on what it is now and on what follows from it. Raises a ChatError."""
    address = chat.config.base_url
    chat.configure(model=model)
    gone = "The server's address went with the model before." if address and chat.config.base_url is None else ""
    return " ".join(filter(None, (f"Model: {chat.config.model}.", gone, chat.models.missing_key(chat.config))))


def offered_models(chat: Chat) -> list[tuple[str, str, bool]]:
    """Return about fifteen models: those in use first, then what works here, then what needs a key.

    Each is its full name, what the menu says of it, and whether it is in use.
    """
    names = islice(dict.fromkeys(_names(chat)), MOST_MODELS)
    return [(name, _label(chat, name), name == chat.config.model) for name in names]


def _names(chat: Chat) -> Iterator[str]:
    yield chat.config.model
    if "model" in chat.session.notebook.course.locked:
        return
    yield from (turn.model for turn in reversed(chat.turns) if "/" in turn.model)
    with suppress(ChatError):  # a file of aliases that cannot be read
        yield from load_aliases().values()
    yield LOCAL
    with_keys = [name for name, service in SERVICES.items() if service.keys and not _missing_key(chat, f"{name}/any")]
    for provider in (*with_keys, *MAKERS[:3]):
        yield from sorted(known_models(provider), key=_age)[:OF_A_PROVIDER]


def _age(name: str) -> tuple[int, int, int, str]:
    """Return what sorts the newest models first, by the number in their names, and of one number the shortest."""
    version = MODEL_VERSION.search(name)
    major, minor = (int(version[1]), int(version[2] or 0)) if version else (0, 0)
    return -major, -minor, len(name), name


def _label(chat: Chat, name: str) -> str:
    """Return a model with its window and, where there is none, that it needs a key."""
    given = chat.config.window if name == chat.config.model else None
    window = resolve_window(name, window=given)
    key = "needs a key" if _missing_key(chat, name) else ""
    return visible(" · ".join(filter(None, (name, f"{'~' if window.is_guess else ''}{window.tokens:,}", key))))


def _missing_key(chat: Chat, model: str) -> str:
    """Return what to do where a model needs a key that is not here; nothing for other servers."""
    base_url = chat.config.base_url if model == chat.config.model else None
    with suppress(ChatError):
        return chat.models.missing_key(chat.config.changed({"model": model, "base_url": base_url}))
    return ""
