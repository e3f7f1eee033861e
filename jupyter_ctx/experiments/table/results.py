"""The answers of a run, one for each row, arm and repeat: parsed, scored and judged; and their frames."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...display.tabular import MAX_SHOWN_ROWS, Table, cell_text
from ...errors import ChatError, InvalidAnswerError, MissingDependencyError
from ...providers.base import Reply
from ...session.ask import Ask
from ...storage.stored_answers import Outcome
from .plan import AnswerPlace, RunPlan
from .rows import Row, Rows

if TYPE_CHECKING:
    from ..judges import Judge
    from ..scorers import Scorers

Score = bool | float | None
NO_SCORES: Mapping[str, Score] = {}
MAX_SHOWN_COLUMNS = 4  # of the inputs, in a table to look at
_WRONG = ("error", "problems")
_LAST = ("input_tokens", "output_tokens", "cost", "seconds", "stop_reason", "error", "problems", "cached", "truncated")


@dataclass(frozen=True, slots=True)
class Result:
    """One answer to one row of the table, in one arm, in one repeat.

    row: the position of the row in the table, from 0
    arm: the label of the arm, such as "tone=formal"; empty where a run has one arm only
    repeat: the number of the repeat, from 0
    inputs: the columns of the row
    values: the values of the grid in this arm
    prompt: the text that was sent; empty where the row cannot be filled in
    reply: the answer; ``None`` where the row failed
    error: what went wrong; empty where nothing did
    cached: whether the answer was stored already, so that nothing was sent
    truncated: whether a part of the prompt was left out or not read, or the answer was cut
    scores: what each scorer said; ``None`` where it could not say
    problems: what went wrong in scoring, a line each
    asked: whether it was asked or answered before; false where the run ended before that
    """

    row: int
    arm: str
    repeat: int
    inputs: Mapping[str, Any]
    values: Mapping[str, Any]
    prompt: str
    reply: Reply | None = None
    error: str = ""
    cached: bool = False
    truncated: bool = False
    scores: Mapping[str, Score] = field(default_factory=lambda: NO_SCORES)
    problems: tuple[str, ...] = ()
    asked: bool = True

    @property
    def failed(self) -> bool:
        """Whether there is no answer, or none that its schema allows."""
        return self.asked and (self.reply is None or bool(self.error))

    @property
    def counts(self) -> bool:
        """Whether the answer may be counted as right or wrong: it came, and nothing of it or its prompt is missing."""
        return self.asked and not self.failed and not self.truncated

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of a structured answer by name; empty where there is none."""
        return fields_of(self.reply.parsed) if self.reply is not None else {}

    def __repr__(self) -> str:
        text = self.error if self.reply is None else repr(self.reply.text[:40])
        return f"Result(row {self.row}{f', {self.arm}' if self.arm else ''}, repeat {self.repeat}: {text})"


