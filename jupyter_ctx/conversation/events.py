"""What happened in a conversation: one value for each thing that was said or done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .messages import Summary, Turn


@dataclass(frozen=True, slots=True)
class Said:
    """A turn was answered. ``new``: after a clear; ``append``: never in an older one's place."""

    turn: Turn
    append: bool = False
    new: bool = False


@dataclass(frozen=True, slots=True)
class Cleared:
    """The conversation begins anew; its cells are unbound."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The user left out the turns before the place ``first`` (``None``: all of them)."""

    first: str | None


@dataclass(frozen=True, slots=True)
class Summarized:
    """Older turns are sent as this summary.

    One written without being asked, ``before`` or ``after`` a turn was sent, is part of
    that turn: undo takes both.
    """

    summary: Summary
    automatic: Literal["before", "after"] | None = None


@dataclass(frozen=True, slots=True)
class Pinned:
    """These places stay in every view, or no longer do."""

    places: tuple[str, ...]
    on: bool


@dataclass(frozen=True, slots=True)
class Excluded:
    """These places are left out of every view, or no longer are."""

    places: tuple[str, ...]
    on: bool


@dataclass(frozen=True, slots=True)
class IncludedAll:
    """Trims, automatic cuts and exclusions so far no longer count."""


@dataclass(frozen=True, slots=True)
class SystemSet:
    """The system prompt from here on."""

    text: str


@dataclass(frozen=True, slots=True)
class MemorySet:
    """The file that joins the system prompt from here on; empty: none does."""

    path: str


@dataclass(frozen=True, slots=True)
class Added:
    """Turns of another conversation, at the end of this one, with what it had beside them.

    ``pinned`` and ``excluded`` are ids of those turns.
    """

    turns: tuple[Turn, ...]
    system: str | None = None
    pinned: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Picked:
    """An older version of a place is its current one again."""

    place: str
    turn: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A cell ran again unchanged, and its answer was shown again: part of what was done before."""

    place: str
    run: str
    execution: int | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """The last action is taken back, whole."""


@dataclass(frozen=True, slots=True)
class Redone:
    """The last action taken back is done again."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Something was done here that cannot be read: a step without an effect, which undo takes back as any other.

    ``kind`` and ``body`` are what is stored of it, where that is text.
    """

    kind: str = ""
    body: str = ""


Action: TypeAlias = (
    Said | Cleared | Trimmed | Summarized | Pinned | Excluded | IncludedAll | SystemSet | MemorySet | Added | Picked
    | Lost
)  # fmt: skip
Event: TypeAlias = Action | Kept | Undone | Redone

LABELS: dict[type, tuple[str, str]] = {  # on, off
    Said: ("turn", "re-run"),
    Cleared: ("clear", ""),
    Trimmed: ("trim", ""),
    Summarized: ("summary", ""),
    Pinned: ("pin", "unpin"),
    Excluded: ("exclude", "include"),
    IncludedAll: ("include all", ""),
    SystemSet: ("system prompt", ""),
    MemorySet: ("memory file", ""),
    Added: ("added messages", ""),
    Picked: ("pick", ""),
    Lost: ("step that was lost", ""),
}
