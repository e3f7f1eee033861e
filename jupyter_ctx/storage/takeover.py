"""What the store and the disk tell of whether a notebook's conversation belongs to another notebook, too.

Read before anything is claimed: a disk may be slow, and a claim keeps other kernels waiting.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ..runtime.frontend import EARLIER, VS_CODE, Cell, Origin, cells_of
from .store import ConversationRow, Ran, Store

Stands = Literal["all", "some", "none", "unknown"]
File = Literal["gone", "there", "unseen"]


class Clues(NamedTuple):
    """What is known of one conversation.

    ``stands``: how many of the cells of its turns are in the notebook that asks, unchanged
    since they ran; ``cells`` are all of these. ``file``: whether the file of its own notebook
    is gone, still there, or cannot be seen from here. ``far``: it was held on another machine,
    where the same path may name another file. ``content`` is equal for conversations that hold
    the same turns.
    """

    stands: Stands = "unknown"
    file: File = "unseen"
    far: bool = False
    content: object = None
    cells: frozenset[str] = frozenset()


def gather(
    store: Store, rows: Sequence[ConversationRow], origin: Origin, host: str, *, whole: bool
) -> dict[str, Clues]:
    """Return the clues to each conversation that may be this notebook's, by id. Raises StoreError.

    Unless it is the ``whole``, or where this kernel is known here, only of those that it has talked in elsewhere.
    """
    if origin.notebook is None:
        return {}
    whole = whole and not any(is_kernels(row, origin) and row.notebook == origin.scope for row in rows)
    read = cache(cells_of)  # each file once
    there = read(origin.notebook) if whole else None
    sharing = store.sharing(there) if there else set[str]()
    here = [row for row in rows if row.id in sharing or (whole and row.notebook == origin.scope)]
    asked = [*here, *(row for row in rows if is_kernels(row, origin) and row.notebook != origin.scope)]
    ran = defaultdict[str, list[Ran]](list)
    for each in store.ran({row.id for row in asked}):
        ran[each.conversation].append(each)
    several = store.database.is_shared and store.database.path is None  # a server: machines have only names in common
    old = {row.id: read(row.notebook) if row.host == host else None for row in asked}
    return {row.id: _clues(row, ran[row.id], there, old[row.id], host, several=several) for row in asked}


def is_kernels(row: ConversationRow, origin: Origin) -> bool:
    """Return whether this kernel used the conversation last, perhaps before a restart."""
    return origin.kernel is not None and row.kernel == origin.kernel


def _clues(
    row: ConversationRow, ran: Sequence[Ran], there: Mapping[str, Cell] | None, old: Mapping[str, Cell] | None,
    host: str, *, several: bool,
) -> Clues:  # fmt: skip
    cells = {each.cell: each.source for each in ran if each.cell is not None and not each.cell.startswith(VS_CODE)}
    whole = bool(cells) and all(each.cell in cells for each in ran)
    content = tuple((each.seq, each.at, each.cell) for each in ran)
    far = several and row.host not in (None, host)
    return Clues(stands(cells, there, old, whole=whole), fate(row, host, cells, old), far, content, frozenset(cells))


def stands(
    cells: Mapping[str, str | None], there: Mapping[str, Cell] | None, old: Mapping[str, Cell] | None, *, whole: bool
) -> Stands:  # fmt: skip
    """Count the cells, compared by the hash of their text, that are ``there``.

    ``old`` are those of the notebook where they ran; ``whole``: no turn came from anywhere else.
    """
    if there is None or not cells:
        return "unknown"
    if not cells.keys() & there.keys():
        return "none"
    same = (cell in there and _is_same(source, there[cell], (old or {}).get(cell)) for cell, source in cells.items())
    return "all" if whole and all(same) else "some"


def _is_same(source: str | None, there: Cell, old: Cell | None) -> bool:
    """Whether a cell ran here, or in that of which this is a copy: not in another notebook made like it."""
    ran_elsewhere = there.exported or (old is not None and old.ran and not there.ran)
    return not ran_elsewhere and (source is None or there.source in (None, source))


def fate(row: ConversationRow, host: str, cells: Mapping[str, object], old: Mapping[str, Cell] | None) -> File:
    """Return what has become of a conversation's notebook; ``old`` are the cells of the file at its path."""
    if row.host != host or not os.path.isabs(row.notebook):
        return "unseen"
    if old is not None:
        return "gone" if cells and not cells.keys() & old.keys() else "there"
    if EARLIER.search(row.notebook):
        return "gone"
    try:
        os.lstat(row.notebook)
    except (FileNotFoundError, NotADirectoryError):
        here = _device(Path(row.notebook).parents)
        return "gone" if here is not None and here == row.device else "unseen"
    except (OSError, ValueError):
        return "unseen"
    return "unseen"  # it cannot be read, or its cells have no ids


def device_of(notebook: str | None) -> int | None:
    """Return the disk on which a notebook's file lies."""
    return _device([Path(notebook)]) if notebook and os.path.isabs(notebook) else None


def _device(paths: Iterable[Path]) -> int | None:
    """Return the disk of the first path that exists: an unmounted drive is on no disk of its own."""
    for path in paths:
        try:
            return path.stat().st_dev % 2**63
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            return None
    return None
