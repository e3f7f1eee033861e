"""The answers of a run as the rows of a table to look at, and the whole of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...display.tables import first_words
from ..statistics.tally import is_truth, number, shown_score
from ..table.plan import RunPlan
from ..table.results import Result, Score

INPUT_COLUMNS, SCORER_COLUMNS = 2, 4  # columns
TRUTH_SIGNS = {True: "✓", False: "✕"}


def answer_cells(results: Sequence[Result], plan: RunPlan, scorers: Sequence[str]) -> list[list[str]]:
    """Return the heads of the columns, then the cells of each answer: what was asked, the answer, its scores."""
    columns = tuple(plan.rows[0]) if plan.rows else ()
    inputs, scorers = plan.template.columns(columns)[:INPUT_COLUMNS], scorers[:SCORER_COLUMNS]
    optional = [("arm", len(plan.arms) > 1), ("repeat", plan.repeat > 1)]
    given = ["row", *(name for name, is_there in optional if is_there)]

    def cells(result: Result) -> Iterator[str]:
        yield from (str(getattr(result, name)) for name in given)
        yield from (first_words(str(result.inputs.get(name, ""))) for name in inputs)
        yield _answer(result)
        yield from (_mark(result.scores.get(name)) for name in scorers)

    return [[*given, *inputs, "answer", *scorers], *(list(cells(result)) for result in results)]


def answer_place(head: Sequence[str], scorers: Collection[str]) -> int:
    """Return the index of the column with the text of the answer, before those of the scorers."""
    return len(head) - 1 - min(len(scorers), SCORER_COLUMNS)


def answer_texts(result: Result) -> list[tuple[str, str]]:
    """Return the whole of an answer: what was sent and what came, each with its name."""
    found = [
        ("Prompt", result.prompt),
        ("Answer", result.reply.text if result.reply is not None else ""),
        ("Error", result.error),
        ("Scores", ", ".join(f"{name}: {shown_score(score)}" for name, score in result.scores.items())),
        ("Problems", "\n".join(result.problems)),
    ]
    return [(name, text) for name, text in found if text]


def failures_first(results: Sequence[Result], scorer: str) -> list[Result]:
    """Return answers that failed, then those that a scorer calls wrong, then the others."""
    return sorted(results, key=lambda result: (not result.failed, number(result.scores.get(scorer)) != 0.0))


def _answer(result: Result) -> str:
    if not result.asked:
        return "not asked"
    if result.reply is None or result.error:
        return f"{TRUTH_SIGNS[False]} {result.error}"
    return result.reply.text or "(empty)"


def _mark(score: Score) -> str:
    if score is None:
        return ""
    return TRUTH_SIGNS[bool(score)] if is_truth(score) else shown_score(score)
