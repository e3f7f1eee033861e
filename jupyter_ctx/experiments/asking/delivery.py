"""From an answer to a result: parsed by its schema, scored, and judged by another model where that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ...conversation.schema import Schema
from ...errors import ChatError, InvalidAnswerError
from ...providers.base import Reply
from ...session.ask import Ask
from ...session.complete import asked_again, billed
from ..judges import Judge
from ..row_request import RowAnswer
from ..scorers import Scorers
from ..table.plan import AnswerPlace, RunPlan
from ..table.results import Result, Score

Done = Callable[[RowAnswer, bool], object]  # hears of an answer, and whether it was stored
Send = Callable[[Ask, int, Done, Callable[[RowAnswer], bool]], object]


@dataclass(slots=True, eq=False)
class _Judged:
    """A result that judges still have to look at."""

    result: Result
    left: int
    scores: dict[str, Score]
    problems: list[str] = field(default_factory=list)


class Delivery:
    """Makes results of answers, in the coordinator's thread. ``keep`` hears of each result when it is final.

    ``send`` asks what an answer leads to: a request, the number of its repeat, who hears of the answer, and what says
    whether a stored answer suffices where rows that failed are asked again.
    """

    def __init__(
        self, plan: RunPlan, scorers: Scorers, send: Send, keep: Callable[[AnswerPlace, Result], object]
    ) -> None:
        self._plan, self._scorers, self._send, self._keep = plan, scorers, send, keep
        self._pending: dict[AnswerPlace, _Judged] = {}

    def deliver(
        self, places: Sequence[AnswerPlace], answer: RowAnswer, cached: bool, *, before: Reply | None = None
    ) -> None:
        """Parse and score an answer, or ask once more where it is not what its schema allows.

        ``places`` are where it belongs, as equal requests are asked once: that which asked comes first. ``before`` is
        the answer that the schema did not allow, where this is the second one.
        """
        schema = self._plan.schema
        reply, truncated = answer.reply, answer.truncated
        if reply is not None and before is not None:
            reply = billed(before, reply)
        error = answer.error
        if reply is not None and schema is not None and not error:
            try:
                reply = replace(reply, parsed=schema.parse(reply.text))
            except InvalidAnswerError as wrong:
                if before is None and reply.stop_reason == "stop":  # one that was cut would be cut again
                    self._ask_again(places, reply, wrong, schema, cached=cached)
                    return
                error = f"{wrong} It was asked for twice." if before is not None else str(wrong)
        prompt = self._plan.made(places[0].row, places[0].arm)
        for number, place in enumerate(places):
            arm = self._plan.arms[place.arm]
            result = Result(
                place.row, arm.label, place.repeat, self._plan.rows[place.row], arm.values, prompt, reply,
                error, cached=cached or number > 0, truncated=truncated,
            )  # fmt: skip
            self._score(place, result)

    def _ask_again(
        self, places: Sequence[AnswerPlace], first: Reply, wrong: InvalidAnswerError, schema: Schema, *, cached: bool
    ) -> None:
        """Ask for an answer that the schema allows, with what is wrong with the first one."""
        ask = self._plan.ask(places[0].row, places[0].arm)
        again = replace(ask, messages=(*ask.messages, *asked_again(first.text, wrong)))

        def done(answer: RowAnswer, is_stored: bool) -> None:
            self.deliver(places, answer, is_stored and cached, before=first)

        self._send(again, places[0].repeat, done, partial(_is_valid, schema))

    def _score(self, place: AnswerPlace, result: Result) -> None:
        if not result.counts or not self._scorers:
            self._keep(place, result)
            return
        scores, problems = self._scorers.score(result)
        judged = self._pending[place] = _Judged(result, len(self._scorers.judges), scores, problems)
        if not judged.left:
            self._final(place, judged)
        for name, judge in self._scorers.judges.items():
            try:
                ask = judge.ask(result)
            except ChatError as error:
                self._judged(place, judged, name, None, str(error))
                continue
            verdict = partial(self._verdict, place, judged, name)
            self._send(ask, place.repeat, verdict, partial(_is_read, judge))

    def _verdict(self, place: AnswerPlace, judged: _Judged, name: str, answer: RowAnswer, cached: bool) -> None:
        del cached
        if answer.reply is None or answer.error:
            self._judged(place, judged, name, None, answer.error)
            return
        reply = answer.reply
        score = self._scorers.judges[name].read(reply)
        problem = "" if score is not None else f"its verdict cannot be read: {reply.text[:80]!r}"
        self._judged(place, judged, name, score, problem)

    def _judged(self, place: AnswerPlace, judged: _Judged, name: str, score: Score, problem: str) -> None:
        judged.scores[name] = score
        judged.problems += [f"{name}: {problem}"] if problem else []
        judged.left -= 1
        if judged.left <= 0:
            self._final(place, judged)

    def _final(self, place: AnswerPlace, judged: _Judged) -> None:
        self._pending.pop(place, None)
        self._keep(place, replace(judged.result, scores=judged.scores, problems=tuple(judged.problems)))

    def end(self) -> None:
        """Deliver the answers that judges have not looked at yet: the run has ended."""
        for place, judged in list(self._pending.items()):
            missing = [name for name in self._scorers.judges if name not in judged.scores]
            judged.scores |= dict.fromkeys(missing)
            judged.problems += [f"{name}: not asked, because the run ended before" for name in missing]
            self._final(place, judged)


def _is_valid(schema: Schema, answer: RowAnswer) -> bool:
    """Return whether an answer is what the schema allows."""
    if answer.reply is None:
        return False
    try:
        schema.parse(answer.reply.text)
    except InvalidAnswerError:
        return False
    return True


def _is_read(judge: Judge, answer: RowAnswer) -> bool:
    """Return whether an answer is a verdict that can be read."""
    return answer.reply is not None and judge.read(answer.reply) is not None
