"""The day on which a model ends, and who says so."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

SOON = 60  # days before the end in which a line below an answer says so
LIST_SAYS = "the provider's list"
TABLE_SAYS = "litellm's table, in models.json,"


class End(NamedTuple):
    """The day on which a model ends, and who says so: the provider's own list, or a published table."""

    day: date
    source: str

    def __str__(self) -> str:
        return f"{self.day}, as {self.source} says"

    def is_soon(self, today: date) -> bool:
        """Return whether it is worth a line below an answer: a model that still answers after its day has not ended."""
        return 0 <= (self.day - today).days <= SOON

    def line(self, model: str, today: date) -> str:
        """Return one line about the end of a model."""
        days = (self.day - today).days
        if days < 0:
            return f"{model} was to end on {self}."
        when = {0: "today", 1: "tomorrow"}.get(days, f"in {days:,} days")
        return f"{model} ends {when}, on {self}."


def end_of(day: str, source: str) -> End | None:
    """Return the end on a day as ``2027-01-14``; ``None`` for another text."""
    try:
        return End(date.fromisoformat(day), source)
    except ValueError:
        return None
