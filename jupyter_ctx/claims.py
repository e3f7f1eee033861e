"""Which conversation a kernel goes on with: decided from the rows there are.

First by the kernel's id, which a restart keeps, then by the notebook's path, then by its
first cell, which a copy keeps. A conversation that another live kernel holds is forked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .conversation import new_id
from .frontend import Origin
from .store import Claim, Row

MAIN = "main"


class Holder(NamedTuple):
    """A process that holds conversations: its machine, its number there and when it began."""

    host: str
    pid: int
    started: float


class Wish(NamedTuple):
    """Who asks, and for what: ``name`` ``None`` is the one opened last; ``afresh`` takes none that is there.

    ``cells`` are those of the notebook; ``now`` is in seconds since 1970.
    """

    origin: Origin
    holder: Holder
    now: float
    name: str | None = None
    afresh: bool = False
    cells: tuple[str, ...] = ()


def choose(rows: Sequence[Row], wish: Wish, is_held: Callable[[Row], bool]) -> Claim:
    """What to open, from all rows of an owner, the one opened last first."""
    rows, moved = _moved(rows, wish)
    here = [row for row in rows if row.notebook == wish.origin.scope]
    found = _found(here, wish)
    if wish.afresh or (found is None and (wish.name is not None or here)):
        return Claim((*moved, _new(here, wish, wish.name or MAIN)), "new")
    if found is None:
        original = _original(rows, wish)
        if original is None:
            return Claim((*moved, _new(here, wish, MAIN)), "new")
        return Claim((_new(here, wish, original.name, original),), "copied", original)
    if is_held(found) and not _restarted(found, wish):
        return Claim((*moved, _new(here, wish, found.name, found)), "forked", found)
    others = tuple(row for row in moved if row.id != found.id)
    return Claim((*others, _held(found, wish)), "continued")


def fork(row: Row, name: str | None, here: Iterable[Row], wish: Wish) -> Claim:
    """A conversation that begins with all that another one has."""
    return Claim((_new(here, wish, name or row.name, row),), "forked", row)


def free_name(name: str, here: Iterable[Row]) -> str:
    """The name itself where nobody has it, else with a number."""
    taken = {row.name for row in here}
    if name not in taken:
        return name
    base, dash, number = name.rpartition("-")
    stem = base if dash and number.isdigit() and base in taken else name
    return next(found for i in range(2, len(taken) + 3) if (found := f"{stem}-{i}") not in taken)


def _moved(rows: Sequence[Row], wish: Wish) -> tuple[list[Row], tuple[Row, ...]]:
    """The rows as they are once those of this kernel's notebook have followed it to its new path."""
    scope = wish.origin.scope
    left = {row.notebook for row in rows if wish.origin.kernel and row.kernel == wish.origin.kernel} - {scope}
    names, moved = [row for row in rows if row.notebook == scope], []
    for row in rows:
        if row.notebook in left:
            moved.append(row._replace(notebook=scope, name=free_name(row.name, names)))
            names.append(moved[-1])
    by_id = {row.id: row for row in moved}
    return [by_id.get(row.id, row) for row in rows], tuple(moved)


def _found(here: Sequence[Row], wish: Wish) -> Row | None:
    """By name; else this kernel's, else the one opened last. A terminal has nothing to go on with."""
    if wish.name is not None:
        return next((row for row in here if row.name == wish.name), None)
    if not wish.origin.scope:
        return None
    mine = [row for row in here if wish.origin.kernel and row.kernel == wish.origin.kernel]
    return next(iter(mine or here), None)


def _original(rows: Sequence[Row], wish: Wish) -> Row | None:
    """The conversation of the notebook of which this one is a copy."""
    first = wish.cells[0] if wish.cells else None
    same = (row for row in rows if row.turns and row.first_cell == first)
    return next(same, None) if first and wish.name is None and wish.origin.notebook else None


def _restarted(row: Row, wish: Wish) -> bool:
    """Whether it is held by what this kernel was before its restart."""
    mine = wish.origin.kernel is not None and row.kernel == wish.origin.kernel
    return mine and (row.pid, row.started) != (wish.holder.pid, wish.holder.started)


def _new(here: Iterable[Row], wish: Wish, name: str, source: Row | None = None) -> Row:
    row = Row(new_id(), wish.origin.scope, free_name(name, here), created=wish.now, updated=wish.now)
    if source is not None:
        row = row._replace(turns=source.turns, state=source.state)
    return _held(row, wish)


def _held(row: Row, wish: Wish) -> Row:
    """The row with its holder, and with what is known of the notebook now."""
    return row._replace(
        kernel=wish.origin.kernel, first_cell=wish.cells[0] if wish.cells else row.first_cell,
        seen=wish.now, opened=wish.now, **wish.holder._asdict(),
    )  # fmt: skip
