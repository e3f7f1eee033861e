"""Stored rows as a conversation again, as far as they can be read.

A row that is damaged, or gone, costs what it held: it becomes a step without an effect, so that
undo and redo after it still mean what they meant. Nothing in the store is changed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import NamedTuple

from ..conversation.conversation import Conversation
from ..conversation.events import EVENT_KINDS, Event, Kept, Offered, Redone, Said, Undone, Unreadable
from ..wording import counted
from .serialization import Sizes, UnreadableError, from_row, sizes_of
from .store import Stored

MOST_MISSING = 1_000  # rows between two others that are taken for lost, each a step of its own
NAMED = 5  # of what was lost; more are only counted
WITHOUT_CONTENT = {name: kind() for name, kind in EVENT_KINDS.items() if not fields(kind)}  # the kind says all


class Events(NamedTuple):
    """The rows of a conversation: folded, with what was learned of sizes, and the ``next`` row's number.

    ``problems`` says what could not be read, a sentence each.
    """

    conversation: Conversation
    sizes: list[Sizes]
    next: int
    problems: tuple[str, ...]


def read_events(stored: Iterable[Stored]) -> Events:
    """Fold rows, in the order of their numbers; nothing that they hold makes that fail."""
    reader = _Reader()
    with _without_collection():
        for row in stored:
            reader.take(row)
    return Events(reader.conversation, reader.sizes, reader.next, tuple(reader.problems()))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the garbage collector, which would walk all turns again and again while more of them are made."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


class _Reader:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self.sizes: list[Sizes] = []
        self.next = 0
        self._last: Stored | None = None
        self._gone = 0  # turns lost since the last clear: those after them had higher numbers
        self._lost: list[str] = []
        self._unsized: list[str] = []
        self._newer: dict[str, None] = {}

    def take(self, row: Stored) -> None:
        """Fold one row more."""
        if row.seq is None or row.seq < 0:
            self._lost.append("a row without a number")
        elif row.seq < self.next and self._last is not None and row[:2] == self._last[:2]:
            self._lost.append(f"a second copy of row {row.seq + 1}")
        else:
            self._take_missing(row.seq)
            self._take_event(row)
            self._take_sizes(row)
            self.next, self._last = max(self.next, row.seq + 1), row

    def _take_missing(self, seq: int) -> None:
        missing = seq - self.next
        if missing > 0:
            rows = counted(missing, "row")
            self._lost.append(f"{rows} after {self._here}" if self.next else f"the first {rows}")
        for _ in range(min(missing, MOST_MISSING)):
            self.conversation.append(Unreadable())

    def _take_event(self, row: Stored) -> None:
        event = read_event(row)
        if event is None:
            self._lose(_text(row.kind), _text(row.body))
        elif isinstance(event, Undone) and not self.conversation.undo_label:
            self._lost.append("an undo of what is not there")
        elif isinstance(event, Redone) and not self.conversation.redo_label:
            self._lost.append("a redo of what is not there")
        else:
            self.conversation.append(event)
            self._gone = self._gone if self.conversation.places else 0

    def _lose(self, kind: str | None, body: str | None) -> None:
        """Keep a row's place, and name it."""
        if kind == Kept.stored_as:  # a part of the step before
            self._lost.append(f"the run of a cell after {self._here}")
            return
        if kind == Offered.stored_as:  # no step, either
            self._lost.append(f"answers side by side after {self._here}")
            return
        if kind is not None and kind not in EVENT_KINDS:
            self._newer[kind] = None
        elif kind == Said.stored_as:
            self._gone += 1
            self._lost.append(self._here)
        else:
            self._lost.append(f"{kind!r} after {self._here}" if kind else f"a row after {self._here}")
        self.conversation.append(Unreadable(kind or "", body or ""))

    def _take_sizes(self, row: Stored) -> None:
        if not row.sizes:
            return
        try:
            self.sizes += sizes_of(row.sizes)
        except UnreadableError:
            self._unsized.append(self._here)

    @property
    def _here(self) -> str:
        """The turn that was said last, by the number that it had."""
        number = len(self.conversation.places) + self._gone
        return f"turn {number}" if number else "the beginning"

    def problems(self) -> Iterable[str]:
        """Return sentences that say what could not be read."""
        if self._lost:
            yield f"Damaged rows were passed over, and left as they are: {_listed(self._lost)}."
        if self._unsized:
            yield f"Sizes are estimated anew, as their rows are damaged: {_listed(self._unsized)}."
        if self._newer:
            kinds = ", ".join(map(repr, self._newer))
            yield f"A newer jupyter_ctx did what this one does not know ({kinds}), which is kept: update this one."


def read_event(row: Stored) -> Event | None:
    """Return the event of a row, or ``None`` where the row cannot be read."""
    kind = _text(row.kind)
    if kind is None:  # perhaps a turn all the same: no other row looks like one
        return _read(Said.stored_as, row.body)
    event = _read(kind, row.body)
    return WITHOUT_CONTENT.get(kind) if event is None else event


def _read(kind: str, body: str | bytes | None) -> Event | None:
    try:
        return from_row(kind, body) if body is not None else None
    except UnreadableError:
        return None


def _text(stored: str | bytes | None) -> str | None:
    try:
        return stored.decode() if isinstance(stored, bytes) else stored
    except UnicodeDecodeError:
        return None


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
