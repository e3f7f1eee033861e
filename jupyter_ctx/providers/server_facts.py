"""What servers tell beside the text: their models, what is left to spend with a key, and how likely tokens are.

Every service has its own names for the fields. Nothing is believed but figures within bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import isfinite
from time import time
from typing import Any, Literal

from ..context.context_info import MoneyLeft
from ..context.logprobs import Token, TokenLogprob
from ..context.windows import ContextWindow, Fact
from .base import ModelInfo, Provider
from .wire import dict_at, dicts_in, text_at

ID_FIELDS = ("id", "name", "model", "key")
SERVED = (  # by the server that runs the model
    "meta.n_ctx",  # llama.cpp
    "max_model_len",  # vLLM
    "loaded_context_length",  # LM Studio
    "default_generation_settings.n_ctx",  # llama.cpp, /props
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
REPLIES = (  # the last is Anthropic's
    "top_provider.max_completion_tokens", "max_completion_tokens", "limits.max_completion_tokens", "outputTokenLimit",
    "max_output_tokens", "max_tokens",
)  # fmt: skip
# Where lists say whether a fact holds of a model: a value that is true or false, or a list that may have a word.
FACT_FIELDS: dict[Fact, tuple[str, ...]] = {  # of Ollama; Mistral; llama.cpp's /props; OpenRouter; Gemini; Anthropic
    "images": (
        "capabilities=vision", "capabilities.vision", "modalities.vision", "architecture.input_modalities=image",
    ),
    "thinking": (
        "capabilities=thinking", "thinking", "capabilities.thinking.supported", "supported_parameters=reasoning",
    ),
    "tools": ("capabilities=tools", "chat_template_caps.supports_tools", "supported_parameters=tools"),
}  # fmt: skip
# OpenRouter's and Anthropic's marks of models that may think only when they are asked to
WHEN_ASKED = (("reasoning.default_enabled", False), ("capabilities.thinking.types.disabled.supported", True))
LM_STUDIO = {"llm": False, "vlm": True}
MAX_WINDOW = 1 << 40  # tokens; whatever is larger is no window
MOST_DOLLARS = 1e9  # whatever is more is no budget
LIKELIEST_NEXT = 20_000  # tokens: more than 99.9 % of what may follow, as a rule, read in a quarter of a second
KEY_PATHS = {"litellm": "/key/info", "openrouter": "/v1/key"}  # where gateways tell what is left, below their address


def read_cards(listing: Any) -> tuple[ModelInfo, ...]:
    """Return the models in a parsed list."""
    return tuple(model_info(row) for row in _rows(listing) if _name(row))


def find_row(listing: Any, model: str, *, among_many: bool = False) -> dict[str, Any]:
    """Return what a list says of a model; empty: nothing.

    A server's only model answers to any name, unless ``among_many`` can be loaded.
    """
    rows = _rows(listing)
    named = (row for row in rows if _bare(_name(row)) == _bare(model))
    return next(named, rows[0] if len(rows) == 1 and not among_many else {})


def model_info(row: dict[str, Any], *, loaded: bool = False) -> ModelInfo:
    """Return what a row of a list says of a model. ``loaded``: whether it lists what the server has loaded."""
    images, thinks, tools = (_fact(row, fact) for fact in FACT_FIELDS)
    may_rest = any(_value(row, key) is mark for key, mark in WHEN_ASKED)
    return ModelInfo(
        _name(row).removeprefix("models/"),
        _window(row, LOADED if loaded else SERVED, "server"),
        _window(row, STATED, "provider"),
        LM_STUDIO.get(str(row.get("type"))) if images is None else images,
        None if may_rest else thinks,
        tools,
    )


def key_path(provider: str, headers: Mapping[str, str], body: str = "") -> str:
    """Return where a provider, or a LiteLLM by its answer, tells what is left to spend; empty: nobody does."""
    is_litellm = any(name.lower().startswith("x-litellm-") for name in headers) or "budget_exceeded" in body
    return KEY_PATHS.get("litellm" if is_litellm else provider, "")


def money_left(answer: Any) -> MoneyLeft | None:
    """Return what is left by a gateway's answer; ``None``: it does not say."""
    told = dict_at(answer, "info") or dict_at(answer, "data")
    left, spent = _dollars(told.get("limit_remaining")), _dollars(told.get("spend"))
    limit = _dollars(told.get("max_budget", told.get("limit")))
    if left is None and limit is not None and spent is not None:
        left = max(0.0, limit - spent)
    return None if left is None else MoneyLeft(left, limit, _time_ahead(told.get("budget_reset_at")))


