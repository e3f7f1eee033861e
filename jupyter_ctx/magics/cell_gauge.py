"""The gauge of a notebook's conversation: live where ``%chat`` asks for it, and as a chip in the toolbar.

The chip's page is sent little by itself: its few figures, once a turn. What its panel shows is sent when the page asks
for it, which it does when the panel is opened and, while that is open, whenever the figures change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from IPython.display import display

from ..chat import Chat
from ..config.aliases import load_aliases
from ..context.context_info import ContextInfo, Plan
from ..display.request_page import cells_html, request_html
from ..display.text import QUIET, attribute_html, text_bundle, to_plain
from ..display.widgets import gauge
from ..display.widgets.gauge_panel import GAUGE_STYLE, GaugePanel
from ..display.widgets.live import StaticFallback, tried
from ..errors import ChatError, in_words
from ..library import Library
from ..models.model_names import LOCAL, MAKERS, known_models
from ..models.registry import key_owner
from ..models.window_tables import resolve_window
from ..providers.lookup import SERVICES
from ..runtime.frontend import where
from ..session import actions
from ..session.session import Session
from ..wording import visible
from .cell_prompts import CELL_MARKS, CellPrompts

if TYPE_CHECKING:
    from .chip import Chip

MOST_MODELS = 15
OF_A_PROVIDER = 3  # the newest models of each provider whose key is there, and of the well-known makers
MODEL_VERSION = re.compile(r"-(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)")
WHEN_STYLE = f"font-size:12px;line-height:18px;{QUIET}"


def read_gauge(chat: Chat) -> tuple[ContextInfo, dict[str, Plan]]:
    """Return how full the context is, and by button what that would do."""
    plans = actions.plans(chat.session)
    return chat.session.latest().info, {name: plans[name.lower()] for name in gauge.BUTTONS}


class CellGauge:
    """The gauge of the conversation that is current in one notebook; ``chip``: ``None`` where there can be none.

    ``prompts`` know the cells that may go with the next one. At most one output shows the gauge live: the newest that
    asked for it. When the next turn begins, that is a snapshot. A press that arrives during a turn waits for its end.
    """

    def __init__(self, shell: Any, library: Callable[[], Library], chip: Chip | None, prompts: CellPrompts) -> None:
        self._shell, self._library, self._chip, self._prompts = shell, library, chip, prompts
        self._panel: GaugePanel | None = None
        self._output: StaticFallback | None = None
        self._shown: Chat | None = None  # the conversation that the panel shows
        self._result = gauge.ButtonResult()
        self._followed: Session | None = None  # which the chip shows
        self._sent: dict[str, Any] = {}  # to the chip

    @property
    def _chat(self) -> Chat:
        return self._library().current

    def show(self, chat: Chat) -> None:
        """Show the live gauge; a snapshot in a terminal, in headless runs, and for another conversation."""
        with suppress(ChatError):  # the gauge says it
            chat.info()  # as of now
        if where(self._shell).kind != "notebook" or chat is not self._chat:
            display(self._snapshot(chat), raw=True)
            return
        self._freeze()
        self._shown, self._panel, self._result = chat, GaugePanel(self.press), gauge.ButtonResult()
        self._draw()
        self._output = StaticFallback(self._panel.widget, partial(self._snapshot, chat))
        self._output.show()
        self._listen_to(chat.session)

    def after_cell(self) -> None:
        """Let the gauge and the chip follow the conversation that is current now."""
        if self._chip is None or not self._library().chats:
            return
        self._chip.hear = self.hear
        if self._followed is not self._chat.session:
            self._followed = self._chat.session
            self._listen_to(self._followed)
            self._update_chip()

    def follow(self) -> None:
        """Show the conversation that is current now: the gauge of another one is a snapshot."""
        if self._shown is not self._chat:
            self._freeze()

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self._library().names) > 1 else ""

    # what buttons do

    def press(self, name: str) -> None:
        """Do what a button says."""
        if name == "Summarise":
            self._say(gauge.ButtonResult("Summarising…", button=name))
            self._act(self._chat.summarize, name)
        else:
            self._act(getattr(self._chat, name.lower()), name)

    def hear(self, data: dict[str, Any]) -> None:
        """Do what a page with a chip asks for."""
        press, turn, cell = str(data.get("press")), data.get("turn"), data.get("cell")
        if data.get("ask"):
            self._sent = {}
            self._update_chip()
        elif data.get("panel"):
            self._send_panel()
        elif press in CELL_MARKS and isinstance(turn, int):
            self._act(lambda: getattr(self._chat, press)(turn), press.capitalize())
        elif press in CELL_MARKS and isinstance(cell, int):
            self._act(lambda: self._prompts.mark_cells(press, [f"In[{cell}]"]))
            self._send_panel()
        elif press in gauge.BUTTONS:
            self.press(press)
        elif data.get("menu"):
            self._send({"models": offered_models(self._chat)})
        elif isinstance(data.get("model"), str):
            self._act(lambda: self._use(data["model"]))
        elif isinstance(data.get("key"), str):
            self._act(lambda: self._keep_key(data.get("owner"), data["key"]))

    def _act(self, act: Callable[[], object], button: str = "") -> None:
        """Do what was clicked, and tell its result: no cell would show it."""
        try:
            text, role = tried(act)
        except KeyboardInterrupt:  # by which a summary is stopped
            text, role = "Stopped.", "alert"
        self._say(gauge.ButtonResult(text, role, button))

    def _use(self, model: str) -> str:
        """Change the model; where its key is missing, the page asks for that."""
        chat = self._chat
        text = f"Model: {chat.configure(model=model).model}."
        missing = chat.models.missing_key(chat.config)
        if missing:
            self._send({"key_for": key_owner(chat.config)})
        return f"{text} {missing}".strip()

    def _keep_key(self, owner: Any, key: str) -> str:
        """Keep a key that was typed into the page, in memory only. Raises a ChatError."""
        self._chat.models.set_key(owner, key)
        return f"The key for {owner} is kept until this kernel ends."

    def _say(self, result: gauge.ButtonResult) -> None:
        """Show a line in the live gauge and in the chip's panel, and announce it to screen readers."""
        self._result = result
        if self._panel is not None:
            self._panel.speak(result)
        self._draw()
        self._send({"said": to_plain(result.text), "role": result.role, "button": result.button})

    # the gauge in a cell

    def _listen_to(self, session: Session) -> None:
        if self._changed not in session.listeners:
            session.listeners.append(self._changed)

    def _changed(self) -> None:
        """Draw the gauge anew after an action; once a turn begins, the one in a cell is a snapshot."""
        if self._output is not None and self._shown is self._chat:
            if self._chat.session.running:
                self._freeze()
            else:
                self._result = gauge.ButtonResult()  # that of a click is outdated after the next action
                self._draw()
                self._output.update()
        self._update_chip()

    def _freeze(self) -> None:
        """Leave a snapshot of the live gauge."""
        output, self._output, self._panel = self._output, None, None
        if output is not None:
            output.freeze()

    def _draw(self) -> None:
        if self._panel is None:
            return
        try:
            self._panel.draw(*read_gauge(self._chat), self._result, self.name_of(self._chat))
        except Exception as error:  # a turn must not fail because of the gauge
            self._panel.fail(error)

    def _snapshot(self, chat: Chat) -> dict[str, str]:
        """Return the gauge of a conversation as it is now, in static forms that say when that is."""
        try:
            info = chat.session.latest().info
            forms, when = gauge.gauge_bundle(info, self.name_of(chat)), gauge.moment(info)
        except Exception as error:  # the cell must not fail because of a drawing, or of a model that is not there
            forms, when = text_bundle(in_words(error)), f"after turn {len(chat.turns):,}"
        page = f'<div class="jctx-when" style="{WHEN_STYLE}">{attribute_html(when)}</div>'
        ends = {"text/html": page, "text/markdown": f"\n\n({when})"}
        return {kind: form + ends.get(kind, f"\n({when})") for kind, form in forms.items()}

    # the chip

    def _send(self, data: dict[str, Any]) -> None:
        if self._chip is not None:
            self._chip.send(data)

    def _update_chip(self) -> None:
        """Send the figures that the chip shows, if they have changed."""
        is_seen = self._chip is not None and self._chip.has_page
        if not is_seen or self._chat.session.running:  # the end of the turn is told, too
            return
        with suppress(Exception):  # a turn must not fail because of the chip
            figures = self._figures()
            if figures != self._sent:
                self._sent = figures
                self._send(figures)

    def _figures(self) -> dict[str, Any]:
        try:
            info = self._chat.session.latest().info
        except Exception as error:  # as where the model is not there
            return {"shape": "?", "share": "", "title": to_plain(in_words(error)), "model": "chat", "level": ""}
        return {
            "shape": gauge.SHAPES[info.state],
            "level": info.state,
            "share": gauge.share_of(info),
            "fill": round(min(1.0, info.fill), 3),
            "guess": info.is_guess,
            "model": to_plain(info.model.rpartition("/")[2]),
            "title": gauge.gauge_line(info, self.name_of(self._chat)),
            "undo": info.undo or "",
            "redo": info.redo or "",
        }

    def _send_panel(self) -> None:
        """Send what the chip's panel shows: the gauge, what each button would do, the next request and its cells."""
        try:
            chat = self._chat
            info, plans = read_gauge(chat)
            going = "with the next prompt" if chat.config.cells == "on" else "for -a cells"
            panel = {
                "style": GAUGE_STYLE,
                "gauge": gauge.live_html(info),
                "details": gauge.details_html(info, plans, gauge.ButtonResult(), self.name_of(chat)),
                "buttons": [(gauge.plan_line(name, plan), plan.possible) for name, plan in plans.items()],
                "request": request_html(chat.preview()) + cells_html(self._prompts.offered(chat), going),
            }
        except Exception as error:
            self._say(gauge.ButtonResult(in_words(error), "alert"))
        else:
            self._send({"panel": panel})


# the models in the menu of the chip


def offered_models(chat: Chat) -> list[tuple[str, str, bool]]:
    """Return about fifteen models: those in use, then what works here, then what needs a key.

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
    with_keys = (name for name, service in SERVICES.items() if service.keys and not _needs_key(chat, f"{name}/any"))
    for provider in (*with_keys, *MAKERS[:3]):
        yield from sorted(known_models(provider), key=_age)[:OF_A_PROVIDER]


def _needs_key(chat: Chat, model: str) -> bool:
    return chat.models.missing_key(chat.config.changed({"model": model})) != ""


def _age(name: str) -> tuple[int, int, int, str]:
    """Return what sorts the newest models first, by the number in their names, and of one number the shortest."""
    version = MODEL_VERSION.search(name)
    major, minor = (int(version[1]), int(version[2] or 0)) if version else (0, 0)
    return -major, -minor, len(name), name


def _label(chat: Chat, name: str) -> str:
    """Return a model with its window and, where there is none, that it needs a key."""
    window = resolve_window(name, window=chat.config.changed({"model": name}).window)
    key = " · needs a key" if _needs_key(chat, name) else ""
    return visible(f"{name} · {'~' if window.is_guess else ''}{window.tokens:,}{key}")
