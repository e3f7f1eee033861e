"""Learn secrets that several values hold together: the lines of a private key, a value that stands beside its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import getattr_static
from itertools import islice, zip_longest
from typing import Any

from .private_keys import Span, key_lines
from .secret_names import (
    HOLDERS,
    LatePattern,
    is_number,
    is_paired,
    is_secret_value,
    is_text,
    library_of,
    names_a_secret,
    names_anything,
    names_beside,
)

_BEGINNING = 16  # characters at the start of a long key that identify it: a printed table cuts long texts
_MOST_PARTS = 50_000  # parts of a value that are looked through
_DEPTH = 12  # levels of values in values
_ENDS = 1_000  # characters at both ends of a text that are looked at together with its neighbours
_MOST_TEXT = 2_000_000  # characters of all of these
_LEAST = 3  # characters of a learned text
_STARTS = LatePattern(r"(?<![^\W_])|(?![^\W_])")  # places that are not within a word or number


class LearnedSecrets:
    """Secrets that were learned from values, to be found wherever they stand in a text."""

    def __init__(self) -> None:
        self._learned, self._lengths = set[str](), set[int]()
        self._looked_at = dict[int, object]()

    def learn(self, value: object) -> None:
        """Learn what a value's parts hold together: keys in several texts, values beside their names."""
        if is_text(value) or is_number(value) or id(value) in self._looked_at:
            return
        self._looked_at[id(value)] = value
        texts = list(self._look(value))
        joined = "\n".join(texts)
        if len(texts) > 1 and _mentions_key(joined):
            self._add(part for line in key_lines(joined) for part in with_beginning(line))

    def learn_table(
        self, names: Sequence[object], columns: Sequence[Sequence[object]], labels: Sequence[object] = ()
    ) -> None:
        """Do the same for a table of columns, whose rows may have labels that are names."""
        for name, column in zip(names, columns, strict=False):
            self.learn(list(column))
            if names_anything(name) and not names_a_secret(name):
                self._note((name, cell) for cell in column)
        is_of_pairs = is_paired(names)
        for label, row in zip_longest(labels, zip(*columns, strict=False)):
            if any(is_text(cell) and _mentions_key(_ends(cell)) for cell in row or ()):
                self.learn(list(row))
            if is_of_pairs:
                self._note(zip(names_beside(names, row), row, strict=False))
            if names_anything(label):
                cells = zip(names, row, strict=False)
                self._note((label, cell) for name, cell in cells if not _is_count(name, cell))

    def has_learned(self, value: object) -> bool:
        """Return whether a value is one that its neighbours tell to be secret."""
        return _text_of(value) in self._learned

    def _look(self, value: object) -> Iterator[str]:
        """Yield the ends of the texts in a value, in order, and note what is secret for the names in it."""
        inside, number, size = [iter((value,))], 0, 0
        while inside and number < _MOST_PARTS and size < _MOST_TEXT:
            part = next(inside[-1], inside)
            number += 1
            if part is inside:
                inside.pop()
            elif is_text(part) or type(part) is bytes:
                text = _ends(_text_of(part))
                size += len(text)
                yield text
            elif len(inside) <= _DEPTH:
                labels, values = _parts_of(part)
                if labels is not None or len(values) == 2:
                    names, is_record = names_beside(labels, values), not issubclass(type(part), dict)
                    triples = zip_longest(names, labels or (), values)
                    self._note((name, one) for name, label, one in triples if is_record or name is not label)
                inside.append(iter(values))

    def _note(self, pairs: Iterable[tuple[object, object]]) -> None:
        secrets = (_text_of(value) for name, value in pairs if names_anything(name) and is_secret_value(name, value))
        self._add(text for text in secrets if len(text) >= _LEAST)

    def _add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._learned.add(text)
            self._lengths.add(len(text))

    def _learned_in(self, text: str) -> Iterator[Span]:
        """Yield where learned texts stand; one pass, for a table may hold thousands of them."""
        for match in _STARTS.finditer(text) if self._learned else ():
            at = match.start()
            for length in self._lengths:
                if text[at : at + length] in self._learned and _ends_apart(text, at, at + length):
                    yield at, at + length


def with_beginning(key: str) -> tuple[str, ...]:
    """Return a key and, of a long one, the beginning that identifies it."""
    return (key, key[:_BEGINNING]) if len(key) >= 2 * _BEGINNING else (key,)


def _ends_apart(text: str, start: int, end: int) -> bool:
    """Return whether a place in a text ends with a word or number, or is that long that it may be a part of one."""
    return end - start >= _BEGINNING or not (text[end - 1 : end + 1].isalnum() and end < len(text))


def _ends(text: str) -> str:
    """Return a text, or both ends of a long one: a key that lies in several texts goes over their ends."""
    is_short = len(text) <= 2 * _ENDS
    return text if is_short else f"{text[:_ENDS]}\n{text[-_ENDS:]}"


def _mentions_key(text: str) -> bool:
    return "PRIVATE KEY" in text or "Private-" in text


def _is_count(name: object, cell: object) -> bool:
    """Return whether a cell says how often something is there, such as a word in a text."""
    return is_number(cell) and is_text(name) and name != "value"


def _text_of(value: object) -> str:
    """Return a text, bytes or a number as text; nothing for what would run code of its class."""
    if is_text(value):
        return str.__str__(value)
    if type(value) is bytes:
        return value.decode("latin-1")
    return str(value) if is_number(value) else ""


def _parts_of(value: Any) -> tuple[Sequence[object] | None, Sequence[object]]:
    """Return the labels of a value's parts, if these have any, and the parts."""
    kind = type(value)
    base = next((base for base in HOLDERS if issubclass(kind, base)), None)
    if base is dict:
        return list(islice(dict.keys(value), _MOST_PARTS)), list(islice(dict.values(value), _MOST_PARTS))
    if base is not None:  # whose own iterator is read: a class of the notebook may have code in its own
        fields = getattr_static(kind, "_fields", None) if base is tuple else None
        parts = islice(base.__iter__(value), _MOST_PARTS)
        return fields if type(fields) is tuple else None, tuple(parts) if base is tuple else list(parts)
    if library_of(kind) == "pandas" and kind.__name__ == "Series":
        return _parts_of_series(value)
    if library_of(kind) == "numpy" and hasattr(value, "dtype"):
        return _parts_of_array(value)
    return None, ()


def _parts_of_series(series: Any) -> tuple[Sequence[object] | None, Sequence[object]]:
    is_count = is_text(series.name) and series.dtype.kind in "iuf"
    if is_count or series.dtype.kind not in "OSUViuf":
        return None, ()
    return series.index[:_MOST_PARTS].tolist(), series.iloc[:_MOST_PARTS].tolist()


def _parts_of_array(array: Any) -> tuple[Sequence[object] | None, Sequence[object]]:
    names = array.dtype.names
    if names and not array.ndim:
        return names, list(array.item())
    holds_texts = array.ndim > 0 and array.dtype.kind in "OSUV"
    return None, list(array.flat[:_MOST_PARTS]) if holds_texts else ()
