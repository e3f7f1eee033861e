"""The cost of replies: by the prices that the user gives, else by those in genai-prices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from ..config.settings import Settings
from ..context.usage import Prices, Usage
from .window_tables import load_tables

FLAT_TOKENS = 200_000  # of input; more may cost more than a row of models.json says
CACHE_WRITES = {"5m": 1.25, "1h": 2.0}  # times the price of input, as Anthropic bills what is written to a cache
CACHE_SECONDS = {"5m": 300.0, "30m": 1_800.0, "1h": 3_600.0}
CACHED_FOR_30M = r"(?:openai/)?gpt-(?:5[.-][6-9]|[6-9])"  # of older models OpenAI says 5 to 10 minutes, or more
LISTED_VALUES = {  # values of parameters that have the listed price, or a lower one
    "service_tier": ("auto", "default", "flex", "standard", "standard_only"),
    "speed": ("standard",),
}


def has_listed_price(parameters: Mapping[str, Any]) -> bool:
    """Return whether requests with these parameters cost what tables say: a faster service costs more."""
    return all(parameters.get(name, usual[0]) in usual for name, usual in LISTED_VALUES.items())


def given_prices(settings: Settings, served: str = "") -> tuple[Prices, str] | None:
    """Return the prices that the user gives for a model, and where; ``None``: none are given.

    ``served``: the name that the server's reply has for the model.
    """
    if settings.prices is not None:
        return Prices.of(settings.prices), "given"
    file, _ = load_tables()
    prices = file.find_prices(settings.model) or file.find_prices(served)
    return None if prices is None else (prices, "from your models.json")


def price(provider: str | None, names: Collection[str], usage: Usage, *, cache_ttl: str | None = None) -> float | None:
    """Return US dollars for one request, or ``None`` where the price is unknown.

    ``provider`` is the provider that bills the request, by its id in genai-prices; ``names`` are the names
    that the model may have there, the likeliest first. models.json has the prices of models that are missing there.
    """
    if provider is None:
        return None
    listed = table_price(provider, names, usage, cache_ttl=cache_ttl)
    if listed is not None or usage.input_tokens > FLAT_TOKENS:
        return listed
    _, ours = load_tables()
    prices = next(filter(None, (ours.find_prices(f"{provider}/{name}") for name in names)), None)
    return None if prices is None else prices.cost(usage, CACHE_WRITES.get(cache_ttl or "", 1.0))


def table_price(provider: str, names: Collection[str], usage: Usage, *, cache_ttl: str | None = None) -> float | None:
    """Return US dollars by genai-prices. A price of 0 counts for models named ``:free`` only."""
    import genai_prices

    written = usage.cache_write_tokens
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens or None,
        cache_write_tokens=written or None,
        cache_write_1h_tokens=(written or None) if cache_ttl == "1h" else None,
    )
    for name in names:
        with suppress(Exception):  # a missing price must not cost a turn
            found = float(genai_prices.calc_price(counted, name, provider_id=provider).total_price)
            if found or name.endswith(":free"):
                return found
    return None


def priced_names(provider: str) -> tuple[str, ...]:
    """Return the models of a provider in genai-prices."""
    from genai_prices.data import providers

    return tuple(model.id for known in providers if known.id == provider for model in known.models)
