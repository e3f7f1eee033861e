"""Write a value as text within a number of characters, and say what was left out of it."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType, SimpleNamespace
from typing import Any

from ..template.kinds import VIEWS, array_kind, module_of, name_of

SKETCH_DEPTH = 12  # levels of values in values
SHARES = 8  # of the members of a collection that follow, each may take this part of the room
LEAST = 24  # characters that a member may always take
LONG_MEMBERS = 30  # characters of a member, from which on each has a line of its own
SORTED = 10_000  # members of a set that are brought into order, so that equal sets look alike
WRITTEN_BITS = 14_000  # Python writes no much longer ones
MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")  # other in every kernel

_MAPPINGS: dict[type, tuple[str, str]] = {
    dict: ("{", "}"), OrderedDict: ("OrderedDict({", "})"), defaultdict: ("defaultdict({", "})"),
    Counter: ("Counter({", "})"), MappingProxyType: ("mappingproxy({", "})"),
}  # fmt: skip
_SEQUENCES: dict[type, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("frozenset({", "})"), deque: ("deque([", "])"),
    **{view: (f"{view.__name__}([", "])") for view in VIEWS},
}  # fmt: skip
_REPRS = {kind.__repr__: kind for kind in (*_MAPPINGS, *_SEQUENCES, SimpleNamespace)}  # of subclasses that inherit it


class Sketch:
    """A value as text, as ``repr`` writes it but within ``room`` characters or little more.

    ``text`` is the whole, ``shown`` how many of the ``size`` members of a collection it has (both 0 for anything else),
    ``is_whole`` whether nothing was left out. Code of the value's class may run; ``said`` keeps the texts of such
    classes, for another sketch of the same value.
    """

    def __init__(self, value: Any, room: int, said: dict[int, tuple[Any, str]] | None = None) -> None:
        self.is_whole = True
        self._said = {} if said is None else said
        self.shown = self.size = 0
        self._open: set[int] = set()
        self.text = self._of(value, room, 0)

    def _of(self, value: Any, room: int, depth: int) -> str:
        kind = type(value)
        if kind is str or kind is bytes:
            return self._quoted(value, room)
        if kind is int:
            bits = value.bit_length()
            return self._cut(repr(value), room) if bits <= WRITTEN_BITS else f"<int of {bits:,} bits>"
        if depth and (found := _array_words(value)):
            return found
        parts = _opened(value)
        if parts is None:
            return self._cut(self._own_text(value), room)
        if id(value) in self._open:
            return "<contains itself>"
        if depth >= SKETCH_DEPTH:
            self.is_whole = False
            return f"{parts[0]}…{parts[1]}"
        self._open.add(id(value))
        try:
            return self._members(parts, room, depth)
        finally:
            self._open.discard(id(value))

    def _members(self, parts: _Parts, room: int, depth: int) -> str:
        begin, end, size, members = parts
        found: list[str] = []
        left = room - len(begin) - len(end)
        for label, member in tuple(islice(members, max(left // 3, 1) + 1)):
            if left < LEAST and found:
                break
            share = max(left // max(min(size - len(found), SHARES), 1), room // (4 * SHARES), LEAST)
            text = f"{self._label(label, share, depth)}{self._of(member, share, depth + 1)}"
            found.append(text)
            left -= len(text) + 2
        if not depth:
            self.shown, self.size = len(found), max(size, len(found))
        if size > len(found):
            self.is_whole = False
            found.append(f"… {size - len(found):,} more")
        apart = ",\n " if not depth and sum(map(len, found)) > LONG_MEMBERS * len(found) else ", "
        comma = "," if begin == "(" and size == 1 else ""
        return f"{begin}{apart.join(found)}{comma}{end}"

    def _label(self, label: Any, share: int, depth: int) -> str:
        """Return what stands before a member: nothing, a field's name, or a key, which comes alone in a tuple."""
        return label if isinstance(label, str) else f"{self._of(label[0], share, depth + 1)}: "

    def _quoted(self, value: str | bytes, room: int) -> str:
        room = max(room, LEAST)
        if len(value) <= room:
            return repr(value)
        self.is_whole = False
        return f"{value[:room]!r}… ({len(value) - room:,} more {'characters' if isinstance(value, str) else 'bytes'})"

    def _own_text(self, value: Any) -> str:
        """Return what a value's class says of it; it is asked once."""
        if id(value) not in self._said:
            self._said[id(value)] = value, _said_by(value)  # with the value, whose id nothing else takes then
        return self._said[id(value)][1]

    def _cut(self, text: str, room: int) -> str:
        room = max(room, 2 * LEAST)
        if len(text) <= room:
            return text
        self.is_whole = False
        return f"{text[:room]}… ({len(text) - room:,} more characters)"


