"""The answers of a run side by side: a row for each row of the table, a column for each arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...display.matrix_page import AnswerMark, MatrixCell, MatrixRow
from ..statistics.tally import by_arm, number, scorers_of, shown_score, unusual
from ..table.results import Result

NOT_ASKED_CELL = MatrixCell("", (AnswerMark("other", "not asked"),))
PASS_MARKS = {1.0: AnswerMark("pass", "✓ {}: pass"), 0.0: AnswerMark("fail", "✗ {}: fail")}


def matrix(results: Iterable[Result]) -> tuple[list[str], list[MatrixRow]]:
    """Return the labels of the arms, and the answers side by side; of a row that was repeated, each repeat is a row."""
    arms = by_arm(results)
    every = [result for found in arms.values() for result in found]
    rates = {scorer: _is_rate(every, scorer) for scorer in scorers_of(every)}
    cells = {(result.row, result.repeat, result.arm): _cell(result, rates) for result in every}
    inputs = {(result.row, result.repeat): result.inputs for result in every}
    rows = list[MatrixRow]()
    for row, repeat in sorted(inputs):
        line = tuple(cells.get((row, repeat, arm), NOT_ASKED_CELL) for arm in arms)
        fails = any(mark.kind == "fail" for cell in line for mark in cell.marks)
        rows.append(MatrixRow(row, repeat, inputs[row, repeat], line, _differ(line, scored=bool(rates)), fails))
    return list(arms), rows


def _is_rate(results: Iterable[Result], scorer: str) -> bool:
    return all(number(result.scores.get(scorer)) in (None, 0.0, 1.0) for result in results)


def _differ(cells: Sequence[MatrixCell], *, scored: bool) -> bool:
    return len({cell.marks if scored else (cell.answer, cell.marks) for cell in cells}) > 1


def _cell(result: Result, rates: dict[str, bool]) -> MatrixCell:
    """Return an answer with its marks; ``rates`` says of each scorer whether all its scores are 1 or 0."""
    if not result.asked:
        return NOT_ASKED_CELL
    text = result.reply.text if result.reply is not None else ""
    if result.failed:
        told = "\n\n".join(filter(None, (result.error or "no answer", text)))
        return MatrixCell(told, (AnswerMark("fail", "failed"),))
    if result.truncated:
        return MatrixCell(text, (AnswerMark("other", "truncated"),))
    marks = list[AnswerMark]()
    kind = unusual(result)
    if kind:
        marks.append(AnswerMark("fail" if kind == "refused" else "other", kind))
    marks += [_mark(result, scorer, is_rate=is_rate) for scorer, is_rate in rates.items()]
    return MatrixCell(text, tuple(marks))


def _mark(result: Result, scorer: str, *, is_rate: bool) -> AnswerMark:
    """Return what a scorer says of an answer."""
    score = result.scores.get(scorer)
    value = number(score)
    if is_rate and value is not None:
        kind, text = PASS_MARKS[value]
        return AnswerMark(kind, text.format(scorer))
    return AnswerMark("other", f"{scorer}: {shown_score(score)}")
