"""Say in one sentence what an interval or a comparison supports, and no more."""

from __future__ import annotations

import math
from typing import Literal

from .significance import ALPHA, FEW_ROWS, Interval
from .table_rows import ComparedRow
from .tally import Tally

Skewness = Literal["", "widened", "left"]  # what was done for an interval where a few rows weigh much
MANY = 1_000_000  # rows that nobody asks


# one arm


def of_arm(arm: str, scorer: str, interval: Interval, counted: Tally, group: str | None) -> str:
    """Return what a scorer says of an arm: ``41 of 50 rows pass "ok" (82 %, 95 % interval 69 to 90 %)``."""
    begin, left = f"{arm}: " if arm else "", _left_out(str(counted.uncounted))
    if not scorer:
        return (
            f"{begin}{_count(counted.answers, 'answer')}. There is no scorer that says which of them are right.{left}"
        )
    if not counted.rows:
        return f'{begin}no row has a score by "{scorer}", so nothing can be said of it.{left}'
    together = f", rows clustered by {group}" if group else ""
    return f"{begin}{_value(scorer, interval, counted)} {_spread(interval, counted.kind, together)}.{left}"


def _value(scorer: str, interval: Interval, counted: Tally) -> str:
    rows = _count(interval.n, "row")
    if counted.kind == "yes/no":
        passing = "passes" if interval.n == 1 else "pass"
        return f'{sum(counted.rows.values()):,.0f} of {rows} {passing} "{scorer}"'
    if counted.kind == "rate":
        each = "averaged over its answers" if interval.n == 1 else "each averaged over its answers"
        return f'{percent(interval.value)} pass "{scorer}", the mean of {rows}, {each}'
    return f'the mean of "{scorer}" is {number_text(interval.value)} over {rows}'


def _spread(interval: Interval, kind: str, together: str) -> str:
    share = f"{percent(interval.value)}, " if kind == "yes/no" else ""
    if not interval.is_known:
        few = "one row or one group tells" if interval.n < 2 or together else "rows that all have the same score tell"
        return f"({share}without an interval: {few} nothing about others)"
    low, high = interval.low, interval.high
    ends = f"{number_text(low)} to {number_text(high)}" if kind == "mean" else f"{percent(low)} to {percent(high)}"
    return f"({share}95 % interval {ends.replace(' %', '', 1)}{together})"


def of_repeats(name: str, repeats: int) -> str:
    """Return a sentence where all repeats of every row are the same text; empty where ``repeats`` is 0."""
    begin = f"{name}: " if name else ""
    many = f"the {repeats} answers to a row are the same text each time"
    return f"{begin}{many}: they are one observation, not {repeats}." if repeats else ""


def of_prompts(name: str, rows: int, prompts: int) -> str:
    """Return a sentence where rows have the same prompt; empty where each has its own."""
    begin = f"{name}: " if name else ""
    if prompts >= rows:
        return ""
    if prompts == 1:
        return f"{begin}{rows:,} rows ask the same prompt: they are one observation, not {rows:,}."
    return f"{begin}{rows:,} rows ask {prompts:,} different prompts: rows with the same prompt count as one row."


def of_joined(first: str, second: str, observations: int) -> str:
    """Return a sentence where rows that have the same prompt in one of two arms only count as one row in both."""
    many = _count(observations, "observation")
    return f"Rows with the same prompt in {first} or in {second} count as one row in both: {many} in all."


def of_skewness(skewed: Skewness) -> str:
    """Return a warning where a few rows weigh much in a mean, and what was done about it; else nothing."""
    if not skewed:
        return ""
    done = {
        "widened": "the interval is wider for that, and more rows would tell more",
        "left": "the true mean is outside this interval more often than 1 time in 20",
    }
    return f" A few rows weigh much: {done[skewed]}."


# two prompts


def of_pair(row: ComparedRow, kind: str, tests: int, group: str | None) -> str:
    """Return what a comparison supports; ``kind`` is as in a tally, ``tests`` how many p values there are."""
    left = _left_out("; ".join(f"{name} {why}" for name, why in _uncounted(row) if why))
    if not row.scorer:
        return f"There is no scorer that says whether {row.first} or {row.second} is right.{left}"
    if row.n < 2 or row.difference is None:
        have = "Only one observation has" if row.n == 1 else "No row has"
        both = f"in both {row.first} and {row.second}"
        return f'{have} a score by "{row.scorer}" {both}, so they cannot be compared.{left}'
    together = f", rows clustered by {group}" if group else ""
    said = f"{_both(row, kind)}: {_change(row, kind, together)}, {_verdict(row, tests)}."
    return f"{said}{_needed(row, tests)}{left}"


def _uncounted(row: ComparedRow) -> tuple[tuple[str, str], tuple[str, str]]:
    return (row.first, row.first_uncounted), (row.second, row.second_uncounted)


def _both(row: ComparedRow, kind: str) -> str:
    first, second = row.first_value or 0.0, row.second_value or 0.0
    if kind == "mean":
        figures = f'the mean of "{row.scorer}" is {number_text(second)}', number_text(first)
    elif kind == "rate":
        figures = f'{percent(second)} pass "{row.scorer}"', percent(first)
    else:
        hits = [round(value * row.n) for value in (second, first)]
        figures = (
            f'{hits[0]:,} of {row.n:,} rows pass "{row.scorer}" ({percent(second)})',
            f"{hits[1]:,} ({percent(first)})",
        )
    return f"With {row.second}, {figures[0]}, with {row.first} {figures[1]}"


def _change(row: ComparedRow, kind: str, together: str) -> str:
    change = row.difference or 0.0
    words = ("higher", "lower") if kind == "mean" else ("better", "worse")
    size, ends = _size(row, kind, change)
    interval = f" (95 % interval {ends}{together})" if ends else together
    where = f"on the same {row.n:,} rows"
    if not change:
        return f"{where} they do not differ on average{interval}"
    return f"{where} {row.second} is {words[change < 0]} by {size}{interval}"


def _size(row: ComparedRow, kind: str, change: float) -> tuple[str, str]:
    """Return the size of a difference, and the ends of its interval, seen from the second prompt."""
    shown = number_text if kind == "mean" else points
    sign = -1 if change < 0 else 1
    ends = sorted(sign * end for end in (row.low, row.high) if end is not None)
    size = shown(abs(change)) + ("" if kind == "mean" else " points")
    return size, f"{shown(ends[0])} to {shown(ends[1])}" if ends else ""


def _verdict(row: ComparedRow, tests: int) -> str:
    if row.p is None or row.p_holm is None:
        return "and as every row says the same, nothing follows for other rows"
    chance = f"{row.test} p {p_value(row.p)}"
    if tests > 1:
        chance += f", {p_value(row.p_holm).removeprefix('= ')} adjusted for {tests} comparisons"
    if row.p_holm < ALPHA:
        return f"more than chance alone explains ({chance})"
    strict = row.p >= ALPHA and row.low is not None and row.high is not None and (row.low > 0 or row.high < 0)
    chance += "; the exact test is stricter than the interval" if strict and row.test == "McNemar exact" else ""
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


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _left_out(what: str) -> str:
    return f" Left out, and not counted as wrong: {what}." if what else ""
