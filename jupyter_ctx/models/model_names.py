"""Names of models: as a table, for completion, and for suggestions where a name was mistyped."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, NamedTuple

from ..display.tabular import Table
from ..display.text import to_plain
from ..providers.lookup import BARE, SERVICES
from .pricing import priced_names
from .window_tables import kept_names, load_tables

LOCAL = "local/smollm2"
MAKERS = ("openai", "anthropic", "google", "mistral", "deepseek", "xai", "moonshot", "zai")
NOT_CHAT = re.compile(
    r"(?i)-$|^(ft:|ada$|babbage|curie|davinci|text-|computer-use|moderation)|embed|image|audio|realtime|transcri|whisper"
    r"|tts|-live|^gpt-live|rerank|ocr|video|veo|lyria|robotics|nano-banana|\.ft-|orpheus|guard|moderat"
)


def known_models(provider: str) -> list[str]:
    """Return full names of a provider's models: those of its own list if one was kept, then those with a price."""
    if provider not in SERVICES:
        return [LOCAL] if provider == "local" else [f"{provider}/{name}" for name in kept_names(provider)]
    service = SERVICES[provider]
    priced = priced_names(service.prices) if service.prices else ()
    names = (*kept_names(service.base_url or provider), *priced)
    own = [name for name in names if provider != "google" or name.startswith("gem")]  # Vertex has others' models, too
    return [f"{provider}/{name}" for name in dict.fromkeys(own) if not NOT_CHAT.search(name)]


def model_names() -> list[str]:
    """Return full names of the makers' own models, and of those in the user's own file."""
    own = [name for table in load_tables() if table.source == "user file" for name in table.rows if "/" in name]
    return [LOCAL, *own, *(name for maker in MAKERS for name in known_models(maker))]


def bare_names() -> list[str]:
    """Return the names that need no provider in front, such as gpt-5.2."""
    names = (name.partition("/")[2] for maker in MAKERS[:3] for name in known_models(maker))
    return [name for name in names if any(re.match(pattern, name) for pattern, _ in BARE)]


def near_models(name: str) -> list[str]:
    """Return full names of the three models whose names are most similar, the nearest first."""
    full = {model.partition("/")[2].lower(): model for model in model_names()[::-1]}  # the first of several stays
    return [full[near] for near in get_close_matches(name.lower(), full, 3)]


class ModelRow(NamedTuple):
    """A model that a provider lists, the tokens that it holds, and where that figure comes from, in words."""

    model: str
    window: int
    source: str


class ModelList(Table[ModelRow]):
    """Models with their windows, by name."""

    __slots__ = ()
    columns = ("model", "window", "source")
    heads: ClassVar[Mapping[str, str]] = {"source": ""}
    formats: ClassVar[Mapping[str, Callable[[Any], str]]] = {"model": to_plain, "window": "{:,}".format}
    newest = False
    most_shown = 10_000
