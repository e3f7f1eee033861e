"""What a probe has found: sentences to quote, every question as a table, and pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from ...context.held import HeldMark
from ...errors import InvalidRequestError
from ...session.tabular import Table
from ...shown_as import mimebundle
from ..table.results import Result
from .curve import HeldLength, Posterior, answered_lengths
from .held_words import further_sentence, held_sentence, uncounted_sentence
from .prompt_sizes import READ_AGAIN, PromptSizes, TrialMark
from .tasks import ALONE, ProbePrompt
from .trial import Trial

QUARTERS = ("0 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 100 %")  # of a text
RIGHT_TICKS = {0.0: "0 %", 0.25: "25 %", 0.5: "50 %", 0.75: "75 %", 1.0: "100 %"}
CURVE_HEAD = ("tokens", "right", "questions", "expected", "90 %")
CHART_HEIGHT = 3.2  # inches


class ProbeTrial(NamedTuple):
    """One question of a probe, and how it was answered.

    task: the kind of question
    questions: of its request
    length: tokens of the prompt that were wanted
    position: of the fact in the text, from 0 to 1
    request: which request it was part of
    score: 1 for right, 0 for wrong; ``None`` where it is not counted
    mark: why it is not counted: the prompt or the answer was refused, the answer was cut or empty, the server read a
        part of the prompt only (truncated), or no answer came (failed)
    expected: the right answer
    answer: what the model said to the whole request
    tokens, input_tokens: of the prompt with the answer, and of the prompt: as reported, else as estimated
    digest: of the prompt
    """

    task: str
    questions: int
    length: int
    position: float
    request: str
    score: float | None
    mark: TrialMark
    expected: str
    answer: str
    tokens: int
    input_tokens: int
    digest: str

    @classmethod
    def of(
        cls, of: tuple[str, str, int], prompt: ProbePrompt, places: Sequence[float], result: Result,
        prompt_sizes: PromptSizes, *, refused: bool,
    ) -> list[ProbeTrial]:  # fmt: skip
        """Return the questions of one request ``of`` a task, a name and a length; ``refused``: no such one is taken."""
        task, request, length = of
        mark = prompt_sizes.mark(prompt.text, result, refused=refused)
        said = result.error if result.reply is None else result.reply.text
        digest = hashlib.blake2b(prompt.text.encode(), digest_size=8).hexdigest()
        sizes = prompt_sizes.taken(prompt.text, result), prompt_sizes.sent(prompt.text, result)
        each = zip(places, prompt.scores(said), prompt.answers, strict=True)
        return [
            cls(task, len(places), length, place, request, None if mark else score, mark, answer, said, *sizes, digest)
            for place, score, answer in each
        ]

    def read_again(self, read: int) -> ProbeTrial:
        """Return the same, not counted where the server read as much of it as it reads of longer prompts."""
        is_cut = self.score is not None and self.input_tokens >= READ_AGAIN * read
        return self._replace(score=None, mark="truncated") if is_cut else self


def trials_of(trials: Iterable[ProbeTrial], questions: int) -> list[Trial]:
    """Return the trials with so many questions a request, as the statistics take them."""
    chosen = (trial for trial in trials if trial.questions == questions)
    return [Trial(each.length, each.input_tokens, each.request, each.score, each.tokens) for each in chosen]


class ProbeTrials(Table[ProbeTrial]):
    """Every question of a probe in the order of asking."""

    columns = ProbeTrial._fields


@dataclass(frozen=True, slots=True)
class Probe:
    """How long a prompt may be before a model uses it worse, in one task.

    model, address: who was asked, and where
    task: the kind of question
    questions: of each request that counts: where four among lines that look alike are too hard at the base, one alone
    lengths: tokens of the prompts, from the base to the longest that could be asked
    trials: every question, those of requests that do not count included
    reason: why no more were asked
    notices: what to know of it, a line each
    at: when it ended, in seconds since 1970
    tokens: of all prompts and answers
    cost: US dollars that were spent now; ``None``: unknown
    seconds: that the answers took
    """

    model: str
    address: str
    task: str
    questions: int
    lengths: tuple[int, ...]
    trials: ProbeTrials
    reason: str
    notices: tuple[str, ...]
    at: float
    tokens: int
    cost: float | None
    seconds: float

    _repr_mimebundle_ = mimebundle

    @property
    def measured(self) -> str:
        """The task, with ``alone`` where each fact was asked for by itself, among lines that do not look like it."""
        return f"{self.task} alone" if self.questions == ALONE.questions else self.task

    @property
    def _posterior(self) -> Posterior:
        trials = trials_of(self.trials, self.questions)
        return Posterior.of(trials, answered_lengths(trials, self.lengths))

    @property
    def held(self) -> HeldLength:
        """Up to which length the score holds, with its interval."""
        return self._posterior.effective()

    @property
    def evidence(self) -> HeldMark | None:
        """What was found as the gauge takes it; ``None`` where the length is not known."""
        held = self.held
        low, median, high = map(round, (held.low, held.median, held.high))
        found = HeldMark(
            self.measured, low, median, high, held.reached, held.questions, self.tokens, self.address, self.at
        )
        return found if held.is_known else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, to be quoted; then what to know of it."""
        held = held_sentence(self.held, self.measured, self.model, date.fromtimestamp(self.at))
        return tuple(filter(None, (held, uncounted_sentence(self._marks), *self.notices)))

    @property
    def _marks(self) -> list[str]:
        """Why each question of a request that counts is not counted; empty: it is."""
        return [trial.mark for trial in self.trials if trial.questions == self.questions]

    def __str__(self) -> str:
        return " ".join(f"{each.rstrip('.')}." for each in self.sentences)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def compared_with(self, other: object) -> tuple[str, ...]:
        """Return whether another model holds further. Raises InvalidRequestError for what is no probe in this task."""
        if not isinstance(other, Probe) or other.measured != self.measured:
            what = f"with a probe in {other.measured}" if isinstance(other, Probe) else f"with a {type(other).__name__}"
            raise InvalidRequestError(
                f"A probe in {self.measured} is compared with another one in {self.measured}, not {what}."
            )
        names = (self.model, other.model) if self.model != other.model else ("the first", "the second")
        return (further_sentence(self._posterior, other._posterior, names),)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row for each question. Raises MissingDependencyError."""
        return self.trials.to_dataframe()

    def _counted(self, length: int | None = None) -> list[ProbeTrial]:
        """Return the questions that count, by length and position."""
        every = [each for each in self.trials if each.questions == self.questions and each.score is not None]
        chosen = [each for each in every if length in (None, each.length)]
        return sorted(chosen, key=lambda trial: (trial.length, trial.position))

    def _scores(self, length: int) -> list[float]:
        return [each.score or 0.0 for each in self._counted(length)]
