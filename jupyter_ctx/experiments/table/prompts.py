"""Make the prompt of each row: a template's expressions read columns, the grid's values and the notebook's names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from ...errors import InvalidRequestError
from ...runtime.redaction import Redactor
from ...template.expressions import Expression
from ...template.filling import EXPRESSION, expressions_in, in_expression, without_key
from ...wording import SLIP_SIMILARITY, nearest_name
from .table_files import TEXT_COLUMN

_ROW = "row"  # the name under which a template reads the whole row
_MAX_LISTED = 12  # names in an error message
_BRACES = re.compile(r"(?<![\w{}$\\])(\{\{?) ?([^\s{}](?:[^{}\n]*[^{}\s])?) ?(\}\}?)(?!\})")
_AS_TYPED = "Without the spaces, {{{{{}}}}}, the braces are sent as typed. Nothing was sent."


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
        self._parts = tuple(part if isinstance(part, str) else Slot.of(part) for part in expressions_in(text))
        self.slots = tuple(dict.fromkeys(part for part in self._parts if isinstance(part, Slot)))
        used = set().union(*(slot.names for slot in self.slots))
        self._names = {name: names[name] for name in used if name in names} if names else {}
        self._notebook: dict[str, str] = {}

    @property
    def names(self) -> Mapping[str, Any]:
        """The notebook's variables that the template reads."""
        return self._names

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

        def text() -> str:
            value = slot.expression.value(names)
            written = missing if value is None and missing is not None else slot.expression.written(value)
            return without_key(written, self._redactor)

        typed = slot.expression.text
        return in_expression(typed, text, self._redactor, _AS_TYPED.format(typed))

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
