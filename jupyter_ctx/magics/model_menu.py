"""The models in the menu of the chip: those in use, then what works here, then what needs a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from ..chat import Chat
from ..config.aliases import load_aliases
from ..errors import ChatError
from ..models.model_names import LOCAL, MAKERS, known_models
from ..models.window_tables import resolve_window
from ..providers.catalog import SERVICES
from ..wording import visible

MOST_MODELS = 15
OF_A_PROVIDER = 3  # the newest models of each provider whose key is there, and of the well-known makers
MODEL_VERSION = re.compile(r"-(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)")


def offered_models(chat: Chat) -> list[tuple[str, str, bool]]:
    """Return about fifteen models: each its full name, what the menu says of it, and whether it is in use."""
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
