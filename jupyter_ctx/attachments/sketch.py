"""Write a value as text within a number of characters, and say what was left out of it."""

from __future__ import annotations

from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType, SimpleNamespace
from typing import Any

from ..conversation.text_safety import lasting
from ..runtime.secret_texts import BLANKED
from .attached import Blanks
from .digits import written_array
from .kinds import VIEWS, array_kind, module_of, name_of

SKETCH_DEPTH = 12  # levels of values in values
KEY_ROOM = 4_000  # characters beside a cut that are looked at for a key
SHARES = 8  # of the members of a collection that follow, each may take this part of the room
LEAST = 24  # characters that a member may always take
LONG_MEMBERS = 30  # characters of a member, from which on each has a line of its own
SORTED = 1_000_000  # members of a set that are brought into order, so that equal sets look alike
WRITTEN_BITS = 14_000  # Python writes no much longer ones

_MAPPINGS: dict[type, tuple[str, str]] = {
    dict: ("{", "}"), OrderedDict: ("OrderedDict({", "})"), defaultdict: ("defaultdict({", "})"),
    Counter: ("Counter({", "})"), MappingProxyType: ("mappingproxy({", "})"), UserDict: ("{", "}"),
    ChainMap: ("ChainMap({", "})"),
}  # fmt: skip
_SEQUENCES: dict[type, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("frozenset({", "})"), deque: ("deque([", "])"),
    UserList: ("[", "]"), array: ("array([", "])"), memoryview: ("memoryview([", "])"),
    **{view: (f"{view.__name__}([", "])") for view in VIEWS},
}  # fmt: skip
_ARRAYS = ("array", "frame", "series", "index", "values", "polars")
_REPRS = {kind.__repr__: kind for kind in (*_MAPPINGS, *_SEQUENCES, SimpleNamespace)}  # of subclasses that inherit it


class Sketch:
    """A value as text, as ``repr`` writes it but within ``room`` characters or little more.

    ``text`` is the whole, ``shown`` how many of the ``size`` members of a collection it has (both 0 for anything else),
    ``all_shown`` and ``all_sizes`` the same with the collections in it, ``is_whole`` whether nothing was left out,
    ``summed_up`` what is there only by its size. Code of the value's class may run; ``said`` keeps the texts of such
    classes, for another sketch of the same value. ``blanks`` blanks what is secret.
    """

    def __init__(self, value: Any, room: int, said: dict[int, tuple[Any, str]] | None, blanks: Blanks) -> None:
        self.is_whole, self._blanks = True, blanks
        self._said = {} if said is None else said
        self.shown = self.size = self.all_shown = self.all_sizes = 0
        self.summed_up = ""
        self._open: set[int] = set()
        self.text = self._of(value, room, 0)

    def _of(self, value: Any, room: int, depth: int) -> str:
        kind = type(value)
        if kind is str or kind is bytes:
            return self._quoted(value, room)
        if kind is int:
            bits = value.bit_length()
            return self._cut(repr(value), room) if bits <= WRITTEN_BITS else f"<int of {bits:,} bits>"
        if array_kind(value) in _ARRAYS:
            return self._array(value, room, depth)
        parts = _opened(value)
        if parts is None:
            text = self._own_text(value)
            self.summed_up = self.summed_up or _left_out_of(value, text)
            return self._cut(text, room)
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
            name = label.rstrip("=") if isinstance(label, str) else label[0]
            text = BLANKED if self._blanks.hides(name, member) else self._of(member, share, depth + 1)
            text = f"{self._label(label, share, depth)}{text}"
            found.append(text)
            left -= len(text) + 2
        if not depth:
            self.shown, self.size = len(found), max(size, len(found))
        self.all_shown += len(found)
        self.all_sizes += max(size, len(found))
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
        part = self._redacted(value[: room + KEY_ROOM])
        if len(value) <= room:
            return repr(part)
        self.is_whole = False
        return f"{part[:room]!r}… ({len(value) - room:,} more {'characters' if isinstance(value, str) else 'bytes'})"

    def _redacted(self, value: str | bytes) -> str | bytes:
        if isinstance(value, str):
            return self._blanks.redacted(value)
        return self._blanks.redacted(value.decode("latin-1")).encode("latin-1")

    def _array(self, value: Any, room: int, depth: int) -> str:
        """Return an array, a column or a frame in a value: its values if they are few, else its size."""
        if not _is_small(value):
            self.summed_up = self.summed_up or "tables and arrays in it by their sizes"
            return _size_words(value)
        if array_kind(value) == "array":
            text, _ = written_array(value, threshold=SHARES * 4)
            return f"array({text})"
        members = value.tolist() if hasattr(value, "tolist") else value.to_list()
        return f"{name_of(type(value))}({self._of(members, room, depth + 1)})"

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
        members = _in_order(kind.copy(value)) if kind in (set, frozenset) else value
        members = value.tolist() if kind is memoryview else members  # of which those of many dimensions have no items
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


def _is_small(value: Any) -> bool:
    return not hasattr(value, "columns") and getattr(value, "size", len(value)) <= SHARES * 4


def _size_words(value: Any) -> str:
    """Return a frame or a large array inside of another value in a few words."""
    if hasattr(value, "columns"):
        names = ", ".join(map(str, islice(value.columns, 10)))
        more = f", … {len(value.columns) - 10:,} more" if len(value.columns) > 10 else ""
        return f"<{name_of(type(value))} of {len(value):,} rows × {len(value.columns):,} columns: {names}{more}>"
    return f"<{name_of(type(value))} of {_shape(value)} values, {getattr(value, 'dtype', '')}>"


def _shape(value: Any) -> str:
    return " × ".join(f"{side:,}" for side in getattr(value, "shape", None) or (len(value),))


def _left_out_of(value: Any, text: str) -> str:
    """Return of how much a class's own text shows a part only; empty where it seems to be whole, or has no size."""
    is_part = "..." in text or "…" in text or (text[:1] == "<" and text[-1:] == ">")
    if not is_part:
        return ""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and all(type(side) is int for side in shape):
        return f"{_shape(value)} values by its own short text"
    return f"{len(value):,} members by its own short text" if hasattr(type(value), "__len__") else ""


def _said_by(value: Any) -> str:
    """Return the text of a value of any other class, without what is other in every kernel."""
    kind: Any = type(value)
    text = str(value) if kind.__repr__ is object.__repr__ or module_of(kind) == "jupyter_ctx" else repr(value)
    return lasting(text)
