"""How far a run has come, as figures and as a bar."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..wording import dollars

REDRAW = 0.1  # seconds between drawings of the bar


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    rows: answers that are wanted, one for each row, arm and repeat
    done: those that are there, failed ones included
    failed: rows without an answer, or without a valid one
    cached: answers that were stored already
    asked: answers that were asked of a model in this run
    cost: US dollars spent in this run; ``None`` where no price is known
    """

    rows: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    asked: int = 0
    cost: float | None = None

    @property
    def left(self) -> float | None:
        """US dollars that the other rows will cost if they are like those asked so far; ``None``: unknown."""
        if self.cost is None or not self.asked:
            return None
        return self.cost / self.asked * (self.rows - self.done)

    def __str__(self) -> str:
        said = [f"{self.done:,} of {self.rows:,} rows"]
        said += [f"{self.failed:,} failed"] if self.failed else []
        said += [f"{self.cached:,} were stored"] if self.cached else []
        if self.cost is not None:
            left = self.left
            said.append(f"{dollars(self.cost)} so far" + (f", about {dollars(left)} left" if left else ""))
        return ", ".join(said)


class Bar:
    """A bar of tqdm: on a page or in a terminal. Every method may be called from any thread."""

    def __init__(self, progress: Progress, name: str) -> None:
        from tqdm.auto import tqdm

        self._tqdm: Any = tqdm(total=progress.rows, desc=name or None, unit="row", leave=True)
        self._drawn = 0.0

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Draw how far the run has come; not more often than the eye can follow."""
        now = time.monotonic()
        if not last and now - self._drawn < REDRAW:
            return
        self._drawn = now
        with suppress(Exception):  # a bar that cannot be drawn must not end a run
            self._tqdm.n = progress.done
            self._tqdm.set_postfix_str(_beside(progress), refresh=False)
            self._tqdm.refresh()
            if last:
                self._tqdm.close()


def _beside(progress: Progress) -> str:
    return ", ".join(str(progress).split(", ")[1:])
