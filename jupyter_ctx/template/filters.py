"""The filters and tests that an expression may use: Jinja's, except those that call code or draw random numbers.

Those of texts and single values are Jinja's own, on copies in built-in types. Those of collections read no more of
their members than the attribute that they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from .kinds import array_kind, is_collection
from .limits import TEXT, MissingError, RefusedError, at_most
from .operations import binary, call, truth
from .value_reading import Reader

_MISSING = object()
_OF_TEXTS = ("capitalize", "lower", "title", "trim", "truncate", "upper", "wordcount")


@cache
def jinja() -> Any:
    """Return Jinja's environment, which is imported for the first expression."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment()


def reached(reader: Reader, value: Any, path: Any) -> Any:
    """Return what a dotted path leads to, such as ``address.city`` or ``0``; items count as attributes."""
    for part in path.split(".") if type(path) is str else (path,):
        part = int(part) if type(part) is str and part.isdecimal() else part
        value = either(reader, value, part)
    return value


def either(reader: Reader, value: Any, name: Any, *, item_first: bool = False) -> Any:
    """Return an attribute, or the item of a dictionary or a frame under that name."""
    if issubclass(type(value), dict):
        try:
            return reader.item(value, name)
        except MissingError:
            if type(name) is not str or type(value) is dict:
                raise
            return reader.attribute(value, name)
    by_item = type(name) is not str or (item_first and array_kind(value))
    return reader.item(value, name) if by_item else reader.attribute(value, name)


def _method(name: str) -> Callable[..., Any]:
    return lambda reader, value, *args: call(reader, reader.text(value), name, args, {})


def _jinjas(name: str) -> Callable[..., Any]:
    """Return a filter of Jinja's that is applied to a text, or to a copy of any other value in built-in types."""

    def applied(reader: Reader, value: Any, *args: Any, **keywords: Any) -> Any:
        copied = reader.text(value) if name in _OF_TEXTS else reader.plain(value)
        return jinja().call_filter(name, copied, args, keywords)

    return applied


def _join(reader: Reader, value: Any, between: str = "", attribute: Any = None) -> Any:
    members = reader.members(value)
    return call(reader, between, "join", ([reader.text(part) for part in _seen(reader, members, attribute)],), {})


def _seen(reader: Reader, members: Iterator[Any], attribute: Any) -> Iterator[Any]:
    return members if attribute is None else (reached(reader, member, attribute) for member in members)


def _key(reader: Reader, attribute: Any, case: bool) -> Callable[[Any], Any]:
    """Return a sort key for members: a copy in built-in types, in lower case unless ``case``."""

    def key(member: Any) -> Any:
        found = reader.plain(member if attribute is None else reached(reader, member, attribute))
        return found.lower() if type(found) is str and not case else found

    return key


def _sort(
    reader: Reader, value: Any, reverse: bool = False, case_sensitive: bool = False, attribute: Any = None
) -> Any:
    return sorted(reader.members(value), key=_key(reader, attribute, case_sensitive), reverse=bool(reverse))


