"""The answers of a run side by side: a line for each row, a column for each arm, failures first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...display.run_page import AnswerCell, AnswerMark, AnswerRow, AnswerTable
from ..statistics.tally import by_arm, number, scorers_of, shown_score, unusual
from ..table.results import Result

NOT_ASKED = AnswerCell("", (AnswerMark("other", "not asked"),))
PASS_MARKS = {1.0: AnswerMark("pass", "✓ {}: pass"), 0.0: AnswerMark("fail", "✗ {}: fail")}


def answers_of(results: Iterable[Result]) -> AnswerTable:
    """Return the answers side by side; of a row that was repeated, each repeat is a row.

    Rows with an answer that failed, or that fails a scorer, come first, then those on which the arms differ.
    """
    arms = by_arm(results)
    every = [result for found in arms.values() for result in found]
    rates = {scorer: _is_rate(every, scorer) for scorer in scorers_of(every)}
    cells = {(result.row, result.repeat, result.arm): _cell(result, rates) for result in every}
    inputs = {(result.row, result.repeat): result.inputs for result in every}
    repeated = any(repeat for _, repeat in inputs)
    rows = list[AnswerRow]()
    for row, repeat in sorted(inputs):
        name = f"{row}, repeat {repeat}" if repeated else f"{row}"
        line = tuple(cells.get((row, repeat, arm), NOT_ASKED) for arm in arms)
        rows.append(AnswerRow(name, _inputs_text(inputs[row, repeat]), line))
    return AnswerTable(list(arms), sorted(rows, key=_order), 'run.export("report.html")')


def _inputs_text(inputs: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def _order(row: AnswerRow) -> int:
    """Return the place of a row: failures, then rows that differ in their marks or, without any, in words."""
    if any(mark.kind == "fail" for cell in row.cells for mark in cell.marks):
        return 0
    is_marked = any(cell.marks for cell in row.cells)
    return 1 if len({cell.marks if is_marked else cell.answer for cell in row.cells}) > 1 else 2


def _is_rate(results: Iterable[Result], scorer: str) -> bool:
    return all(number(result.scores.get(scorer)) in (None, 0.0, 1.0) for result in results)


def _cell(result: Result, rates: Mapping[str, bool]) -> AnswerCell:
    """Return an answer with its marks; ``rates`` says of each scorer whether all its scores are 1 or 0."""
    if not result.asked:
        return NOT_ASKED
    if result.failed or result.truncated:
        return answer_cell(result)
    kind = unusual(result)
    marks = [AnswerMark("fail" if kind == "refused" else "other", kind)] if kind else []
    marks += [_mark(result, scorer, is_rate=is_rate) for scorer, is_rate in rates.items()]
    return answer_cell(result, marks)


def answer_cell(result: Result, marks: Sequence[AnswerMark] = ()) -> AnswerCell:
    """Return an answer with these marks, or what is wrong with it."""
    text = result.reply.text if result.reply is not None else ""
    if result.failed:
        return AnswerCell(
            "\n\n".join(filter(None, (result.error or "no answer", text))), (AnswerMark("fail", "failed"),)
        )
    return AnswerCell(text, (AnswerMark("other", "truncated"),) if result.truncated else tuple(marks))


def _mark(result: Result, scorer: str, *, is_rate: bool) -> AnswerMark:
    """Return what a scorer says of an answer."""
    score = result.scores.get(scorer)
    value = number(score)
    if is_rate and value is not None:
        kind, text = PASS_MARKS[value]
        return AnswerMark(kind, text.format(scorer))
    return AnswerMark("other", f"{scorer}: {shown_score(score)}")
