"""Which conversation a kernel goes on with: decided from the rows there are.

First by the kernel's id, which a restart keeps, then by the notebook's path. A conversation that another live kernel
holds is forked. A notebook at a new path begins anew: nothing is taken over by itself. A row says which process holds
its conversation; one that has ended holds nothing.
"""

from __future__ import annotations

import os
import platform
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .. import wording as words
from ..conversation.messages import new_id
from ..runtime.frontend import Origin
from .store import Claim, ConversationRow

MAIN = "main"
GONE = 120.0  # seconds without a sign of life from another machine


class Holder(NamedTuple):
    """A process that holds conversations: its machine, its number there, and when it began (seconds since 1970)."""

    host: str
    pid: int
    started: float


def this_process() -> Holder:
    """Return this process as a holder."""
    return Holder(platform.node(), os.getpid(), _started(os.getpid()) or 0.0)


def is_held_here(row: ConversationRow) -> bool:
    """Return whether the row names this process as the holder."""
    return (row.host, row.pid) == (platform.node(), os.getpid())


def is_held_elsewhere(row: ConversationRow) -> bool:
    """Return whether another live process holds this; on another machine, one with recent signs of life."""
    if row.pid is None or row.started is None or is_held_here(row):
        return False
    if row.host != platform.node():
        return time.time() - row.seen < GONE
    return abs((_started(row.pid) or 0.0) - row.started) < 2


def _started(pid: int) -> float | None:
    """Return when a process began; ``None`` where there is none, or one that has ended and was not waited for."""
    import psutil

    try:
        process = psutil.Process(pid)
        return float(process.create_time()) if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


class OpenRequest(NamedTuple):
    """Who asks, and for what: ``name`` ``None`` is the one opened last; ``afresh`` takes none that is there.

    ``now`` is in seconds since 1970.
    """

    origin: Origin
    holder: Holder
    now: float
    name: str | None = None
    afresh: bool = False

    def is_kernels(self, row: ConversationRow) -> bool:
        """Return whether this kernel used the conversation last, perhaps before a restart."""
        return self.origin.kernel is not None and row.kernel == self.origin.kernel


def choose(rows: Sequence[ConversationRow], request: OpenRequest, is_held: Callable[[ConversationRow], bool]) -> Claim:
    """Choose what to open from all rows, the one opened last first."""
    moved = _moved(rows, request)
    here = [row for row in (moved.get(row.id, row) for row in rows) if row.notebook == request.origin.scope]
    match = None if request.afresh else _matching(here, request)
    if match is None:
        return Claim((*moved.values(), _new(here, request, request.name or MAIN)), "new")
    is_of_before = request.is_kernels(match) and (match.pid, match.started) != request.holder[1:]  # a restart
    if is_held(match) and not is_of_before:
        return Claim((*moved.values(), _new(here, request, match.name, match)), "forked", match)
    moved.pop(match.id, None)
    return Claim((*moved.values(), _held(match, request)), "continued")


def fork(rows: Iterable[ConversationRow], request: OpenRequest, source: ConversationRow) -> Claim:
    """Return a conversation that begins with all that another one has."""
    here = [row for row in rows if row.notebook == request.origin.scope]
    return Claim((_new(here, request, request.name or source.name, source),), "forked", source)


def free_name(name: str, here: Iterable[ConversationRow]) -> str:
    """Return the name itself where it is free, else the name with a number."""
    taken = {row.name for row in here}
    if name not in taken:
        return name
    base, dash, number = name.rpartition("-")
    stem = base if dash and number.isdigit() and base in taken else name
    return next(found for i in range(2, len(taken) + 3) if (found := f"{stem}-{i}") not in taken)


def _moved(rows: Sequence[ConversationRow], request: OpenRequest) -> dict[str, ConversationRow]:
    """Return the rows of this kernel's notebook that follow it to its new path, as they are there, by their ids."""
    scope, moved = request.origin.scope, dict[str, ConversationRow]()
    left = {row.notebook for row in rows if request.is_kernels(row)} - {scope}
    there = [row for row in rows if row.notebook == scope]
    for row in rows:
        if row.notebook in left:
            moved[row.id] = row._replace(notebook=scope, name=free_name(row.name, there))
            there.append(moved[row.id])
    return moved


def _matching(here: Sequence[ConversationRow], request: OpenRequest) -> ConversationRow | None:
    """By name; else this kernel's, else the one opened last. A terminal has nothing to go on with."""
    if request.name is not None:
        return next((row for row in here if row.name == request.name), None)
    if not request.origin.scope:
        return None
    mine = [row for row in here if request.is_kernels(row)]
    return next(iter(mine or here), None)


def _new(
    here: Iterable[ConversationRow], request: OpenRequest, name: str, source: ConversationRow | None = None
) -> ConversationRow:
    row = new_row(request.origin, free_name(name, here), request.now)
    if source is not None:
        row = row._replace(turns=source.turns, state=source.state)
    return _held(row, request)


def new_row(origin: Origin, name: str, now: float) -> ConversationRow:
    """Return the row of a conversation that begins."""
    return ConversationRow(new_id(), origin.scope, name, origin.kernel, opened=now, created=now, updated=now)


def _held(row: ConversationRow, request: OpenRequest) -> ConversationRow:
    """Return the row with its holder."""
    origin, now = request.origin, request.now
    return row._replace(notebook=origin.scope, kernel=origin.kernel, seen=now, opened=now, **request.holder._asdict())


def opened_note(claim: Claim) -> str:
    """Return one line that says where a conversation comes from."""
    source = claim.source or claim.row
    turns = words.turns(source.turns)
    if claim.how == "continued":
        used = words.ago(time.time() - claim.row.updated)
        return f"Going on with {turns} of {source.name!r}, last used {used}. %chat new starts afresh."
    open_already = f"{source.name!r} is open already, here or in another kernel"
    return f"{open_already}: this is a fork of it, {claim.row.name!r}, with {turns}."


def offer_note(row: ConversationRow) -> str:
    """Return one line that names the conversation of another notebook with the same cells, and how to bring it in."""
    return (
        f"This is a copy of {row.notebook}; its conversation starts empty. "
        f"%chat resume {shlex.quote(row.notebook)} {shlex.quote(row.name)} brings in {words.turns(row.turns)} of "
        f"{row.name!r}."
    )
