"""What a run asks: a request for each row in each arm, whose text is made once and known by its digest before.

An arm is a combination of the grid's values. Requests that begin alike for long enough to be worth a prompt cache form
a group, of which one goes first.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...config.settings import SETTING_NAMES, Settings
from ...conversation.messages import Message
from ...conversation.schema import Schema
from ...conversation.text_safety import checked
from ...errors import InvalidRequestError
from ...models.registry import settings_with
from ...session.ask import Ask
from ...session.complete import as_answer
from ...wording.layout import cut_apart
from .prompts import Template

SHOWN = 40  # characters of a value in a label


@dataclass(frozen=True, slots=True)
class Arm:
    """One combination of a grid's values.

    label: what tables call it, such as "tone=formal"; empty where there is one arm only
    values: the value of each name in the grid
    settings: how its requests are asked
    """

    label: str
    values: Mapping[str, Any]
    settings: Settings

    @property
    def names(self) -> dict[str, Any]:
        """The values that fill a template: those of the grid that are no settings."""
        return {name: value for name, value in self.values.items() if name not in SETTING_NAMES}


def arms_of(grid: Mapping[str, Iterable[Any]], settings: Settings) -> list[Arm]:
    """Return the arms of a grid, the last name varying fastest. Raises InvalidRequestError for a bad grid.

    A name that is a setting sets it; any other fills ``{{ name }}`` in the template.
    """
    if not isinstance(grid, Mapping):
        raise InvalidRequestError(f'grid is {grid!r}: it must be a dict of lists, such as {{"temperature": [0, 1]}}.')
    choices = {name: _choices(name, values) for name, values in grid.items()}
    shown = {name: value_labels(values) for name, values in choices.items() if len(values) > 1}
    arms = []
    for places in itertools.product(*(range(len(values)) for values in choices.values())):
        at = dict(zip(choices, places, strict=True))
        values = {name: choices[name][place] for name, place in at.items()}
        set_here = {name: value for name, value in values.items() if name in SETTING_NAMES}
        label = ", ".join(f"{name}={labels[at[name]]}" for name, labels in shown.items())
        arms.append(Arm(label, values, settings_with(settings, set_here)))
    return arms


def _choices(name: object, values: object) -> Sequence[Any]:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidRequestError(f"grid has the name {name!r}: it must be a setting, or a name in the template.")
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidRequestError(f"grid[{name!r}] is {values!r}: it must be a list of values, such as [{values!r}].")
    chosen = list(values)
    if not chosen:
        raise InvalidRequestError(f"grid[{name!r}] is empty: give it one value or more.")
    repeated = next((value for at, value in enumerate(chosen) if value in chosen[:at]), None)
    if repeated is not None:
        raise InvalidRequestError(f"grid[{name!r}] has {repeated!r} twice: repeat=2 asks each row twice.")
    return chosen


def value_labels(values: Sequence[Any]) -> list[str]:
    """Return values as labels show them, each in one line, and long ones from where they differ."""
    texts = [" ".join(str(value).split()) for value in values]
    exact = [repr(value) for value in values]
    is_unclear = len(set(exact)) > len(set(texts))  # such as 1 and "1"
    return cut_apart(exact if is_unclear else texts, SHOWN)


WORTH_CACHING = 4_096  # characters: providers cache prompts from about 1,024 tokens on


@dataclass(slots=True)
class Group:
    """Requests that begin with the same text, and how many there are."""

    prefix: str
    requests: int


class Prefixes:
    """Groups texts by their first 4,096 characters, and keeps the text that all of a group begin with."""

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, where: str, text: str, *, times: int = 1) -> int | None:
        """Return the number of a text's group, or ``None`` for a short text.

        ``where`` names the model; ``times``: how often the text is sent.
        """
        if len(text) < WORTH_CACHING:
            return None
        found = hashlib.blake2b(f"{where}\0{text[:WORTH_CACHING]}".encode(), digest_size=16).digest()
        number = self._numbers.setdefault(found, len(self._groups))
        if number == len(self._groups):
            self._groups.append(Group(text, times))
        else:
            group = self._groups[number]
            group.prefix, group.requests = group.prefix[: common(group.prefix, text)], group.requests + times
        return number

    @property
    def shared(self) -> list[int | None]:
        """How many characters all texts of each group begin with; ``None`` for a text that is alone."""
        return [len(group.prefix) if group.requests > 1 else None for group in self._groups]


def common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


class AnswerPlace(NamedTuple):
    """Where an answer belongs: the numbers of the row, the arm and the repeat, each from 0."""

    row: int
    arm: int
    repeat: int


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A template, the rows that fill it, and how often each is asked.

    The text of each request is made once and kept: what it is made of may change while the run goes on, and its answer
    is stored under this text.

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
    _prompts: dict[tuple[int, int], str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _texts: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)  # each once in memory

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
        made = self.made(row, arm)
        if made:
            return made
        text = checked(self.template.prompt(self.rows[row], self.arms[arm].names))
        return self._prompts.setdefault((row, arm), self._texts.setdefault(text, text))

    def made(self, row: int, arm: int) -> str:
        """Return the prompt for a row as it was made; empty where it was not, or cannot be filled in."""
        return self._prompts.get((row, arm), "")

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
