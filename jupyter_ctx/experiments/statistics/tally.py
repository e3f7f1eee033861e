"""Count what each arm of a run scored, row by row; what is not counted stands apart and is never a wrong answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import InvalidRequestError
from ...wording import did_you_mean
from ..table.results import Result, Score
from .significance import Interval, averaged, clustered, clustered_rate, mean_interval, wilson

Key = Hashable  # of a row: its number, or what it shares with the same row of another run
LEFT_OUT = ("failed", "truncated", "without a score", "not asked")  # why an answer is counted in no figure
UNUSUAL = ("refused or filtered", "empty")  # answers that count as they were scored
NOT_ASKED = LEFT_OUT[-1]


@dataclass(frozen=True, slots=True)
class Tally:
    """What one scorer says of one arm.

    rows: the score of each row, averaged over its repeats, and over rows with the same prompt
    kind: ``"yes/no"`` where every score is 1 or 0, or true or false, once for each row or the same in all its repeats;
    ``"rate"`` where rows are averages of such scores; else ``"mean"``
    answers: how many there are, with those that were not asked for
    left_out: how many of them no figure counts, by why
    unusual: how many are counted, and are no ordinary ones, by what they are
    error: the first thing that went wrong in asking or scoring
    """

    rows: Mapping[Key, float]
    kind: str
    answers: int
    left_out: Mapping[str, int]
    unusual: Mapping[str, int]
    error: str = ""

    def interval(self, groups: Mapping[Key, Hashable] | None = None) -> Interval:
        """Return the rate or the mean over all rows with its interval; ``groups`` says which rows belong together.

        One row, or none, has no interval.
        """
        values = list(self.rows.values())
        if len(values) < 2:
            return Interval(values[0] if values else math.nan, math.nan, math.nan, len(values))
        if groups is not None:
            of = clustered if self.kind == "mean" else clustered_rate
            return of(values, [groups[key] for key in self.rows])
        if self.kind == "yes/no":
            return wilson(sum(values), len(values))
        return mean_interval(values) if self.kind == "mean" else clustered_rate(values, list(self.rows))

    def merged(self, of: Mapping[Key, Key]) -> Tally:
        """Return the same of the rows in ``of``, averaged where that has the same observation for several."""
        rows = averaged((of[key], score) for key, score in self.rows.items() if key in of)
        whole = all(value in (0.0, 1.0) for value in rows.values())
        return replace(self, rows=rows, kind="rate" if self.kind == "yes/no" and not whole else self.kind)


def by_arm(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results of each arm, in the order in which the arms come. Raises InvalidRequestError."""
    arms: dict[str, list[Result]] = {}
    for result in results:
        if not isinstance(result, Result):
            raise InvalidRequestError(f"Results of a run are needed, not {type(result).__name__}: {result!r:.60}")
        arms.setdefault(result.arm, []).append(result)
    return arms


def scorers_of(results: Iterable[Result]) -> list[str]:
    """Return the names of all scorers, in the order in which they come."""
    return list(dict.fromkeys(name for result in results for name in result.scores))


def tally(
    results: Sequence[Result], scorer: str, keys: Mapping[int, Key] | None = None, among: Iterable[Result] = ()
) -> Tally:
    """Return what a scorer says of the results of one arm; ``keys`` names the rows that count, by their numbers.

    ``among`` are the results of all arms: the scores are a rate where none of them is another number than 1 and 0. An
    empty ``scorer`` is for runs without any: nothing is missing there.
    """
    is_rate = all(number(result.scores.get(scorer)) in (None, 0.0, 1.0) for result in (*results, *among))
    results = [result for result in results if keys is None or result.row in keys]
    counting = [result for result in results if result.counts]
    scored = [(result, score) for result in counting if (score := number(result.scores.get(scorer))) is not None]
    rows = averaged((result.row if keys is None else keys[result.row], score) for result, score in scored)
    is_whole = all(value in (0.0, 1.0) for value in rows.values())
    kind = ("yes/no" if is_whole else "rate") if is_rate and scored else "mean"
    why = Counter(_left_out(result, scorer) for result in results)
    kinds = Counter(map(unusual, counting))
    errors = (text for result in results for text in (result.error, *result.problems) if text)
    return Tally(
        rows, kind, len(results), {each: why[each] for each in LEFT_OUT if why[each]},
        {each: kinds[each] for each in UNUSUAL if kinds[each]}, next(errors, ""),
    )  # fmt: skip


def _left_out(result: Result, scorer: str) -> str:
    """Return why no figure counts an answer; empty where one does."""
    failed, truncated, unscored, unasked = LEFT_OUT
    if not result.asked:
        return unasked
    if result.failed or result.truncated:
        return failed if result.failed else truncated
    return unscored if scorer and number(result.scores.get(scorer)) is None else ""


def unusual(result: Result) -> str:
    """Return one of ``UNUSUAL``; nothing for any other answer."""
    if result.reply is None:
        return ""
    if result.reply.stop_reason == "refusal":
        return UNUSUAL[0]
    return "" if result.reply.text.strip() else UNUSUAL[1]


def counts_text(counts: Mapping[str, int]) -> str:
    """Return how many there are of each: ``3 failed, 1 truncated``."""
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)


def number(score: object) -> float | None:
    """Return a score as a number, or ``None`` where it is none: NumPy's numbers count, NaN and infinity do not."""
    try:
        value = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and not isinstance(score, str | bytes) else None


def groups_of(inputs: Mapping[Any, Mapping[str, Any]], column: str | None) -> dict[Key, Hashable] | None:
    """Return the group of each row, which a column of the table names. Raises InvalidRequestError."""
    if column is None:
        return None
    missing = next((row for row in inputs.values() if column not in row), None)
    if missing is not None:
        hint = did_you_mean(column, list(missing), "{!r}") or f" Columns: {', '.join(missing) or 'none'}."
        raise InvalidRequestError(f"group={column!r}: there is no such column.{hint}")
    return {key: str(row[column]) for key, row in inputs.items()}


def shown_score(score: Score) -> str:
    """Return one score as text."""
    value = number(score)
    if value is None:
        return "no score"
    is_truth = isinstance(score, bool) or type(score).__name__ in ("bool_", "bool")  # NumPy's included
    return ("yes" if score else "no") if is_truth else f"{value:.4g}"
