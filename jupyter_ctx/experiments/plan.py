"""What a run asks: a request for each row in each arm, made when it is needed and known by its digest before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..conversation.messages import Message
from ..conversation.schema import Schema
from ..conversation.text_safety import checked
from ..errors import InvalidRequestError
from ..session.structured import as_answer
from .arms import Arm
from .ask import Ask
from .prefixes import Prefixes
from .prompts import Template


class AnswerPlace(NamedTuple):
    """Where an answer belongs: the numbers of the row, the arm and the repeat, each from 0."""

    row: int
    arm: int
    repeat: int


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A template, the rows that fill it, and how often each is asked.

    template: the prompt
    rows: the table
    arms: the combinations of the grid's values
    repeat: how often each row is asked in each arm
    schema: what each answer must be; ``None``: text
    """

    template: Template
    rows: Sequence[Mapping[str, Any]]
    arms: Sequence[Arm]
    repeat: int = 1
    schema: Schema | None = None

    def __len__(self) -> int:
        return len(self.rows) * len(self.arms) * self.repeat

    @property
    def places(self) -> Iterator[AnswerPlace]:
        """The places of all answers, in the order of the result."""
        for row in range(len(self.rows)):
            for arm in range(len(self.arms)):
                for repeat in range(self.repeat):
                    yield AnswerPlace(row, arm, repeat)

    def prompt(self, row: int, arm: int) -> str:
        """Return the prompt for a row. Raises InvalidRequestError where it cannot be filled in."""
        return checked(self.template.prompt(self.rows[row], self.arms[arm].names))

    def filled(self, row: int, arm: int) -> str | PlannedPrompt:
        """Return the prompt for a row, or what makes it anew where that is the same at any time."""
        made = PlannedPrompt(self, row, arm)
        return made if self.template.is_lasting(self.rows[row]) else made()

    def ask(self, row: int, arm: int, *, shared: int | None = None) -> Ask:
        """Return the request for a row; ``shared``: characters with which others begin, system prompt included.

        Raises InvalidRequestError where it cannot be filled in.
        """
        settings, said = self.arms[arm].settings, Message("user", self.prompt(row, arm))
        schema = as_answer(self.schema)
        if not settings.system:
            return Ask((said,), settings, schema, shared, waits=False)
        messages = (Message("system", settings.system), said)
        beyond = max(0, shared - len(settings.system)) if shared is not None else None
        return Ask(messages, settings, schema, beyond, waits=False)


@dataclass(frozen=True, slots=True, eq=False)
class PlannedPrompt:
    """Makes the prompt of a request anew; pickled, it is the text."""

    plan: RunPlan
    row: int
    arm: int

    def __call__(self) -> str:
        """Return the text; empty where the row cannot be filled in."""
        try:
            return self.plan.prompt(self.row, self.arm)
        except InvalidRequestError:
            return ""

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self(),)


@dataclass(frozen=True, slots=True)
class Looked:
    """What is known of all requests before any is sent.

    digests: of each request, by arm and row; empty where the prompt cannot be filled in
    groups: of the requests that share a long prefix, in the same order; ``None``: none
    lengths: how many characters all requests of each group begin with; ``None``: one request alone
    errors: what is wrong with a row, by arm and row
    """

    digests: Sequence[Sequence[str]]
    groups: Sequence[Sequence[int | None]]
    lengths: Sequence[int | None]
    errors: Mapping[tuple[int, int], str]

    def shared(self, row: int, arm: int) -> int | None:
        """Return how many characters a request shares with others; ``None``: not enough to be cached."""
        group = self.groups[arm][row]
        return None if group is None else self.lengths[group]


def looked_at(plan: RunPlan) -> Looked:
    """Make every request once, and keep what is needed of it. Raises InvalidRequestError where none can be made."""
    digests, groups, prefixes = list[list[str]](), list[list[int | None]](), Prefixes()
    errors: dict[tuple[int, int], str] = {}
    group_of: dict[str, int | None] = {}
    for number, arm in enumerate(plan.arms):
        digests.append([])
        groups.append([])
        for row in range(len(plan.rows)):
            try:
                ask = plan.ask(row, number)
            except InvalidRequestError as error:
                errors[number, row] = str(error)
                digests[-1].append("")
                groups[-1].append(None)
                continue
            digest = ask.digest
            if digest not in group_of:  # equal requests are sent once
                text = ask.system + ask.messages[-1].content
                group_of[digest] = prefixes.add(arm.settings.model, text, times=plan.repeat)
            digests[-1].append(digest)
            groups[-1].append(group_of[digest])
    if len(errors) == len(plan.arms) * len(plan.rows):
        raise InvalidRequestError(f"No row can be filled in. The first one: {next(iter(errors.values()))}")
    return Looked(digests, groups, prefixes.shared, errors)
