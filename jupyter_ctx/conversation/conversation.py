"""What was said, and what the user did with it.

A conversation is the fold of an append-only list of events. Nothing is removed from
that list: clear, trim and re-run are events, and so is undo. What a request sends (the
view) is computed from the fold elsewhere; values here know nothing of storage.

Each exchange has a *place*; a re-run of its cell puts a newer version there.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .events import (
    LABELS,
    Action,
    Added,
    Cleared,
    Event,
    Excluded,
    IncludedAll,
    Kept,
    Lost,
    MemorySet,
    Picked,
    Pinned,
    Redone,
    Said,
    Summarized,
    SystemSet,
    Trimmed,
    Undone,
)
from .messages import Summary, Turn


class Step(NamedTuple):
    """What one undo takes back, and its name."""

    actions: tuple[Action | Kept, ...]
    label: str


@dataclass(slots=True)
class Place:
    """Where a turn stands: its ``versions`` as they were written, and the current one.

    ``start`` is the beginning of the view it was first sent with: a re-run's cut is that
    request's alone, so newer versions leave it as it is. ``run`` is the execution it stands
    for and ``execution`` the number that its cell shows; ``shown`` is when which version
    became the current one.
    """

    id: str
    versions: list[Turn]
    start: str | None
    turn: Turn
    run: str | None
    shown: list[tuple[int, str]]
    execution: int | None = None
    fresh: bool = False  # the conversation began anew with it
    pinned: bool = False
    excluded: bool = False
    marks: list[tuple[int, bool, bool]] = field(default_factory=list)  # when it was pinned or excluded, or no longer

    @classmethod
    def of(cls, turn: Turn, start: str | None, now: int, *, fresh: bool = False) -> Place:
        """The place that a turn takes when it is first said."""
        return cls(turn.id, [turn], start, turn, turn.record.run, [(now, turn.id)], turn.record.execution, fresh)

    def show(self, turn: Turn, now: int) -> None:
        """Make this version the current one."""
        self.turn = turn
        self.shown.append((now, turn.id))

    def ran(self, run: str | None, execution: int | None) -> None:
        """Its cell was run again."""
        self.run, self.execution = run, execution

    def shown_at(self, then: int) -> str | None:
        """The id of the version that was the current one, or ``None`` before the first."""
        return next((turn for since, turn in reversed(self.shown) if since < then), None)

    def mark(self, now: int, *, pinned: bool, on: bool) -> None:
        """Pin or exclude it, or take that back; it cannot be both."""
        if pinned:
            self.pinned, self.excluded = on, self.excluded and not on
        else:
            self.excluded, self.pinned = on, self.pinned and not on
        self.marks.append((now, self.pinned, self.excluded))

    def as_marked_at(self, then: int) -> Place:
        """As it is, but pinned or excluded as it was."""
        marks = ((pinned, excluded) for since, pinned, excluded in reversed(self.marks) if since < then)
        pinned, excluded = next(marks, (False, False))
        return replace(self, pinned=pinned, excluded=excluded)

    @property
    def sendable(self) -> bool:
        """Whether a view may hold it: Anthropic refuses a message without text."""
        turn = self.turn
        asked = turn.prompt.strip() or turn.attachments
        return not self.excluded and bool(asked) and bool(turn.reply.strip())


class Conversation:
    """The fold of ``events``. Appending a turn is O(1); undo and redo fold again.

    ``places`` are the turns since the last clear, in order; ``revision`` changes whenever
    anything but an append at the end happened, so that what is derived can be kept.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._events: list[Event] = []
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self.revision = 0
        self._reset()
        for event in events:
            self.append(event)

    def _reset(self) -> None:
        self.places: list[Place] = []
        self.cleared: list[Place] = []
        self.trimmed_to = 0
        self.summary: Summary | None = None
        self.system: str | None = None
        self.pins: list[Place] = []
        self._index: dict[str, int] = {}
        self._cells: dict[str, list[Place]] = {}
        self._moved: dict[str, str] = {}  # places that went into another one
        self._lost = 0  # where the last turn stood that cannot be read
        self.memory: str | None = None
        self.has_files = False
        self.summaries: dict[str, Summary] = {}
        self._now = 0
        self._written: dict[str, int] = {}  # when each version was

    @property
    def events(self) -> tuple[Event, ...]:
        """All that happened, oldest first."""
        return tuple(self._events)

    @property
    def length(self) -> int:
        """How many events there are."""
        return len(self._events)

    @property
    def steps(self) -> int:
        """How many undos would lead back to the beginning."""
        return len(self._done)

    @property
    def undo_label(self) -> str | None:
        """What undo would take back, in a word."""
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again, in a word."""
        return self._undone[-1].label if self._undone else None

    def index(self, place: str | None) -> int:
        """Position of a place, or of the one it went into; 0 where it is none, or gone.

        A turn that cannot be read any more was the last one lost, as far as anybody knows.
        """
        while place in self._moved:
            place = self._moved[place]
        return self._index.get(place, min(self._lost, len(self.places))) if place is not None else 0

    def begins_anew(self, said: Said) -> bool:
        """Whether this turn clears first: a re-run of a cell that did so already does not."""
        mine = self._of_cell(said.turn.record.cell)
        return said.new and not (mine and mine[0].fresh)

    def older(self, cell: str | None, run: str | None) -> list[Place]:
        """The places that this cell's other executions have filled: a turn of this one takes the first."""
        return [place for place in self._of_cell(cell) if place.run != run]

    def _of_cell(self, cell: str | None) -> list[Place]:
        return self._cells.get(cell, []) if cell is not None else []

    def position(self, cell: str | None, run: str | None, *, append: bool = False) -> int:
        """Where a turn sent now by this cell's execution will stand.

        After the turns of the same execution (a loop), else in the place of the cell's
        older execution, else at the end.
        """
        mine = [] if append else self._of_cell(cell)
        if not mine:
            return len(self.places)
        same = [place for place in mine if place.run == run]
        return self.index(same[-1].id) + 1 if same else self.index(mine[0].id)

    def stale(self) -> frozenset[str]:
        """Ids of the places whose answer was written after an answer that is not the current one any more."""
        found, changed, latest = set(), list[Place](), 0
        for place in self.places:
            written = self._written[place.turn.id]
            if latest > written and any(self._differs(other, place, written) for other in changed):
                found.add(place.id)
            if len(place.shown) > 1:
                changed.append(place)
                latest = max(latest, place.shown[-1][0])
        return frozenset(found)

    def _differs(self, other: Place, place: Place, written: int) -> bool:
        """Whether an earlier place had another answer when this one was written, and was in view."""
        if other.shown[-1][0] < written or self._index[other.id] < self.index(place.turn.record.start):
            return False
        return other.shown_at(written) not in (None, other.turn.id)

    def as_marked_at(self, turn: Turn) -> Conversation:
        """As it is, but with what was pinned and excluded when this turn was written."""
        then = self._written[turn.id]
        if not any(place.marks and place.marks[-1][0] > then for place in self.places):
            return self
        past = copy(self)
        past.places = [place.as_marked_at(then) if place.marks else place for place in self.places]
        past._find_pins()
        return past

    def summarized(self, summary: Summary) -> Conversation:
        """As it is, but with this summary standing for the turns that it covers."""
        other = copy(self)
        other.summaries = {**self.summaries}
        other._stand_in(summary)
        return other

    def append(self, event: Event) -> None:
        """Add one event and fold it in."""
        if isinstance(event, Undone):
            self._undo()
        elif isinstance(event, Redone):
            self._redo()
        elif isinstance(event, Kept):
            self._join(event)
            self._fold(event)
        else:
            if not isinstance(event, Lost):  # which may have been an undo
                self._undone.clear()
            on, off = LABELS[type(event)]
            self._add_step(event, off if self._fold(event) else on)
        self._events.append(event)

    def _undo(self) -> None:
        if not self._done:  # what it took back is lost
            return
        self._undone.append(self._done.pop())
        for kept in self._undone[-1].actions:
            if isinstance(kept, Kept):  # its cell has run all the same
                self._join(kept)
        self._fold_again()

    def _redo(self) -> None:
        if self._undone:
            self._done.append(self._undone.pop())
            self._fold_again()

    def _join(self, kept: Kept) -> None:
        """Make it a part of what was done last."""
        if self._done:
            last = self._done.pop()
            self._done.append(Step((*last.actions, kept), last.label))

    def _add_step(self, action: Action, label: str) -> None:
        last = self._done[-1].actions[-1] if self._done else None
        after = isinstance(action, Summarized) and action.automatic == "after"
        before = isinstance(last, Summarized) and last.automatic == "before" and isinstance(action, Said | Lost)
        if last is not None and (after or before):
            step = self._done.pop()
            self._done.append(Step((*step.actions, action), step.label if after else label))
        else:
            self._done.append(Step((action,), label))

    def _fold_again(self) -> None:
        self._reset()
        for step in self._done:
            for action in step.actions:
                self._fold(action)
        self.revision += 1

    def _fold(self, action: Action | Kept) -> bool:  # noqa: C901  # one case for each action
        """Fold one action in; whether it took something back, an answer or a mark."""
        self._now += 1
        if not isinstance(action, Said | Kept | Added):
            self.revision += 1
        match action:
            case Said():
                return self._say(action)
            case Cleared():
                self._clear()
            case Trimmed(first):
                self.trimmed_to = len(self.places) if first is None else self.index(first)
            case Summarized(summary, _):
                self._stand_in(summary)
            case Pinned(places, on) | Excluded(places, on):
                for place in self._chosen(places):
                    place.mark(self._now, pinned=isinstance(action, Pinned), on=on)
                self._find_pins()
                return not on
            case IncludedAll():
                self._include_all()
            case SystemSet(text):
                self.system = text
            case MemorySet(path):
                self.memory = path
            case Added():
                self._add(action)
            case Picked(place, turn):
                self._pick(place, turn)
            case Kept(place, run, execution):
                for there in self._chosen((place,)):
                    there.ran(run, execution)
            case Lost(kind, _):
                self._lost = len(self.places) if kind in ("", "said") else self._lost
        return False

    def _chosen(self, places: tuple[str, ...]) -> list[Place]:
        return [self.places[self._index[place]] for place in places if place in self._index]

    def _pick(self, place: str, turn: str) -> None:
        for there in self.places[self.index(place) :][:1]:
            for version in there.versions:
                if version.id == turn:
                    there.show(version, self._now)

    def _clear(self) -> None:
        self.cleared += self.places
        self.places, self.pins = [], []
        self._index, self._cells, self._moved = {}, {}, {}
        self.trimmed_to, self.summary, self._lost = 0, None, 0

    def _stand_in(self, summary: Summary) -> None:
        self.summary = self.summaries[summary.id] = summary

    def _add(self, added: Added) -> None:
        self.system = self.system if added.system is None else added.system
        for turn in added.turns:
            self._say(Said(turn, append=True))
        if added.pinned or added.excluded or added.summary:
            self.revision += 1
            for place in self._chosen(added.pinned):
                place.mark(self._now, pinned=True, on=True)
            for place in self._chosen(added.excluded):
                place.mark(self._now, pinned=False, on=True)
            self._find_pins()
        if added.summary is not None:
            self._stand_in(added.summary)

    def _find_pins(self) -> None:
        self.pins = [place for place in self.places if place.pinned]

    def _include_all(self) -> None:
        self.trimmed_to = 0
        for place in self.places:
            place.start = None
            if place.excluded:
                place.mark(self._now, pinned=False, on=False)

    def _say(self, said: Said) -> bool:
        """Put a turn in its place; whether it replaced an older answer."""
        turn, anew = said.turn, said.new and self.begins_anew(said)
        self._written[turn.id] = self._now
        self.has_files = self.has_files or bool(turn.attachments)
        if anew:
            self._clear()
            self.revision += 1
        mine = self._cells.setdefault(turn.record.cell, []) if turn.record.cell is not None else []
        older = [place for place in mine if place.run != turn.record.run]
        if said.append and older:  # the cell now stands for what it added last
            mine[:] = [place for place in mine if place not in older]
        elif older:
            self._replace(older, turn)
            return True
        at = self.position(turn.record.cell, turn.record.run, append=said.append) if mine else len(self.places)
        if at == len(self.places):
            self._index[turn.id] = at
            self.places.append(Place.of(turn, turn.record.start, self._now, fresh=anew))
            mine.append(self.places[-1])
        else:
            self._insert(at, turn, mine)
        return False

    def _replace(self, older: list[Place], turn: Turn) -> None:
        """Put a newer version in the first place of the cell; its other places go."""
        first, rest = older[0], older[1:]
        first.versions = [v for place in older for v in place.versions] + [turn]
        first.show(turn, self._now)
        first.ran(turn.record.run, turn.record.execution)
        if rest:
            gone = {place.id for place in rest}
            before = sum(self._index[place] < self.trimmed_to for place in gone)
            self.places = [place for place in self.places if place.id not in gone]
            self.trimmed_to -= before
            self._moved.update(dict.fromkeys(gone, first.id))
            self._find_pins()
        if turn.record.cell is not None:
            self._cells[turn.record.cell] = [first]
        self._reindex()

    def _insert(self, at: int, turn: Turn, mine: list[Place]) -> None:
        place = Place.of(turn, self.places[at - 1].start, self._now)
        self.places.insert(at, place)
        mine.append(place)
        self.trimmed_to += at <= self.trimmed_to
        self._reindex()

    def _reindex(self) -> None:
        self._index = {place.id: i for i, place in enumerate(self.places)}
        self.revision += 1