class Results(Table[Result]):
    """The answers of a run, in the order of the rows, with the arms and the repeats of each."""

    __slots__ = ()

    @property
    def failed(self) -> Results:
        """Those without an answer, or without one that its schema allows."""
        return Results(result for result in self if result.failed)

    @property
    def truncated(self) -> Results:
        """Those with an answer that is not counted, because a part of it or of its prompt is missing."""
        return Results(result for result in self if result.truncated and not result.failed)

    @property
    def unasked(self) -> Results:
        """Those that were not asked for, because the run ended before."""
        return Results(result for result in self if not result.asked)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row for each answer. Raises MissingDependencyError.

        Its columns: the row's inputs, the grid's values, ``repeat`` where rows were repeated, ``reply``, ``calls``
        where functions were called, the fields of a structured answer, the scores, and what is known of the request. A
        name that is there twice has the prefix ``input_``, ``value_``, ``score_`` or ``parsed_``. ``error`` is empty
        where nothing went wrong; ``problems`` is there where some answers could not be scored, ``asked`` where the run
        ended before it had asked for all. Where each row was asked once, the index is the table's.
        """
        names, columns = self._columns()
        return pandas_frame(self._inputs(names, "iloc"), columns, [result.row for result in self])

    def to_polars(self) -> Any:
        """Return a Polars frame with the columns of :meth:`to_dataframe`. Polars must have been imported."""
        names, columns = self._columns()
        return polars_frame(self._inputs(names, "hstack"), columns, [result.row for result in self])

    def to_frame(self) -> Any:
        """Return a frame of the library that the table came from: Polars, else pandas."""
        rows = _table_of(self)
        is_polars = rows is not None and hasattr(rows.frame, "hstack")
        return self.to_polars() if is_polars else self.to_dataframe()

    def _inputs(self, names: Mapping[str, str], kind: str) -> Any:
        """Return the frame that was read, if it has the attribute ``kind``, or columns, by their new names."""
        rows = _table_of(self)
        if rows is not None and hasattr(rows.frame, kind):
            frame = rows.frame[:]
            frame.columns = list(names.values())
            return frame
        return {new: [result.inputs.get(old) for result in self] for old, new in names.items()}

    def _columns(self) -> tuple[dict[str, str], dict[str, list[Any]]]:
        """Return the names that the inputs have in a frame, by their own, and the columns behind them, each once."""
        replies = [result.reply for result in self]
        first: dict[str, list[Any]] = {}
        if any(result.repeat for result in self):
            first["repeat"] = [result.repeat for result in self]
        first["reply"] = [None if reply is None else reply.text for reply in replies]
        if any(reply is not None and reply.rounds for reply in replies):
            first["calls"] = ["" if reply is None else _calls(reply) for reply in replies]
        usages = [getattr(reply, "usage", None) for reply in replies]
        last: dict[str, list[Any]] = {
            **{name: [getattr(usage, name, None) for usage in usages] for name in ("input_tokens", "output_tokens")},
            **{name: [getattr(reply, name, None) for reply in replies] for name in ("cost", "seconds", "stop_reason")},
            **{name: [getattr(result, name) for result in self] for name in ("error", "cached", "truncated")},
        }
        if any(result.problems for result in self):
            last["problems"] = ["; ".join(result.problems) for result in self]
        if self.unasked:
            last["asked"] = [result.asked for result in self]

        rows, taken = _table_of(self), {*first, *last}
        values, scores, parsed = ([getattr(result, name) for result in self] for name in ("values", "scores", "fields"))
        of_grid, of_scores = _free(values, "value_", taken), _free(scores, "score_", taken)
        inputs = _free([rows.cells] if rows is not None else [result.inputs for result in self], "input_", taken)
        of_fields = _free(parsed, "parsed_", taken)
        return inputs, _read(values, of_grid) | first | _read(parsed, of_fields) | _read(scores, of_scores) | last

    def _cells(self) -> list[list[str]]:
        newest = Results(self[-MAX_SHOWN_ROWS:])
        names, rest = newest._columns()
        shown = dict(list(names.items())[:MAX_SHOWN_COLUMNS])
        columns: dict[str, Sequence[Any]] = {"row": [result.row for result in newest]}
        columns |= {new: [result.inputs.get(old) for result in newest] for old, new in shown.items()}
        columns |= {
            name: values for name, values in rest.items() if name not in _LAST or (name in _WRONG and any(values))
        }
        return [list(columns), *([cell_text(value) for value in line] for line in zip(*columns.values(), strict=True))]


def _calls(reply: Reply) -> str:
    """Return the calls before a reply with what came of them, a line each."""
    called = (pair for each in reply.rounds for pair in zip(each.calls, each.results, strict=True))
    return "\n".join(f"{call} → {result.brief}" for call, result in called)


def _free(found: Iterable[Iterable[str]], prefix: str, taken: set[str]) -> dict[str, str]:
    """Return for each name one that no column has yet, and count it as taken."""
    names: dict[str, str] = {}
    for name in dict.fromkeys(name for each in found for name in each):
        names[name] = str(name)
        while names[name] in taken:
            names[name] = prefix + names[name]
        taken.add(names[name])
    return names


def _read(found: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the values of some names, by their new ones."""
    return {new: [each.get(old) for each in found] for old, new in names.items()}