def _most(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(reader: Reader, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
        return choose(list(reader.members(value)), key=_key(reader, attribute, case_sensitive))

    return chosen


def _unique(reader: Reader, value: Any, case_sensitive: bool = False, attribute: Any = None) -> list[Any]:
    key, found = _key(reader, attribute, case_sensitive), dict[Any, Any]()
    for member in reader.members(value):
        found.setdefault(key(member), member)
    return list(found.values())


def _sum(reader: Reader, value: Any, attribute: Any = None, start: Any = 0) -> Any:
    if array_kind(value) and attribute is None:
        return call(reader, value, "sum", (), {})
    total = start
    for part in _seen(reader, reader.members(value), attribute):
        part = reader.plain(part)
        if is_collection(part):
            raise RefusedError("the filter sum adds numbers only")
        total = binary(reader, "Add", total, part)
    return total


def _round(reader: Reader, value: Any, precision: int = 0, *method: Any) -> Any:
    if array_kind(value):
        return call(reader, value, "round", (precision,), {})
    at_most(abs(precision), 1_000, "decimals")
    return _jinjas("round")(reader, value, precision, *method)


def _absolute(reader: Reader, value: Any) -> Any:
    return call(reader, value, "abs", (), {}) if array_kind(value) else abs(reader.plain(value))


def _reverse(reader: Reader, value: Any) -> Any:
    return value[::-1] if type(value) is str else list(reader.members(value))[::-1]


def _end(position: int) -> Callable[..., Any]:
    """Return a filter that gives the first or the last member."""

    def end(reader: Reader, value: Any) -> Any:
        if type(value) is str or issubclass(type(value), (list, tuple)) or (array_kind(value) and position == 0):
            return reader.item(value, position)
        members = list(reader.members(value))
        if not members:
            raise MissingError("an empty collection has no first and no last member")
        return members[position]

    return end


def _items(reader: Reader, value: Any) -> Any:
    return list(call(reader, value, "items", (), {}))


def _map(reader: Reader, value: Any, *args: Any, attribute: Any = None, default: Any = _MISSING, **more: Any) -> Any:
    if attribute is None:
        name, *rest = args
        return [apply(reader, str(name), member, rest, more) for member in reader.members(value)]
    return [_reached_or(reader, member, attribute, default) for member in reader.members(value)]


def _reached_or(reader: Reader, member: Any, attribute: Any, default: Any) -> Any:
    try:
        return reached(reader, member, attribute)
    except MissingError:
        if default is _MISSING:
            raise
        return default


def _json(reader: Reader, value: Any, indent: int | None = None) -> Any:
    at_most(indent or 0, 16, "spaces")
    at_most(6 * len(reader.text(value)), 6 * TEXT, "characters")  # each sign may be escaped
    return _jinjas("tojson")(reader, value, indent)


def _default(reader: Reader, value: Any, default: Any = "", boolean: bool = False) -> Any:
    return default if boolean and not truth(reader, value) else value


FILTERS: dict[str, Callable[..., Any]] = {
    **{name: _jinjas(name) for name in (*_OF_TEXTS, "float", "int")},
    "abs": _absolute, "count": Reader.size, "d": _default, "default": _default, "first": _end(0), "items": _items,
    "join": _join, "last": _end(-1), "length": Reader.size, "list": lambda reader, value: list(reader.members(value)),
    "map": _map, "max": _most(max), "min": _most(min), "replace": _method("replace"), "reverse": _reverse,
    "round": _round, "safe": Reader.text, "sort": _sort, "string": Reader.text, "sum": _sum, "tojson": _json,
    "unique": _unique,
}  # fmt: skip


def apply(reader: Reader, name: str, value: Any, args: Any, keywords: Any) -> Any:
    """Apply a filter to a value. Raises RefusedError for a filter of Jinja's that is not allowed."""
    if name not in FILTERS:
        raise RefusedError(f"a prompt cannot use the filter {name}, only {', '.join(sorted(FILTERS))}")
    return reader.admit(FILTERS[name](reader, value, *args, **keywords))


def _is(*kinds: type) -> Callable[..., bool]:
    return lambda _, value: type(value) in kinds


def _divisible(reader: Reader, value: Any, by: Any) -> bool:
    return bool(binary(reader, "Mod", value, by) == 0)


TESTS: dict[str, Callable[..., bool]] = {
    "boolean": _is(bool), "defined": lambda *_: True, "undefined": lambda *_: False,
    "divisibleby": _divisible, "even": lambda reader, value: _divisible(reader, value, 2),
    "odd": lambda reader, value: not _divisible(reader, value, 2), "false": lambda _, value: value is False,
    "true": lambda _, value: value is True, "none": lambda _, value: value is None, "float": _is(float),
    "integer": _is(int), "number": _is(int, float, complex, bool), "string": _is(str), "mapping": _is(dict),
    "sequence": lambda _, value: is_collection(value) or type(value) is str,
    "iterable": lambda _, value: is_collection(value) or type(value) is str or bool(array_kind(value)),
    "lower": lambda reader, value: reader.text(value).islower(),
    "upper": lambda reader, value: reader.text(value).isupper(),
}  # fmt: skip


def examine(reader: Reader, name: str, value: Any, args: Any) -> bool:
    """Return the result of a test on a value. Raises RefusedError for a test of Jinja's that is not allowed."""
    if name not in TESTS:
        raise RefusedError(f"a prompt cannot use the test {name}, only {', '.join(sorted(TESTS))}")
    return TESTS[name](reader, value, *args)
