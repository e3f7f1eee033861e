"""What was said, and what the user did with it.

A conversation is the fold of an append-only list of events. Nothing is removed from
that list: clear, trim and re-run are events, and so is undo. What a request sends (the
view) is computed from the fold elsewhere; values here know nothing of storage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from . import events
from .events import Added, Event, TurnAdded
from .messages import Turn
from .places import Places, TurnSlot, next_revision

E = TypeVar("E", bound=Event)
BETWEEN_STEPS = (events.Kept, events.Offered)  # undo takes neither back


@dataclass(slots=True)
class Step:
    """The events that one undo takes back, and their name."""

    events: list[Event]
    label: str


class Conversation(Places):
    """The fold of ``events``, of which there are ``length``. Appending a turn is O(1); undo and redo fold again."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        super().__init__()
        self.length = 0
        self._events: list[Event] = []
        self._done = [Step([], "")]  # the first holds what came before any step
        self._undone: list[Step] = []
        self._past: Conversation | None = None  # as it was before an earlier event
        for event in events:
            self.append(event)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that happened, oldest first."""
        return tuple(self._events)

    @property
    def undo_label(self) -> str | None:
        """What undo would take back, in a word."""
        return self._done[-1].label or None

    @property
    def undo_events(self) -> tuple[Event, ...]:
        """The events that undo would take back."""
        return tuple(self._done[-1].events) if self.undo_label else ()

    @property
    def redo_label(self) -> str | None:
        """What redo would do again, in a word."""
        return self._undone[-1].label if self._undone else None

    def append(self, event: Event) -> None:
        """Add one event and fold it in."""
        if isinstance(event, events.Undone):
            self._undo()
        elif isinstance(event, events.Redone):
            self._redo()
        elif isinstance(event, BETWEEN_STEPS) or (isinstance(event, events.Summarized) and event.automatic == "after"):
            self._done[-1].events.append(event)
            self._fold(event)
        else:
            if not isinstance(event, events.Unreadable):  # which may have been an undo
                self._undone.clear()
            took_back = self._fold(event)
            self._add_step(event, event.label_off if took_back else event.label)
        self._events.append(event)
        self.length += 1

    # what became of nothing: taken back, cleared, or replaced

    def last_run(self, cell: str | None, run: str | None) -> list[Turn]:
        """Return the turns of the cell's last execution other than this one, also where no place has them now."""
        if cell is None:
            return []
        records = ((turn, turn.record) for event in self._events for turn in _turns_of(event))
        turns = [turn for turn, record in records if record.cell == cell and record.run != run]
        return [turn for turn in turns if turn.record.run == turns[-1].record.run]

    def newest(self, kind: type[E]) -> Iterator[E]:
        """Yield the events of a kind, the newest first, also those that were taken back or cleared."""
        return (event for event in reversed(self._events) if isinstance(event, kind))

    def has_other_answers(self, places: Iterable[TurnSlot]) -> bool:
        """Return whether the cell of one of these places, of an earlier time, has other answers now."""
        current = ((place.turn, self.of_cell(place.turn.record.cell)) for place in places)
        return any(now and all(turn != other.turn for other in now) for turn, now in current)

    def before(self, brought: str) -> Conversation | None:
        """Return the conversation as it was before it had this turn or summary; ``None``: it never had it."""
        end = next((number for number, event in enumerate(self._events) if brought in ids_of(event)), None)
        if end is None:
            return None
        if self._past is None or self._past.length > end:
            self._past = Conversation()
        for event in self._events[self._past.length : end]:
            self._past.append(event)
        return self._past

    def run_of(self, brought: str) -> str | None:
        """Return the execution of its cell in which a turn was answered, and not only shown again."""
        turns = (turn for event in self._events for turn in _turns_of(event))
        return next(turn.record.run for turn in turns if turn.id == brought)

    # steps

    def _undo(self) -> None:
        if not self.undo_label:  # what it took back is lost
            return
        self._undone.append(self._done.pop())
        between = (event for event in self._undone[-1].events if isinstance(event, BETWEEN_STEPS))
        self._done[-1].events += between  # their cells have run all the same
        self._fold_again()

    def _redo(self) -> None:
        if self._undone:
            self._done.append(self._undone.pop())
            self._fold_again()

    def _add_step(self, event: Event, label: str) -> None:
        """Add a step; a turn is one with the summary that was written for it."""
        last = self._done[-1]
        newest = last.events[-1] if last.events else None
        is_for_it = isinstance(newest, events.Summarized) and newest.automatic == "before"
        if is_for_it and isinstance(event, TurnAdded | events.Unreadable):
            last.events.append(event)
            last.label = label
        else:
            self._done.append(Step([event], label))

    def _fold_again(self) -> None:
        self._reset()
        for step in self._done:
            for event in step.events:
                self._fold(event)

    def _fold(self, event: Event) -> bool:
        """Fold one event in; return whether it took something back: an answer or a mark."""
        self._now += 1
        count = len(self.places)
        took_back = self._apply(event)
        is_added = isinstance(event, TurnAdded) and len(self.places) == count + 1 and self.places[-1].turn is event.turn
        if not is_added:
            self.revision = next_revision()
        return took_back

    def _apply(self, event: Event) -> bool:  # noqa: C901  # one case for each kind of event
        """Change the places as an event says; return whether that took something back: an answer or a mark."""
        match event:
            case TurnAdded():
                return len(self.add_turn(event).versions) > 1
            case events.Chosen():
                return self.choose(event.alternatives, event.turn)
            case events.Picked():
                for place in self.places:
                    for version in place.versions:
                        if version.id == event.turn:
                            place.show(version, self._now)
            case events.Pinned() | events.Excluded():
                self.mark(self.named(event.places), pinned=isinstance(event, events.Pinned), on=event.on)
                return not event.on
            case events.Cleared():
                self.clear()
            case events.Trimmed():
                self.trimmed_to = len(self.places) if event.first is None else self.index(event.first)
            case events.Summarized():
                self.set_summary(event.summary)
            case events.IncludedAll():
                self.trimmed_to = 0
                for place in self.places:
                    place.start = place.own_start = place.shortened = None
                    place.excluded = False
            case events.SystemSet():
                self.system = event.text
            case events.MemorySet():
                self.memory = event.path
            case Added():
                self._add_all(event)
            case events.Offered():
                self.offers[event.alternatives.id] = event.alternatives
                for turn in event.alternatives.turns:
                    self._written.setdefault(turn.id, self._now)
            case events.Kept():
                for place in self.named((event.place,)):
                    place.run, place.execution = event.run, event.execution
            case events.Unreadable():
                self._lost = len(self.places) if event.kind in ("", TurnAdded.stored_as) else self._lost
        return False

    def _add_all(self, event: Added) -> None:
        self.system = self.system if event.system is None else event.system
        for turn in event.turns:
            self.add_turn(TurnAdded(turn))
        for ids, pinned in ((event.pinned, True), (event.excluded, False)):
            if ids:
                self.mark([place for place in self.places if place.turn.id in ids], pinned=pinned, on=True)
        if event.summary is not None:
            self.set_summary(event.summary)


def _turns_of(event: Event) -> tuple[Turn, ...]:
    """Return the turns that an event brings."""
    if isinstance(event, TurnAdded):
        return (event.turn,)
    if isinstance(event, events.Offered):
        return event.alternatives.turns
    return event.turns if isinstance(event, Added) else ()


def ids_of(event: Event) -> list[str]:
    """Return the ids of the turns, or of the summary, that an event brings."""
    return [event.summary.id] if isinstance(event, events.Summarized) else [turn.id for turn in _turns_of(event)]