def _table_of(results: Sequence[Result]) -> Rows | None:
    """Return the table that all inputs are rows of; ``None`` where they are not views of one table."""
    first = results[0].inputs if results else None
    if not isinstance(first, Row):
        return None
    same = all(isinstance(result.inputs, Row) and result.inputs.rows is first.rows for result in results)
    return first.rows if same else None


def fields_of(value: Any) -> Mapping[str, Any]:
    """Return the fields of a mapping, a data class or a pydantic model; empty for anything else."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if hasattr(type(value), "model_fields"):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return {}


# from an answer to a result

Done = Callable[[Outcome, bool], object]  # hears of an answer, and whether it was stored
Send = Callable[[Ask, int, Done], object]


@dataclass(slots=True, eq=False)
class _Judged:
    """A result that judges still have to look at."""

    result: Result
    scores: dict[str, Score]
    waiting: set[str]
    problems: list[str] = field(default_factory=list)


class ResultBuilder:
    """Makes results of answers, in the coordinator's thread. ``keep`` hears of each result when it is final.

    ``send`` asks what an answer leads to: a request, the number of its repeat, and who hears of the answer.
    """

    def __init__(
        self, plan: RunPlan, scorers: Scorers, send: Send, keep: Callable[[AnswerPlace, Result], object]
    ) -> None:
        self._plan, self._scorers, self._send, self._keep = plan, scorers, send, keep
        self._pending: dict[AnswerPlace, _Judged] = {}

    def add(self, places: Sequence[AnswerPlace], answer: Outcome, cached: bool) -> None:
        """Parse and score an answer.

        ``places`` are where it belongs, as equal requests are asked once: that which asked comes first.
        """
        schema, reply, error = self._plan.schema, answer.reply, answer.error
        if reply is not None and schema is not None and not error:
            try:
                reply = replace(reply, parsed=schema.parse(reply.text))
            except InvalidAnswerError as wrong:
                error = str(wrong)
        for number, place in enumerate(places):
            result = replace(
                self.unasked(place), reply=reply, error=error, cached=cached or number > 0,
                truncated=answer.truncated, asked=True,
            )  # fmt: skip
            self._score(place, result)

    def unasked(self, place: AnswerPlace) -> Result:
        """Return the result of a row that was not asked."""
        row, number, repeat = place
        arm, prompt = self._plan.arms[number], self._plan.prompts[row, number].text
        return Result(row, arm.label, repeat, self._plan.rows[row], arm.values, prompt, asked=False)

    def end(self) -> None:
        """Keep the answers that judges have not looked at yet: the run has ended."""
        for place, judged in list(self._pending.items()):
            for name in [each for each in self._scorers.judges if each in judged.waiting]:
                self._judged(place, judged, name, None, "not asked, because the run ended before")

    def _score(self, place: AnswerPlace, result: Result) -> None:
        if not result.counts or not self._scorers:
            self._keep(place, result)
            return
        scores, problems = self._scorers.score(result)
        judges = self._scorers.judges
        judged = self._pending[place] = _Judged(result, scores, {*judges}, problems)
        if not judges:
            self._final(place, judged)
        for name, judge in judges.items():
            try:
                ask = judge.ask(result)
            except ChatError as error:
                self._judged(place, judged, name, None, str(error))
                continue
            verdict = partial(self._verdict, place, judged, name, judge)
            self._send(ask, place.repeat, verdict)

    def _verdict(
        self, place: AnswerPlace, judged: _Judged, name: str, judge: Judge, answer: Outcome, _cached: bool
    ) -> None:
        score, problem = None, answer.error
        if answer.reply is not None and not answer.error:
            score = judge.read(answer.reply)
            problem = "" if score is not None else f"its verdict cannot be read: {answer.reply.text[:80]!r}"
        self._judged(place, judged, name, score, problem)

    def _judged(self, place: AnswerPlace, judged: _Judged, name: str, score: Score, problem: str) -> None:
        judged.scores[name] = score
        judged.problems += [f"{name}: {problem}"] if problem else []
        judged.waiting.discard(name)
        if not judged.waiting:
            self._final(place, judged)

    def _final(self, place: AnswerPlace, judged: _Judged) -> None:
        self._pending.pop(place, None)
        self._keep(place, replace(judged.result, scores=judged.scores, problems=tuple(judged.problems)))


# frames

Columns = Mapping[str, Sequence[Any]]
_KINDS = {bool: ("bool", "boolean"), int: ("int64", "Int64"), float: ("float64", "float64")}  # without and with gaps


def pandas_frame(inputs: Any, columns: Columns, numbers: Sequence[int]) -> Any:
    """Return a pandas DataFrame of the inputs and of further columns.

    inputs: columns, or a pandas DataFrame whose rows are taken, with their types
    numbers: of each row of the result, the row of the table; where each is there once at most, the result has the
        index of its rows, so that it can be joined to the table

    Raises MissingDependencyError.
    """
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
    once = len(set(numbers)) == len(numbers)
    if isinstance(inputs, Mapping):
        index: Any = pandas.Index(numbers) if once else None
        return pandas.DataFrame(
            {name: _series(pandas, values, index) for name, values in {**inputs, **columns}.items()}, index=index
        )
    taken = inputs.iloc[list(numbers)]
    if not once and _is_default(pandas, inputs.index):
        taken = taken.reset_index(drop=True)
    rest = {name: _series(pandas, values, taken.index) for name, values in columns.items()}
    return pandas.concat([taken, pandas.DataFrame(rest, index=taken.index)], axis="columns")


def polars_frame(inputs: Any, columns: Columns, numbers: Sequence[int]) -> Any:
    """Return a Polars frame of the inputs, which are columns or a Polars frame whose rows are taken, and of others."""
    polars = sys.modules["polars"]
    table = polars.DataFrame([_polars_series(polars, name, values) for name, values in columns.items()])
    if isinstance(inputs, Mapping):
        inputs = polars.DataFrame([_polars_series(polars, name, values) for name, values in inputs.items()])
        return inputs.hstack(table)
    return inputs[list(numbers)].hstack(table)


def _is_default(pandas: Any, index: Any) -> bool:
    """Return whether an index only counts the rows."""
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1 and index.name is None


def _series(pandas: Any, values: Sequence[Any], index: Any) -> Any:
    """Return a column of the type that its values share, with gaps where that has them; else of objects."""
    kinds = {type(value) for value in values}
    has_gaps = type(None) in kinds
    kinds.discard(type(None))
    kind = kinds.pop() if len(kinds) == 1 else float if kinds <= {int, float} else None
    dtype = _KINDS[kind][has_gaps] if kind in _KINDS else None
    try:
        return pandas.Series(list(values), index=index, dtype=dtype)
    except (ValueError, TypeError, OverflowError):  # such as a whole number of more than 64 bits
        return pandas.Series(list(values), index=index, dtype="object")


def _polars_series(polars: Any, name: str, values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values}
    dtype = polars.Float64 if {int, float} <= kinds <= {int, float, type(None)} else None
    try:
        return polars.Series(name, list(values), dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, polars.exceptions.PolarsError):
        return polars.Series(name, list(values), dtype=polars.Object)


def json_value(value: Any) -> Any:
    """Return a value as JSON has it: NaN as null, NumPy's as Python's, objects of fields as these, others as text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "model_dump"):  # pydantic's
        value = value.model_dump(mode="json")
    elif hasattr(value, "tolist"):  # NumPy's, arrays included
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
