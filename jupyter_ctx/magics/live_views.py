"""The views of conversations that stay current: history, preview and settings, one for all the places that show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from ..chat import Chat
from ..config.settings import SETTINGS, Settings, typed_value
from ..display.widgets.settings_form import Choice, Form
from ..display.widgets.turn_table import TurnTable
from ..models.model_names import model_names
from ..session.prompt import Prompt
from .tables import history_table, mark, previewed

NEWER_PREVIEW = "This preview is as it was: a newer one of the same conversation has been shown."
REPLY_LENGTHS = ("none", "256", "1,024", "4k", "16k")  # that the form suggests
_View = TypeVar("_View", TurnTable, Form)


class LiveViews:
    """The views of conversations, each made once and redrawn whenever its conversation changes."""

    def __init__(self) -> None:
        self._views: dict[tuple[Chat, str], Any] = {}
        self._prompted: dict[Chat, tuple[TurnTable, Callable[[object], None]]] = {}

    def history(self, chat: Chat) -> TurnTable:
        """Return every turn, with boxes that pin and exclude."""
        return self._once(chat, "history", lambda: live_history(chat))

    def settings(self, chat: Chat) -> Form:
        """Return the form of settings."""
        return self._once(chat, "settings", lambda: live_settings(chat))

    def preview(self, chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> TurnTable:
        """Return the next request, with boxes that pin and exclude its turns.

        Of those with a prompt of their own, the newest stays current: each would cost a reckoning at every turn.
        ``columns``: see :func:`previewed`.
        """
        if prompt == Prompt("", prompt.options) and not _has_options(prompt) and not columns:
            return self._once(chat, "preview", lambda: live_preview(chat, prompt))
        if chat in self._prompted:
            older, listener = self._prompted.pop(chat)
            older.end(NEWER_PREVIEW)
            if listener in chat.listeners:
                chat.listeners.remove(listener)
        view = live_preview(chat, prompt, columns)
        self._prompted[chat] = view, view.update
        chat.listeners.append(view.update)
        return view

    def _once(self, chat: Chat, kind: str, make: Callable[[], _View]) -> _View:
        key = chat, kind
        if key not in self._views:
            self._views[key] = view = make()
            chat.listeners.append(view.update)
        made: _View = self._views[key]
        return made


def _has_options(prompt: Prompt) -> bool:
    return any(value is not None for value in prompt.options.values())


def live_history(chat: Chat) -> TurnTable:
    """Return every turn, with boxes that pin and exclude."""
    return TurnTable(lambda: history_table(chat), partial(mark, chat))


def live_preview(chat: Chat, prompt: Prompt, columns: Sequence[Prompt] = ()) -> TurnTable:
    """Return the next request, with boxes that pin and exclude its turns; ``columns``: see :func:`previewed`."""
    return TurnTable(lambda: previewed(chat, prompt, columns), partial(mark, chat))


def live_settings(chat: Chat) -> Form:
    """Return the form of those settings that declare a label."""

    def change(name: str, value: Any) -> str:
        before = chat.config
        chat.configure(**{name: value})
        said = [f"{SETTINGS[name].label}: {typed_value(getattr(chat.config, name))}."]
        if before.base_url and chat.config.base_url is None:
            said.append(f"The server's address went with {before.model}.")
        return " ".join([*said, *filter(None, [chat.missing_key() if name == "model" else ""])])

    return Form(setting_choices(), lambda name: getattr(chat.config, name), change)


def setting_choices() -> tuple[Choice, ...]:
    """Return what the form of settings shows of each that declares a label."""
    return tuple(_choice(name) for name, each in SETTINGS.items() if each.label)


def _choice(name: str) -> Choice:
    declared, default = SETTINGS[name], getattr(Settings(), name)
    values = [(words, value) for value, words in declared.offers.items()]
    typed = () if values else _suggested(name)
    return Choice(name, declared.label, declared.help, default, values, typed, typed_value)


def _suggested(name: str) -> Sequence[str]:
    """Return what a field to type in suggests."""
    return REPLY_LENGTHS if name == "max_tokens" else tuple(model_names())
