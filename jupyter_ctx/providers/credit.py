"""What is left to spend with a key, as gateways tell it: a table of where each tells it, and in which fields.

Nothing is believed but figures within bounds; whatever else a gateway says is unknown.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..context.context_info import MoneyLeft

MOST_DOLLARS = 1e9  # whatever is more is no budget


class Gateway(NamedTuple):
    """Where a gateway tells what is left: a path below its address without /v1, and the fields of its answer.

    A field of an object in the answer is OBJECT.FIELD. What is left is the sum of fields, where the first is there,
    else the limit without what was spent. ``until``: when there is as much again.
    """

    path: str
    left: tuple[str, ...] = ()
    limit: str = ""
    spent: str = ""
    until: str = ""


GATEWAYS = {  # by provider
    "litellm": Gateway("/key/info", limit="info.max_budget", spent="info.spend", until="info.budget_reset_at"),
    "openrouter": Gateway("/v1/key", ("data.limit_remaining",), "data.limit", until="data.limit_reset"),
    "deepseek": Gateway("/user/balance", ("balance_infos.total_balance",)),
    "moonshot": Gateway("/v1/users/me/balance", ("data.available_balance",)),
    "ollama": Gateway("/api/balance", ("included.balance_usd", "purchased.balance_usd"), until="included.period.until"),
}


def gateway_of(provider: str, headers: Mapping[str, str], body: str = "") -> Gateway | None:
    """Return who tells what is left, by the provider, or by an answer of a LiteLLM; ``None``: nobody does."""
    is_litellm = any(name.lower().startswith("x-litellm-") for name in headers) or "budget_exceeded" in body
    return GATEWAYS["litellm"] if is_litellm else GATEWAYS.get(provider)


def allowance_in(gateway: Gateway, answer: bytes) -> MoneyLeft | None:
    """Return what is left by a gateway's answer; ``None``: it does not say. Raises ValueError, RecursionError."""
    body = json.loads(answer)
    left = [_dollars(_field(body, name)) for name in gateway.left]
    most, spent = _dollars(_field(body, gateway.limit)), _dollars(_field(body, gateway.spent))
    until = _time(_field(body, gateway.until))
    if left and left[0] is not None:
        return MoneyLeft(sum(filter(None, left)), most, until)
    return None if most is None or spent is None else MoneyLeft(max(0.0, most - spent), most, until)


def _field(body: Any, name: str) -> Any:
    """Return a field of an answer; of a list of balances, that in US dollars has it."""
    for step in name.split("."):
        if isinstance(body, list):
            body = next((row for row in body if isinstance(row, dict) and row.get("currency") == "USD"), None)
        body = body.get(step) if isinstance(body, dict) else None
    return body


def _dollars(value: Any) -> float | None:
    """Return an amount, as a number or as text; a debt is nothing that is left."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError, OverflowError):
        number = float(value)
        return max(0.0, number) if abs(number) <= MOST_DOLLARS else None
    return None


def _time(value: Any) -> float | None:
    """Return a time ahead in seconds since 1970: in ISO 8601, of UTC where it names no zone, or the end of a period.

    Periods end at midnight of UTC, of a Monday, or of a month's first day.
    """
    now = datetime.now(UTC)
    last_of_month = calendar.monthrange(now.year, now.month)[1]
    days = {"daily": 0, "weekly": 6 - now.weekday(), "monthly": last_of_month - now.day}.get(str(value))
    with suppress(TypeError, ValueError):
        then = datetime.fromisoformat(value if days is None else (now + timedelta(days + 1)).date().isoformat())
        then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
        return then.timestamp() if then > now else None
    return None
