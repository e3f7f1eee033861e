"""Which conversation a kernel goes on with: decided from the rows there are.

First by the kernel's id, which a restart keeps, then by the notebook's path. A conversation that another live kernel
holds is forked. A notebook at a new path begins anew: nothing is taken over by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .. import wording as words
from ..conversation.messages import new_id
from ..runtime.frontend import Origin
from .holders import Holder
from .store import Claim, ConversationRow

MAIN = "main"


class Wish(NamedTuple):
    """Who asks, and for what: ``name`` ``None`` is the one opened last; ``afresh`` takes none that is there.

    ``sharing`` are the ids of conversations with turns of this notebook's cells; ``now`` is in seconds since 1970.
    """

    origin: Origin
    holder: Holder
    now: float
    name: str | None = None
    afresh: bool = False
    sharing: frozenset[str] = frozenset()

    def is_kernels(self, row: ConversationRow) -> bool:
        """Return whether this kernel used the conversation last, perhaps before a restart."""
        return self.origin.kernel is not None and row.kernel == self.origin.kernel


def choose(rows: Sequence[ConversationRow], wish: Wish, is_held: Callable[[ConversationRow], bool]) -> Claim:
    """Choose what to open from all rows, the one opened last first."""
    rows, moved = _moved(rows, wish)
    here = [row for row in rows if row.notebook == wish.origin.scope]
    found = None if wish.afresh else _found(here, wish)
    if found is None:
        begins = not here and wish.name is None and not wish.afresh
        offer = next((row for row in rows if row.turns and row.id in wish.sharing), None) if begins else None
        return Claim((*moved, _new(here, wish, wish.name or MAIN)), "new", offer=offer)
    if is_held(found) and not _restarted(found, wish):
        return Claim((*moved, _new(here, wish, found.name, found)), "forked", found)
    others = tuple(row for row in moved if row.id != found.id)
    return Claim((*others, _held(found, wish)), "continued")


def fork(row: ConversationRow, name: str | None, rows: Iterable[ConversationRow], wish: Wish) -> Claim:
    """Return a conversation that begins with all that another one has."""
    here = [each for each in rows if each.notebook == wish.origin.scope]
    return Claim((_new(here, wish, name or row.name, row),), "forked", row)


def is_new_here(rows: Iterable[ConversationRow], origin: Origin) -> bool:
    """Return whether nothing that is stored is of this notebook or its kernel."""
    return not any(row.notebook == origin.scope or row.kernel == (origin.kernel or "") for row in rows)


def free_name(name: str, here: Iterable[ConversationRow]) -> str:
    """Return the name itself where it is free, else the name with a number."""
    taken = {row.name for row in here}
    if name not in taken:
        return name
    base, dash, number = name.rpartition("-")
    stem = base if dash and number.isdigit() and base in taken else name
    return next(found for i in range(2, len(taken) + 3) if (found := f"{stem}-{i}") not in taken)


def _moved(rows: Sequence[ConversationRow], wish: Wish) -> tuple[list[ConversationRow], tuple[ConversationRow, ...]]:
    """Return the rows as they are once those of this kernel's notebook have followed it to its new path."""
    scope = wish.origin.scope
    left = {row.notebook for row in rows if wish.is_kernels(row)} - {scope}
    names, moved = [row for row in rows if row.notebook == scope], dict[str, ConversationRow]()
    for row in rows:
        if row.notebook in left:
            moved[row.id] = row._replace(notebook=scope, name=free_name(row.name, names))
            names.append(moved[row.id])
    return [moved.get(row.id, row) for row in rows], tuple(moved.values())


def _found(here: Sequence[ConversationRow], wish: Wish) -> ConversationRow | None:
    """By name; else this kernel's, else the one opened last. A terminal has nothing to go on with."""
    if wish.name is not None:
        return next((row for row in here if row.name == wish.name), None)
    if not wish.origin.scope:
        return None
    mine = [row for row in here if wish.is_kernels(row)]
    return next(iter(mine or here), None)


def _restarted(row: ConversationRow, wish: Wish) -> bool:
    """Whether it is held by what this kernel was before its restart."""
    return wish.is_kernels(row) and (row.pid, row.started) != (wish.holder.pid, wish.holder.started)


def _new(
    here: Iterable[ConversationRow], wish: Wish, name: str, source: ConversationRow | None = None
) -> ConversationRow:
    row = ConversationRow(new_id(), wish.origin.scope, free_name(name, here), created=wish.now, updated=wish.now)
    if source is not None:
        row = row._replace(turns=source.turns, state=source.state)
    return _held(row, wish)


def _held(row: ConversationRow, wish: Wish) -> ConversationRow:
    """Return the row with its holder."""
    return row._replace(
        notebook=wish.origin.scope, kernel=wish.origin.kernel, seen=wish.now, opened=wish.now, **wish.holder._asdict()
    )


def opened_note(claim: Claim, before: float) -> str:
    """Return one line that says where a conversation comes from, last used at ``before`` (seconds since 1970)."""
    source = claim.source or claim.row
    turns = words.turns(source.turns)
    if claim.how == "continued":
        used = words.ago(time.time() - before)
        return f"Going on with {turns} of {source.name!r}, last used {used}. %chat new starts afresh."
    return f"Another kernel holds {source.name!r}: this is a fork of it, {claim.row.name!r}, with {turns}."


def offer_note(row: ConversationRow) -> str:
    """Return one line that names the conversation of another notebook with the same cells, and how to bring it in."""
    turns, them = words.turns(row.turns), "it" if row.turns == 1 else "them"
    belong = "belongs" if row.turns == 1 else "belong"
    return (
        f"This notebook begins anew: {turns} of {row.name!r} {belong} to {row.notebook}, which shares cells. "
        f"%chat resume {_typed(row.notebook)} {_typed(row.name)} brings {them} in."
    )


def _typed(word: str) -> str:
    """Return a word as it is typed after %chat."""
    return f'"{word}"' if set(word) & set(" '") else word
