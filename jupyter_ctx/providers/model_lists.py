"""Read windows from lists of models, and what they can do; every service has its own names for the fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

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
    "input_token_limit",  # Gemini, as its SDK spells it
    "inputTokenLimit",
    "max_input_tokens",  # Anthropic: the whole window
)
REPLIES = (
    "top_provider.max_completion_tokens",
    "max_completion_tokens",
    "limits.max_completion_tokens",
    "output_token_limit",
    "outputTokenLimit",
    "max_output_tokens",
    "max_tokens",  # Anthropic
)
READS = ("input_modalities", "supported_input_modalities")  # a list; at GitHub the second
ABLE = ("capabilities", "modalities")  # a list at Ollama; flags at Mistral, and in /props of llama.cpp
THINKS = (
    "reasoning.default_enabled",  # OpenRouter; without it, whether `supported_parameters` has "reasoning"
    "thinking",  # Gemini
    "capabilities.thinking.supported",  # Anthropic
    "capabilities.reasoning",  # Mistral
)
# OpenRouter's and Anthropic's marks of models that may think only when they are asked to
WHEN_ASKED = (("reasoning.default_enabled", False), ("capabilities.thinking.types.disabled.supported", True))
TOOLS = ("capabilities.function_calling", "chat_template_caps.supports_tools")  # Mistral; /props of llama.cpp
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
    cards = (_card(named.get(str(row.get("parent")), {}) | _said(row), loaded=loaded) for row in rows)
    return tuple(card for card in cards if card is not None)


def find_card(cards: Iterable[ModelInfo], model: str, *, among_many: bool = False) -> ModelInfo | None:
    """Return the card of a model. A server's only model answers to any name, unless ``among_many`` can be loaded."""
    cards = tuple(cards)
    named = (card for card in cards if _bare(card.id) == _bare(model))
    return next(named, cards[0] if len(cards) == 1 and not among_many else None)


def _bare(name: str) -> str:
    return name.lower().removesuffix(":latest")


def _said(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _card(row: dict[str, Any], *, loaded: bool) -> ModelInfo | None:
    name = next((row[key] for key in ID_FIELDS if isinstance(row.get(key), str)), "")
    if not name:
        return None
    served = _window(row, LOADED if loaded else SERVED, "server")
    stated = _window(row, STATED, "provider")
    return ModelInfo(name.removeprefix("models/"), served, stated, reads_images(row), thinks(row), calls_functions(row))


def reads_images(row: dict[str, Any]) -> bool | None:
    """Return whether a model in a list reads images; ``None``: the list does not say."""
    inside = row.get("architecture")  # OpenRouter, llama.cpp
    places = (inside, row) if isinstance(inside, dict) else (row,)
    for kinds in (place.get(name) for place in places for name in READS):
        if isinstance(kinds, list):
            return "image" in kinds
    for able in map(row.get, ABLE):
        if isinstance(able, list) and "completion" in able:
            return "vision" in able
        if isinstance(able, dict) and type(able.get("vision")) is bool:
            return bool(able["vision"])
    return LM_STUDIO.get(str(row.get("type")))


def thinks(row: dict[str, Any]) -> bool | None:
    """Return whether a model in a list thinks before it answers; ``None``: the list does not say."""
    if any(_value(row, key) is mark for key, mark in WHEN_ASKED):
        return None
    said = next((flag for flag in (_value(row, key) for key in THINKS) if type(flag) is bool), None)
    able, parameters = row.get("capabilities"), row.get("supported_parameters")
    if isinstance(able, list) and "completion" in able:
        return "thinking" in able
    return "reasoning" in parameters if said is None and isinstance(parameters, list) else said


def calls_functions(row: dict[str, Any]) -> bool | None:
    """Return whether a model in a list calls functions; ``None``: the list does not say."""
    able, parameters = row.get("capabilities"), row.get("supported_parameters")
    if isinstance(able, list) and "completion" in able:
        return "tools" in able
    if isinstance(parameters, list):
        return "tools" in parameters
    return next((flag for flag in (_value(row, key) for key in TOOLS) if type(flag) is bool), None)


def _window(row: dict[str, Any], keys: Iterable[str], source: Literal["server", "provider"]) -> ContextWindow | None:
    found = [number for number in (_at(row, key) for key in keys) if number]
    if not found:
        return None
    router = isinstance(row.get("top_provider"), dict)  # it may pass on to a smaller one than it lists
    window = min(found[:2]) if router else found[0]
    replies = next((number for number in (_at(row, key) for key in REPLIES) if number), None)
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
