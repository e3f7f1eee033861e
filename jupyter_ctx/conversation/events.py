"""What happened in a conversation: one class for each thing that was said or done.

A class declares everything that its events need: the name under which the store keeps them,
what undo calls them, and what they do to the conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .messages import Alternatives, Summary, Turn
from .places import Places


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was said or done.

    ``stored_as``: the kind of its row in a store, which never changes.
    ``label``, ``label_off``: what undo calls it, and what it calls one that replaces an answer or takes a mark away.
    """

    stored_as: ClassVar[str]
    label: ClassVar[str] = ""
    label_off: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        EVENT_KINDS[cls.stored_as] = cls

    def fold(self, past: Places) -> bool | None:
        """Change the places as the event says; return whether that took something back: an answer or a mark."""


EVENT_KINDS: dict[str, type[Event]] = {}  # by the name under which a store keeps them


@dataclass(frozen=True, slots=True)
class TurnAdded(Event):
    """A turn was answered. ``new``: after a clear; ``append``: never in an older one's place."""

    stored_as = "said"
    label = "turn"
    label_off = "re-run"
    turn: Turn
    append: bool = False
    new: bool = False

    def fold(self, past: Places) -> bool:
        return past.add_turn(self.turn, append=self.append, new=self.new and self.begins_anew(past))

    def begins_anew(self, past: Places) -> bool:
        """Return whether this turn clears first: a re-run of a cell that did so already does not."""
        return self.new and past.begins_anew(self.turn.record.cell, new=True)


class Cleared(Event):
    """The conversation begins anew; its cells are unbound."""

    __slots__ = ()
    stored_as = "cleared"
    label = "clear"

    def fold(self, past: Places) -> None:
        past.clear()


@dataclass(frozen=True, slots=True)
class Trimmed(Event):
    """The user left out the turns before the place ``first`` (``None``: all of them)."""

    stored_as = "trimmed"
    label = "trim"
    first: str | None

    def fold(self, past: Places) -> None:
        past.trim(self.first)


@dataclass(frozen=True, slots=True)
class Summarized(Event):
    """Older turns are sent as this summary.

    One written without being asked, ``before`` or ``after`` a turn was sent, is part of
    that turn: undo takes both.
    """

    stored_as = "summarized"
    label = "summary"
    summary: Summary
    automatic: Literal["before", "after"] | None = None

    def fold(self, past: Places) -> None:
        past.set_summary(self.summary)


@dataclass(frozen=True, slots=True)
class Pinned(Event):
    """These places stay in every view, or no longer do."""

    stored_as = "pinned"
    label = "pin"
    label_off = "unpin"
    places: tuple[str, ...]
    on: bool

    def fold(self, past: Places) -> bool:
        past.mark(self.places, pinned=True, on=self.on)
        return not self.on


@dataclass(frozen=True, slots=True)
class Excluded(Event):
    """These places are left out of every view, or no longer are."""

    stored_as = "excluded"
    label = "exclude"
    label_off = "include"
    places: tuple[str, ...]
    on: bool

    def fold(self, past: Places) -> bool:
        past.mark(self.places, pinned=False, on=self.on)
        return not self.on


class IncludedAll(Event):
    """Trims, automatic cuts and exclusions so far no longer count."""

    __slots__ = ()
    stored_as = "included all"
    label = "include all"

    def fold(self, past: Places) -> None:
        past.include_all()


@dataclass(frozen=True, slots=True)
class SystemSet(Event):
    """The system prompt from here on."""

    stored_as = "system"
    label = "system prompt"
    text: str

    def fold(self, past: Places) -> None:
        past.set_system(self.text)


@dataclass(frozen=True, slots=True)
class MemorySet(Event):
    """The file that joins the system prompt from here on; empty: none does."""

    stored_as = "memory"
    label = "memory file"
    path: str

    def fold(self, past: Places) -> None:
        past.set_memory(self.path)


@dataclass(frozen=True, slots=True)
class Added(Event):
    """Turns of another conversation, with what it had beside them: where their cell had added some, else at the end.

    ``pinned`` and ``excluded`` are ids of those turns.
    """

    stored_as = "added"
    label = "added messages"
    turns: tuple[Turn, ...]
    system: str | None = None
    pinned: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    summary: Summary | None = None

    def fold(self, past: Places) -> None:
        if self.system is not None:
            past.set_system(self.system)
        for turn in self.turns:
            past.add_turn(turn, append=False, new=False)
        for ids, pinned in ((self.pinned, True), (self.excluded, False)):
            if ids:
                past.mark(tuple(place.id for place in past.places if place.turn.id in ids), pinned=pinned)
        if self.summary is not None:
            past.set_summary(self.summary)


@dataclass(frozen=True, slots=True)
class Picked(Event):
    """An older version of a place is its current one again."""

    stored_as = "picked"
    label = "pick"
    place: str
    turn: str

    def fold(self, past: Places) -> None:
        past.pick(self.place, self.turn)


@dataclass(frozen=True, slots=True)
class Offered(Event):
    """Several answers to a prompt came: no step, and part of what was done before; the choice after it is one."""

    stored_as = "offered"
    alternatives: Alternatives

    def fold(self, past: Places) -> None:
        past.offer(self.alternatives)


@dataclass(frozen=True, slots=True)
class Chosen(Event):
    """One of several answers is the turn; the others are versions of it."""

    stored_as = "chosen"
    label = "turn"
    label_off = "choice"
    alternatives: str  # id
    turn: str  # id

    def fold(self, past: Places) -> bool:
        return past.choose(self.alternatives, self.turn)


@dataclass(frozen=True, slots=True)
class Kept(Event):
    """A cell ran again unchanged, and its answer was shown again: part of what was done before."""

    stored_as = "kept"
    place: str
    run: str
    execution: int | None = None

    def fold(self, past: Places) -> None:
        past.ran(self.place, self.run, self.execution)


class Undone(Event):
    """The last action is taken back, whole."""

    __slots__ = ()
    stored_as = "undone"


class Redone(Event):
    """The last action taken back is done again."""

    __slots__ = ()
    stored_as = "redone"


@dataclass(frozen=True, slots=True)
class Unreadable(Event):
    """Something was done here that cannot be read: a step without an effect, which undo takes back as any other.

    ``kind`` is that of its row, where that is known.
    """

    stored_as = "lost"
    label = "step that was lost"
    kind: str = ""

    def fold(self, past: Places) -> None:
        past.mark_lost(turn=self.kind in ("", TurnAdded.stored_as))
