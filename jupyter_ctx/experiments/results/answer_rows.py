"""The answers of a run as the rows of a table to look at: each is made where it is looked at, for they may be many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from ...display.tables import first_words
from ..statistics.tally import is_truth, number, shown_score
from ..table.plan import RunPlan
from ..table.results import Result, Score

MOST_INPUTS, MOST_SCORERS = 2, 4  # columns
MARKS = {True: "✓", False: "✕"}


@dataclass(frozen=True, slots=True)
class Columns:
    """What a table shows of an answer beside its text and scores: its arm and repeat, and columns that are asked."""

    inputs: Sequence[str]
    has_arms: bool
    has_repeats: bool

    @classmethod
    def of(cls, plan: RunPlan) -> Columns:
        """Return the columns for a run."""
        given = tuple(plan.rows[0]) if plan.rows else ()
        return cls(plan.template.columns(given)[:MOST_INPUTS], len(plan.arms) > 1, plan.repeat > 1)

    @property
    def before(self) -> list[str]:
        """The heads of the columns before the answer."""
        optional = [("arm", self.has_arms), ("repeat", self.has_repeats)]
        return ["row", *(name for name, is_there in optional if is_there), *self.inputs]


class AnswerRows(Sequence[Sequence[str]]):
    """The cells of each answer, in the order of ``results``."""

    def __init__(self, results: Sequence[Result], columns: Columns, scorers: Sequence[str]) -> None:
        self._results, self._columns, self._scorers = results, columns, scorers[:MOST_SCORERS]
        self.head = [*columns.before, "answer", *self._scorers]

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(index, slice):
            return AnswerRows(self._results[index], self._columns, self._scorers)
        return list(self._cells(self._results[index]))

    def texts(self, index: int) -> list[tuple[str, str]]:
        """Return the whole of an answer: what was sent and what came, each with its name."""
        result = self._results[index]
        scores = ", ".join(f"{name}: {shown_score(score)}" for name, score in result.scores.items())
        found = [
            ("Prompt", result.prompt),
            ("Answer", result.reply.text if result.reply is not None else ""),
            ("Error", result.error),
            ("Scores", scores),
            ("Problems", "\n".join(result.problems)),
        ]
        return [(name, text) for name, text in found if text]

    def _cells(self, result: Result) -> Iterator[str]:
        columns = self._columns
        yield str(result.row)
        if columns.has_arms:
            yield result.arm
        if columns.has_repeats:
            yield str(result.repeat)
        for name in columns.inputs:
            yield first_words(str(result.inputs.get(name, "")))
        yield _answer(result)
        for name in self._scorers:
            yield _mark(result.scores.get(name))


def failures_first(results: Sequence[Result], scorer: str) -> list[Result]:
    """Return answers that failed, then those that a scorer calls wrong, then the others."""
    return sorted(results, key=lambda result: (not result.failed, number(result.scores.get(scorer)) != 0.0))


def _answer(result: Result) -> str:
    if not result.asked:
        return "not asked"
    if result.reply is None or result.error:
        return f"{MARKS[False]} {result.error}"
    return result.reply.text or "(empty)"


def _mark(score: Score) -> str:
    if score is None:
        return ""
    return MARKS[bool(score)] if is_truth(score) else shown_score(score)
