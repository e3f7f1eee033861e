"""How far a run has come, as figures."""

from __future__ import annotations

from dataclasses import dataclass

from ..wording import dollars, visible


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    rows: answers that are wanted, one for each row, arm and repeat
    done: those that are there, failed ones included
    failed: rows without an answer, or without a valid one
    cached: answers that were stored already
    asked: answers that were asked of a model in this run
    cost: US dollars spent in this run; ``None`` where no price is known
    away: what is asked in batches of a provider, and how far it is there
    """

    rows: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    asked: int = 0
    cost: float | None = None
    away: str = ""

    @property
    def left(self) -> float | None:
        """US dollars that the other rows will cost if they are like those asked so far; ``None``: unknown."""
        if self.cost is None or not self.asked:
            return None
        return self.cost / self.asked * (self.rows - self.done)

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"{self.done:,} of {self.rows:,} rows", self.beside)))

    @property
    def beside(self) -> str:
        """What to know beside the number of rows: how many failed or were stored, and the money."""
        said = [f"{self.failed:,} failed"] if self.failed else []
        said += [f"{self.cached:,} were stored"] if self.cached else []
        if self.cost is not None:
            left = f" so far, about {dollars(self.left)} left" if self.left else ""
            said.append(f"{dollars(self.cost)}{left}")
        said += [self.away] if self.away else []
        return ", ".join(said)

    def after(self, seconds: float, name: str) -> str:
        """Return how far a run of this name has come after so many seconds, in one line."""
        return visible(f"{name or 'map'}: {self}, {seconds:.1f} s")
