"""What each arm scored, as lines that are drawn with their intervals."""

from __future__ import annotations

from collections.abc import Iterable

from ...display.run_page import ScoreLine
from ...wording import counted
from ..statistics.verdicts import ArmRow, number_text, percent


def score_lines(rows: Iterable[ArmRow]) -> list[ScoreLine]:
    """Return the rate or the mean of each arm that has one."""
    return [_line(row, row.value) for row in rows if row.scorer and row.value is not None]


def _line(row: ArmRow, value: float) -> ScoreLine:
    is_rate = row.kind != "mean"
    text = percent if is_rate else number_text
    label, rows = f"{row.scorer}, {row.arm}" if row.arm else row.scorer, counted(row.n, "row")
    if row.low is None or row.high is None:
        return ScoreLine(text(value), label, rows)
    spread = f"{text(row.low)} to {text(row.high)}".replace(" %", "", 1)
    return ScoreLine(text(value), label, f"{spread}, {rows}", (row.low, value, row.high) if is_rate else None)
