"""What happened in a conversation: one class for each thing that was said or done.

A class declares the name under which the store keeps its events, and what undo calls them;
``conversation`` says what each does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .messages import Alternatives, Summary, Turn


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was said or done.

    ``stored_as``: the kind of its row in a store, which never changes.
    ``label``, ``label_off``: what undo calls it, and what it calls one that replaces an answer or takes a mark away.
    """

    stored_as: ClassVar[str]
    label: ClassVar[str]
    label_off: ClassVar[str]

    def __init_subclass__(cls, stored_as: str = "", label: str = "", label_off: str = "") -> None:
        if stored_as:  # once more without it where a class gets its slots
            cls.stored_as, cls.label, cls.label_off = stored_as, label, label_off
        EVENT_KINDS[cls.stored_as] = cls


EVENT_KINDS: dict[str, type[Event]] = {}  # by the name under which a store keeps them


@dataclass(frozen=True, slots=True)
class TurnAdded(Event, stored_as="said", label="turn", label_off="re-run"):
    """A turn was answered. ``new``: after a clear; ``append``: never in an older one's place."""

    turn: Turn
    append: bool = False
    new: bool = False


class Cleared(Event, stored_as="cleared", label="clear"):
    """The conversation begins anew; its cells are unbound."""


@dataclass(frozen=True, slots=True)
class Trimmed(Event, stored_as="trimmed", label="trim"):
    """The user left out the turns before the place ``first`` (``None``: all of them)."""

    first: str | None


@dataclass(frozen=True, slots=True)
class Summarized(Event, stored_as="summarized", label="summary"):
    """Older turns are sent as this summary.

    One written without being asked, ``before`` or ``after`` a turn was sent, is part of
    that turn: undo takes both.
    """

    summary: Summary
    automatic: Literal["before", "after"] | None = None


@dataclass(frozen=True, slots=True)
class Pinned(Event, stored_as="pinned", label="pin", label_off="unpin"):
    """These places stay in every view, or no longer do."""

    places: tuple[str, ...]
    on: bool


@dataclass(frozen=True, slots=True)
class Excluded(Event, stored_as="excluded", label="exclude", label_off="include"):
    """These places are left out of every view, or no longer are."""

    places: tuple[str, ...]
    on: bool


class IncludedAll(Event, stored_as="included all", label="include all"):
    """Trims, automatic cuts and exclusions so far no longer count."""


@dataclass(frozen=True, slots=True)
class SystemSet(Event, stored_as="system", label="system prompt"):
    """The system prompt from here on."""

    text: str


@dataclass(frozen=True, slots=True)
class MemorySet(Event, stored_as="memory", label="memory file"):
    """The file that joins the system prompt from here on; empty: none does."""

    path: str


@dataclass(frozen=True, slots=True)
class Added(Event, stored_as="added", label="added messages"):
    """Turns of another conversation, with what it had beside them: where their cell had added some, else at the end.

    ``pinned`` and ``excluded`` are ids of those turns.
    """

    turns: tuple[Turn, ...]
    system: str | None = None
    pinned: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Picked(Event, stored_as="picked", label="pick"):
    """An older version of a place is its current one again."""

    place: str
    turn: str


@dataclass(frozen=True, slots=True)
class Offered(Event, stored_as="offered"):
    """Several answers to a prompt came: no step, and part of what was done before; the choice after it is one."""

    alternatives: Alternatives


@dataclass(frozen=True, slots=True)
class Chosen(Event, stored_as="chosen", label="turn", label_off="choice"):
    """One of several answers is the turn; the others are versions of it."""

    alternatives: str  # id
    turn: str  # id


@dataclass(frozen=True, slots=True)
class Kept(Event, stored_as="kept"):
    """A cell ran again unchanged, and its answer was shown again: part of what was done before."""

    place: str
    run: str
    execution: int | None = None


class Undone(Event, stored_as="undone"):
    """The last action is taken back, whole."""


class Redone(Event, stored_as="redone"):
    """The last action taken back is done again."""


@dataclass(frozen=True, slots=True)
class Unreadable(Event, stored_as="lost", label="step that was lost"):
    """Something was done here that cannot be read: a step without an effect, which undo takes back as any other.

    ``kind`` is that of its row, where that is known.
    """

    kind: str = ""
