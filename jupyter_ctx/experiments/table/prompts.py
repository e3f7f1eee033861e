"""Make the prompt of each row: a template's expressions read columns, the grid's values and the notebook's names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...errors import InvalidRequestError
from ...runtime.redaction import Redactor
from ...template.evaluation import Evaluation, expression_names, has_known_names, members_read, parse_expression
from ...template.filling import EXPRESSION, in_expression
from ...template.hints import advice, reason_unfilled
from ...template.limits import Allowance
from ...template.value_reading import Reader
from ...wording import SLIP_SIMILARITY, nearest_name
from .table_files import TEXT_COLUMN

_ROW = "row"  # the name under which a template reads the whole row
_MAX_LISTED = 12  # names in an error message
_BRACES = re.compile(r"(?<![\w{}$\\])(\{\{?) ?([^\s{}](?:[^{}\n]*[^{}\s])?) ?(\}\}?)(?!\})")
_HIDDEN = (str, int, float)  # what a notebook's name holds when it may have been meant instead of a column


class RowReader(Reader):
    """A reader of values that writes nothing for a missing cell."""

    def text(self, value: Any) -> str:
        """Return a value as it prints, and an empty text for ``None``."""
        return "" if value is None else super().text(value)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a template.

    text: the expression as typed, without its braces
    tree: the tree of Jinja's parser; ``None`` for text that is not an expression
    names: the names that are read
    members: the columns that are read as ``row.x`` or ``row['x']``
    whole: whether ``row`` is read in another way too
    """

    text: str
    tree: Any
    names: frozenset[str]
    members: tuple[str, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, text: str) -> Expression:
        """Return an expression with what it reads. Raises RefusedError when it is too long."""
        tree = parse_expression(text)
        if tree is None:
            return cls(text, None, frozenset())
        members, whole = members_read(tree, _ROW)
        return cls(text, tree, frozenset(expression_names(tree)), tuple(sorted(members)), whole)

    def varies(self, columns: Collection[str]) -> bool:
        """Return whether the value differs from row to row."""
        return _ROW in self.names or any(name in columns for name in self.names)

    def columns(self, columns: Iterable[str]) -> set[str]:
        """Return which of the columns are read."""
        given = set(columns)
        if _ROW in self.names and _ROW not in given:
            return given if self.whole else given & {*self.members, *self.names}
        return given & self.names

    def __str__(self) -> str:
        return f"{{{{ {self.text} }}}}"


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
        self._parts = tuple(_parts(text, self._redactor))
        self.expressions = tuple(dict.fromkeys(part for part in self._parts if isinstance(part, Expression)))
        used = set().union(*(expression.names for expression in self.expressions))
        self._names = {name: names[name] for name in used if name in names} if names else {}
        self._notebook: dict[str, str] = {}

    @property
    def names(self) -> Mapping[str, Any]:
        """The notebook's variables that the template reads."""
        return self._names

    def columns(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return those of the columns that the template reads."""
        given = tuple(columns)
        used = set().union(*(expression.columns(given) for expression in self.expressions))
        return tuple(column for column in given if column in used)

    def reads(self, name: str) -> bool:
        """Return whether an expression reads this name, such as a value of the grid."""
        return any(name in expression.names for expression in self.expressions)

    def check(self, columns: Collection[str], grid: Collection[str] = ()) -> tuple[str, ...]:
        """Return lines about what may not be meant. Raises InvalidRequestError for what cannot be filled in.

        That is an expression with a name that is no column, no value of the grid and not the notebook's, one that
        is not valid, a name that is both a column and a value of the grid, and a notebook's value that is refused.
        """
        known = dict.fromkeys((_ROW, *self._names, *grid, *columns))
        for expression in self.expressions:
            self._check(expression, columns, grid, known)
        same = not any(expression.varies(columns) for expression in self.expressions)
        unfilled = list(_unfilled(self.text, columns))
        if unfilled and (same or any(typed.startswith("{{") for typed, _ in unfilled)):
            typed, column = unfilled[0]
            raise InvalidRequestError(f"{typed} is not filled in: write {_as_expression(column)}. Nothing was sent.")
        lines = [f"{typed} is sent as typed: {_as_expression(column)} would fill in." for typed, column in unfilled[:1]]
        if same:
            lines.append("No expression reads a column, so the prompt is the same for every row.")
        hidden = [name for name in self._names if name in columns and isinstance(self._names[name], _HIDDEN)]
        lines += [f"{{{{ {name} }}}} is the column {name}, not the notebook's variable." for name in hidden]
        return tuple(lines)

    def prompt(self, row: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> str:
        """Return the prompt for a row and the values of the grid.

        Raises InvalidRequestError when an expression fails for this row, when the prompt would contain a key, and
        when nothing is in it.
        """
        reader, values = RowReader(Allowance(), self._redactor), values or {}
        text = "".join(
            part if isinstance(part, str) else self._filled(part, row, values, reader) for part in self._parts
        )
        if not text.strip():
            raise InvalidRequestError("The prompt is empty, because the cells that fill it are.")
        return text

    def _filled(
        self, expression: Expression, row: Mapping[str, Any], values: Mapping[str, Any], reader: RowReader
    ) -> str:
        if not expression.varies(row) and not expression.names & values.keys():
            if expression.text not in self._notebook:
                plain = Reader(Allowance(), self._redactor)
                self._notebook[expression.text] = self._evaluated(expression, self._names, plain)
            return self._notebook[expression.text]
        names: dict[str, Any] = {}
        for name in expression.names:
            if name in row:
                names[name] = row[name]
            elif name == _ROW:
                names[name] = _as_row(expression, row)
            else:
                names[name] = values[name] if name in values else self._names.get(name)
        reader.allowance.renew()
        return self._evaluated(expression, names, reader)

    def _evaluated(self, expression: Expression, names: Mapping[str, Any], reader: Reader) -> str:
        return in_expression(
            expression.text, lambda: reader.text(Evaluation(reader, names).value(expression.tree)), self._redactor
        )

    def _check(
        self, expression: Expression, columns: Collection[str], grid: Collection[str], known: Mapping[str, None]
    ) -> None:
        """Raise InvalidRequestError for an expression that cannot be filled in."""
        if expression.text in columns and not (expression.tree and type(expression.tree).__name__ == "Name"):
            right = _as_expression(expression.text)
            raise InvalidRequestError(f"{expression} is not the column {expression.text!r}: write {right}.")
        twice = sorted(expression.names & set(grid) & set(columns))
        if twice:
            raise InvalidRequestError(f"{twice[0]!r} is both a column and a value of the grid: rename one of them.")
        missing = [] if _ROW in columns else [name for name in expression.members if name not in columns]
        missing += sorted(expression.names - known.keys())
        if missing and expression.tree is not None and not any(advice([expression.text], known)):
            raise InvalidRequestError(_unknown(expression, missing[0], columns, grid))
        if expression.tree is None or not has_known_names(expression.tree, known):
            hints = " ".join(advice([expression.text], known))
            reason = f"{expression} cannot be filled in: {reason_unfilled(expression.text, known)}."
            raise InvalidRequestError(" ".join(filter(None, (reason, hints or _AS_TYPED.format(expression.text)))))
        if not expression.varies(columns) and not expression.names & set(grid):
            self._filled(expression, {}, {}, RowReader(Allowance(), self._redactor))


def _as_row(expression: Expression, row: Mapping[str, Any]) -> Any:
    """Return what an expression reads as ``row``: the columns, or the text of a row that has nothing but a text."""
    if expression.whole and tuple(row) == (TEXT_COLUMN,):
        return row[TEXT_COLUMN]
    members = row if expression.whole else [member for member in expression.members if member in row]
    return {member: row[member] for member in members}


_AS_TYPED = "To send the braces as they are, leave out the spaces: {{{{{}}}}}."


def _parts(text: str, redactor: Redactor) -> Iterator[str | Expression]:
    """Yield the text between the expressions of a template, and the expressions."""
    parsed: dict[str, Expression] = {}
    end = 0
    for match in EXPRESSION.finditer(text):
        typed = match.group(1)
        if typed not in parsed:
            parsed[typed] = in_expression(typed, partial(Expression.of, typed), redactor)
        if match.start() > end:
            yield text[end : match.start()]
        yield parsed[typed]
        end = match.end()
    if end < len(text):
        yield text[end:]


def _unfilled(text: str, columns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield text such as ``{column}`` or ``{{column}}``, which is sent as typed, and the column that it names."""
    for match in _BRACES.finditer(text):
        opened, name, closed = match.groups()
        if name in columns and len(opened) == len(closed) and not EXPRESSION.fullmatch(match.group()):
            yield match.group(), name


def _as_expression(column: str) -> str:
    """Return the expression that fills in a column."""
    tree = parse_expression(column)
    if type(tree).__name__ == "Name" and tree.name == column and EXPRESSION.fullmatch(f"{{{{ {column} }}}}"):
        return f"{{{{ {column} }}}}"
    quoted = repr(column).replace("{", "\\x7b").replace("}", "\\x7d")  # no expression has braces in it
    return f"{{{{ {_ROW}[{quoted}] }}}}"


def _unknown(expression: Expression, name: str, columns: Collection[str], grid: Collection[str]) -> str:
    """Return what is wrong with a name that nothing has, with the nearest one and those there are."""
    names = list(columns) if name in expression.members else [*columns, *grid]
    near = nearest_name(name, names, SLIP_SIMILARITY)
    hint = f" Did you mean {_as_expression(near)}?" if near else ""
    listed = ", ".join(list(columns)[:_MAX_LISTED]) + (", …" if len(columns) > _MAX_LISTED else "")
    is_member = name in expression.members
    kinds = "no column" if is_member else f"no column{', value of the grid' if grid else ''} or name of the notebook"
    return f"{expression}: there is {kinds} {name!r}.{hint} The columns are: {listed}. Nothing was sent."
