"""How far a run has come, as figures."""

from __future__ import annotations

from dataclasses import dataclass

from ...wording import counted, dollars


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    rows: answers that are wanted, one for each row, arm and repeat
    done: those that are there, failed ones included
    failed: rows without an answer, or without a valid one
    cached: answers that needed no request: stored already, or that of a row which asks the same
    asked: answers that were asked of a model in this run
    cost: US dollars spent in this run; ``None`` where no price is known
    unpriced: answers that are billed at a price that nobody knows
    away: what the run waits for, in words; empty where nothing is worth saying
    goes_on: whether more may come
    """

    rows: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    asked: int = 0
    cost: float | None = None
    unpriced: int = 0
    away: str = ""
    goes_on: bool = True

    @property
    def left(self) -> float | None:
        """US dollars that the other rows will cost if they are like those asked so far; ``None``: unknown."""
        if self.cost is None or not self.asked:
            return None
        return self.cost / self.asked * (self.rows - self.done) if self.goes_on else 0.0

    def __str__(self) -> str:
        answers = f"{self.done:,} of {counted(self.rows, 'answer')}"
        return f"{answers}, {self.beside}" if self.beside else answers

    @property
    def beside(self) -> str:
        """What to know beside the number of rows: how many failed or needed no request, and the money."""
        counts = [(self.failed, "failed"), (self.cached, "without a request")]
        parts = [f"{count:,} {what}" for count, what in counts if count]
        if self.cost is not None:
            left = f" so far, about {dollars(self.left)} left" if self.left else ""
            parts.append(f"{dollars(self.cost)}{left}")
        parts += [f"{self.unpriced:,} at an unknown price"] if self.unpriced else []
        return ", ".join([*parts, self.away] if self.away else parts)
