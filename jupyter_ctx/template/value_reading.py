"""Read attributes, members and text of values without running code of the notebook's classes.

Attributes come from an instance's dictionary and slots, never from its methods and properties; a subclass
of a built-in type is read as that type; calculations work on copies in built-in types.
"""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, deque
from collections.abc import Collection, Iterator
from dataclasses import MISSING
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from inspect import getattr_static
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ..runtime.redaction import Redactor
from .array_reading import (
    SCALAR_ATTRIBUTES,
    SHAPE_ATTRIBUTES,
    Arrays,
    column_cells,
    first_rows,
    length,
    named_columns,
    parts_within,
)
from .kinds import (
    COLLECTIONS,
    SCALARS,
    VIEWS,
    array_kind,
    described,
    is_collection,
    is_enum,
    is_library_scalar,
    is_path,
    is_record,
    is_scalar,
    module_of,
    name_of,
)
from .limits import DEPTH, INTEGER_BITS, ITEMS, Allowance, KeyFoundError, MissingError, RefusedError, at_most

_BARE = (str, bytes, int, float)  # a subclass is read as one of these
_DIGITS = 4_300  # of a Decimal, written out
_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    int: ("real", "imag", "numerator", "denominator"), float: ("real", "imag"), complex: ("real", "imag"),
    Fraction: ("numerator", "denominator"), range: ("start", "stop", "step"),
    date: ("year", "month", "day"), time: ("hour", "minute", "second", "microsecond", "tzinfo", "fold"),
    datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold"),
    timedelta: ("days", "seconds", "microseconds"), UUID: ("hex", "int", "urn", "version"),
    PurePath: ("name", "stem", "suffix", "suffixes", "parts", "parent", "anchor"),
}  # fmt: skip


def is_data(value: Any) -> bool:
    """Return whether a prompt may read a value, as far as its type tells."""
    return (
        is_scalar(value)
        or (issubclass(type(value), _BARE) and not is_library_scalar(value))
        or is_collection(value)
        or is_path(value)
        or bool(array_kind(value))
        or is_enum(value)
        or is_record(value)
    )


