"""A rate or a mean with its interval, brought up to date with each answer in constant time."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

from .significance import Interval, of_moments, wilson


@dataclass(slots=True)
class RunningScore:
    """The score of one arm by one scorer, over the answers so far.

    Repeats of a row are averaged, and so are rows with the same ``key``, as in a summary. A rate is Wilson's; the
    interval of a mean is Student's, without the bootstrap that a summary takes where scores are few and skewed.
    """

    is_rate: bool = True
    _rows: dict[Hashable, tuple[float, int]] = field(default_factory=dict)  # the sum of a row's scores, and how many
    _total: float = 0.0
    _squares: float = 0.0
    _uneven: int = 0  # rows whose repeats differ

    def add(self, key: Hashable, score: float) -> None:
        """Count the score of one answer."""
        before, count = self._rows.get(key, (0.0, 0))
        self._rows[key] = before + score, count + 1
        self.is_rate = self.is_rate and score in (0.0, 1.0)
        if count:
            self._count(before / count, -1)
        self._count((before + score) / (count + 1), 1)

    @property
    def interval(self) -> Interval:
        """The rate or the mean with its 95 % interval; ``nan`` where there are too few rows for one."""
        rows = len(self._rows)
        if self.is_rate and not self._uneven and rows > 1:
            return wilson(self._total, rows)
        return of_moments(self._total, self._squares, rows, is_rate=self.is_rate)

    def _count(self, mean: float, sign: int) -> None:
        self._total += sign * mean
        self._squares += sign * mean * mean
        self._uneven += sign * (not math.isclose(mean, round(mean)))
