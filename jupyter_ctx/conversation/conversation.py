"""What was said, and what the user did with it.

A conversation is the fold of an append-only list of events. Nothing is removed from
that list: clear, trim and re-run are events, and so is undo. What a request sends (the
view) is computed from the fold elsewhere; values here know nothing of storage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .events import Event, Kept, Offered, Redone, Said, Summarized, Undone, Unreadable
from .places import Places

BETWEEN_STEPS = (Kept, Offered)  # undo takes neither back


class Step(NamedTuple):
    """The events that one undo takes back, and their name."""

    events: tuple[Event, ...]
    label: str


class Conversation(Places):
    """The fold of ``events``, of which there are ``length``. Appending a turn is O(1); undo and redo fold again."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        super().__init__()
        self.length = 0
        self._events: list[Event] = []
        self._done: list[Step] = []
        self._before: list[Event] = []  # what came before the first step
        self._undone: list[Step] = []
        for event in events:
            self.append(event)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that happened, oldest first."""
        return tuple(self._events)

    @property
    def undo_label(self) -> str | None:
        """What undo would take back, in a word."""
        return self._done[-1].label if self._done else None

    @property
    def undo_events(self) -> tuple[Event, ...]:
        """The events that undo would take back."""
        return self._done[-1].events if self._done else ()

    @property
    def redo_label(self) -> str | None:
        """What redo would do again, in a word."""
        return self._undone[-1].label if self._undone else None

    def append(self, event: Event) -> None:
        """Add one event and fold it in."""
        if isinstance(event, Undone):
            self._undo()
        elif isinstance(event, Redone):
            self._redo()
        elif isinstance(event, BETWEEN_STEPS):
            self._join(event)
            self._fold(event)
        else:
            if not isinstance(event, Unreadable):  # which may have been an undo
                self._undone.clear()
            took_back = self._fold(event)
            self._add_step(event, event.label_off if took_back else event.label)
        self._events.append(event)
        self.length += 1

    def _undo(self) -> None:
        if not self._done:  # what it took back is lost
            return
        self._undone.append(self._done.pop())
        for event in self._undone[-1].events:
            if isinstance(event, BETWEEN_STEPS):  # its cell has run all the same
                self._join(event)
        self._fold_again()

    def _redo(self) -> None:
        if self._undone:
            self._done.append(self._undone.pop())
            self._fold_again()

    def _join(self, event: Event) -> None:
        """Make what is no step of its own a part of the last one."""
        if self._done:
            last = self._done.pop()
            self._done.append(Step((*last.events, event), last.label))
        else:
            self._before.append(event)

    def _add_step(self, event: Event, label: str) -> None:
        last = self._done[-1].events[-1] if self._done else None
        after = isinstance(event, Summarized) and event.automatic == "after"
        before = isinstance(last, Summarized) and last.automatic == "before" and isinstance(event, Said | Unreadable)
        if last is not None and (after or before):
            step = self._done.pop()
            self._done.append(Step((*step.events, event), step.label if after else label))
        else:
            self._done.append(Step((event,), label))

    def _fold_again(self) -> None:
        self._reset()
        for event in self._before:
            self._fold(event)
        for step in self._done:
            for event in step.events:
                self._fold(event)

    def _fold(self, event: Event) -> bool:
        """Fold one event in; return whether it took something back: an answer or a mark."""
        self._now += 1
        count = len(self.places)
        took_back = bool(event.fold(self))
        is_added = isinstance(event, Said) and len(self.places) == count + 1 and self.places[-1].turn is event.turn
        if not is_added:
            self.changed()
        return took_back
