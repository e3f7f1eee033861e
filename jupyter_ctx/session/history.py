"""What was said, a row a turn, and what becomes of it in the next request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..conversation.conversation import Conversation, Place
from ..conversation.messages import StopReason
from .tabular import AsTable
from .view import PartStatus

ENDINGS: dict[StopReason, str] = {
    "stop": "",
    "max_tokens": "cut at max_tokens",
    "context_window": "cut at the window",
    "refusal": "refused",
    "interrupted": "interrupted",
    "cut": "cut off",
}


class HistoryRow(NamedTuple):
    """One turn: its number from 1 (``turn``), its cell, both texts, its tokens and what becomes of it.

    ``exact``: the tokens come from what the provider said; ``states`` begins with the place
    in the next request; ``versions`` is how many answers the cell has had.
    """

    turn: int
    cell: str
    prompt: str
    reply: str
    tokens: int
    exact: bool
    states: tuple[str, ...]
    versions: int
    model: str


class History(AsTable, tuple[HistoryRow, ...]):
    """All turns since the last clear, in order; a table of the fields of a row, with ``state`` in words."""

    __slots__ = ()

    def _columns(self) -> dict[str, list[Any]]:
        rows = [{**row._asdict(), "state": ", ".join(row.states)} for row in self]
        names = [*(name for name in HistoryRow._fields if name != "states"), "state"]
        return {name: [row[name] for row in rows] for name in names}


def history(
    conversation: Conversation, sizes: Iterator[tuple[int, bool, PartStatus]], deleted: frozenset[str]
) -> History:
    """The table; ``sizes`` gives each turn's tokens, whether they are counted, and its state in the next request."""
    stale = conversation.stale()
    return History(
        _row(number, place, size, stale=place.id in stale, deleted=place.turn.cell in deleted)
        for number, (place, size) in enumerate(zip(conversation.places, sizes, strict=True), 1)
    )


def _row(number: int, place: Place, size: tuple[int, bool, PartStatus], *, stale: bool, deleted: bool) -> HistoryRow:
    tokens, exact, state = size
    turn = place.turn
    marks = (ENDINGS[turn.stop_reason], "stale" if stale else "", "cell deleted" if deleted else "")
    states = (state, *filter(None, marks))
    return HistoryRow(
        number, cell_of(place), turn.prompt, turn.reply, tokens, exact, states, len(place.versions), turn.model
    )


def cell_of(place: Place) -> str:
    """A cell as its reader sees it: by the number of its execution, else by its id."""
    return f"[{place.execution}]" if place.execution is not None else (place.turn.cell or "")[:8]
