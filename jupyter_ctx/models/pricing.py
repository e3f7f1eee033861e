"""What requests cost, by the prices that the user gives, else by those in genai-prices, and what one may cost."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..config.settings import Settings
from ..context.budget import whole
from ..context.usage import MILLION, Prices, Usage
from ..conversation.messages import Message
from ..errors import InvalidRequestError
from ..wording import dollars, exact_dollars
from .window_tables import load_tables

if TYPE_CHECKING:
    from .registry import Models
    from .target import Target

FLAT_TOKENS = 200_000  # of input; more may cost more than a row of models.json says
CACHE_WRITES = {"5m": 1.25, "1h": 2.0}  # times the price of input, as Anthropic bills what is written to a cache
CACHE_SECONDS = {"5m": 300.0, "30m": 1_800.0, "1h": 3_600.0}
CACHED_FOR_30M = r"(?:openai/)?gpt-(?:5[.-][6-9]|[6-9])"  # of older models OpenAI says 5 to 10 minutes, or more
LISTED_VALUES = {  # values of parameters that have the listed price, or a lower one
    "service_tier": ("auto", "default", "flex", "standard", "standard_only"),
    "speed": ("standard",),
}
LEAST_CACHED = 1_024  # tokens: most providers keep no shorter beginning
CORRECTION = 500  # tokens that say what is wrong with a reply
PRICED = 10_000  # tokens by which a price is looked up
GIVE_PRICES = (
    "Give it in dollars per million tokens in, out and cached: prices=(2.50, 10, 0.25), %chat config prices "
    "2.50,10,0.25 or a row of your models.json."
)


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


class Price(NamedTuple):
    """US dollars a token, of requests that are not so long that they cost more.

    ``read`` and ``written``: of input that is read from a prompt cache, or written to one; ``written`` is never less
    than ``input``. ``source``: who says so.
    """

    input: float
    output: float
    read: float
    written: float
    source: str

    def __str__(self) -> str:
        """Return the prices in words, such as ``$2.50 in, $10 out per million tokens, given``."""
        cached = f", {_per_million(self.read)} cached" if self.read < self.input else ""
        figures = f"{_per_million(self.input)} in, {_per_million(self.output)} out{cached}"
        return f"{figures} per million tokens, {self.source}"


def _per_million(price: float) -> str:
    return exact_dollars(round(price * MILLION, 6))


def price_of(models: Models, target: Target) -> Price | None:
    """Return what tokens cost there; ``None``: the price is unknown, or there is none."""
    cost, tokens = partial(models.cost, target), PRICED
    alone, both = cost(Usage(tokens, 0)), cost(Usage(tokens, tokens))
    if alone is None or both is None:
        return None
    read, written = cost(Usage(tokens, 0, cache_read_tokens=tokens)), cost(Usage(tokens, 0, cache_write_tokens=tokens))
    read, written = (alone if each is None else each for each in (read, written))
    _, source = target.given or (None, "from price tables")
    read, written = min(read, alone), max(written, alone)
    return Price(alone / tokens, (both - alone) / tokens, read / tokens, written / tokens, source)


def worst_case(
    models: Models,
    target: Target,
    tokens: float,
    messages: Sequence[Message],
    *,
    output: int | None = None,
    tries: int = 1,
) -> float | None:
    """Return the US dollars that a request of so many estimated tokens may cost; ``None``: the price is unknown.

    The input is counted with what the meter may miss of its messages, and as written to a prompt cache; the output is
    ``output``, else ``max_tokens``. ``tries``: how often it may be asked, each time with the reply before added to it.
    """
    if target.is_free:
        return 0.0
    if models.cost(target, Usage(1, 1)) is None:
        return None
    most = target.meter.most(tokens + target.beside_tokens, (message.text for message in messages))
    output = output or target.max_tokens or target.reserve
    each = [_highest(models, target, math.ceil(most) + n * (output + CORRECTION), output) for n in range(tries)]
    return None if None in each else sum(filter(None, each))


def with_unknown_price(models: Iterable[str]) -> InvalidRequestError:
    """Return the error for models without a known price under a cap on the cost."""
    names = " and of ".join(dict.fromkeys(models))
    return InvalidRequestError(
        f"The price of {names} is unknown, and the cap on the cost needs it: nothing was sent. {GIVE_PRICES}"
    )


def _highest(models: Models, target: Target, tokens: int, output: int) -> float | None:
    """Return the US dollars of a request, as written to a prompt cache where that costs more."""
    written = models.cost(target, Usage(tokens, output, cache_write_tokens=tokens))
    plain = models.cost(target, Usage(tokens, output))
    return None if written is None or plain is None else max(written, plain)


class RequestPrice(NamedTuple):
    """What one request may cost, told before it is sent. Prices are in US dollars; ``None``: the price is unknown.

    model: the model's full name
    input_tokens: of the request
    exact: whether the provider has counted them
    cached_tokens: those of them that a prompt cache holds, or may still hold
    cached_until: when it is cold, in seconds since 1970; ``None``: nobody says
    output_tokens: the longest reply that is planned with
    is_limited: whether the provider is asked for no longer reply (``max_tokens``)
    input: the input where no cache holds any, as written to one where its provider documents for how long
    low: the input with the cached part at the price of cached tokens, and no reply
    high: the input with a margin where it is estimated, as written to a cache where that costs more, and the reply
    is_free: whether nobody bills it
    rates: the prices of tokens there
    """

    model: str
    input_tokens: int
    exact: bool
    cached_tokens: int
    cached_until: float | None
    output_tokens: int
    is_limited: bool
    input: float | None = None
    low: float | None = None
    high: float | None = None
    is_free: bool = False
    rates: Price | None = None


def request_price(
    models: Models, target: Target, tokens: float, most: float, cached: tuple[int, float | None], *, tries: int = 1
) -> RequestPrice:
    """Return what a request of so many tokens may cost; no server is asked.

    ``most`` are its tokens with a margin where they are estimated, ``cached`` those that a cache holds, and until when.
    ``tries``: how often it may be asked, each time with the reply before added to it.
    """
    is_limited = target.max_tokens is not None
    output, size, largest = target.max_tokens or target.reserve, round(tokens), whole(most)
    read, until = min(cached[0], size), cached[1]
    written = size if target.cache_seconds and size >= LEAST_CACHED else 0
    price = RequestPrice(target.model, size, most <= tokens, read, until, output, is_limited, is_free=target.is_free)
    if price.is_free:
        return price._replace(input=0.0, low=0.0, high=0.0)
    alone = models.cost(target, Usage(size, 0, cache_write_tokens=written)) if size else 0.0
    low = models.cost(target, Usage(size, 0, cache_read_tokens=read)) if size else 0.0  # unknown prices are 0, too
    highs = [_highest(models, target, largest + again * output, output) for again in range(tries)]
    if alone is None or low is None or None in highs:
        return price
    high = sum(each for each in highs if each is not None)
    return price._replace(input=alone, low=min(low, alone), high=high, rates=price_of(models, target))


def sending_text(price: RequestPrice) -> str:
    """Return what it costs to send a request of known price, such as ``~$0.004 to send until 14:32, ~$0.03 after``."""
    about = "" if price.exact else "~"
    cold, warm = (f"{about}{dollars(each or 0.0)}" for each in (price.input, price.low))
    if not price.cached_tokens or warm == cold:
        return f"{cold} to send"
    if price.cached_until is None:
        return f"{warm} to send if still cached, else {cold}"
    until = time.strftime("%H:%M", time.localtime(price.cached_until))
    return f"{warm} to send until {until}, {cold} after"
