"""What an arm scored, and how two compare: a row of a table, and a sentence that says what it supports, and no more."""

from __future__ import annotations

import math
from typing import NamedTuple

from ... import wording as words
from ...display.tables import shortened
from .significance import ALPHA, FEW_ROWS
from .tally import Tally, counts_text

MOST_QUOTED = 200  # characters that a sentence quotes


class ArmRow(NamedTuple):
    """What one scorer says of one arm.

    ``arm``: its label; empty where the run has one arm.
    ``scorer``: its name.
    ``n``: rows that have a score; repeats of a row, and rows with the same prompt, count once.
    ``value``: the rate or the mean over these rows; ``None`` without any.
    ``low``, ``high``: the ends of its 95 % interval; ``None`` where the rows are too few, such as one.
    ``kind``: ``yes/no``, ``rate`` (of rows that are averages of repeats) or ``mean``.
    ``answers``: all answers of the table's rows.
    ``failed``, ``truncated``, ``unscored``, ``unasked``: answers that are not counted, and why.
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
    unasked: int = 0


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
    ``kind``: ``yes/no``, ``rate`` (of averages of repeats) or ``mean``.
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
    kind: str


MANY = 1_000_000  # rows that nobody asks


# one arm


def of_arm(row: ArmRow, counted: Tally, group: str | None) -> str:
    """Return what a scorer says of an arm: ``41 of 50 rows pass "ok" (82 %, 95 % interval 69 to 90 %)``."""
    scorer = row.scorer
    left_out = counts_text(counted.left_out)
    left_out += f"; the first error: {shortened(counted.error, MOST_QUOTED)}" if counted.error else ""
    if not scorer and sum(counted.left_out.values()) == row.answers:
        return _about(row.arm, f"no answer has a score ({left_out}).")
    if not scorer:
        answers = words.counted(row.answers - row.unasked, "answer")
        return _about(row.arm, f"{answers}. There is no scorer that says which of them are right.")
    if row.value is None:
        return _about(row.arm, f'no row has a score by "{scorer}", so nothing can be said of it ({left_out}).')
    together = f", rows clustered by {group}" if group else ""
    return _about(row.arm, f"{_value(row, row.value)} {_spread(row, row.value, together)}.")


def _about(name: str, text: str) -> str:
    """Return a sentence about an arm, or about the only one there is."""
    return f"{name}: {text}" if name else f"{text[:1].upper()}{text[1:]}"


def of_answers(name: str, counted: Tally) -> str:
    """Return a sentence about the answers that are left out, or are no ordinary ones; empty where there are none."""
    left, unusual = counts_text(counted.left_out), counts_text(counted.unusual)
    parts = [f"{left}: left out, and not counted as wrong"] if left else []
    parts += [f"{unusual}: counted as they were scored"] if unusual else []
    return _about(name, f"of {words.counted(counted.answers, 'answer')} {'; '.join(parts)}.") if parts else ""


def _value(row: ArmRow, value: float) -> str:
    rows = words.counted(row.n, "row")
    if row.kind == "yes/no":
        return f'{value * row.n:,.0f} of {rows} {"passes" if row.n == 1 else "pass"} "{row.scorer}"'
    if row.kind == "rate":
        each = "averaged over its answers" if row.n == 1 else "each averaged over its answers"
        return f'{percent(value)} pass "{row.scorer}", the mean of {rows}, {each}'
    return f'the mean of "{row.scorer}" is {number_text(value)} over {rows}'


def _spread(row: ArmRow, value: float, together: str) -> str:
    share = f"{percent(value)}, " if row.kind == "yes/no" else ""
    if row.low is None or row.high is None:
        few = "one row or one group tells" if row.n < 2 or together else "rows that all have the same score tell"
        return f"({share}without an interval: {few} nothing about others)"
    return f"({share}95 % interval {interval_text(row.kind, row.low, row.high)}{together})"


def interval_text(kind: str, low: float, high: float) -> str:
    """Return the ends of the interval of a rate or a mean: ``69 to 90 %``."""
    text = number_text if kind == "mean" else percent
    return f"{text(low)} to {text(high)}".replace(" %", "", 1)


def of_prompts(name: str, rows: int, prompts: int) -> str:
    """Return a sentence where rows have the same prompt; empty where each has its own."""
    if prompts >= rows:
        return ""
    if prompts == 1:
        return _about(name, f"{rows:,} rows ask the same prompt: they are one observation, not {rows:,}.")
    different = f"{rows:,} rows ask {prompts:,} different prompts"
    return _about(name, f"{different}: rows with the same prompt count as one row.")


# two prompts


def of_pair(row: ComparedRow, tests: int, group: str | None) -> str:
    """Return what a comparison supports; ``tests``: how many p values there are."""
    if not row.scorer:
        return f"There is no scorer that says whether {row.first} or {row.second} is right."
    if row.n < 2 or row.difference is None:
        have = "Only one observation has" if row.n == 1 else "No row has"
        both = f"in both {row.first} and {row.second}"
        return f'{have} a score by "{row.scorer}" {both}, so they cannot be compared.'
    together = f", rows clustered by {group}" if group else ""
    change = _change(row, together)
    return f"{_lead(row)}: {_both(row)}, {change}, {_verdict(row, tests)}.{_needed(row, tests)}"


def _lead(row: ComparedRow) -> str:
    """Return what is shown, in few words."""
    if row.p_holm is None:
        return "Nothing follows for other rows"
    if row.p_holm >= ALPHA:
        return "No difference shown"
    higher, lower = ("higher", "lower") if row.kind == "mean" else ("better", "worse")
    is_lower = (row.difference or 0.0) < 0
    return f"{row.second} is {lower if is_lower else higher} than {row.first}"


def _both(row: ComparedRow) -> str:
    first, second = row.first_value or 0.0, row.second_value or 0.0
    if row.kind == "mean":
        figures = f'the mean of "{row.scorer}" is {number_text(second)}', number_text(first)
    elif row.kind == "rate":
        figures = f'{percent(second)} pass "{row.scorer}"', percent(first)
    else:
        hits = [round(value * row.n) for value in (second, first)]
        figures = (
            f'{hits[0]:,} of {row.n:,} rows pass "{row.scorer}" ({percent(second)})',
            f"{hits[1]:,} ({percent(first)})",
        )
    return f"with {row.second}, {figures[0]}, with {row.first} {figures[1]}"


def _change(row: ComparedRow, together: str) -> str:
    change = row.difference or 0.0
    where, known = f"on the same {row.n:,} rows", row.low is not None and row.high is not None
    interval = f" (95 % interval {ends_text(row)}{together})" if known else together
    return f"{where} {change_text(row)}{interval}" if change else f"{where} the same on average{interval}"


def change_text(row: ComparedRow) -> str:
    """Return a difference with its sign and unit: ``−12 points``."""
    change = row.difference or 0.0
    sign = "+" if change > 0 else ""
    return sign + (number_text(change) if row.kind == "mean" else f"{points(change)} points")


def ends_text(row: ComparedRow) -> str:
    """Return the ends of a difference's interval: ``−37 to 14``."""
    shown = number_text if row.kind == "mean" else points
    return f"{shown(row.low or 0.0)} to {shown(row.high or 0.0)}"