class Reader:
    """A reader of values for one expression, within its allowance."""

    def __init__(self, allowance: Allowance, redactor: Redactor) -> None:
        self.allowance, self._redactor = allowance, redactor
        self.arrays = Arrays(allowance)

    def admit(self, value: Any) -> Any:
        """Return the value if it is data, with subclasses of text and numbers made plain. Raises RefusedError."""
        kind = type(value)
        if is_scalar(value):
            return self._checked(value)
        for base in _BARE:
            if issubclass(kind, base) and not is_library_scalar(value):
                return self._checked(_bare(value, base))
        if is_data(value):
            return value
        raise RefusedError(f"only data can be filled in, and this is {described(value)}")

    def _checked(self, value: Any) -> Any:
        if type(value) is str:
            self._check(value)
        elif type(value) is bytes:
            self._check(value.decode("latin-1"))
        return value

    def _check(self, text: str) -> None:
        if self._redactor.hold(text):
            raise KeyFoundError

    def root(self, name: Any, value: Any) -> Any:
        """Return the value of a name of the notebook. Raises KeyFoundError for one that is secret for its name."""
        self._redactor.learn(value)
        self._redactor.learn_table(*first_rows(value))
        return self.named(name, value)

    def named(self, name: Any, value: Any) -> Any:
        """Return the value that stands under a name. Raises KeyFoundError for one that is secret for its name."""
        if self._redactor.is_secret(name, value) and is_scalar(value):
            raise KeyFoundError
        return value

    def check_open(self, table: Any, chosen: Collection[Any], keeps_names: bool) -> None:
        """Raise KeyFoundError where a table has columns that are secret for their names, and a step may read them.

        A step that only reads the ``chosen`` columns may, if none of them is secret, and one that ``keeps_names``: its
        result is checked again.
        """
        columns = {
            name: self._is_secret_cell(name, sample, sample)
            and any(self._is_secret_cell(name, cell, sample) for cell in column_cells(table, name, sample))
            for name, sample in named_columns(table)
        }
        is_open = bool(chosen) and not any(columns.get(name, True) for name in chosen)
        if any(columns.values()) and not keeps_names and not is_open:
            raise KeyFoundError

    def _is_secret_cell(self, name: Any, cell: Any, sample: Any) -> bool:
        return any(self._redactor.is_secret(label, part) for label, part in parts_within(name, cell, sample))

    def attribute(self, value: Any, name: str) -> Any:
        """Return an attribute that is stored, or listed for its type. Raises MissingError or RefusedError."""
        return self.named(name, self._attribute(value, name))

    def _attribute(self, value: Any, name: str) -> Any:
        if name.startswith("_"):
            raise RefusedError(f"a prompt cannot read {name}, because the name begins with _")
        if array_kind(value):
            self.check_open(value, [name], name in SHAPE_ATTRIBUTES)
            return self.admit(self.arrays.attribute(value, name))
        if is_enum(value) and name in ("name", "value"):
            return self.admit(getattr_static(value, f"_{name}_"))
        if name in _attributes(value):
            return self.admit(getattr(value, name))
        if type(value) not in SCALARS and is_record(value):
            return self.admit(_stored(value, name))
        raise MissingError(f"{name_of(type(value))} has no attribute {name!r} that a prompt can read")

    def item(self, value: Any, key: Any) -> Any:
        """Return ``value[key]`` for a plain key, without running a method of the notebook's classes."""
        kind, found = type(value), MISSING
        if array_kind(value):
            self.check_open(value, _chosen(key), type(key) is slice)
            return self.admit(self.arrays.item(value, key))
        try:
            if issubclass(kind, dict):
                found = dict.get(value, key, MISSING)
            elif issubclass(kind, (list, tuple)) and not is_enum(value):
                base = list if issubclass(kind, list) else tuple
                found = base.__getitem__(value, key)
            elif kind in (str, bytes, range, deque):
                found = value[key]
            else:
                raise RefusedError(f"a prompt cannot read items of {described(value)}")
        except (LookupError, TypeError) as error:
            raise MissingError(str(error)) from None
        if found is MISSING:
            raise MissingError(f"the dictionary has no key {key!r}")
        return self.named(key, self.admit(found))

    def size(self, value: Any) -> int:
        """Return the number of a value's members."""
        kind = type(value)
        if array_kind(value):
            return length(value)
        base = next((base for base in (*COLLECTIONS, str, bytes) if issubclass(kind, base)), None)
        if base is not None:
            return int(base.__len__(value))  # type: ignore[attr-defined]
        if kind is range or kind in VIEWS:
            return len(value)
        raise RefusedError(f"{described(value)} has no length")

    def members(self, value: Any) -> Iterator[Any]:
        """Yield the members of a collection, the characters of a text, or the keys of a dictionary."""
        if array_kind(value):
            self.check_open(value, [], array_kind(value) == "frame")
            value = self.arrays.members(value)
        at_most(self.size(value), ITEMS, "values")
        members = _iterator(value)
        if issubclass(type(value), (set, frozenset)):  # whose order is another one in each process
            members = iter(sorted(members, key=_order))
        for member in members:
            self.allowance.spend()
            yield self.admit(member)

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Return a copy of a value in built-in types, so that calculating runs none of the notebook's code."""
        value, kind = self.admit(value), type(value)
        if is_scalar(value):
            return self._small(value)
        _check_depth(depth)
        if kind is range:
            at_most(len(value), ITEMS, "values")
            return value
        if is_path(value):
            return str(value)
        if issubclass(kind, dict):
            return {self.plain(k, depth + 1): self.plain(v, depth + 1) for k, v in self._pairs(value)}
        if kind in VIEWS or issubclass(kind, COLLECTIONS):
            made = next((base for base in (tuple, set, frozenset) if issubclass(kind, base)), list)
            return made(self.plain(member, depth + 1) for member in self.members(value))
        raise RefusedError(f"a prompt cannot calculate with {described(value)}")

    def _small(self, value: Any) -> Any:
        kind = type(value)
        self.allowance.spend(1, len(value) if kind in (str, bytes) else 0)
        if kind is int:
            at_most(value.bit_length(), INTEGER_BITS, "bits")
        elif kind is Fraction:
            at_most(max(value.numerator.bit_length(), value.denominator.bit_length()), INTEGER_BITS, "bits")
        elif kind is Decimal and value.is_finite():
            at_most(max(abs(value.adjusted()), len(value.as_tuple().digits)), _DIGITS, "digits")
        return value

    def _pairs(self, value: Any) -> Iterator[tuple[Any, Any]]:
        at_most(dict.__len__(value), ITEMS, "values")
        for pair in value.items() if type(value) is OrderedDict else dict.items(value):
            self.allowance.spend()
            yield pair

    def text(self, value: Any) -> str:
        """Return a value as it prints."""
        value = self.admit(value)
        if type(value) is str:
            self.allowance.spend(1, len(value))
            return value
        found = self._printed(value)
        self._check(found)
        return found

    def _printed(self, value: Any) -> str:
        if is_scalar(value):
            return str(self._small(value))
        if is_path(value) or module_of(type(value)) == "jupyter_ctx":
            return str(value)
        written: list[str] = []
        self._write(value, written, 0)
        return "".join(written)

    def _write(self, value: Any, written: list[str], depth: int) -> None:
        """Append the ``repr`` of a value, piece by piece, within the allowance."""
        value = self.admit(value)
        _check_depth(depth)
        single = self._single(value, nested=depth > 0)
        if single is not None:
            self._add(written, single)
            return
        opened, closed, parts = self._opened(value)
        self._add(written, opened)
        for number, (name, part) in enumerate(parts):
            self._add(written, ", " if number else "")
            if self._redactor.is_secret(name.rstrip("=") if type(name) is str else name[0], part):
                raise KeyFoundError
            if type(name) is str:
                self._add(written, name)
            else:  # a dictionary's key, alone in a tuple
                self._write(name[0], written, depth + 1)
                self._add(written, ": ")
            self._write(part, written, depth + 1)
        self._add(written, closed)

    def _add(self, written: list[str], piece: str) -> None:
        self.allowance.spend(1, len(piece))
        written.append(piece)

    def _single(self, value: Any, *, nested: bool) -> str | None:
        """Return the text of a value that is written in one piece, or ``None`` when it is written part by part."""
        if is_scalar(value):
            return repr(self._small(value))
        if array_kind(value):
            self.check_open(value, [], False)
            return self.arrays.text(value, nested=nested)
        if is_enum(value):
            return f"{name_of(type(value))}.{self.attribute(value, 'name')}"
        return repr(value) if type(value) is range or is_path(value) else None

    def _opened(self, value: Any) -> tuple[str, str, Iterator[tuple[Any, Any]]]:
        """Return how a collection or a record begins and ends, and its parts as (name, value)."""
        kind = type(value)
        if issubclass(kind, dict):
            name = name_of(kind) if kind in (Counter, OrderedDict) else ""
            pairs = (((key,), part) for key, part in self._pairs(value))
            return (f"{name}({{", "})", pairs) if name else ("{", "}", pairs)
        if fields := _fields(value):
            name = "namespace" if kind is types.SimpleNamespace else name_of(kind)
            return f"{name}(", ")", ((f"{field}=", self.attribute(value, field)) for field in fields)
        if is_collection(value):
            return *_brackets(kind, self.size(value)), (("", member) for member in self.members(value))
        raise RefusedError(f"printing {described(value)} runs code of its class")


