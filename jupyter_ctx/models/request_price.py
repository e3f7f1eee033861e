"""What one request may cost: the prices of its tokens, and the range before it is sent."""

from __future__ import annotations

import ipaddress
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from urllib.parse import urlsplit

from ..context.budget import MARGIN, whole
from ..context.tokens import OVERHEAD_AT_MOST
from ..context.usage import Usage
from ..providers.lookup import bills, is_billed, split_model
from ..wording import dollars
from .pricing import price
from .registry import Models, Target

TIERED = 100_000  # tokens of a request from which prices may be higher: providers' steps are at 128,000 and more
PRICED = 10_000  # tokens by which a price is looked up
STEP = 1_000  # tokens in which the size of a longer request is told apart to look its price up
SAME = 0.01  # of a cost: by how much prices of today may miss it and still be the same
CACHE_TTLS = ("5m", "1h")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a token, of requests that are not so long that they cost more.

    ``read`` and ``written``: of input that is read from a prompt cache, or written to one; ``written`` is never less
    than ``input``.
    """

    input: float
    output: float
    read: float
    written: float


def price_of(models: Models, target: Target, *, batch: bool = False) -> Price | None:
    """Return what tokens cost there, in a ``batch`` or not; ``None``: the price is unknown, or there is none."""
    return _price_by(partial(models.cost, target, batch=batch))


def _price_by(cost: Callable[[Usage], float | None], tokens: int = PRICED) -> Price | None:
    """Return what tokens cost in requests of so many, by a function that prices a request."""
    alone, both = cost(Usage(tokens, 0)), cost(Usage(tokens, tokens))
    if alone is None or both is None:
        return None
    read, written = cost(Usage(tokens, 0, cache_read_tokens=tokens)), cost(Usage(tokens, 0, cache_write_tokens=tokens))
    read, written = (alone if each is None else each for each in (read, written))
    return Price(alone / tokens, (both - alone) / tokens, min(read, alone) / tokens, max(written, alone) / tokens)


@dataclass(frozen=True, slots=True)
class InputCost:
    """What the input of one answered request cost in US dollars.

    paid: as it was sent
    uncached: what it would have cost without prompt caches
    exact: whether the prices of today lead to the cost that was recorded; else these are scaled to it
    """

    paid: float
    uncached: float
    exact: bool = True


def input_cost(model: str, usage: Usage, cost: float) -> InputCost | None:
    """Return what the input of a request cost that cost so much in all; ``None``: today's prices do not list it."""
    found = list[tuple[float, float, float]]()
    tokens = usage.input_tokens // STEP * STEP + STEP // 2 if usage.input_tokens >= TIERED else PRICED
    for ttl in CACHE_TTLS if usage.cache_write_tokens else CACHE_TTLS[:1]:  # which it was is not recorded
        price = _listed_price(model, ttl, tokens)
        if price is None:
            return None
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        paid = usage.cache_read_tokens * price.read + usage.cache_write_tokens * price.written
        paid += max(usage.input_tokens - cached, 0) * price.input
        found.append((paid + usage.output_tokens * price.output, paid, usage.input_tokens * price.input))
    total, paid, uncached = min(found, key=lambda each: abs(each[0] - cost))
    if abs(total - cost) <= SAME * cost:
        return InputCost(paid, uncached)
    return InputCost(paid * cost / total, uncached * cost / total, exact=False) if total else None


@cache
def _listed_price(model: str, ttl: str, tokens: int) -> Price | None:
    """Return what tokens of a model cost today, by its full name, in requests of so many tokens."""
    provider, _, name = model.partition("/")
    return _price_by(lambda usage: price(bills(provider), (name,), usage, cache_ttl=ttl), tokens)


def is_free(target: Target) -> bool:
    """Return whether nobody bills the requests: the model runs on a server of one's own."""
    settings = target.settings
    if settings.base_url is not None or target.provider.catalogue:
        return False
    return not is_billed(split_model(settings.model)[0])


def worst_case(models: Models, target: Target, tokens: float, *, price: Price | None = None) -> float | None:
    """Return the US dollars that a request of so many estimated tokens may cost; ``None``: the price is unknown.

    The input is counted with a margin for estimates, and as written to a prompt cache; the output is ``max_tokens``.
    ``price``: where it was looked up before.
    """
    if is_free(target):
        return 0.0
    counted = math.ceil((tokens + _schema_tokens(target)) / (1 - MARGIN) + OVERHEAD_AT_MOST)
    output = target.max_tokens or target.reserve
    if price is not None and counted < TIERED:
        return counted * price.written + output * price.output
    return _highest(models, target, counted, output)


def _highest(models: Models, target: Target, tokens: int, output: int) -> float | None:
    """Return the US dollars of a request, as written to a prompt cache where that costs more."""
    written = models.cost(target, Usage(tokens, output, cache_write_tokens=tokens))
    plain = models.cost(target, Usage(tokens, output))
    return None if written is None or plain is None else max(written, plain)