_Parts = tuple[str, str, int, Iterable[tuple[Any, Any]]]


def _opened(value: Any) -> _Parts | None:
    """Return how a value begins and ends, how many members it has, and these; ``None``: it is not a collection."""
    kind: Any = type(value)
    if kind not in _MAPPINGS and kind not in _SEQUENCES:
        kind = _REPRS.get(kind.__repr__)
    if kind in _MAPPINGS:
        begin, end = _MAPPINGS[kind]
        return begin, end, len(value), (((key,), member) for key, member in value.items())
    if kind in _SEQUENCES:
        members = _in_order(value) if kind in (set, frozenset) else value
        begin, end = _SEQUENCES[kind] if len(value) or kind is not set else ("set(", ")")
        return begin, end, len(value), (("", member) for member in members)
    fields = _fields(value, kind)
    if fields is None:
        return None
    return f"{name_of(type(value))}(", ")", len(fields), ((f"{field}=", part) for field, part in fields.items())


def _in_order(value: set[Any]) -> Iterable[Any]:
    return sorted(value, key=repr) if len(value) <= SORTED else value


def _fields(value: Any, kind: type | None) -> Mapping[str, Any] | None:
    """Return the fields of a data class or a named tuple, or the attributes of an object without a text of its own."""
    own: Any = type(value).__repr__
    if kind is SimpleNamespace or _is_plain(type(value)):
        return _attributes(value)
    if "__dataclass_fields__" in vars(type(value)) and _is_made(own):
        fields = (name for name, field in type(value).__dataclass_fields__.items() if field.repr)
        return {name: getattr(value, name) for name in fields if hasattr(value, name)}
    if isinstance(value, tuple) and own.__module__ == "collections":
        return dict(zip(type(value)._fields, value, strict=False))  # type: ignore[attr-defined]
    return None


def _is_plain(kind: Any) -> bool:
    """Return whether a class has no text of its own."""
    return kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__


def _attributes(value: Any) -> Mapping[str, Any] | None:
    found = getattr(value, "__dict__", None)
    if type(found) is not dict or not found:
        return None
    return {name: part for name, part in found.items() if name[:1] != "_"}


def _is_made(method: Any) -> bool:
    """Return whether a method was written by ``dataclass``, not by the user."""
    code = getattr(getattr(method, "__wrapped__", method), "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _array_words(value: Any) -> str:
    """Return a frame or a large array inside of another value in a few words."""
    kind = array_kind(value)
    if kind in ("frame", "polars") and hasattr(value, "columns"):
        names = ", ".join(map(str, islice(value.columns, 10)))
        more = f", … {len(value.columns) - 10:,} more" if len(value.columns) > 10 else ""
        return f"<{name_of(type(value))} of {len(value):,} rows × {len(value.columns):,} columns: {names}{more}>"
    if kind and kind not in ("groups", "locator") and getattr(value, "size", len(value)) > SHARES * 4:
        shape = " × ".join(f"{side:,}" for side in getattr(value, "shape", (len(value),)))
        return f"<{name_of(type(value))} of {shape} values, {getattr(value, 'dtype', '')}>"
    return ""


def _said_by(value: Any) -> str:
    """Return the text of a value of any other class, without addresses in memory."""
    kind: Any = type(value)
    text = str(value) if kind.__repr__ is object.__repr__ or module_of(kind) == "jupyter_ctx" else repr(value)
    return MEMORY_ADDRESS.sub("", text)
