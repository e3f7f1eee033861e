"""The filters and tests that an expression may use: Jinja's, except those that call code or draw random numbers."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from fractions import Fraction
from pprint import pformat
from typing import Any
from urllib.parse import quote

from .kinds import array_kind, is_collection
from .limits import ITEMS, TEXT, MissingError, RefusedError, at_most
from .methods import call
from .operators import binary, compare_values, formatted, truth
from .values import Reader

_MISSING = object()


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


def _text(reader: Reader, value: Any) -> str:
    return reader.text(value)


def _method(name: str) -> Callable[..., Any]:
    return lambda reader, value, *args: call(reader, reader.text(value), name, args, {})


def _title(reader: Reader, value: Any) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in reader.text(value).split(" "))


def _center(reader: Reader, value: Any, width: int = 80) -> Any:
    return call(reader, reader.text(value), "center", (width,), {})


def _indent(reader: Reader, value: Any, width: Any = 4, first: bool = False, blank: bool = False) -> str:
    text = reader.text(value)
    at_most(0 if type(width) is str else int(width), ITEMS, "spaces")
    space = width if type(width) is str else " " * int(width)
    at_most(len(text) + (text.count("\n") + 1) * len(space), TEXT, "characters")
    lines = text.split("\n")
    return "\n".join(
        space + line if (number or first) and (line or blank) else line for number, line in enumerate(lines)
    )


def _truncate(reader: Reader, value: Any, length: int = 255, killwords: bool = False, end: str = "...") -> str:
    text = reader.text(value)
    if len(text) <= length + 5:
        return text
    cut = text[: max(0, length - len(end))]
    return (cut if killwords else cut.rsplit(" ", 1)[0]) + end


def _wrapped(reader: Reader, value: Any, width: int = 79) -> str:
    text = reader.text(value)
    at_most(len(text), ITEMS, "characters in lines")
    return "\n".join("\n".join(textwrap.wrap(line, max(1, width), break_on_hyphens=False)) for line in text.split("\n"))


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


def _round(reader: Reader, value: Any, precision: int = 0, method: str = "common") -> Any:
    if array_kind(value):
        return call(reader, value, "round", (precision,), {})
    value = reader.plain(value)
    at_most(abs(precision), 1_000, "decimals")
    if method == "common":
        return round(value, precision)
    scaled = Fraction(value) * Fraction(10) ** precision
    whole = -(-scaled.numerator // scaled.denominator) if method == "ceil" else scaled.numerator // scaled.denominator
    return float(Fraction(whole) / Fraction(10) ** precision)


def _absolute(reader: Reader, value: Any) -> Any:
    return call(reader, value, "abs", (), {}) if array_kind(value) else abs(reader.plain(value))


def _int(reader: Reader, value: Any, default: Any = 0, base: int = 10) -> Any:
    value = reader.plain(value)
    try:
        return int(value, base) if type(value) is str else int(value)
    except (TypeError, ValueError, OverflowError):
        try:
            return int(float(value))
        except (TypeError, ValueError, OverflowError):
            return default


def _float(reader: Reader, value: Any, default: Any = 0.0) -> Any:
    try:
        return float(reader.plain(value))
    except (TypeError, ValueError, OverflowError):
        return default


def _list(reader: Reader, value: Any) -> list[Any]:
    return list(reader.members(value))


def _reverse(reader: Reader, value: Any) -> Any:
    return value[::-1] if type(value) is str else list(reader.members(value))[::-1]


def _first(reader: Reader, value: Any) -> Any:
    if array_kind(value) or type(value) is str or issubclass(type(value), (list, tuple)):
        return reader.item(value, 0)
    for member in reader.members(value):
        return member
    raise MissingError("an empty collection has no first member")


def _last(reader: Reader, value: Any) -> Any:
    if type(value) is str or issubclass(type(value), (list, tuple)):
        return reader.item(value, -1)
    members = list(reader.members(value))
    if not members:
        raise MissingError("an empty collection has no last member")
    return members[-1]


def _items(reader: Reader, value: Any) -> Any:
    return list(call(reader, value, "items", (), {}))


def _dictsort(
    reader: Reader, value: Any, case_sensitive: bool = False, by: str = "key", reverse: bool = False
) -> list[Any]:
    key = _key(reader, 1 if by == "value" else 0, case_sensitive)
    return sorted(_items(reader, value), key=key, reverse=bool(reverse))


def _batch(reader: Reader, value: Any, size: int, fill: Any = None) -> list[Any]:
    members, size = list(reader.members(value)), int(size)
    found = [members[at : at + size] for at in range(0, len(members), size)]
    if fill is not None and found:
        at_most(size, ITEMS, "values")
        found[-1] += [fill] * (size - len(found[-1]))
    return found


def _slice(reader: Reader, value: Any, slices: int, fill: Any = None) -> list[Any]:
    members = list(reader.members(value))
    at_most(slices, ITEMS, "values")
    size, more = divmod(len(members), int(slices))
    starts = [number * size + min(number, more) for number in range(slices + 1)]
    found = [members[starts[number] : starts[number + 1]] for number in range(slices)]
    return [[*part, fill] if fill is not None and number >= more else part for number, part in enumerate(found)]


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


def _select(*, kept: bool, by: bool) -> Callable[..., Any]:
    def selected(reader: Reader, value: Any, *args: Any) -> list[Any]:
        attribute, test = (args[0], args[1:]) if by else (None, args)

        def passes(member: Any) -> bool:
            found = member if attribute is None else _reached_or(reader, member, attribute, None)
            return examine(reader, test[0], found, test[1:]) if test else truth(reader, found)

        return [member for member in reader.members(value) if passes(member) == kept]

    return selected


def _groupby(reader: Reader, value: Any, attribute: Any, default: Any = _MISSING, case_sensitive: bool = False) -> Any:
    found: dict[Any, list[Any]] = {}
    for member in (
        _sort(reader, value, False, case_sensitive, attribute) if default is _MISSING else reader.members(value)
    ):
        found.setdefault(reader.plain(_reached_or(reader, member, attribute, default)), []).append(member)
    return list(found.items())


def _json(reader: Reader, value: Any, indent: int | None = None) -> str:
    at_most(indent or 0, 16, "spaces")
    from jinja2.utils import htmlsafe_json_dumps

    at_most(6 * len(reader.text(value)), 6 * TEXT, "characters")
    return str(htmlsafe_json_dumps(reader.plain(value), dumps=json.dumps, indent=indent, sort_keys=True))


def _format(reader: Reader, value: Any, *args: Any, **keywords: Any) -> str:
    return formatted(reader, reader.text(value), keywords or tuple(args))


def _default(reader: Reader, value: Any, default: Any = "", boolean: bool = False) -> Any:
    return default if boolean and not truth(reader, value) else value


def _words(reader: Reader, value: Any) -> int:
    return len(call(reader, reader.text(value), "split", (), {}))


def _quoted(reader: Reader, value: Any) -> str:
    text = reader.text(value)
    at_most(12 * len(text), 12 * ITEMS, "characters")
    return quote(text)


def _file_size(reader: Reader, value: Any, binary: bool = False) -> str:
    from jinja2.filters import do_filesizeformat

    return do_filesizeformat(float(reader.plain(value)), bool(binary))


def _pretty(reader: Reader, value: Any) -> str:
    at_most(len(reader.text(value)), ITEMS, "characters")
    return pformat(reader.plain(value))


def _length(reader: Reader, value: Any) -> int:
    return reader.size(value)


FILTERS: dict[str, Callable[..., Any]] = {
    "abs": _absolute, "batch": _batch, "capitalize": _method("capitalize"), "center": _center, "count": _length,
    "d": _default, "default": _default, "dictsort": _dictsort, "filesizeformat": _file_size, "first": _first,
    "float": _float, "format": _format, "groupby": _groupby, "indent": _indent, "int": _int, "items": _items,
    "join": _join, "last": _last, "length": _length, "list": _list, "lower": _method("lower"), "map": _map,
    "max": _most(max), "min": _most(min), "pprint": _pretty, "reject": _select(kept=False, by=False),
    "rejectattr": _select(kept=False, by=True), "replace": _method("replace"), "reverse": _reverse, "round": _round,
    "safe": _text, "select": _select(kept=True, by=False), "selectattr": _select(kept=True, by=True), "slice": _slice,
    "sort": _sort, "string": _text, "sum": _sum, "title": _title, "tojson": _json, "trim": _method("strip"),
    "truncate": _truncate, "unique": _unique, "upper": _method("upper"), "urlencode": _quoted, "wordcount": _words,
    "wordwrap": _wrapped,
}  # fmt: skip


def apply(reader: Reader, name: str, value: Any, args: Any, keywords: Any) -> Any:
    """Apply a filter to a value. Raises RefusedError for a filter of Jinja's that is not allowed."""
    if name not in FILTERS:
        raise RefusedError(f"a prompt cannot use the filter {name}, only {', '.join(sorted(FILTERS))}")
    return reader.admit(FILTERS[name](reader, value, *args, **keywords))


def _is(*kinds: type) -> Callable[..., bool]:
    return lambda _, value: type(value) in kinds


def _compares(name: str) -> Callable[..., bool]:
    return lambda reader, value, other: truth(reader, compare_values(reader, name, value, other))


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
    **{name: _compares("eq") for name in ("eq", "equalto", "==")}, **{name: _compares("ne") for name in ("ne", "!=")},
    **{name: _compares("lt") for name in ("lt", "lessthan", "<")}, **{name: _compares("lteq") for name in ("le", "<=")},
    **{name: _compares("gt") for name in ("gt", "greaterthan", ">")},
    **{name: _compares("gteq") for name in ("ge", ">=")}, "in": _compares("in"),
}  # fmt: skip


def examine(reader: Reader, name: str, value: Any, args: Any) -> bool:
    """Return the result of a test on a value. Raises RefusedError for a test of Jinja's that is not allowed."""
    if name not in TESTS:
        raise RefusedError(f"a prompt cannot use the test {name}, only {', '.join(sorted(TESTS))}")
    return TESTS[name](reader, value, *args)
