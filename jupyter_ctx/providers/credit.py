"""What is left to spend with a key, as gateways tell it: a table of where each tells it, and in which fields.

Nothing is believed but figures within bounds; whatever else a gateway says is unknown.
"""

from __future__ import annotations

import calendar
import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..context.context_info import MoneyLeft

MOST_DOLLARS = 1e9  # whatever is more is no budget
SECONDS_BETWEEN = 300.0  # two questions what is left
AFTER_A_REFUSAL = 10.0  # seconds: many may be refused at once
SPENT, LIMIT = "x-litellm-key-spend", "x-litellm-key-max-budget"  # headers


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


class KeyBudget:
    """What is known of the money that is left with one key; several threads may hear of it, and ask."""

    def __init__(self, provider: str) -> None:
        self.allowance: MoneyLeft | None = None
        self._gateway = GATEWAYS.get(provider)
        self._asking: threading.Thread | None = None
        self._asked = 0.0
        self._lock = threading.Lock()

    def hear(self, headers: Mapping[str, str], *, is_litellm: bool = False) -> None:
        """Learn from an answer's headers: LiteLLM's tell what is left, and that it may be asked for more."""
        if is_litellm or any(name.lower().startswith("x-litellm-") for name in headers):
            self._gateway = GATEWAYS["litellm"]
        until = self.allowance.until if self.allowance is not None else None
        self.allowance = _left((), headers.get(LIMIT), headers.get(SPENT), until) or self.allowance

    def ask(self, fetch: Callable[[str], bytes], *, every: float = SECONDS_BETWEEN, wait: float = 0.0) -> None:
        """Ask the gateway in a thread of its own, unless that was done just now, and wait for it so many seconds.

        ``fetch`` returns what it answers at a path.
        """
        gateway = self._gateway
        if gateway is None:
            return

        def look() -> None:
            with suppress(Exception):  # what is left is then unknown
                self.allowance = allowance_in(gateway, fetch(gateway.path)) or self.allowance

        with self._lock:
            if self._asking is None or time.monotonic() > self._asked + every:
                self._asked = time.monotonic()
                self._asking = threading.Thread(target=look, name="jupyter_ctx budget", daemon=True)
                self._asking.start()
        self._asking.join(wait)


def allowance_in(gateway: Gateway, answer: bytes) -> MoneyLeft | None:
    """Return what is left by a gateway's answer; ``None``: it does not say. Raises ValueError, RecursionError."""
    said = json.loads(answer)
    limit, spent, until = (_field(said, name) for name in (gateway.limit, gateway.spent, gateway.until))
    return _left([_field(said, name) for name in gateway.left], limit, spent, _time(until))


def _left(told: Sequence[Any], limit: Any, spent: Any, until: float | None) -> MoneyLeft | None:
    most, less = _dollars(limit), _dollars(spent)
    first, *more = [_dollars(each) for each in told] or [None]
    if first is None and most is not None and less is not None:
        first = max(0.0, most - less)
    return None if first is None else MoneyLeft(first + sum(filter(None, more)), most, until, "for this key")


def _field(said: Any, name: str) -> Any:
    """Return a field of an answer; of a list of balances, that in US dollars has it."""
    for step in name.split("."):
        if isinstance(said, list):
            said = next((row for row in said if isinstance(row, dict) and row.get("currency") == "USD"), None)
        said = said.get(step) if isinstance(said, dict) else None
    return said


def _dollars(value: Any) -> float | None:
    """Return an amount, as a number or as text; a debt is nothing that is left."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError, OverflowError):
        number = float(value)
        if math.isfinite(number) and abs(number) <= MOST_DOLLARS:
            return max(0.0, number)
    return None


def _time(value: Any) -> float | None:
    """Return a time ahead in seconds since 1970: in ISO 8601, of UTC where it names no zone, or the end of a period.

    Periods end at midnight of UTC, of a Monday, or of a month's first day.
    """
    now = datetime.now(UTC)
    last_of_month = calendar.monthrange(now.year, now.month)[1]
    days = {"daily": 0, "weekly": 6 - now.weekday(), "monthly": last_of_month - now.day}
    if not isinstance(value, str):
        return None
    if value in days:
        value = (now + timedelta(days=days[value] + 1)).date().isoformat()
    try:
        then = datetime.fromisoformat(value)
    except ValueError:
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return then.timestamp() if then > now else None
