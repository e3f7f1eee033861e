"""From an answer to a result: parsed by its schema, scored, and judged by another model where that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ...conversation.schema import Schema
from ...errors import ChatError, InvalidAnswerError
from ...providers.base import Reply
from ...session.ask import Ask
from ...session.complete import asked_again
from ...session.tool_rounds import billed
from ..judges import Judge
from ..scorers import Scorers
from ..table.plan import AnswerPlace, RunPlan
from ..table.results import Result, Score
from .tasks import RowAnswer

Done = Callable[[RowAnswer, bool], object]  # hears of an answer, and whether it was stored
Send = Callable[[Ask, int, Done, Callable[[RowAnswer], bool]], object]


@dataclass(slots=True, eq=False)
class _Judged:
    """A result that judges still have to look at."""

    result: Result
    scores: dict[str, Score]
    waiting: set[str]
    problems: list[str] = field(default_factory=list)


class ResultBuilder:
    """Makes results of answers, in the coordinator's thread. ``keep`` hears of each result when it is final.

    ``send`` asks what an answer leads to: a request, the number of its repeat, who hears of the answer, and what says
    whether a stored answer suffices where rows that failed are asked again.
    """

    def __init__(
        self, plan: RunPlan, scorers: Scorers, send: Send, keep: Callable[[AnswerPlace, Result], object]
    ) -> None:
        self._plan, self._scorers, self._send, self._keep = plan, scorers, send, keep
        self._pending: dict[AnswerPlace, _Judged] = {}

    def add(
        self, places: Sequence[AnswerPlace], answer: RowAnswer, cached: bool, *, before: Reply | None = None
    ) -> None:
        """Parse and score an answer, or ask once more where it is not what its schema allows.

        ``places`` are where it belongs, as equal requests are asked once: that which asked comes first. ``before`` is
        the answer that the schema did not allow, where this is the second one.
        """
        schema, reply, error = self._plan.schema, answer.reply, answer.error
        if reply is not None and before is not None:
            reply = billed(before, reply)
        if reply is not None and schema is not None and not error:
            try:
                reply = replace(reply, parsed=schema.parse(reply.text))
            except InvalidAnswerError as wrong:
                if before is None and reply.stop_reason == "stop":  # one that was cut would be cut again
                    self._ask_again(places, reply, wrong, schema, cached=cached)
                    return
                error = f"{wrong} It was asked for twice." if before is not None else str(wrong)
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

    def _ask_again(
        self, places: Sequence[AnswerPlace], first: Reply, wrong: InvalidAnswerError, schema: Schema, *, cached: bool
    ) -> None:
        """Ask for an answer that the schema allows, with what is wrong with the first one."""
        row, arm, repeat = places[0]
        ask = self._plan.ask(row, arm)
        again = replace(ask, messages=(*ask.messages, *asked_again(first.text, wrong)))

        def done(answer: RowAnswer, is_stored: bool) -> None:
            self.add(places, answer, is_stored and cached, before=first)

        self._send(again, repeat, done, partial(_is_valid, schema))

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
            self._send(ask, place.repeat, verdict, partial(_is_read, judge))

    def _verdict(
        self, place: AnswerPlace, judged: _Judged, name: str, judge: Judge, answer: RowAnswer, _cached: bool
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


def _is_valid(schema: Schema, answer: RowAnswer) -> bool:
    """Return whether an answer is what the schema allows."""
    try:
        schema.parse(answer.reply.text if answer.reply is not None else "")
    except InvalidAnswerError:
        return False
    return True


def _is_read(judge: Judge, answer: RowAnswer) -> bool:
    """Return whether an answer is a verdict that can be read."""
    return answer.reply is not None and judge.read(answer.reply) is not None
