"""What is read of a run, whether it goes on or was loaded from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..table.results import Results
from .comparison import RunSummary, summary
from .pictures import Picture, draw_rates


class ReadableRun:
    """The answers of a run in figures, sentences and pictures."""

    __slots__ = ()

    if TYPE_CHECKING:  # what a class derived from it has, as fields or as properties

        @property
        def results(self) -> Results: ...  # noqa: D102
        @property
        def grid(self) -> Mapping[str, Sequence[Any]]: ...  # noqa: D102
        @property
        def settings(self) -> Mapping[str, Any]: ...  # noqa: D102
        @property
        def group(self) -> str | None: ...  # noqa: D102

    @property
    def model(self) -> str:
        """The model that was asked; empty where the grid has several."""
        models = self.grid.get("model") or [self.settings.get("model", "")]
        return str(models[0]) if len(models) == 1 else ""

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row for each answer; see :meth:`Results.to_dataframe`."""
        return self.results.to_dataframe()

    def summary(self) -> RunSummary:
        """Return the rate or the mean of each arm by each scorer, with 95 % intervals and a sentence to quote."""
        return summary(self.results, group=self.group)

    def rates(self, scorer: str | None = None) -> Picture:
        """Draw the rate or the mean of each arm with its interval, by one scorer; without a name, the first."""
        return draw_rates(self, scorer)
