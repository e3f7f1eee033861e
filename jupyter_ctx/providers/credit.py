"""What is left to spend with a key, as gateways tell it: a table of where each tells it, and in which fields.

Nothing is believed but figures within bounds; whatever else a gateway says is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from time import time
from typing import Any, NamedTuple

from ..context.context_info import MoneyLeft

MOST_DOLLARS = 1e9  # whatever is more is no budget


class Gateway(NamedTuple):
    """Where a gateway tells what is left: fields of its answer, where OBJECT.FIELD is one of an object in it.

    What is left stands in a field, else it is the limit without what was spent.
    """

    path: str  # below its address without /v1
    left: str = ""
    limit: str = ""
    spent: str = ""
    until: str = ""  # when there is as much again


GATEWAYS = {  # by provider
    "litellm": Gateway("/key/info", limit="info.max_budget", spent="info.spend", until="info.budget_reset_at"),
    "openrouter": Gateway("/v1/key", "data.limit_remaining", "data.limit"),
    "deepseek": Gateway("/user/balance", "balance_infos.total_balance"),
    "moonshot": Gateway("/v1/users/me/balance", "data.available_balance"),
}


def gateway_of(provider: str, headers: Mapping[str, str], body: str = "") -> Gateway | None:
    """Return who tells what is left, by the provider, or by an answer of a LiteLLM; ``None``: nobody does."""
    is_litellm = any(name.lower().startswith("x-litellm-") for name in headers) or "budget_exceeded" in body
    return GATEWAYS["litellm"] if is_litellm else GATEWAYS.get(provider)


def allowance_in(gateway: Gateway, body: Any) -> MoneyLeft | None:
    """Return what is left by a gateway's answer; ``None``: it does not say."""
    left, most, spent = (_dollars(_field(body, name)) for name in (gateway.left, gateway.limit, gateway.spent))
    if left is None and most is not None and spent is not None:
        left = max(0.0, most - spent)
    return None if left is None else MoneyLeft(left, most, _time_ahead(_field(body, gateway.until)))


def _field(body: Any, name: str) -> Any:
    """Return a field of an answer; of a list of balances, that in US dollars has it."""
    for step in name.split("."):
        if isinstance(body, list):
            body = next((row for row in body if isinstance(row, dict) and row.get("currency") == "USD"), None)
        body = body.get(step) if isinstance(body, dict) else None
    return body


def _dollars(value: Any) -> float | None:
    """Return an amount, as a number or as text; a debt is nothing that is left."""
    try:
        number = float("nan" if value is None or type(value) is bool else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, number) if abs(number) <= MOST_DOLLARS else None


def _time_ahead(value: Any) -> float | None:
    """Return a time ahead in seconds since 1970, from one in ISO 8601 with its zone."""
    try:
        seconds = datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return None
    return seconds if seconds > time() else None
