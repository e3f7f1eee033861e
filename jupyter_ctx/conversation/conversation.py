"""What was said, and what the user did with it.

A conversation is the fold of an append-only list of events. Nothing is removed from
that list: clear, trim and re-run are events, and so is undo. What a request sends (the
view) is computed from the fold elsewhere; values here know nothing of storage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .events import Added, Chosen, Event, Kept, Offered, Redone, Summarized, TurnAdded, Undone, Unreadable
from .messages import Alternatives, Summary, Turn
from .places import Places, TurnSlot

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
        self._of_cells: dict[str, list[Turn]] = {}  # whatever became of them
        self._summaries_by: dict[str, Summary] = {}  # the newest
        self.all_offers: dict[str, Alternatives] = {}  # cleared or not
        # the number of the event that brought a turn or a summary first, and the turn's execution then
        self._brought: dict[str, tuple[int, str | None]] = {}
        self._past: Conversation | None = None  # as it was before one of them
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
        self._remember(event)
        self._events.append(event)
        self.length += 1

    # what became of nothing: taken back, cleared, or replaced

    def last_run(self, cell: str | None, run: str | None) -> list[Turn]:
        """Return the turns of the cell's last execution other than this one, also where no place has them now."""
        turns = [turn for turn in self._of_cells.get(cell or "", ()) if turn.record.run != run]
        return [turn for turn in turns if turn.record.run == turns[-1].record.run]

    def summary_by(self, by: str) -> Summary | None:
        """Return the newest summary that a cell asked for, also where it was taken back."""
        return self._summaries_by.get(by)

    def has_other_answers(self, places: Iterable[TurnSlot]) -> bool:
        """Return whether the cell of one of these places, of an earlier time, has other answers now."""
        for place in places:
            now = self.of_cell(place.turn.record.cell)
            if now and all(place.turn != other.turn for other in now):
                return True
        return False

    def before(self, brought: str) -> Conversation | None:
        """Return the conversation as it was before it had this turn or summary; ``None``: it never had it."""
        if brought not in self._brought:
            return None
        end, _ = self._brought[brought]
        if self._past is None or self._past.length > end:
            self._past = Conversation()
        for event in self._events[self._past.length : end]:
            self._past.append(event)
        return self._past

    def chosen_of(self, offered: Alternatives) -> str:
        """Return the id of the answer that was taken last of several; empty: none was."""
        chosen = (event for event in reversed(self._events) if isinstance(event, Chosen))
        return next((event.turn for event in chosen if event.alternatives == offered.id), "")

    def run_of(self, turn: str) -> str | None:
        """Return the execution of its cell in which a turn was answered, and not only shown again."""
        _, run = self._brought[turn]
        return run

    def _remember(self, event: Event) -> None:
        """Note which turns, of which cell, or which summary an event brings."""
        turns: tuple[Turn, ...] = ()
        if isinstance(event, TurnAdded):
            turns = (event.turn,)
        elif isinstance(event, Offered):
            turns = event.alternatives.turns
            self.all_offers[event.alternatives.id] = event.alternatives
        elif isinstance(event, Added):
            turns = event.turns
        elif isinstance(event, Summarized):
            self._brought.setdefault(event.summary.id, (self.length, None))
            self._summaries_by[event.summary.by] = event.summary
        for turn in turns:
            self._brought.setdefault(turn.record.id, (self.length, turn.record.run))
            if turn.record.cell is not None:
                self._of_cells.setdefault(turn.record.cell, []).append(turn)

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
        before = (
            isinstance(last, Summarized) and last.automatic == "before" and isinstance(event, TurnAdded | Unreadable)
        )
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
        is_added = isinstance(event, TurnAdded) and len(self.places) == count + 1 and self.places[-1].turn is event.turn
        if not is_added:
            self.changed()
        return took_back