def _chosen(key: Any) -> list[Any]:
    """Return the columns that a key of a table names: a column, several, or those of a row in ``df.loc[0, 'a']``."""
    last = key[-1] if type(key) is tuple and key else key
    names = last if type(last) is list else [last]
    return [name if is_scalar(name) else MISSING for name in names]


def _order(member: Any) -> str:
    """Return what brings the members of sets into order, without running code of theirs."""
    kind = type(member)
    return repr(member) if kind in (str, int, float) else ",".join(map(_order, member)) if kind is tuple else ""


def _check_depth(depth: int) -> None:
    if depth > DEPTH:
        raise RefusedError(f"the value is nested more than {DEPTH} levels deep")


def _bare(value: Any, base: type) -> Any:
    """Return a copy of a value as the built-in type ``base``."""
    if base is bytes:
        return bytes.__getitem__(value, slice(None))
    return {str: str.__str__, int: int.__int__, float: float.__float__}[base](value)


def _attributes(value: Any) -> tuple[str, ...]:
    if is_path(value):
        return _ATTRIBUTES[PurePath]
    return _ATTRIBUTES.get(type(value), SCALAR_ATTRIBUTES if is_library_scalar(value) else ())


def _stored(value: Any, name: str) -> Any:
    """Return an attribute from an instance's dictionary, its slots, its class, or a named tuple."""
    fields = getattr_static(type(value), "_fields", ()) if issubclass(type(value), tuple) else ()
    if type(fields) is tuple and name in fields:
        return tuple.__getitem__(value, fields.index(name))
    found = getattr_static(value, name, MISSING)
    if found is MISSING:
        raise MissingError(f"{name_of(type(value))} has no attribute {name!r}")
    if type(found) is types.MemberDescriptorType and "__slots__" in type.__dict__["__dict__"].__get__(
        found.__objclass__
    ):
        try:
            return found.__get__(value)
        except AttributeError:
            raise MissingError(f"{name_of(type(value))} has no attribute {name!r} yet") from None
    if getattr_static(type(found), "__get__", None) is not None:
        raise RefusedError(f"{name} of {name_of(type(value))} is a method or a property, and reading it runs code")
    return found


