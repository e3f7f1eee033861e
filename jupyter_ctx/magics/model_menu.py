"""The models that a menu offers, with their windows and whether each needs a key. No server is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from ..chat import Chat
from ..config.aliases import load_aliases
from ..errors import ChatError
from ..models.model_names import LOCAL, MAKERS, known_models
from ..models.window_tables import resolve_window
from ..providers.catalog import SERVICES
from ..wording import visible

MOST_MODELS = 15
OF_A_PROVIDER = 3  # the newest models of each provider whose key is there
OF_A_MAKER = 2  # and of each well-known maker whose key is not
MODEL_VERSION = re.compile(r"-(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)")
OPEN_WEIGHTS = re.compile(r"gemma|gpt-oss")  # whose numbers count otherwise


class OfferedModel(NamedTuple):
    """A model in the menu: its full name, and what the menu says of it."""

    name: str
    label: str
    current: bool


def offered_models(chat: Chat) -> list[OfferedModel]:
    """Return about fifteen models: those in use first, then what works here, then what needs a key."""
    names = islice(dict.fromkeys(_names(chat)), MOST_MODELS)
    return [OfferedModel(name, _label(chat, name), name == chat.config.model) for name in names]


def _names(chat: Chat) -> Iterator[str]:
    yield chat.config.model
    if "model" in chat.session.notebook.course.locked:
        return
    yield from (turn.model for turn in reversed(chat.turns) if "/" in turn.model)
    with suppress(ChatError):  # a file of aliases that cannot be read
        yield from load_aliases().values()
    yield LOCAL
    for provider, service in SERVICES.items():
        if service.keys and not _missing_key(chat, f"{provider}/any"):
            yield from _newest(provider, OF_A_PROVIDER)
    for maker in MAKERS[:3]:
        yield from _newest(maker, OF_A_MAKER)


def _newest(provider: str, most: int) -> list[str]:
    """Return a provider's newest models by the numbers in their names, of one number the shortest name first."""
    names = [name for name in known_models(provider) if not OPEN_WEIGHTS.search(name)]
    return sorted(names, key=lambda name: (*(-number for number in _version(name)), len(name), name))[:most]


def _version(name: str) -> tuple[int, int]:
    found = MODEL_VERSION.search(name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _label(chat: Chat, name: str) -> str:
    """Return a model with its window and, where there is none, that it needs a key."""
    window = resolve_window(name)
    with suppress(ChatError):  # a model that is not there
        window = chat.info().budget.window if name == chat.config.model else window
    key = "needs a key" if _missing_key(chat, name) else ""
    return visible(" · ".join(filter(None, (name, f"{'~' if window.is_guess else ''}{window.tokens:,}", key))))


def _missing_key(chat: Chat, model: str) -> str:
    """Return what to do where a model needs a key that is not here; nothing for other servers."""
    base_url = chat.config.base_url if model == chat.config.model else None
    with suppress(ChatError):
        return chat.models.missing_key(chat.config.changed({"model": model, "base_url": base_url}))
    return ""
