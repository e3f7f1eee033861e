"""What may follow in an expression that is being typed: names, attributes, columns, keys, methods and filters.

Nothing is called, and no code of the notebook's classes runs: the value before a dot or a bracket is read only where
names, attributes and constant items lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..runtime.redaction import Redactor
from .array_reading import column_names as column_names
from .array_reading import readable
from .evaluation import Evaluation, node_kinds, parse_expression
from .filters import FILTERS, TESTS
from .kinds import array_kind, is_collection, name_of
from .limits import Allowance
from .operations import method_names
from .value_reading import Reader, attribute_names

BEGUN = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*)$")
_TOKEN = re.compile(
    r"(?P<name>[^\W\d]\w*)|(?P<number>\d[\d_]*(?:\.\d+)?)|(?P<string>'[^']*'|\"[^\"]*\")|(?P<begun>['\"].*)|(?P<sign>\S)"
)
_WORDS = ("and", "or", "not", "in", "if", "else")  # after which a value follows
_READ = {"Name", "Getattr", "Getitem", "Const"}  # the nodes that lead to a value without a call
_SECONDS = 0.2  # of reading the value before a dot
MAX_KEYS = 500


class Suggestion(NamedTuple):
    """What may be typed, and what it is, such as ``column float64`` or ``filter``."""

    text: str
    kind: str = ""


class Suggestions(NamedTuple):
    """The end of what is typed, and what may stand in its place."""

    typed: str
    found: tuple[Suggestion, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def suggestions(
    expression: str, names: Mapping[str, Any], offered: Iterable[Suggestion], after: str = ""
) -> Suggestions:
    """Return all that may follow in the beginning of an ``expression``, whether it begins as typed or not.

    ``names`` are the values that it may read, ``offered`` the names among them to suggest; ``after`` is the text that
    follows: a quote or a bracket that stands there already is not suggested again.
    """
    tokens = [_Token(str(m.lastgroup), m.group(), m.start(), m.end()) for m in _TOKEN.finditer(expression)]
    last = tokens[-1] if tokens else None
    if last is not None and last.kind == "begun":
        return Suggestions(last.text[1:], tuple(_keys_in(expression, tokens[:-1], names, last.text[0], after)))
    typed = last.text if last is not None and last.kind == "name" and last.end == len(expression) else ""
    before = tokens[:-1] if typed else tokens
    return Suggestions(typed, tuple(_after(expression, before, names, offered, typed)))


def _after(
    expression: str, before: list[_Token], names: Mapping[str, Any], offered: Iterable[Suggestion], typed: str
) -> Iterable[Suggestion]:
    """Return what may stand after the tokens ``before``."""
    last = before[-1] if before else _Token("sign", "(", 0, 0)
    if last.text == ".":
        return _members(_value(expression, before[:-1], names))
    if last.text == "|":
        return [Suggestion(name, "filter") for name in sorted(FILTERS)]
    if last.text == "is" or [each.text for each in before[-2:]] == ["is", "not"]:
        return [Suggestion(name, "test") for name in sorted(TESTS) if name.isalpha()]
    if last.text == "[" and not typed:
        keys = list(_keys(_value(expression, before[:-1], names)))
        return [Suggestion(repr(each.text), each.kind) for each in keys] or offered
    if last.kind == "sign" and last.text not in (")", "]"):
        return offered
    return offered if last.text in _WORDS else ()


def _keys_in(
    expression: str, before: list[_Token], names: Mapping[str, Any], quote: str, after: str
) -> Iterator[Suggestion]:
    """Yield the keys that may stand in brackets and quotes, closed where nothing closes them yet."""
    if not before or before[-1].text != "[":
        return
    closed = "" if after.startswith(quote) else quote if after.startswith("]") else f"{quote}]"
    for each in _keys(_value(expression, before[:-1], names)):
        if quote not in each.text and "\\" not in each.text:
            yield Suggestion(each.text + closed, each.kind)


def _value(expression: str, before: list[_Token], names: Mapping[str, Any]) -> Any:
    """Return the value of the operand that the tokens end with, or ``None`` where reading it would be a calculation."""
    start = _operand(before)
    if start is None:
        return None
    return value_of(expression[before[start].start : before[-1].end], names)


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """Return the value of an expression of names, attributes and items; ``None`` for any other, and where it fails."""
    try:
        tree = parse_expression(expression)
        if tree is None or not node_kinds(tree) <= _READ:
            return None
        return Evaluation(Reader(Allowance(_SECONDS), Redactor()), names).value(tree)
    except Exception:  # Tab shows no errors
        return None


def _operand(tokens: list[_Token]) -> int | None:
    """Return where the operand begins that ends with the last token, such as ``a.b['c']`` in ``1 + a.b['c']``."""
    at = len(tokens) - 1
    while at >= 0:
        if tokens[at].text == "]":
            opened = _opening(tokens, at)
            if opened is None:
                return None
            at = opened - 1
            continue
        if tokens[at].kind not in ("name", "string", "number"):
            return None
        if at == 0 or tokens[at - 1].text != ".":
            return at
        at -= 2
    return None


def _opening(tokens: list[_Token], closing: int) -> int | None:
    """Return the place of the bracket that is closed at ``closing``."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (tokens[at].text == "]") - (tokens[at].text == "[")
        if depth == 0:
            return at
    return None


def _members(value: Any) -> Iterator[Suggestion]:
    """Yield what may follow a value and a dot."""
    if value is None:
        return
    yield from (each for each in _keys(value) if each.text.isidentifier() and array_kind(value) != "polars")
    if array_kind(value):
        yield from (Suggestion(name, "attribute") for name in readable(value)[0])
    else:
        reader = Reader(Allowance(_SECONDS), Redactor())
        for name in attribute_names(value):
            found = _readable(reader, value, name)
            if found is not None:
                yield Suggestion(name, found)
    yield from (Suggestion(f"{name}()", "method") for name in method_names(value))


def _readable(reader: Reader, value: Any, name: str) -> str | None:
    """Return the kind of an attribute, or ``None`` where it cannot be read."""
    try:
        return described_type(reader.attribute(value, name))
    except Exception:  # Tab shows no errors
        return None


def _keys(value: Any) -> Iterator[Suggestion]:
    """Yield the names of a frame's columns, or a dictionary's keys that are texts."""
    if array_kind(value):
        for column in column_names(value):
            yield Suggestion(column, "column")
    elif issubclass(type(value), dict):
        for key in list(dict.keys(value))[:MAX_KEYS]:
            if type(key) is str:
                yield Suggestion(key, "key")


def described_type(value: Any) -> str:
    """Return a value's type with its size, such as ``DataFrame 12,000 × 5`` or ``list of 3``."""
    name, kind = name_of(type(value)), array_kind(value)
    shape = getattr(value, "shape", None) if kind not in ("", "locator") else None
    if shape:
        return f"{name} {' × '.join(f'{size:,}' for size in shape)}"
    if is_collection(value) and hasattr(type(value), "__len__"):
        base = next((base for base in (dict, list, tuple, set, frozenset) if issubclass(type(value), base)), None)
        return f"{name} of {base.__len__(value):,}" if base is not None else name
    return name
