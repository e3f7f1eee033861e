"""What is left to spend, and why that is too little, in words."""

from __future__ import annotations

import math
from datetime import datetime

from . import dollars, exact_dollars, price_digits

TINY = 1e-6  # against errors of floating point


def budget_line(left: tuple[float, float | None, float | None]) -> str:
    """Return what is left to spend, of how much, and until when (local time), such as ``$1.20 of $5 left``."""
    amount, limit, until = left
    of = "" if limit is None else f" of {exact_dollars(limit)}"
    end = "" if until is None else f", until {datetime.fromtimestamp(until):%Y-%m-%d %H:%M}"
    told = amount if amount == limit else _rounded_down(amount)
    return f"{exact_dollars(told)}{of} left{end}"


def lack_line(cap: float, charged: float, worst: float | None) -> str:
    """Return why a cap has no room for a request that may cost so much; ``None``: any amount."""
    next_one = "any amount" if worst is None else dollars(worst)
    return (
        f"max_cost is {exact_dollars(cap)}: {dollars(charged)} of it is spent or reserved, and the next request may "
        f"cost up to {next_one}. Raise max_cost, lower max_tokens, or ask another model (%chat help budget)."
    )


def _rounded_down(amount: float) -> float:
    """Return what is left in as many digits as a price has, and never more than there is."""
    unit = 10.0 ** -price_digits(amount)
    return math.floor(amount / unit + TINY) * unit
