"""What a run asks: a request for each row in each arm, whose text is made once and known by its digest before.

A prompt is a template whose expressions read columns, the grid's values and the notebook's names. An arm is a
combination of the grid's values. Requests that begin alike for long enough to be worth a prompt cache form a group, of
which one goes first.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from os.path import commonprefix
from typing import Any, NamedTuple

from ...config.settings import KEYWORDS, Settings
from ...conversation.messages import Message
from ...conversation.schema import Schema
from ...conversation.text_safety import checked
from ...errors import InvalidRequestError
from ...models.registry import settings_with
from ...runtime.redaction import Redactor
from ...session.ask import Ask
from ...session.complete import as_answer
from ...template.expressions import EXPRESSION, Expression, expression_error, key_error
from ...tools.functions import Tool
from ...wording import SLIP_SIMILARITY, nearest_name
from ...wording.layout import cut
from .table_files import TEXT_COLUMN

SHOWN = 40  # characters of a value in a label
WORTH_CACHING = 4_096  # characters: providers cache prompts from about 1,024 tokens on
_ROW = "row"  # the name under which a template reads the whole row
_MAX_LISTED = 12  # names in an error message
_BRACES = re.compile(r"(?<![\w{}$\\])(\{\{?) ?([^\s{}](?:[^{}\n]*[^{}\s])?) ?(\}\}?)(?!\})")
_AS_TYPED = "Without the spaces, {{{{{}}}}}, the braces are sent as typed. Nothing was sent."


# the prompt of a row


@dataclass(frozen=True, slots=True)
class Slot:
    """An expression of a template, and what it reads of a row.

    names: that the expression reads
    members: the columns that are read as ``row.x`` or ``row['x']``
    whole: whether ``row`` is read in another way too
    """

    expression: Expression
    names: frozenset[str]
    members: tuple[str, ...]
    whole: bool

    @classmethod
    def of(cls, expression: Expression) -> Slot:
        """Return the slot of an expression."""
        members = {member for name, member in expression.reads if name == _ROW}
        return cls(expression, expression.names, tuple(sorted(members - {""})), "" in members)

    def varies(self, columns: Collection[str]) -> bool:
        """Return whether the value differs from row to row."""
        return _ROW in self.names or any(map(columns.__contains__, self.names))

    def columns(self, columns: Iterable[str]) -> set[str]:
        """Return which of the columns are read."""
        given = set(columns)
        if _ROW in self.names and _ROW not in given:
            return given if self.whole else given & {*self.members, *self.names}
        return given & self.names

    def __str__(self) -> str:
        return f"{{{{ {self.expression.text} }}}}"


class Template:
    """A prompt with expressions, which is parsed once and filled in for each row.

    A name is a column of the row, else a value of the grid, else the notebook's; ``row`` is the whole row, unless a
    column has that name. What the notebook alone gives is evaluated once, so all prompts of a run have the same.

    text: the prompt as typed
    names: the notebook's variables
    secrets: keys that no prompt may contain, beside those of the environment
    """

    def __init__(self, text: str, names: Mapping[str, Any] | None = None, secrets: Iterable[str] = ()) -> None:
        self.text = text
        self._redactor = Redactor(secrets)
        parts = enumerate(EXPRESSION.split(text))  # of which every second one is an expression
        self._parts = tuple(Slot.of(Expression.of(part)) if number % 2 else part for number, part in parts)
        self.slots = tuple(dict.fromkeys(part for part in self._parts if isinstance(part, Slot)))
        used = set().union(*(slot.names for slot in self.slots))
        self._names = {name: names[name] for name in used if name in names} if names else {}
        self._notebook: dict[str, str] = {}

    def columns(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return those of the columns that the template reads."""
        given = tuple(columns)
        used = set().union(*(slot.columns(given) for slot in self.slots))
        return tuple(column for column in given if column in used)

    def reads(self, name: str) -> bool:
        """Return whether a slot reads this name, such as a value of the grid."""
        return any(name in slot.names for slot in self.slots)

    def check(self, columns: Collection[str], grid: Collection[str] = ()) -> tuple[str, ...]:
        """Return lines about what may not be meant. Raises InvalidRequestError for what cannot be filled in.

        That is an expression with a name that is no column, no value of the grid and not the notebook's, one that
        is not valid, a name that is both a column and a value of the grid, and a notebook's value that is refused.
        """
        known = dict.fromkeys((_ROW, *self._names, *grid, *columns))
        for slot in self.slots:
            self._check(slot, columns, grid, known)
        same = not any(slot.varies(columns) for slot in self.slots)
        unfilled = list(_unfilled(self.text, columns))
        if unfilled and (same or any(typed.startswith("{{") for typed, _ in unfilled)):
            typed, column = unfilled[0]
            raise InvalidRequestError(f"{typed} is not filled in: write {_as_expression(column)}. Nothing was sent.")
        lines = [f"{typed} is sent as typed: {_as_expression(column)} would fill in." for typed, column in unfilled[:1]]
        if same:
            lines.append("No expression reads a column, so the prompt is the same for every row.")
        return tuple(lines)

    def prompt(self, row: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> str:
        """Return the prompt for a row and the values of the grid.

        Raises InvalidRequestError when an expression fails for this row, when the prompt would contain a key, and
        when nothing is in it.
        """
        values = values or {}
        names = {**self._names, **values, **row}
        text = "".join(
            part if isinstance(part, str) else self._filled(part, row, values, names) for part in self._parts
        )
        if not text.strip():
            raise InvalidRequestError("The prompt is empty, because the cells that fill it are.")
        return text

    def _filled(self, slot: Slot, row: Mapping[str, Any], values: Mapping[str, Any], names: Mapping[str, Any]) -> str:
        if not slot.varies(row) and not slot.names & values.keys():
            if slot.expression.text not in self._notebook:
                self._notebook[slot.expression.text] = self._evaluated(slot, self._names)
            return self._notebook[slot.expression.text]
        if _ROW in slot.names and _ROW not in row:
            names = {**names, _ROW: row[TEXT_COLUMN] if slot.whole and tuple(row) == (TEXT_COLUMN,) else _Row(row)}
        return self._evaluated(slot, names, missing="")

    def _evaluated(self, slot: Slot, names: Mapping[str, Any], missing: str | None = None) -> str:
        """Return an expression's value as text; ``missing`` stands for a cell without a value."""
        expression = slot.expression
        try:
            value = expression.value(names)
            text = missing if value is None and missing is not None else expression.written(value)
            if self._redactor.contains_secret(text):
                raise key_error(expression, text, self._redactor)
            return text
        except Exception as error:
            raise expression_error(expression, error, self._redactor, _AS_TYPED.format(expression.text)) from None

    def _check(self, slot: Slot, columns: Collection[str], grid: Collection[str], known: Mapping[str, None]) -> None:
        """Raise InvalidRequestError for an expression that cannot be filled in."""
        typed = slot.expression.text
        if typed in columns and typed not in slot.names:
            raise InvalidRequestError(f"{slot} is not the column {typed!r}: write {_as_expression(typed)}.")
        if slot.expression.problem:
            self._evaluated(slot, {})  # raises
        twice = sorted(slot.names & set(grid) & set(columns))
        if twice:
            raise InvalidRequestError(f"{twice[0]!r} is both a column and a value of the grid: rename one of them.")
        missing = [] if _ROW in columns else [name for name in slot.members if name not in columns]
        missing += slot.expression.unknown(known)
        if missing:
            raise InvalidRequestError(_unknown(slot, missing[0], columns, grid))
        if not slot.varies(columns) and not slot.names & set(grid):
            self._filled(slot, {}, {}, self._names)


class _Row(dict[str, Any]):
    """A row whose columns are read as ``row.x``, too."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"there is no column {name!r}")
        return self[name]


def _unfilled(text: str, columns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield text such as ``{column}`` or ``{{column}}``, which is sent as typed, and the column that it names."""
    for match in _BRACES.finditer(text):
        opened, name, closed = match.groups()
        if name in columns and len(opened) == len(closed) and not EXPRESSION.fullmatch(match.group()):
            yield match.group(), name


def _as_expression(column: str) -> str:
    """Return the expression that fills in a column."""
    if column.isidentifier() and not iskeyword(column) and EXPRESSION.fullmatch(f"{{{{ {column} }}}}"):
        return f"{{{{ {column} }}}}"
    quoted = repr(column).replace("{", "\\x7b").replace("}", "\\x7d")  # no expression has braces in it
    return f"{{{{ {_ROW}[{quoted}] }}}}"


def _unknown(slot: Slot, name: str, columns: Collection[str], grid: Collection[str]) -> str:
    """Return what is wrong with a name that nothing has, with the nearest one and those there are."""
    names = list(columns) if name in slot.members else [*columns, *grid]
    near = nearest_name(name, names, SLIP_SIMILARITY)
    hint = f" Did you mean {_as_expression(near)}?" if near else ""
    listed = ", ".join(list(columns)[:_MAX_LISTED]) + (", …" if len(columns) > _MAX_LISTED else "")
    is_member = name in slot.members
    kinds = "no column" if is_member else f"no column{', value of the grid' if grid else ''} or name of the notebook"
    return f"{slot}: there is {kinds} {name!r}.{hint} The columns are: {listed}. Nothing was sent."


# arms


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
    """Return values as labels show them, each in one line; numbered where their beginnings are alike."""
    texts = [" ".join(str(value).split()) for value in values]
    exact = [repr(value) for value in values]
    is_unclear = len(set(exact)) > len(set(texts))  # such as 1 and "1"
    labels = [cut(text, SHOWN) for text in (exact if is_unclear else texts)]
    if len(set(labels)) == len(labels):
        return labels
    return [cut(f"{number}: {label}", SHOWN) for number, label in enumerate(labels, 1)]


# all requests


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
        return RowPrompt(text, self._ask(arm.settings, text).digest())

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
