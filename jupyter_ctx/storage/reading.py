"""Stored rows as a conversation again, as far as they can be read.

A row that is damaged, or gone, costs what it held: it becomes a step without an effect, so that
undo and redo after it still mean what they meant. Nothing in the store is changed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import NamedTuple

from ..conversation.conversation import Conversation
from ..conversation.events import EVENT_KINDS, Event, Kept, Offered, Redone, Undone, Unreadable
from .serialization import Sizes, UnreadableError, from_row, sizes_of
from .store import Stored

MOST_MISSING = 1_000  # rows between two others that are taken for lost, each a step of its own
NO_STEPS = (Kept.stored_as, Offered.stored_as)  # which undo takes back with the step before
WITHOUT_CONTENT = {name: kind() for name, kind in EVENT_KINDS.items() if not fields(kind)}  # the kind says all


class Events(NamedTuple):
    """The rows of a conversation: folded, with what was learned of sizes, and the ``next`` row's number.

    ``lost`` counts the rows that could not be read.
    """

    conversation: Conversation
    sizes: list[Sizes]
    next: int
    lost: int


def read_events(stored: Iterable[Stored]) -> Events:
    """Fold rows, in the order of their numbers; nothing that they hold makes that fail."""
    reader = _Reader()
    with _without_collection():
        for row in stored:
            reader.take(row)
    return Events(reader.conversation, reader.sizes, reader.next, reader.lost)


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
        self.next = self.lost = 0

    def take(self, row: Stored) -> None:
        """Fold one row more, after those that are missing before it."""
        missing = row.seq - self.next
        for _ in range(min(missing, MOST_MISSING)):
            self.conversation.append(Unreadable())
        self.lost += missing
        self._take_event(row)
        self._take_sizes(row)
        self.next = row.seq + 1

    def _take_event(self, row: Stored) -> None:
        event, past = read_event(row), self.conversation
        nothing_undone = isinstance(event, Undone) and not past.undo_label
        nothing_redone = isinstance(event, Redone) and not past.redo_label
        if event is not None and not nothing_undone and not nothing_redone:
            past.append(event)
            return
        self.lost += 1
        if event is None and row.kind not in NO_STEPS:  # it keeps its place among the steps
            past.append(Unreadable(row.kind))

    def _take_sizes(self, row: Stored) -> None:
        if row.sizes:
            with suppress(UnreadableError):  # they are estimated anew
                self.sizes += sizes_of(row.sizes)


def read_event(row: Stored) -> Event | None:
    """Return the event of a row, or ``None`` where the row cannot be read."""
    try:
        return from_row(row.kind, row.body)
    except UnreadableError:
        return WITHOUT_CONTENT.get(row.kind)