def _schema_tokens(target: Target) -> float:
    return target.meter.tokens(json.dumps(dict(target.schema.json))) if target.schema is not None else 0.0


@dataclass(frozen=True, slots=True)
class RequestPrice:
    """What one request may cost, told before it is sent. Prices are in US dollars; ``None``: the price is unknown.

    model: the model's full name
    input_tokens: of the request
    exact: whether the provider has counted them
    cached_tokens: those of them that were just sent, so that a prompt cache may hold them
    output_tokens: the longest reply that is planned with
    is_limited: whether the provider is asked for no longer reply (``max_tokens``)
    input: the input at its usual price
    low: the input with the cached part at the price of cached tokens, and no reply
    high: the input with a margin where it is estimated, as written to a cache where that costs more, and the reply
    is_free: whether nobody bills it: the model runs on a server of one's own
    """

    model: str
    input_tokens: int
    exact: bool
    cached_tokens: int
    output_tokens: int
    is_limited: bool
    input: float | None = None
    low: float | None = None
    high: float | None = None
    is_free: bool = False

    def __str__(self) -> str:
        """Return the figures in words, such as ``~9,000 tokens in, at most 500 out``."""
        about = "" if self.exact else "~"
        cached = f" ({self.cached_tokens:,} of them just sent, and perhaps cached)" if self.cached_tokens else ""
        reply = "at most" if self.is_limited else "max_tokens is not set, planned with"
        return f"{about}{self.input_tokens:,} tokens in{cached}, {reply} {self.output_tokens:,} out"


def request_price(
    models: Models, target: Target, tokens: float, most: float, *, cached: int = 0, tries: int = 1, output: int = 0
) -> RequestPrice:
    """Return what a request of so many tokens may cost; no server is asked.

    ``most`` are its tokens with a margin where they are estimated, ``cached`` those that were just sent. ``tries``:
    how often it may be asked, each time with the reply before added to it. ``output``: the longest reply, where that
    is not as the settings say.
    """
    is_limited = bool(output) or target.max_tokens is not None
    output, size, largest = output or target.max_tokens or target.reserve, whole(tokens), whole(most)
    cached = min(cached, size)
    price = RequestPrice(target.model, size, largest <= size, cached, output, is_limited, is_free=is_own_server(target))
    if price.is_free:
        return replace(price, input=0.0, low=0.0, high=0.0)
    alone = models.cost(target, Usage(size, 0)) if size else 0.0  # a table that has no price says 0, too
    low = models.cost(target, Usage(size, 0, cache_read_tokens=cached)) if size else 0.0
    highs = [_highest(models, target, largest + again * output, output) for again in range(tries)]
    if alone is None or low is None or None in highs:
        return price
    high = sum(each for each in highs if each is not None)
    return replace(price, input=alone, low=min(low, alone), high=high)


def is_own_server(target: Target) -> bool:
    """Return whether nobody bills the requests: in this kernel, on this machine, or in its private network."""
    address = target.settings.base_url
    return is_free(target) if address is None else not target.provider.catalogue and _is_near(address)


def _is_near(address: str) -> bool:
    """Return whether an address is of this machine or of a private network."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))


def price_range(prices: Sequence[RequestPrice]) -> tuple[float, float] | None:
    """Return the US dollars that requests cost together, from and to; ``None``: a price is unknown."""
    if any(price.high is None for price in prices):
        return None
    return sum(price.low or 0.0 for price in prices), sum(price.high or 0.0 for price in prices)


def is_above(prices: Sequence[RequestPrice], most: float | None) -> bool:
    """Return whether requests may cost more than ``most`` together, or nobody knows; ``None``: any price will do."""
    together = price_range(prices)
    return most is not None and (together is None or together[1] > most)


def range_text(low: float, high: float) -> str:
    """Return a range of US dollars in words."""
    if dollars(low) == dollars(high):
        return f"about {dollars(high)}"
    return f"between {dollars(low)} and {dollars(high)}"


def price_text(prices: Sequence[RequestPrice], what: str = "This prompt") -> str:
    """Return in a sentence what requests cost together, with the figures of each; ``what`` they are."""
    alike = Counter((price.model, str(price)) for price in prices)
    figures = "; ".join(
        f"{model}: {f'{count} requests, each ' if count > 1 else ''}{said}" for (model, said), count in alike.items()
    )
    together = price_range(prices)
    if together is not None:
        return f"{what} may cost {range_text(*together)} ({figures})."
    return f"{what} may cost any amount: {unknown_prices(prices)} ({figures})."


def unknown_prices(prices: Sequence[RequestPrice]) -> str:
    """Return whose price is unknown, and what the other requests cost together."""
    names = list(dict.fromkeys(price.model for price in prices if price.high is None))
    rest = price_range([price for price in prices if price.high is not None])
    others = f", the others cost {range_text(*rest)}" if rest is not None and rest[1] else ""
    many = len(names) > 1
    return f"the price{'s' if many else ''} of {' and '.join(names)} {'are' if many else 'is'} unknown{others}"
