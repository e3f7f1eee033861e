"""Which conversation a kernel goes on with: decided from the rows there are, and what is known of their notebooks.

First by the kernel's id, which a restart keeps, then by the notebook's path. Another notebook's
conversation only where the cells of all its turns are in this one as they ran: it goes on where
that notebook's file is gone (it was renamed), and is forked where that is still there (it was
copied). Of several notebooks, that whose turns have the cells of
all the others' and more. In doubt a new one begins. A conversation that another live kernel holds is forked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from .. import wording as words
from ..conversation.messages import new_id
from ..runtime.frontend import EARLIER, Origin
from .holders import Holder
from .store import Claim, ConversationRow
from .takeover import Clues, is_kernels

MAIN = "main"
NO_CLUES = Clues()


class Wish(NamedTuple):
    """Who asks, and for what: ``name`` ``None`` is the one opened last; ``afresh`` takes none that is there.

    ``known`` are the clues by a conversation's id, ``device`` the disk of the notebook;
    ``now`` is in seconds since 1970.
    """

    origin: Origin
    holder: Holder
    now: float
    name: str | None = None
    afresh: bool = False
    known: Mapping[str, Clues] = MappingProxyType({})
    device: int | None = None

    def of(self, row: ConversationRow) -> Clues:
        """Return what is known of a conversation."""
        return self.known.get(row.id, NO_CLUES)

    def is_kernels(self, row: ConversationRow) -> bool:
        """Return whether it is this kernel's, as :func:`~.takeover.is_kernels`."""
        return is_kernels(row, self.origin)


def choose(rows: Sequence[ConversationRow], wish: Wish, is_held: Callable[[ConversationRow], bool]) -> Claim:
    """Choose what to open from all rows of an owner, the one opened last first."""
    wish = wish._replace(origin=at_home(rows, wish.origin))
    rows, moved = _moved(rows, wish)
    here = [row for row in rows if row.notebook == wish.origin.scope]
    if wish.name is None and _is_another(here, wish):
        return _instead(rows, here, wish)
    found = _found(here, wish)
    if wish.afresh or (found is None and (wish.name is not None or here)):
        return Claim((*moved, _new(here, wish, wish.name or MAIN)), "new")
    if found is None:
        claim = _taken(rows, wish, is_held)
        return claim._replace(rows=(*moved, *claim.rows))
    if is_held(found) and not _restarted(found, wish):
        return Claim((*moved, _new(here, wish, found.name, found)), "forked", found)
    others = tuple(row for row in moved if row.id != found.id)
    return Claim((*others, _held(found, wish)), "continued")


def fork(row: ConversationRow, name: str | None, rows: Iterable[ConversationRow], wish: Wish) -> Claim:
    """Return a conversation that begins with all that another one has."""
    rows = list(rows)
    wish = wish._replace(origin=at_home(rows, wish.origin))
    here = [each for each in rows if each.notebook == wish.origin.scope]
    return Claim((_new(here, wish, name or row.name, row),), "forked", row)


def given_back(rows: Sequence[ConversationRow], before: Sequence[ConversationRow], scope: str) -> Claim:
    """Return what ``scope`` took over to where it was ``before``."""
    homes = {row.id: row for row in before}
    taken = [row for row in rows if row.notebook == scope and row.id in homes]
    there, back = [row for row in rows if row not in taken], list[ConversationRow]()
    for row in taken:
        home = homes[row.id]
        name = free_name(home.name, (each for each in (*there, *back) if each.notebook == home.notebook))
        back.append(row._replace(notebook=home.notebook, name=name, kernel=home.kernel, opened=home.opened))
    return Claim(tuple(back), "continued")


def at_home(rows: Iterable[ConversationRow], origin: Origin) -> Origin:
    """Return where the conversations of this kernel are now.

    A kernel keeps the name that its notebook had when it was started. Where that was renamed
    since, and another notebook has its old path, the names of the two are kept apart.
    """
    mine = (row.notebook for row in rows if is_kernels(row, origin))
    earlier = next((place for place in mine if EARLIER.sub("", place) == origin.notebook != place), None)
    return origin._replace(notebook=earlier) if earlier is not None else origin


