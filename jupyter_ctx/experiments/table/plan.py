"""What a run asks: a request for each row in each arm, whose text is made once and known by its digest before.

An arm is a combination of the grid's values. Requests that begin alike for long enough to be worth a prompt cache form
a group, of which one goes first.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, NamedTuple

from ...config.settings import KEYWORDS, Settings
from ...conversation.messages import Message
from ...conversation.schema import Schema
from ...conversation.text_safety import checked
from ...errors import InvalidRequestError
from ...models.registry import settings_with
from ...session.ask import Ask, beside_messages
from ...session.complete import as_answer
from ...session.view import digested
from ...tools.functions import Tool
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
        return {name: value for name, value in self.values.items() if name not in KEYWORDS}


def arms_of(grid: Mapping[str, Iterable[Any]], settings: Settings) -> list[Arm]:
    """Return the arms of a grid, the last name varying fastest. Raises InvalidRequestError for a bad grid.

    A name that is a setting sets it; any other fills ``{{ name }}`` in the template.
    """
    if not isinstance(grid, Mapping):
        raise InvalidRequestError(
            f'grid is a {type(grid).__name__}: it must be a dict of lists, such as {{"temperature": [0, 1]}}.'
        )
    choices = {name: _choices(name, values) for name, values in grid.items()}
    shown = {name: _value_labels(values) for name, values in choices.items() if len(values) > 1}
    arms = []
    for places in itertools.product(*(range(len(values)) for values in choices.values())):
        at = dict(zip(choices, places, strict=True))
        values = {name: choices[name][place] for name, place in at.items()}
        set_here = {name: value for name, value in values.items() if name in KEYWORDS}
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


def _value_labels(values: Sequence[Any]) -> list[str]:
    """Return values as labels show them, each in one line, and long ones from where they differ."""
    texts = [" ".join(str(value).split()) for value in values]
    exact = [repr(value) for value in values]
    is_unclear = len(set(exact)) > len(set(texts))  # such as 1 and "1"
    return cut_apart(exact if is_unclear else texts, SHOWN)


WORTH_CACHING = 4_096  # characters: providers cache prompts from about 1,024 tokens on


class AnswerPlace(NamedTuple):
    """Where an answer belongs: the numbers of the row, the arm and the repeat, each from 0."""

    row: int
    arm: int
    repeat: int


class RowPrompt(NamedTuple):
    """What one row asks in one arm.

    text: what is sent; empty where the row cannot be filled in
    digest: of the request, under which its answer is stored; empty as well
    error: why the row cannot be filled in
    group: the number of the requests that begin with the same long text; ``None``: it begins like no other
    shared: characters with which all of that group begin, system prompt included
    """

    text: str = ""
    digest: str = ""
    error: str = ""
    group: int | None = None
    shared: int | None = None


class RunPlan:
    """A template, the rows that fill it, and how often each is asked.

    Every prompt is made once, here, with the key of its answer: what it is made of may change while the run goes on.

    template: the prompt
    rows: the table
    arms: the combinations of the grid's values
    repeat: how often each row is asked in each arm
    schema: what each answer must be; ``None``: text
    tools: functions that the model may call
    prompts: what each row asks, by row and arm

    Raises InvalidRequestError where no row can be filled in.
    """

    def __init__(
        self,
        template: Template,
        rows: Sequence[Mapping[str, Any]],
        arms: Sequence[Arm],
        repeat: int = 1,
        schema: Schema | None = None,
        tools: tuple[Tool, ...] = (),
    ) -> None:
        self.template, self.rows, self.arms, self.repeat, self.schema = template, rows, arms, repeat, schema
        self._answer_schema, self.tools = as_answer(schema), tools
        self._deciding = [beside_messages(arm.settings, self._answer_schema, tools) for arm in arms]
        self.prompts: dict[tuple[int, int], RowPrompt] = {}
        known = dict[str, RowPrompt]()  # equal requests have one text in memory
        for row in range(len(rows)):
            for number in range(len(arms)):
                made = self._made(row, number)
                self.prompts[row, number] = known.setdefault(made.digest, made) if made.digest else made
        if not known:
            raise InvalidRequestError(f"No row can be filled in. The first one: {self.prompts[0, 0].error}")
        self._group(known)

    def _made(self, row: int, number: int) -> RowPrompt:
        arm = self.arms[number]
        try:
            text = checked(self.template.prompt(self.rows[row], arm.names))
        except InvalidRequestError as error:
            return RowPrompt(error=str(error))
        return RowPrompt(text, digested(self._deciding[number], self._ask(arm.settings, text).messages))

    def _group(self, known: Mapping[str, RowPrompt]) -> None:
        """Find the requests of one model that begin with the same 4,096 characters, so that one can go first."""
        groups = defaultdict[tuple[str, str], dict[str, str]](dict)
        for (_, number), prompt in self.prompts.items():
            settings = self.arms[number].settings
            whole = (settings.system or "") + prompt.text
            if len(whole) >= WORTH_CACHING:
                groups[settings.model, whole[:WORTH_CACHING]][prompt.digest] = whole
        grouped = dict[str, RowPrompt]()
        for group, texts in enumerate(groups.values()):
            if len(texts) * self.repeat > 1:
                ends = [min(texts.values()), max(texts.values())]  # in order: those between begin as both do
                shared = len(commonprefix(ends))  # noqa: RUF071
                grouped |= {digest: known[digest]._replace(group=group, shared=shared) for digest in texts}
        if grouped:
            self.prompts = {key: grouped.get(prompt.digest, prompt) for key, prompt in self.prompts.items()}

    def __len__(self) -> int:
        return len(self.rows) * len(self.arms) * self.repeat

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The values of each name in the grid."""
        grid: dict[str, list[Any]] = {}
        for arm in self.arms:
            for name, value in arm.values.items():
                values = grid.setdefault(name, [])
                values += [value] if value not in values else []
        return grid

    @property
    def places(self) -> Iterator[AnswerPlace]:
        """The places of all answers, in the order of the result."""
        every = itertools.product(range(len(self.rows)), range(len(self.arms)), range(self.repeat))
        return itertools.starmap(AnswerPlace, every)

    def ask(self, row: int, arm: int) -> Ask:
        """Return the request for a row that can be filled in."""
        settings, prompt = self.arms[arm].settings, self.prompts[row, arm]
        own = None if prompt.shared is None else max(0, prompt.shared - len(settings.system or ""))
        return self._ask(settings, prompt.text, own)

    def _ask(self, settings: Settings, text: str, shared: int | None = None) -> Ask:
        system = (Message("system", settings.system),) if settings.system else ()
        return Ask((*system, Message("user", text)), settings, self._answer_schema, shared, False, self.tools)
