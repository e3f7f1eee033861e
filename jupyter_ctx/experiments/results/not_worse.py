"""Make a test fail where a prompt does worse than another on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...display.tables import first_words
from ...errors import InvalidRequestError
from ...wording import counted
from ..statistics.significance import ALPHA, rows_by_width
from ..statistics.tally import number, shown_score, tally
from ..statistics.verdicts import MANY, ComparedRow, rounded_up
from .comparison import Comparison, compare
from .differences import DifferenceRow
from .pairs import Pair

MOST_FALLEN = 10  # that an error shows
ROUNDING = 1e-9  # of a difference of two rates: 0.80 − 0.78 is a margin of 0.02


class WorseError(AssertionError):
    """A prompt does worse than another: the sentences to quote, and the rows that fell.

    ``comparison``: the whole comparison; ``comparison.differences()`` has all rows.
    """

    def __init__(self, message: str, *, comparison: Comparison | None = None) -> None:
        super().__init__(message)
        self.comparison = comparison


def assert_not_worse(
    a: Any,
    b: Any,
    margin: float = 0.02,
    scorer: str | None = None,
    *,
    strict: bool = False,
    names: Sequence[str] = (),
) -> Comparison:
    """Raise WorseError, an AssertionError, where the run ``b`` does worse than the run ``a`` on the same rows.

    Both are runs that have ended, :func:`load_run`'s, or lists of results; higher scores are better. ``margin`` is in
    the scorer's unit: 0.02 is two points of a rate. ``scorer`` is the one to compare by; without it all are.
    ``names`` are as for :func:`compare`, whose intervals and p values these are.

    It fails where the rows show that ``b`` is worse (p below 0.05, adjusted for all comparisons) and the difference
    that was measured is beyond the margin. A table too small to show anything passes, and the comparison that is
    returned says so, with the rows that it would take. ``strict`` asks for more: the 95 % interval of the difference
    must exclude a loss of the margin, which fails where the rows are few, whatever they say.

    Rows with a score in ``a`` and none in ``b``, as they failed, were cut or were not asked, count against ``b``: where
    their share is above the margin, it fails too.

    Raises InvalidRequestError where nothing can be compared: no row or no score is in both, the scorer is unknown, or
    the margin is not from 0 to below 1.
    """
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not is_number or not 0 <= margin < 1:
        raise InvalidRequestError(f"margin is {margin!r}: it must be from 0 to below 1, such as 0.02 for two points.")
    compared = compare(a, b, names=names, scorer=scorer)
    pairs = {(pair.first.name, pair.second.name): pair for pair in compared.pairs}
    lost = [_lost(pairs[row.first, row.second], row) for row in compared]
    if not any(scored for _, scored in lost):
        raise InvalidRequestError(f"Nothing can be compared: {compared.sentences[0]} Both runs need rows and scorers=.")
    failures = list[str]()
    sentences = list(compared.sentences)
    for i, (row, each) in enumerate(zip(compared, lost, strict=True)):
        fails, sentences[i] = _verdict(row, sentences[i], margin, strict, *each)
        if fails:
            failures.append("\n".join([sentences[i], *_rows_that_fell(compared, row)]))
    compared.sentences = tuple(sentences)
    if failures:
        raise WorseError("\n\n".join(failures), comparison=compared)
    return compared


def _lost(pair: Pair, row: ComparedRow) -> tuple[int, int]:
    """Return how many rows have a score in the first run and none in the second, and how many have one in the first."""
    first = tally(pair.first.results, row.scorer, pair.rows.first).rows
    second = tally(pair.second.results, row.scorer, pair.rows.second).rows
    return len(first.keys() - second.keys()), len(first)


def _verdict(row: ComparedRow, sentence: str, margin: float, strict: bool, lost: int, scored: int) -> tuple[bool, str]:
    """Return whether an assertion fails, and a comparison's sentence with what says so: first what makes it fail."""
    if lost > margin * scored:
        why = f" ({row.second_uncounted})" if row.second_uncounted else ""
        rows = f"{lost:,} of {counted(scored, 'row')}"
        without = f"{row.second} has no score on {rows} that {row.first} has one on{why}"
        return True, f"{without}: more than {margin} of them. {sentence}"
    change = row.difference or 0.0
    if change < -margin - ROUNDING and row.p_holm is not None and row.p_holm < ALPHA:
        return True, f"{sentence} That is a loss of more than {margin}."
    if row.low is not None and row.low > -margin:
        return False, f"{sentence} A loss of {margin} is excluded."
    unknown = f"A loss of {margin} is not excluded{_rows_needed(row, margin)}."
    return strict, f"{unknown} {sentence}" if strict else f"{sentence} {unknown}"


def _rows_needed(row: ComparedRow, margin: float) -> str:
    """Return the end of a sentence that says how many rows would tell, were the difference as it was measured."""
    if row.low is None or row.high is None:
        return ""
    rows = rows_by_width((row.difference or 0.0) + margin, row.high - row.low, row.n, row.n - 1)
    return f"; about {rounded_up(round(rows)):,} rows would tell" if row.n < rows <= MANY else ""


def _rows_that_fell(compared: Comparison, row: ComparedRow) -> list[str]:
    """Return the rows whose score fell, a line each; after ten how many more there are."""
    both = [each for each in compared.differences(row.scorer) if each[1:3] == row[:2]]
    fell = [each for each in both if _fell(each)]
    lines = [
        f"  row {each.row} ({first_words(each.first_prompt)}): {shown_score(each.first_score)} → "
        f"{shown_score(each.second_score)}; {first_words(each.first_answer)} → {first_words(each.second_answer)}"
        for each in fell[:MOST_FALLEN]
    ]
    more = len(fell) - MOST_FALLEN
    return [*lines, f"  … and {more:,} more"] if more > 0 else lines


def _fell(row: DifferenceRow) -> bool:
    first, second = number(row.first_score), number(row.second_score)
    return first is not None and (second is None or second < first)
