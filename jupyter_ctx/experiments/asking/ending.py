"""What a run shows at its end: its figures, the interval of each arm, and sentences to quote."""

from __future__ import annotations

from typing import Protocol

from ...display.run_page import CardFigures, ScoreLine
from ...wording import counted, dollars
from ..results.comparison import RunSummary
from ..statistics.verdicts import ArmRow, number_text, percent
from ..table.plan import RunPlan
from ..table.results import Results
from .progress import Progress

MOST_SENTENCES, MOST_LINES = 12, 6  # that are shown, and lines of scores


class Watched(Protocol):
    """What is read of a run."""

    name: str
    plan: RunPlan

    @property
    def progress(self) -> Progress: ...  # noqa: D102
    @property
    def results(self) -> Results: ...  # noqa: D102
    @property
    def unasked(self) -> int: ...  # noqa: D102
    @property
    def unpriced(self) -> int: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102
    def summary(self) -> RunSummary: ...  # noqa: D102


def run_card(run: Watched, seconds: float | None = None) -> CardFigures:
    """Return what the card of a run shows that took so many seconds; ``None``: nothing is said of them."""
    figures = [*ending_figures(run, seconds), *filter(None, [run.why])]
    scores = [_line(row) for row in run.summary() if row.scorer and row.value is not None]
    return CardFigures(run.name, figures, scores[:MOST_LINES], sentences_of(run))


def ending_figures(run: Watched, seconds: float | None) -> list[str]:
    """Return the figures of a run at its end: its rows, what is missing or stored, its cost and its time."""
    results, progress = run.results, run.progress
    asked, answers = counted(len(run.plan.rows), "row"), len(run.plan)
    figures = [asked if answers == len(run.plan.rows) else f"{answers:,} answers to {asked}"]
    counts = {
        "failed": len(results.failed),
        "truncated": len(results.truncated),
        "without a request": progress.cached,
        "not asked": run.unasked,
    }
    figures += [f"{count:,} {what}" for what, count in counts.items() if count]
    figures += [dollars(progress.cost)] if progress.cost else []
    figures += [f"{run.unpriced:,} at an unknown price"] if run.unpriced else []
    figures += [f"{seconds:.1f} s"] if seconds is not None else []
    return figures


def sentences_of(run: Watched) -> list[str]:
    """Return the first sentences to quote of a run, where there are scores."""
    if not any(result.scores for result in run.results):
        return []
    said = list(run.summary().sentences)
    more = len(said) - MOST_SENTENCES
    return [*said[:MOST_SENTENCES], f"… and {more} more: run.summary() has all."] if more > 0 else said


def _line(row: ArmRow) -> ScoreLine:
    """Return the rate or the mean of an arm as a line of the card."""
    is_rate = row.kind != "mean"
    text = percent if is_rate else number_text
    label, rows = f"{row.scorer}, {row.arm}" if row.arm else row.scorer, counted(row.n, "row")
    if row.value is None or row.low is None or row.high is None:
        return ScoreLine(text(row.value or 0.0), label, rows)
    spread = f"{text(row.low)} to {text(row.high)}".replace(" %", "", 1)
    ends = (row.low, row.value, row.high) if is_rate else None
    return ScoreLine(text(row.value), label, f"{spread}, {rows}", ends)