def _verdict(row: ComparedRow, tests: int) -> str:
    if row.p is None or row.p_holm is None:
        return "and no row differs" if not row.difference else "and one group tells nothing about others"
    chance = f"{row.test} p {p_value(row.p)}"
    if tests > 1:
        chance += f", {p_value(row.p_holm).removeprefix('= ')} adjusted for {tests} comparisons"
    if row.p_holm < ALPHA:
        return f"more than chance alone explains ({chance})"
    if not row.difference:
        return f"which does not show that they are equal ({chance})"
    return f"which chance alone could explain ({chance})"


def _needed(row: ComparedRow, tests: int) -> str:
    rows = row.rows_needed
    if row.p_holm is None or row.p_holm < ALPHA or not rows or rows <= row.n or row.n < FEW_ROWS:
        return ""
    if rows > MANY:
        return " To show a difference so small would take more than a million rows."
    adjusted = f", adjusted for {tests} comparisons" if tests > 1 else ""
    size = f"a difference of this size 4 times in 5{adjusted}"
    return f" If it is real, about {rounded_up(rows):,} rows would show {size}."


# figures


def percent(share: float) -> str:
    """Return a share in percent: 0 and 100 % are those only, and not what rounds to them."""
    return f"{_rounded(100 * share, (0, 100))} %"


def points(share: float) -> str:
    """Return a difference of two shares in percentage points."""
    return _rounded(100 * share, (0,)).replace("-", "−")


def _rounded(value: float, exactly: tuple[float, ...]) -> str:
    texts = [f"{value:.{digits}f}" for digits in range(4)]
    return next((text for text in texts if float(text) not in exactly or abs(value - float(text)) < 1e-9), texts[-1])


def number_text(value: float) -> str:
    """Return a number with three significant digits, more where it is larger than 1,000."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−") if value else "0"


def p_value(p: float) -> str:
    """Return a p value with its sign, rounded so that it stays on its side of 0.05."""
    if p < 0.001:
        return "< 0.001"
    texts = (f"{p:.{digits}f}" for digits in ((2, 3, 4, 5, 6) if p >= 0.1 else (3, 4, 5, 6)))
    return f"= {next((text for text in texts if (float(text) < ALPHA) == (p < ALPHA)), p)}"


def rounded_up(rows: int) -> int:
    """Return a number of rows with two significant digits: no more is known of it."""
    size: int = 10 ** max(0, len(str(rows)) - 2)
    return math.ceil(rows / size) * size