def reported_tokens(reported: Any) -> list[TokenLogprob]:
    """Return the tokens of an answer that are reported with their probabilities, as OpenAI or Gemini does."""
    return [
        TokenLogprob(
            token, tuple(sorted(_likely_tokens(dicts_in(each.get("top_logprobs"))), key=lambda top: -top.probability))
        )
        for each in dicts_in(reported)
        for token in _likely_tokens([each])
    ]


def text_tokens(provider: Provider, text: str) -> Sequence[Token] | None:
    """Return the tokens that a model cuts a text into; ``None``: nobody there tells them. Raises a ChatError."""
    answer = provider.beside("/tokenize", {"content": text, "with_pieces": True})
    pieces = [(each["piece"], each.get("id")) for each in dicts_in(answer.get("tokens"))]
    # the bytes are listed where they are a part of a character
    return [Token(each.encode() if isinstance(each, str) else bytes(each), name) for each, name in pieces] or None


def next_tokens(provider: Provider, text: str, more: Sequence[Token]) -> Sequence[Token] | None:
    """Return the likeliest tokens after a text and ``more`` tokens, the likeliest first; ``None``: as above.

    One letter is written: llama.cpp tells no probabilities beside a part of a character.
    """
    prompt = [text, *(token.id for token in more)]
    asked = {"prompt": prompt, "n_predict": 1, "n_probs": LIKELIEST_NEXT, "grammar": 'root ::= "a"'}
    places = dicts_in(provider.beside("/completion", asked).get("completion_probabilities"))
    return _likely_tokens(dicts_in(places[0].get("top_logprobs"))) if places else None


def _rows(listing: Any) -> list[dict[str, Any]]:
    """Return the rows of a list: an array, or one under ``data`` or ``models``."""
    return dicts_in(listing.get("data") or listing.get("models") if isinstance(listing, dict) else listing)


def _name(row: dict[str, Any]) -> str:
    return next((row[key] for key in ID_FIELDS if isinstance(row.get(key), str)), "")


def _bare(name: str) -> str:
    return name.lower().removesuffix(":latest")


def _fact(row: dict[str, Any], fact: Fact) -> bool | None:
    """Return whether a fact holds of a model in a list; ``None``: the list does not say."""
    for key, _, word in (field.partition("=") for field in FACT_FIELDS[fact]):
        value = _value(row, key)
        if type(value) is bool:
            return value
        is_of_chat = key != "capabilities" or (isinstance(value, list) and "completion" in value)
        if word and isinstance(value, list) and is_of_chat:
            return word in value
    return None


def _window(row: dict[str, Any], keys: Iterable[str], source: Literal["server", "provider"]) -> ContextWindow | None:
    found = _tokens(row, keys)
    if not found:
        return None
    replies = _tokens(row, REPLIES) if source == "provider" else []
    return ContextWindow(found[0], max_output_tokens=next(iter(replies), None), source=source)


def _tokens(row: dict[str, Any], keys: Iterable[str]) -> list[int]:
    """Return the numbers of tokens under dotted keys."""
    values = [_value(row, key) for key in keys]
    return [value for value in values if type(value) is int and 0 < value < MAX_WINDOW]


def _value(value: Any, key: str) -> Any:
    """Return what a dotted key leads to, or ``None``."""
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _dollars(value: Any) -> float | None:
    """Return an amount; a debt is nothing that is left."""
    return max(0.0, float(value)) if type(value) in (int, float) and abs(value) <= MOST_DOLLARS else None


def _time_ahead(value: Any) -> float | None:
    """Return a time ahead in seconds since 1970, from one in ISO 8601 with its zone."""
    try:
        seconds = datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return None
    return seconds if seconds > time() else None


def _likely_tokens(reported: Iterable[Mapping[str, Any]]) -> list[Token]:
    """Return the tokens whose probabilities are told; some servers leave out the bytes, or send what are none."""
    tokens = []
    for each in reported:
        logprob = each.get("logprob", each.get("logProbability"))
        data = text_at(each, "token").encode("utf-8", "replace")
        if isinstance(each.get("bytes"), list):
            with suppress(TypeError, ValueError):
                data = bytes(each["bytes"])
        if isinstance(logprob, int | float) and isfinite(logprob):
            tokens.append(Token(data, each.get("id", each.get("tokenId")), float(logprob)))
    return tokens