def free_name(name: str, here: Iterable[ConversationRow]) -> str:
    """Return the name itself where it is free, else the name with a number."""
    taken = {row.name for row in here}
    if name not in taken:
        return name
    base, dash, number = name.rpartition("-")
    stem = base if dash and number.isdigit() and base in taken else name
    return next(found for i in range(2, len(taken) + 3) if (found := f"{stem}-{i}") not in taken)


def _is_another(here: Sequence[ConversationRow], wish: Wish) -> bool:
    """Whether these conversations were held in another notebook, which had this one's path before."""
    if not here or any(wish.is_kernels(row) for row in here):
        return False
    known = [wish.of(row) for row in here]
    if any(each.stands == "all" or (each.stands == "some" and not each.far) for each in known):
        return False
    return any(each.stands == "none" or each.far for each in known)


def _instead(rows: Sequence[ConversationRow], here: Sequence[ConversationRow], wish: Wish) -> Claim:
    """Begin anew where another notebook was: its conversations get a place of their own."""
    taken, number = {row.notebook for row in rows}, 1
    while f"{wish.origin.scope}#{number}" in taken:
        number += 1
    others = [row._replace(notebook=f"{wish.origin.scope}#{number}") for row in here]
    before = tuple(row for row in others if row.turns)[:1]
    return Claim((*others, _new((), wish, MAIN)), "new", before=before)


def _moved(rows: Sequence[ConversationRow], wish: Wish) -> tuple[list[ConversationRow], tuple[ConversationRow, ...]]:
    """Return the rows as they are once those of this kernel's notebook have followed it to its new path."""
    scope = wish.origin.scope
    mine = [row for row in rows if wish.is_kernels(row) and row.notebook != scope]
    stay = {row.notebook for row in mine if wish.of(row).file == "there"}
    left = {row.notebook for row in mine} - stay
    names, moved = [row for row in rows if row.notebook == scope], []
    for row in rows:
        if row.notebook in left:
            moved.append(row._replace(notebook=scope, name=free_name(row.name, names)))
            names.append(moved[-1])
    by_id = {row.id: row for row in moved}
    return [by_id.get(row.id, row) for row in rows], tuple(moved)


def _found(here: Sequence[ConversationRow], wish: Wish) -> ConversationRow | None:
    """By name; else this kernel's, else the one opened last. A terminal has nothing to go on with."""
    if wish.name is not None:
        return next((row for row in here if row.name == wish.name), None)
    if not wish.origin.scope:
        return None
    mine = [row for row in here if wish.is_kernels(row)]
    return next(iter(mine or here), None)


def _taken(rows: Sequence[ConversationRow], wish: Wish, is_held: Callable[[ConversationRow], bool]) -> Claim:
    """Choose a renamed or copied notebook's conversation; a new one in case of doubt."""
    shared = [row for row in rows if row.turns and _is_shared(row, wish)]
    sure = sorted((row for row in shared if _is_sure(row, wish)), key=wish.is_kernels, reverse=True)
    first = next((row for row in sure if not any(_differ(other, row, sure, wish) for other in sure)), None)
    if first is None:
        return Claim((_new((), wish, MAIN),), "new", before=_candidates(sure) or tuple(shared[:1]))
    is_there = wish.of(first).file == "there"
    if is_there or (is_held(first) and not _restarted(first, wish)):
        how: Literal["copied", "forked"] = "copied" if is_there else "forked"
        return Claim((_new((), wish, first.name, first),), how, first, (first,))
    same = [row for row in sure if row.notebook == first.notebook and not is_held(row)]
    before = (first, *(row for row in same if row.id != first.id))
    others = tuple(row._replace(notebook=wish.origin.scope) for row in before[1:])
    return Claim((*others, _held(first, wish)), "renamed", before=before)