def attribute_names(value: Any) -> list[str]:
    """Return names of attributes that may be readable: those listed for the type, fields, and what is stored."""
    found = [*_attributes(value), *(("name", "value") if is_enum(value) else ())]
    if type(value) in SCALARS or not is_record(value):
        return found
    kind = type(value)
    found += _fields(value)
    if type(getattr_static(kind, "__dict__", None)) is types.GetSetDescriptorType:
        found += object.__getattribute__(value, "__dict__")
    for base in type.__dict__["__mro__"].__get__(kind):
        found += [name for name in type.__dict__["__dict__"].__get__(base) if base is not object]
    return [name for name in dict.fromkeys(found) if type(name) is str and name[:1] != "_"]


def _fields(value: Any) -> tuple[str, ...]:
    """Return the field names of a data class, a named tuple or a namespace."""
    kind = type(value)
    if kind is types.SimpleNamespace:
        return tuple(vars(value))
    if issubclass(kind, tuple):
        found = getattr_static(kind, "_fields", ())
        return found if type(found) is tuple else ()
    found = getattr_static(kind, "__dataclass_fields__", {})
    return tuple(name for name, field in found.items() if field.repr and name[0] != "_") if type(found) is dict else ()


def _brackets(kind: type, size: int) -> tuple[str, str]:
    if issubclass(kind, list):
        return "[", "]"
    if issubclass(kind, tuple):
        return "(", ",)" if size == 1 else ")"
    if issubclass(kind, (set, frozenset)):
        name = "" if kind is set and size else name_of(kind)
        opened, closed = ("{", "}") if size else ("", "")
        return (f"{name}({opened}", f"{closed})") if name else (opened, closed)
    return f"{name_of(kind)}([", "])"


def _iterator(value: Any) -> Iterator[Any]:
    """Return an iterator over a collection that ignores what a subclass overrides."""
    base = next((base for base in COLLECTIONS if issubclass(type(value), base)), None)
    if base is None or type(value) is OrderedDict:
        return iter(value)
    found: Iterator[Any] = base.__iter__(value)  # type: ignore[attr-defined]
    return found
