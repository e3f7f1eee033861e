"""What a run shows at its end: its figures, the interval of each arm, and sentences to quote."""

from __future__ import annotations

from typing import Protocol

from ...display.run_page import CardFigures
from ...wording import counted, dollars
from ..results.answers import answers_of
from ..results.comparison import RunSummary, score_lines
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
    @property
    def differences(self) -> tuple[str, ...]: ...  # noqa: D102
    def summary(self) -> RunSummary: ...  # noqa: D102


def run_card(run: Watched, seconds: float | None = None) -> CardFigures:
    """Return what the card of a run shows that took so many seconds; ``None``: nothing is said of them."""
    figures = [*ending_figures(run, seconds), *filter(None, [run.why]), *run.differences]
    scores = score_lines(run.summary())[:MOST_LINES]
    return CardFigures(run.name, figures, scores, sentences_of(run), answers_of(run.results))


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
