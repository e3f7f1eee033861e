"""What a run may cost: the price told before it, and the cap that is never passed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..context.budget import MARGIN
from ..context.usage import Usage
from ..models.registry import Models, Target
from ..wording import dollars


class Purse:
    """The money of a run. What every request on its way may cost at most is reserved before it is sent."""

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._spent: float | None = None
        self._reserved = 0.0

    @property
    def spent(self) -> float | None:
        """US dollars spent; ``None``: no price was known."""
        return self._spent

    def reserve(self, worst: float | None) -> bool:
        """Reserve what a request may cost at most, before it is sent; ``False``: it would pass the cap."""
        if self.cap is not None and (self._spent or 0.0) + self._reserved + (worst or 0.0) > self.cap:
            return False
        self._reserved += worst or 0.0
        return True

    def settle(self, worst: float | None, actual: float | None) -> None:
        """Replace a reservation by what the request cost; ``None``: unknown, so that the worst is charged."""
        self._reserved = max(0.0, self._reserved - (worst or 0.0))
        cost = worst if actual is None else actual
        if cost is not None:
            self._spent = (self._spent or 0.0) + cost

    def said(self, worst: float | None) -> str:
        """Return why the run ends where nothing more can be reserved."""
        return (
            f"max_cost is {dollars(self.cap or 0.0)}, {dollars(self._spent or 0.0)} are spent, and the next request "
            f"may cost {dollars(worst or 0.0)}: raise max_cost, or lower max_tokens."
        )


def worst_case(models: Models, target: Target, tokens: float) -> float | None:
    """Return the US dollars that a request of so many estimated tokens may cost; ``None``: the price is unknown."""
    counted = math.ceil(tokens / (1 - MARGIN))
    output = target.max_tokens or target.reserve
    usage = Usage(counted, output, cache_write_tokens=counted)
    return models.cost(target, usage)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run may take, told before it begins: tokens, and US dollars as a range; ``None``: unknown or open."""

    rows: int
    model: str
    input_tokens: int
    output_tokens: int | None
    least: float | None
    most: float | None
