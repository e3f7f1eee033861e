"""Answers side by side: those of one run, failures first, and those of two, first where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...display.run_page import CARD_STYLE, AnswerCell, AnswerMark, AnswerRow, AnswerTable, answers_html, answers_text
from ...display.tabular import Table
from ...display.text import text_html
from ...wording import counted
from ..statistics.tally import by_arm, number, scorers_of, shown_score, unusual
from ..table.results import Result, Score
from .pairs import Pair, Pairing, Side

UNASKED_CELL = AnswerCell("", (AnswerMark("other", "not asked"),))
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
        line = tuple(cells.get((row, repeat, arm), UNASKED_CELL) for arm in arms)
        rows.append(AnswerRow(name, _inputs_text(inputs[row, repeat]), line))
    return AnswerTable(list(arms), sorted(rows, key=_urgency), 'run.export("report.html")')


def _inputs_text(inputs: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def _urgency(row: AnswerRow) -> int:
    """Return the place of a row: failures, then rows that differ in their marks or, without any, in words."""
    if any(mark.kind == "fail" for cell in row.cells for mark in cell.marks):
        return 0
    is_marked = any(cell.marks for cell in row.cells)
    return 1 if len({cell.marks if is_marked else cell.answer for cell in row.cells}) > 1 else 2


def _is_rate(results: Iterable[Result], scorer: str) -> bool:
    return all(number(result.scores.get(scorer)) in (None, 0.0, 1.0) for result in results)


def _cell(result: Result, rates: Mapping[str, bool]) -> AnswerCell:
    """Return an answer with its marks, or what is wrong with it.

    ``rates`` says of each scorer whether all its scores are 1 or 0.
    """
    if not result.asked:
        return UNASKED_CELL
    text = result.reply.text if result.reply is not None else ""
    if result.failed:
        wrong = filter(None, (result.error or "no answer", text))
        return AnswerCell("\n\n".join(wrong), (AnswerMark("fail", "failed"),))
    if result.truncated:
        return AnswerCell(text, (AnswerMark("other", "truncated"),))
    kind = unusual(result)
    marks = [AnswerMark("other" if kind == "empty" else "fail", kind)] if kind else []
    marks += [_mark(result, scorer, is_rate=is_rate) for scorer, is_rate in rates.items()]
    return AnswerCell(text, tuple(marks))


def _mark(result: Result, scorer: str, *, is_rate: bool) -> AnswerMark:
    """Return what a scorer says of an answer."""
    score = result.scores.get(scorer)
    value = number(score)
    if is_rate and value is not None:
        kind, text = PASS_MARKS[value]
        return AnswerMark(kind, text.format(scorer))
    return AnswerMark("other", f"{scorer}: {shown_score(score)}")


# two runs


class DifferenceRow(NamedTuple):
    """One row with both answers.

    ``row``: its number in the first run, from 0.
    ``first``, ``second``: what is compared.
    ``first_score``, ``second_score``: what the scorer says of both answers.
    ``first_prompt``, ``second_prompt``: what was sent.
    ``first_answer``, ``second_answer``: the answers; an error's text where there is none.
    """

    row: int
    first: str
    second: str
    first_score: Score
    second_score: Score
    first_prompt: str
    second_prompt: str
    first_answer: str
    second_answer: str

    @property
    def differs(self) -> bool:
        """Whether the answers or their scores differ; the prompts of two arms always do."""
        return self.first_answer != self.second_answer or self.first_score != self.second_score


class Differences(Table[DifferenceRow]):
    """Rows with both answers side by side; those that differ are shown, with the words marked that differ.

    Those that one of the two alone scored come first, then those whose scores differ the most, then those whose
    answers differ in words, and then those that are the same.
    """

    columns = DifferenceRow._fields
    scorer: str = ""

    def __repr__(self) -> str:
        shown = [answers_text(table) for table in self._tables()]
        return "\n\n".join([*shown, *self._rest()])

    def _repr_html_(self) -> str:
        tables = "".join(answers_html(table) for table in self._tables())
        rest = "".join(f"<p>{text_html(line)}</p>" for line in self._rest())
        return f"{CARD_STYLE}{tables}{rest}"

    def _tables(self) -> list[AnswerTable]:
        """Return the rows that differ, a table for each two prompts."""
        pairs: dict[tuple[str, str], list[AnswerRow]] = {}
        for row in self:
            if row.differs:
                pairs.setdefault((row.first, row.second), []).append(self._answer_row(row))
        return [AnswerTable(names, rows, "to_dataframe()") for names, rows in pairs.items()]

    def _answer_row(self, row: DifferenceRow) -> AnswerRow:
        first = AnswerCell(row.first_answer, self._marks(row.first_score))
        second = AnswerCell(row.second_answer, self._marks(row.second_score))
        return AnswerRow(str(row.row), row.first_prompt, (first, second))

    def _marks(self, score: Score) -> tuple[AnswerMark, ...]:
        return (AnswerMark("other", f"{self.scorer}: {shown_score(score)}"),) if self.scorer else ()

    def _rest(self) -> list[str]:
        """Return a line about rows that are not shown."""
        if not self:
            return ["Differences: no row is in both"]
        same = sum(not row.differs for row in self)
        return [f"{counted(same, 'row')} with the same answers and scores; to_dataframe() has all."] if same else []


def differences(pairs: Iterable[Pair], scorer: str) -> Differences:
    """Return the rows that both sides of a pair have asked; of repeated rows the first repeat that counts in each."""
    table = Differences(sorted((row for pair in pairs for row in _rows(*pair, scorer)), key=_order))
    table.scorer = scorer
    return table


def _rows(first: Side, second: Side, paired: Pairing, scorer: str) -> Iterator[DifferenceRow]:
    theirs = {key: row for row, key in paired.second.items()}
    answers = _first_answers(first.results), _first_answers(second.results)
    for row, key in paired.first.items():
        a, b = answers[0][row], answers[1][theirs[key]]
        scores = a.scores.get(scorer), b.scores.get(scorer)
        if a.asked and b.asked:
            yield DifferenceRow(row, first.name, second.name, *scores, a.prompt, b.prompt, _answer(a), _answer(b))


def _first_answers(results: Sequence[Result]) -> dict[int, Result]:
    """Return the first result of each row that counts, else its first one."""
    firsts: dict[int, Result] = {}
    for result in results:
        if result.row not in firsts or (result.counts and not firsts[result.row].counts):
            firsts[result.row] = result
    return firsts


def _answer(result: Result) -> str:
    if result.failed or result.reply is None:
        return f"failed: {result.error or 'no answer'}"
    return f"{result.reply.text} [truncated]" if result.truncated else result.reply.text


def _order(row: DifferenceRow) -> tuple[int, float, bool, int]:
    first, second = number(row.first_score), number(row.second_score)
    apart = abs(first - second) if first is not None and second is not None else 0.0
    return -((first is None) != (second is None)), -apart, row.first_answer == row.second_answer, row.row
