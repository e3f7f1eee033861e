"""The rows of the tables that say what was scored and how prompts compare."""

from __future__ import annotations

from typing import NamedTuple


class ArmRow(NamedTuple):
    """What one scorer says of one arm.

    ``arm``: its label; empty where the run has one arm.
    ``scorer``: its name.
    ``n``: rows that have a score; repeats of a row, and rows with the same prompt, count once.
    ``value``: the rate or the mean over these rows; ``None`` without any.
    ``low``, ``high``: the ends of its 95 % interval; ``None`` where the rows are too few, such as one.
    ``kind``: ``yes/no``, ``rate`` (of rows that are averages of repeats) or ``mean``.
    ``answers``: all answers that were asked for.
    ``failed``, ``truncated``, ``unscored``: answers that are not counted, and why.
    """

    arm: str
    scorer: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    kind: str
    answers: int
    failed: int
    truncated: int
    unscored: int


class ComparedRow(NamedTuple):
    """One scorer's comparison of two prompts on the same rows.

    ``first``, ``second``: what is compared.
    ``scorer``: its name.
    ``n``: rows that have a score in both; repeats of a row, and rows with the same prompt, count once.
    ``first_value``, ``second_value``: the rate or the mean over these rows.
    ``difference``: the second less the first.
    ``low``, ``high``: the ends of the difference's 95 % interval.
    ``p``: how often chance alone leads to such a difference.
    ``p_holm``: the same, adjusted for all comparisons of the table.
    ``test``: where ``p`` and the interval are from; empty where fewer than two rows have a score in both.
    ``rows_needed``: rows that show a difference of this size four times in five, adjusted for all comparisons.
    ``first_uncounted``, ``second_uncounted``: answers on the shared rows that failed, were truncated or have no score.
    """

    first: str
    second: str
    scorer: str
    n: int
    first_value: float | None
    second_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    test: str
    rows_needed: int | None
    first_uncounted: str
    second_uncounted: str