def _is_shared(row: ConversationRow, wish: Wish) -> bool:
    """Whether any of its turns' cells are in this notebook."""
    return wish.name is None and row.notebook != wish.origin.scope and wish.of(row).stands in ("all", "some")


def _is_sure(row: ConversationRow, wish: Wish) -> bool:
    """Whether all of them are, or this kernel was there; and what has become of its own notebook is known."""
    return (wish.of(row).stands == "all" or wish.is_kernels(row)) and wish.of(row).file != "unseen"


def _differ(row: ConversationRow, first: ConversationRow, sure: Sequence[ConversationRow], wish: Wish) -> bool:
    """Whether two notebooks have gone their own ways since one was copied, and nothing tells which is meant.

    One whose turns' cells are all among those of the other tells: it would not account for the rest of them.
    """
    same = row.notebook == first.notebook or wish.of(row).content == wish.of(first).content
    return not (same or wish.is_kernels(first) or _cells(row, sure, wish) < _cells(first, sure, wish))


def _cells(row: ConversationRow, sure: Sequence[ConversationRow], wish: Wish) -> frozenset[str]:
    """Return the cells of this notebook that have turns in any of another's conversations."""
    return frozenset[str]().union(*(wish.of(each).cells for each in sure if each.notebook == row.notebook))


def _candidates(sure: Sequence[ConversationRow]) -> tuple[ConversationRow, ...]:
    """Return the first conversation of each notebook."""
    return tuple({row.notebook: row for row in reversed(sure)}.values())[::-1]


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
    """Return the row with its holder, and with what is known of the notebook now."""
    device = wish.device if wish.device is not None else row.device
    return row._replace(
        notebook=wish.origin.scope, kernel=wish.origin.kernel, device=device,
        seen=wish.now, opened=wish.now, **wish.holder._asdict(),
    )  # fmt: skip


MOST_OFFERED = 3  # notebooks that are named


def opened_note(claim: Claim, before: float) -> str:
    """Return one line that says where a conversation comes from, last used at ``before`` (seconds since 1970)."""
    source = claim.source or claim.row
    what = f"{words.turns(source.turns)} of {source.name!r}, last used {words.ago(time.time() - before)}"
    remedy = "%chat undo puts that back, %chat new starts afresh."
    if claim.how == "continued":
        return f"Going on with {what}. %chat new starts afresh."
    if claim.how == "renamed":
        return f"Going on with {what}: this notebook was {claim.before[0].notebook}. {remedy}"
    if claim.how == "copied":
        return f"This notebook is a copy of {source.notebook}: it starts with {what}. {remedy}"
    turns = words.turns(source.turns)
    return f"Another kernel holds {source.name!r}: this is a fork of it, {claim.row.name!r}, with {turns}."


def begun_note(rows: Sequence[ConversationRow], origin: Origin) -> str:
    """Return one line that names the conversations that were not taken over, and how to bring them in."""
    named, more = rows[:MOST_OFFERED], len(rows) - MOST_OFFERED
    offered = "; ".join(f"{words.turns(row.turns)} of {row.name!r} {_belong(row, origin)}" for row in named)
    how = " or ".join(f"%chat resume {_typed(row.notebook)} {_typed(row.name)}" for row in named)
    rest = f", and {words.counted(more, 'notebook')} more may be meant: %chat list all" if more > 0 else ""
    them = "it" if sum(row.turns for row in named) == 1 else "them"
    return f"This notebook begins anew: {offered}{rest}. {how} brings {them} in."


def _belong(row: ConversationRow, origin: Origin) -> str:
    had_this_path = EARLIER.sub("", row.notebook) == origin.notebook
    whose = "another notebook, which had this path before" if had_this_path else f"{row.notebook}, which shares cells"
    return f"{'belongs' if row.turns == 1 else 'belong'} to {whose}"


def _typed(word: str) -> str:
    """Return a word as it is typed after %chat."""
    return f'"{word}"' if set(word) & set(" '") else word
