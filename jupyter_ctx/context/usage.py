"""Tokens of one request, in one meaning for every provider."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Spending:
    """What replies have cost in US dollars; ``unknown`` is how many of them nobody has priced."""

    dollars: float | None = None
    unknown: int = 0

    def plus(self, cost: float | None) -> Spending:
        """With one more reply."""
        if cost is None:
            return replace(self, unknown=self.unknown + 1)
        return replace(self, dollars=(self.dollars or 0.0) + cost)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the provider reported them.

    ``input_tokens`` includes what was read from and written to a cache, ``output_tokens``
    includes reasoning. Each holds the whole request: the sum over several requests is a
    bill, never the size of a context. ``guessed``: how much was reasoning is our own guess.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    guessed: bool = False

    @property
    def carried(self) -> int:
        """Tokens that the next request carries on: reasoning is not sent back."""
        return self.input_tokens + self.output_tokens - self.reasoning_tokens

    def with_reasoning(self, share: float) -> Usage:
        """With this share of the output as reasoning, where nobody has counted it apart."""
        return replace(self, reasoning_tokens=round(share * self.output_tokens), guessed=True)
