"""What a reply costs, from the table of prices that genai-prices keeps."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ..context.usage import Usage


def price(provider: str | None, names: Iterable[str], usage: Usage, *, cache_ttl: str | None = None) -> float | None:
    """US dollars for one request, or ``None`` where nobody knows; never 0 for want of a price.

    ``names`` are what the model is called, the likeliest first; ``provider`` is the one
    that bills it, by its name in that table.
    """
    if provider is None:
        return None
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
        with suppress(Exception):  # no price is worth a turn
            found = genai_prices.calc_price(counted, name, provider_id=provider)
            free = name.endswith(":free")
            if found.total_price or free:
                return float(found.total_price)
    return None


def priced_names(provider: str) -> tuple[str, ...]:
    """The models of a provider that the table of prices has."""
    try:
        from genai_prices.data import providers
    except ImportError:  # a table of another form
        return ()
    return tuple(model.id for known in providers if known.id == provider for model in known.models)
