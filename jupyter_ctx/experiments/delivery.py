"""From an answer to a result: parsed by its schema, scored, and judged by another model where that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from ..errors import ChatError, InvalidAnswerError
from ..providers.base import Reply
from ..session.structured import asked_again, billed
from .ask import Ask
from .judges import Judge
from .plan import AnswerPlace, RunPlan
from .results import Result, Score
from .scorers import Scorers
from .work import Tried

Done = Callable[[Tried, bool], object]


class Sends(Protocol):
    """What sends the further requests that an answer leads to."""

    def __call__(self, ask: Ask, repeat: int, done: Done, suffices: Callable[[Tried], bool]) -> object:
        """Send a request, or find its stored answer; ``done`` hears of it, and whether it was stored.

        ``suffices`` says whether a stored answer need not be asked for again where failed rows are.
        """


@dataclass(slots=True, eq=False)
class Arrival:
    """An answer on its way to the results, and where it belongs: equal requests are asked once.

    places: where it belongs, the first one being that which asked
    tried: what came
    cached: whether it was stored
    before: the answer that its schema did not allow, where this is the second one
    """

    places: Sequence[AnswerPlace]
    tried: Tried
    cached: bool
    before: Reply | None = None


@dataclass(slots=True, eq=False)
class _Judged:
    """A result that judges still have to look at."""

    result: Result
    left: int
    scores: dict[str, Score]
    problems: list[str] = field(default_factory=list)


class Delivery:
    """Makes results of answers, in the coordinator's thread. ``keep`` hears of each result when it is final."""

    def __init__(
        self, plan: RunPlan, scorers: Scorers, sends: Sends, keep: Callable[[AnswerPlace, Result], object]
    ) -> None:
        self._plan, self._schema, self._scorers = plan, plan.schema, scorers
        self._sends, self._keep = sends, keep
        self._pending: dict[AnswerPlace, _Judged] = {}

    def deliver(self, answer: Arrival) -> None:
        """Parse and score an answer, or ask once more where it is not what its schema allows."""
        reply, error = _whole(answer), answer.tried.error
        if reply is not None and self._schema is not None and not error:
            try:
                reply = replace(reply, parsed=self._schema.parse(reply.text))
            except InvalidAnswerError as wrong:
                if answer.before is None and reply.stop_reason == "stop":  # one that was cut would be cut again
                    self._ask_again(answer, wrong)
                    return
                error = f"{wrong} It was asked for twice." if answer.before is not None else str(wrong)
        truncated = answer.tried.answered is not None and answer.tried.answered.truncated
        prompt = self._plan.filled(answer.places[0].row, answer.places[0].arm)
        for number, place in enumerate(answer.places):
            arm = self._plan.arms[place.arm]
            result = Result(
                place.row, arm.label, place.repeat, self._plan.rows[place.row], arm.values, prompt, reply,
                error, cached=answer.cached or number > 0, truncated=truncated,
            )  # fmt: skip
            self._score(place, result)

    def _ask_again(self, answer: Arrival, wrong: InvalidAnswerError) -> None:
        """Ask for an answer that the schema allows, with what is wrong with the first one."""
        assert answer.tried.answered is not None
        first, place = answer.tried.answered.reply, answer.places[0]
        ask = self._plan.ask(place.row, place.arm)
        again = replace(ask, messages=(*ask.messages, *asked_again(first.text, wrong)))

        def done(tried: Tried, cached: bool) -> None:
            self.deliver(Arrival(answer.places, tried, cached and answer.cached, before=first))

        self._sends(again, place.repeat, done, self._is_valid)

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
            self._sends(ask, place.repeat, verdict, partial(_is_read, judge))

    def _verdict(self, place: AnswerPlace, judged: _Judged, name: str, tried: Tried, cached: bool) -> None:
        del cached
        if tried.answered is None:
            self._judged(place, judged, name, None, tried.error)
            return
        score = _score_of(self._scorers.judges[name], tried)
        problem = "" if score is not None else f"its verdict cannot be read: {tried.answered.reply.text[:80]!r}"
        self._judged(place, judged, name, score, problem)

    def end(self) -> None:
        """Deliver the answers that judges have not looked at yet: the run has ended."""
        for place, judged in list(self._pending.items()):
            missing = [name for name in self._scorers.judges if name not in judged.scores]
            judged.scores |= dict.fromkeys(missing)
            judged.problems += [f"{name}: not asked, because the run ended before" for name in missing]
            self._final(place, judged)

    def _is_valid(self, tried: Tried) -> bool:
        """Return whether an answer is what the schema allows."""
        if tried.answered is None or self._schema is None:
            return False
        try:
            self._schema.parse(tried.answered.reply.text)
        except InvalidAnswerError:
            return False
        return True

    def _judged(self, place: AnswerPlace, judged: _Judged, name: str, score: Score, problem: str) -> None:
        judged.scores[name] = score
        judged.problems += [f"{name}: {problem}"] if problem else []
        judged.left -= 1
        if judged.left <= 0:
            self._final(place, judged)

    def _final(self, place: AnswerPlace, judged: _Judged) -> None:
        self._pending.pop(place, None)
        self._keep(place, replace(judged.result, scores=judged.scores, problems=tuple(judged.problems)))


def _score_of(judge: Judge, tried: Tried) -> Score:
    """Return the verdict of a judge; ``None`` where it gave none that can be read."""
    return judge.read(tried.answered.reply) if tried.answered is not None else None


def _is_read(judge: Judge, tried: Tried) -> bool:
    return _score_of(judge, tried) is not None


def _whole(answer: Arrival) -> Reply | None:
    """Return the reply with what the first answer to the same request took, where there were two."""
    if answer.tried.answered is None:
        return None
    reply = answer.tried.answered.reply
    return reply if answer.before is None else billed(answer.before, reply)
