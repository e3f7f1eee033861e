"""Tokens and dollars of requests, with the same meaning for every provider."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..shown_as import mimebundle


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of replies in US dollars; ``unknown`` is the number of replies without a known price."""

    dollars: float | None = None
    unknown: int = 0

    def plus(self, cost: float | None) -> Spending:
        """Return the spending with one more reply; ``None`` is an unknown price."""
        if cost is None:
            return replace(self, unknown=self.unknown + 1)
        return replace(self, dollars=(self.dollars or 0.0) + cost)

    def plus_run(self, cost: float | None, unknown: int) -> Spending:
        """Return the spending with a run of many requests, ``unknown`` of which have no known price."""
        return replace(self if cost is None else self.plus(cost), unknown=self.unknown + unknown)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the provider reported them.

    Each figure is of the whole request: a sum over several requests is a bill, not the size of a context.

    ``input_tokens``: of the prompt, tokens read from and written to a cache included.
    ``output_tokens``: of the reply, reasoning included.
    ``cache_read_tokens``: of the input, read from a prompt cache.
    ``cache_write_tokens``: of the input, written to a prompt cache.
    ``reasoning_tokens``: of the output, spent on reasoning.
    ``guessed``: whether ``reasoning_tokens`` is an estimate rather than a report.
    ``includes_tools``: whether a search or another tool is in it: a bill then, not what the next request carries.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    guessed: bool = False
    includes_tools: bool = False

    _repr_mimebundle_ = mimebundle

    @property
    def carried(self) -> int:
        """The tokens that the next request carries on: reasoning is not sent back."""
        return self.input_tokens + self.output_tokens - self.reasoning_tokens


MILLION = 1_000_000
PRICES_WANTED = "US dollars per million tokens in, out and, if not the same as in, cached, such as 2.50,10,0.25"


class Prices(NamedTuple):
    """US dollars per million tokens of input, of output, and of input that is read from a prompt cache."""

    input: float
    output: float
    cached: float

    @classmethod
    def of(cls, figures: Any) -> Prices:
        """Return prices from two or three figures. Raises ValueError with what they must be."""
        if isinstance(figures, list | tuple) and len(figures) in (2, 3) and all(map(_is_price, figures)):
            fresh, output, cached = (*figures, figures[0])[:3]
            prices = cls(fresh, output, cached)
            if prices.cached <= prices.input:
                return prices
        raise ValueError(f"prices must be {PRICES_WANTED}; none below 0, and cached not above in.")

    def cost(self, usage: Usage, writes: float) -> float:
        """Return the US dollars of a request; ``writes``: the price of writing to a cache, in times that of input."""
        read, more = usage.cache_read_tokens, (writes - 1) * usage.cache_write_tokens
        plain = max(0, usage.input_tokens - read) + more
        dollars = plain * self.input + read * self.cached + usage.output_tokens * self.output
        return dollars / MILLION


def _is_price(figure: Any) -> bool:
    return type(figure) in (int, float) and math.isfinite(figure) and figure >= 0
