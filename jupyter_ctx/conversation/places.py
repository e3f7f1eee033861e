"""What the events of a conversation lead to: its turns in their places, and what stands beside them.

Each exchange has a *place*; a re-run of its cell puts a newer version there.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from .events import TurnAdded
from .messages import Alternatives, Attachment, Summary, Turn

next_revision = count().__next__


@dataclass(slots=True, eq=False)
class TurnSlot:
    """Where a turn stands, with every version of it.

    ``id``: id of the turn that was said here first.
    ``versions``: every answer, as they were written.
    ``turn``: the current version.
    ``run``: id of the execution that the place stands for.
    ``execution``: the number that its cell shows.
    ``fresh``: the conversation began anew with this turn.
    ``start``: id of the place at which the view of the first version began; a re-run's cut is that request's alone,
    and so is one for a request's own settings: then it is where the view before it began.
    ``own_start``: the same, with a cut for the request's own settings, for later requests that have some, too.
    ``shortened``: id of the place before which the view cut results of functions down to a line, as ``start`` is.
    ``changed``: when another version became the current one; 0: never.
    ``pinned``, ``excluded``: in every view, or in none.
    ``has_text``: whether a view may hold the turn: Anthropic refuses a message without text.
    ``taken_in``: ids of places that went into this one.
    """

    id: str
    versions: list[Turn]
    turn: Turn
    run: str | None
    execution: int | None
    fresh: bool
    start: str | None = None
    own_start: str | None = None
    shortened: str | None = None
    changed: int = 0
    pinned: bool = False
    excluded: bool = False
    has_text: bool = False
    taken_in: list[str] = field(default_factory=list)

    def show(self, turn: Turn, now: int = 0) -> None:
        """Make this version the current one."""
        self.turn, self.changed = turn, now
        self.has_text = bool((turn.prompt.strip() or turn.attachments) and (turn.reply.strip() or turn.rounds))


class Places:
    """The turns since the last clear, in order, and what stands beside them. Events alone change them.

    ``places``, ``cleared``: the turns since the last clear, and those before.
    ``trimmed_to``: position of the first place that the user's trims leave in view.
    ``summary``, ``summaries``: the summary that views may hold, and every one by its id.
    ``system``, ``memory``: the system prompt and the memory file's path, once they were set.
    ``offers``: answers since the last clear of which at most one is a turn, by the id of them all, as they came.
    ``files``: one attachment of each kind with which a turn came.
    ``revision``: another number after each change of the places but a turn that was added at their end.
    """

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.revision = next_revision()
        self.cleared: list[TurnSlot] = []
        self.system: str | None = None
        self.memory: str | None = None
        self.files: dict[str, Attachment] = {}
        self.summaries: dict[str, Summary] = {}
        self._now = 0  # how many events were folded in
        self._written: dict[str, int] = {}  # when each version was
        self._begin()

    def _begin(self) -> None:
        self.places: list[TurnSlot] = []
        self.offers: dict[str, Alternatives] = {}
        self.trimmed_to = 0
        self.summary: Summary | None = None
        self._index: dict[str, int] = {}
        self._cells: dict[str, list[TurnSlot]] = {}
        self._lost = 0  # where the last turn stood that cannot be read

    # reading

    @property
    def pins(self) -> list[TurnSlot]:
        """The pinned places, in order."""
        return [place for place in self.places if place.pinned]

    def index(self, place: str | None) -> int:
        """Return the position of a place, or of the one it went into; 0 where there is none, or it is gone.

        A turn that cannot be read any more stood where the last one was lost, as far as anybody knows.
        """
        return self._index.get(place, min(self._lost, len(self.places))) if place is not None else 0

    def of_cell(self, cell: str | None) -> list[TurnSlot]:
        """Return the places that a cell has filled."""
        return self._cells.get(cell, []) if cell is not None else []

    def older(self, cell: str | None, run: str | None) -> list[TurnSlot]:
        """Return the places that this cell's other executions have filled: a turn of this one takes the first."""
        return [place for place in self.of_cell(cell) if place.run != run]

    def position(self, cell: str | None, run: str | None, *, append: bool = False) -> int:
        """Return where a turn sent now by this cell's execution will stand.

        After the turns of the same execution (a loop), else in the place of the cell's older execution, else at the
        end.
        """
        mine = [] if append else self.of_cell(cell)
        if not mine:
            return len(self.places)
        same = [place for place in mine if place.run == run]
        return self.index(same[-1].id) + 1 if same else self.index(mine[0].id)

    def begins_anew(self, said: TurnAdded) -> bool:
        """Return whether a turn clears first: a re-run of a cell that did so already does not."""
        return said.new and not any(place.fresh for place in self.of_cell(said.turn.record.cell)[:1])

    def place_of(self, offered: Alternatives) -> TurnSlot | None:
        """Return the place of which one of these answers is a version; ``None``: none is."""
        ids = {turn.id for turn in offered.turns}
        places = self.of_cell(offered.asked.record.cell) or self.places
        return next((place for place in reversed(places) if any(turn.id in ids for turn in place.versions)), None)

    def named(self, ids: Iterable[str]) -> list[TurnSlot]:
        """Return the places with these ids, as far as they are there."""
        return [self.places[self._index[place]] for place in ids if place in self._index]

    def covered_to(self, covers: frozenset[str]) -> int:
        """Return the position after the last turn whose current version is in ``covers`` and may be sent, else 0."""
        for end in range(len(self.places), 0, -1):
            place = self.places[end - 1]
            if place.turn.id in covers and not place.excluded:
                return end
        return 0

    def stale(self) -> frozenset[str]:
        """Return the ids of the places whose answer was written before an answer in its view was replaced."""
        stale, replaced, latest = set(), list[tuple[int, int]](), 0  # replaced: which place, and when
        for at, place in enumerate(self.places):
            written, start = self._written[place.turn.id], self.index(place.turn.record.start)
            if latest > written and any(when > written and other >= start for other, when in replaced):
                stale.add(place.id)
            if place.changed:
                latest = max(latest, place.changed)
                replaced.append((at, place.changed))
        return frozenset(stale)

    def summarized(self, summary: Summary) -> Self:
        """Return the same with this summary standing for the turns that it covers."""
        other = copy(self)
        other.summaries = {**self.summaries, summary.id: summary}
        other.summary = summary
        return other

    # changing: what events do

    def add_turn(self, said: TurnAdded) -> TurnSlot:
        """Put a turn in its place, after a clear where it begins anew; return the place."""
        turn, record = said.turn, said.turn.record
        self._written[turn.id] = self._now
        self.files.update({file.kind: file for file in turn.files})
        is_fresh = self.begins_anew(said)
        if is_fresh:
            self.clear()
        older = self.older(record.cell, record.run)
        if older and not said.append:
            return self._replace(older, turn)
        at, end = self.position(record.cell, record.run, append=said.append), len(self.places)
        place = TurnSlot(record.id, [turn], turn, record.run, record.execution, is_fresh)
        # views go on from a turn at the end, unless it had settings of its own
        cut = record if at == end and not record.apart else self.places[at - 1] if at else None
        place.start, place.shortened = (cut.start, cut.shortened) if cut is not None else (None, None)
        place.own_start = record.start if record.apart else place.start
        place.show(turn)
        self.places.insert(at, place)
        if at == end:
            self._index[place.id] = at
        else:
            self.trimmed_to += at <= self.trimmed_to
            self._reindex()
        if record.cell is not None:  # which stands for what it added last
            same = [each for each in self.of_cell(record.cell) if each.run == record.run]
            self._cells[record.cell] = [*same, place]
        return place

    def clear(self) -> None:
        """Begin anew, and unbind the cells."""
        self.cleared += self.places
        self._begin()

    def set_summary(self, summary: Summary) -> None:
        """Let a summary stand for the turns that it covers."""
        self.summary = self.summaries[summary.id] = summary

    def mark(self, places: Iterable[TurnSlot], *, pinned: bool, on: bool) -> None:
        """Pin places (else exclude them), or take that back; no place is both."""
        for place in places:
            place.pinned = on if pinned else place.pinned and not on
            place.excluded = place.excluded and not on if pinned else on

    def choose(self, alternatives: str, chosen: str) -> bool:
        """Make one of several answers the turn, and the others versions of it; return whether another one was it."""
        offered = self.offers.get(alternatives)
        turns = {turn.id: turn for turn in offered.turns} if offered is not None else {}
        if offered is None or chosen not in turns:  # the row that held them is lost
            return False
        before = self.place_of(offered)
        place = before or self.add_turn(TurnAdded(turns[chosen], offered.append, offered.new))
        self.offers[alternatives] = offered  # which a clear has taken out
        place.versions = [*(each for each in place.versions if each.id not in turns), *offered.turns]
        if place.turn is not turns[chosen]:
            place.show(turns[chosen], self._now)
        return before is not None

    def _replace(self, older: list[TurnSlot], turn: Turn) -> TurnSlot:
        """Put a newer version in the first place of the cell, which takes in the cell's other places."""
        first, rest = older[0], older[1:]
        first.versions = [version for place in older for version in place.versions] + [turn]
        first.show(turn, self._now)
        first.run, first.execution = turn.record.run, turn.record.execution
        if turn.record.cell is not None:
            self._cells[turn.record.cell] = [first]
        if rest:
            self.trimmed_to -= sum(self._index[place.id] < self.trimmed_to for place in rest)
            self.places = [place for place in self.places if place not in rest]
            first.taken_in += [gone for place in rest for gone in (place.id, *place.taken_in)]
            self._reindex()
        return first

    def _reindex(self) -> None:
        numbered = enumerate(self.places)
        self._index = {name: at for at, place in numbered for name in (place.id, *place.taken_in)}
