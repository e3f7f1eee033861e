"""``%chat status``: what fills the context window, the settings that differ from the default, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from ..chat import Chat
from ..config.settings import DEFAULT, KEYWORDS
from ..display.status_card import status_bundle
from ..display.tables import first_words
from ..models.pricing import price_of
from ..wording.budget_line import budget_line
from .command_table import ABOUT_WINDOW, Call, command
from .help_pages import setting_text


@command(ABOUT_WINDOW)
def _status(call: Call) -> dict[str, str]:
    """Show what fills the context window, then the settings that differ from the default, and the cost."""
    chat, name = call.chat, call.host.gauge.name_of(call.chat)
    return status_bundle(chat.info(), name, _changed_settings(chat), [*filter(None, _notes(chat))])


def _notes(chat: Chat) -> Iterator[str]:
    """Yield what tokens cost, what is left with the key, and what can be undone."""
    info, target = chat.info(), chat.models.target(chat.config, ask=False)
    price, left = price_of(chat.models, target), target.provider.allowance()
    if price is not None:
        yield f"Price: {price}"
    elif not target.is_free:
        yield "Price: unknown (%chat config prices gives it)"
    yield "" if left is None else f"Key: {budget_line(left)}."
    undo = f"%chat undo takes back: {info.undo}" if info.undo else ""
    redo = f"%chat redo does again: {info.redo}" if info.redo else ""
    yield "; ".join(filter(None, (undo, redo)))


def _changed_settings(chat: Chat) -> list[tuple[str, list[str]]]:
    """Return the settings that differ from the default, each with its value, by who set them."""
    by_source: dict[str, list[str]] = {}
    for name in KEYWORDS:
        source = chat.session.source_of(name)
        if source != DEFAULT and name != "model":  # which the headline says
            value = first_words(setting_text(chat, name))
            typed = repr(value) if name == "system" else value.replace(", ", ",")  # commas stand between settings
            by_source.setdefault(source, []).append(f"{name} {typed}")
    file, text = chat.session.memory_file()
    if file and text:
        named = "beside the notebook" if chat.conversation.memory is None else "set here"
        by_source.setdefault(named, []).append(f"memory {file}")
    return list(by_source.items())
