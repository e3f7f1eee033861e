"""Tokens of one request, in one meaning for every provider."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the provider reported them.

    ``input_tokens`` includes what was read from and written to a cache, ``output_tokens``
    includes reasoning. Each holds the whole request: the sum over several requests is a
    bill, never the size of a context.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def carried(self) -> int:
        """Tokens that the next request carries on: reasoning is not sent back."""
        return self.input_tokens + self.output_tokens - self.reasoning_tokens
