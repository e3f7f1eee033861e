"""Read windows from lists of models, and what they can do; every service has its own names for the fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ..context.windows import ContextWindow
from .base import ModelInfo

ID_FIELDS = ("id", "name", "model", "key")
SERVED = (  # by the server that runs the model
    "meta.n_ctx",  # llama.cpp
    "max_model_len",  # vLLM
    "loaded_context_length",  # LM Studio, /api/v0/models
    "loaded_instances.0.config.context_length",  # LM Studio, /api/v1/models
)
LOADED = (*SERVED, "context_length")  # Ollama, /api/ps
STATED = (
    "top_provider.context_length",  # OpenRouter: what its first provider takes
    "context_length",  # OpenRouter, Together, Cohere
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "contextLength",  # Fireworks
    "limits.max_context_length",  # Cerebras
    "inputTokenLimit",  # Gemini
    "max_input_tokens",  # Anthropic: the whole window
)
REPLIES = (
    "top_provider.max_completion_tokens",
    "max_completion_tokens",
    "limits.max_completion_tokens",
    "outputTokenLimit",
    "max_output_tokens",
    "max_tokens",  # Anthropic
)


class Clues(NamedTuple):
    """Where lists say whether a fact holds of a model.

    ``capability``: its word in the list of capabilities, at Ollama.
    ``word``, ``lists``: its word in other lists, under these keys.
    ``flags``: keys of values that are true or false.
    """

    capability: str
    word: str
    lists: tuple[str, ...]
    flags: tuple[str, ...]


IMAGES = Clues(
    "vision", "image",
    # OpenRouter and llama.cpp; GitHub
    ("architecture.input_modalities", "input_modalities", "supported_input_modalities"),
    ("capabilities.vision", "modalities.vision"),  # Mistral; /props of llama.cpp
)  # fmt: skip
THINKING = Clues(
    "thinking", "reasoning", ("supported_parameters",),  # OpenRouter
    # OpenRouter, Gemini, Anthropic, Mistral
    ("reasoning.default_enabled", "thinking", "capabilities.thinking.supported", "capabilities.reasoning"),
)  # fmt: skip
TOOLS = Clues(
    "tools", "tools", ("supported_parameters",),
    ("capabilities.function_calling", "chat_template_caps.supports_tools"),  # Mistral; /props of llama.cpp
)  # fmt: skip
# OpenRouter's and Anthropic's marks of models that may think only when they are asked to
WHEN_ASKED = (("reasoning.default_enabled", False), ("capabilities.thinking.types.disabled.supported", True))
LM_STUDIO = {"llm": False, "vlm": True}
MAX_WINDOW = 1 << 40  # tokens; whatever is larger is no window


def read_cards(listing: Any, *, loaded: bool = False) -> tuple[ModelInfo, ...]:
    """Return the models in a parsed list: an array, or one under ``data`` or ``models``.

    ``loaded``: whether it lists what the server has loaded.
    """
    rows = listing.get("data") or listing.get("models") if isinstance(listing, dict) else listing
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named = {row.get("id"): row for row in rows if isinstance(row.get("id"), str)}
    # an adapter that vLLM serves has the window of its parent
    said = ({name: value for name, value in row.items() if value is not None} for row in rows)
    cards = (_card(named.get(str(row.get("parent")), {}) | row, loaded=loaded) for row in said)
    return tuple(card for card in cards if card is not None)


def find_card(cards: Iterable[ModelInfo], model: str, *, among_many: bool = False) -> ModelInfo | None:
    """Return the card of a model. A server's only model answers to any name, unless ``among_many`` can be loaded."""
    cards = tuple(cards)
    named = (card for card in cards if _bare(card.id) == _bare(model))
    return next(named, cards[0] if len(cards) == 1 and not among_many else None)


def _bare(name: str) -> str:
    return name.lower().removesuffix(":latest")


def _card(row: dict[str, Any], *, loaded: bool) -> ModelInfo | None:
    name = next((row[key] for key in ID_FIELDS if isinstance(row.get(key), str)), "")
    if not name:
        return None
    images, may_rest = _fact(row, IMAGES), any(_value(row, key) is mark for key, mark in WHEN_ASKED)
    return ModelInfo(
        name.removeprefix("models/"),
        _window(row, LOADED if loaded else SERVED, "server"),
        _window(row, STATED, "provider"),
        LM_STUDIO.get(str(row.get("type"))) if images is None else images,
        None if may_rest else _fact(row, THINKING),
        _fact(row, TOOLS),
    )


def _fact(row: dict[str, Any], clues: Clues) -> bool | None:
    """Return whether a fact holds of a model in a list; ``None``: the list does not say."""
    able = row.get("capabilities")
    if isinstance(able, list) and "completion" in able:
        return clues.capability in able
    flags = [flag for flag in (_value(row, key) for key in clues.flags) if type(flag) is bool]
    lists = [clues.word in words for words in (_value(row, key) for key in clues.lists) if isinstance(words, list)]
    return next(iter((*flags, *lists)), None)


def _window(row: dict[str, Any], keys: Iterable[str], source: Literal["server", "provider"]) -> ContextWindow | None:
    found = list(filter(None, (_at(row, key) for key in keys)))
    if not found:
        return None
    router = isinstance(row.get("top_provider"), dict)  # it may pass on to a smaller one than it lists
    window = min(found[:2]) if router else found[0]
    replies = next(filter(None, (_at(row, key) for key in REPLIES)), None)
    return ContextWindow(window, max_output_tokens=replies if source == "provider" else None, source=source)


def _at(row: dict[str, Any], key: str) -> int | None:
    """Return the number of tokens under a dotted key, or ``None``."""
    value = _value(row, key)
    return value if type(value) is int and 0 < value < MAX_WINDOW else None


def _value(value: Any, key: str) -> Any:
    """Return what a dotted key leads to, or ``None``."""
    for name in key.split("."):
        if isinstance(value, list):
            value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
