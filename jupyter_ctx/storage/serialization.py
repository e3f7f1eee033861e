"""Events and what was learned, as text that a database keeps, and stored rows as a conversation again.

msgspec reads ten thousand turns in a few hundredths of a second, and takes our frozen values as they are. A field that
is new has a default; one that is gone is passed over. A row that is damaged, or gone, costs what it held: it becomes a
step without an effect, so that undo and redo after it still mean what they meant. Nothing in the store is changed.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple, NotRequired, TypedDict

from ..context.learned_limit import LearnedLimit
from ..context.tokens import Report
from ..context.usage import Spending
from ..conversation.conversation import Conversation
from ..conversation.events import (
    EVENT_KINDS,
    Added,
    Event,
    Kept,
    Offered,
    Summarized,
    TurnAdded,
    Unreadable,
)
from ..errors import StoreError
from ..runtime.redaction import without_address_keys

MOST_MISSING = 1_000  # rows between two others that are taken for lost, each a step of its own
NO_STEPS = (Kept.stored_as, Offered.stored_as)  # which undo takes back with the step before
WITHOUT_CONTENT = {name: kind() for name, kind in EVENT_KINDS.items() if not fields(kind)}  # the kind says all


class UnreadableError(StoreError):
    """A row is not what this release of ours, or any, writes."""


class Sizes(TypedDict):
    """What a report has told of sizes: of turns by id, and of what is fixed (system, summary, tokens)."""

    meter: tuple[str, str]
    turns: dict[str, float]
    fixed: list[tuple[str, str, float]]


class MeterState(TypedDict):
    """How one model counts, as learned so far."""

    meter: tuple[str, str]
    overhead: float | None
    latest: NotRequired[tuple[Report, ...]]  # reports; earlier releases stored otherwise what they taught


class EndpointState(TypedDict, total=False):
    """What one endpoint has shown of itself.

    ``served`` is what it calls the model, ``unsupported`` the parameters that it does not take.
    """

    learned_limit: LearnedLimit
    served: str
    unsupported: list[str]


class StoredState(TypedDict, total=False):
    """What a conversation knows beside its events.

    ``counted`` is the fingerprint of the view whose size the provider reported last.
    ``runs`` are the settings that runs over tables had, by their cells.
    ``sizes`` are those that were told since its last event, which has all that were told before.
    """

    settings: dict[str, Any]
    warned: list[str]
    spent: Spending
    told: dict[str, str]
    sizes: list[Sizes]
    meters: list[MeterState]
    endpoints: dict[str, EndpointState]
    counted: str
    runs: dict[str, dict[str, Any]]


class EventRow(NamedTuple):
    """One event as a row.

    ``digest`` finds the answer to a request again, ``cell`` the conversations of a notebook's
    cell; ``source`` tells that cell's text from any other.
    """

    kind: str
    body: str
    sizes: str | None
    digest: str | None = None
    cell: str | None = None
    source: str | None = None


class StoredEvent(NamedTuple):
    """An event as it lies in the store; the body is JSON."""

    kind: str
    body: str | bytes
    sizes: str | bytes | None
    seq: int


def to_row(event: Event, sizes: list[Sizes]) -> EventRow:
    """Encode an event with the sizes learned by it."""
    row = EventRow(event.stored_as, encoded_text(event), encoded_text(sizes) if sizes else None)
    if isinstance(event, TurnAdded):
        record = event.turn.record
        return row._replace(digest=record.digest or None, cell=record.cell, source=record.source)
    if isinstance(event, Offered):
        record = event.alternatives.asked.record
        return row._replace(cell=record.cell, source=record.source)
    if isinstance(event, Summarized):
        return row._replace(cell=event.summary.by.rpartition(" ")[0] or None)
    if isinstance(event, Added) and event.turns:
        return row._replace(cell=event.turns[0].record.cell)
    return row


def state_text(state: StoredState) -> str:
    """Encode what a conversation knows beside its events; keys in addresses are removed."""
    cleaned: StoredState = {**state}
    cleaned["warned"] = [without_address_keys(line) for line in state.get("warned", [])]
    return encoded_text(cleaned)


def stored_state(text: str | bytes | None) -> StoredState:
    """Decode what a conversation knows beside its events; nothing where nothing was kept."""
    state: StoredState = decoded(StoredState, text) if text else {}
    return state


def encoded_text(value: object) -> str:
    """Return a value as JSON."""
    import msgspec

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # the name of a file may be no text
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace").decode()


def decoded(kind: Any, text: str | bytes) -> Any:
    """Return the value of this ``kind`` in JSON. Raises UnreadableError."""
    import msgspec

    try:
        return _decoder(kind).decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise UnreadableError(f"A row of the store cannot be read ({error}).") from None


@cache
def _decoder(kind: Any) -> Any:
    import msgspec

    return msgspec.json.Decoder(kind)


class OpenedConversation(NamedTuple):
    """A conversation as it was found.

    ``sizes``, ``state``: what was learned of its turns' sizes, and everything else beside its events.
    ``note``: one line that says where it comes from, or how to bring in another notebook's with the same cells.
    ``next``: number of the next row; ``lost``: how many rows could not be read.
    """

    conversation: Conversation
    sizes: Sequence[Sizes] = ()
    state: StoredState = {}  # noqa: RUF012  # it is read only
    note: str = ""
    next: int = 0
    lost: int = 0


def read_events(rows: Iterable[StoredEvent]) -> OpenedConversation:
    """Fold rows, in the order of their numbers; nothing that they hold makes that fail."""
    is_collecting = gc.isenabled()
    gc.disable()  # it would walk all turns again and again while more of them are made
    try:
        return _folded(rows)
    finally:
        if is_collecting:
            gc.enable()


def _folded(rows: Iterable[StoredEvent]) -> OpenedConversation:
    past, sizes, number, lost = Conversation(), list[Sizes](), 0, 0
    for row in rows:
        missing = row.seq - number
        for _ in range(min(missing, MOST_MISSING)):
            past.append(Unreadable())
        number, lost = row.seq + 1, lost + missing
        event = read_event(row)
        if event is not None:
            past.append(event)
        else:
            lost += 1
            if row.kind not in NO_STEPS:  # it keeps its place among the steps
                past.append(Unreadable(row.kind))
        if row.sizes:
            with suppress(UnreadableError):  # they are estimated anew
                sizes += decoded(list[Sizes], row.sizes)
    return OpenedConversation(past, sizes, next=number, lost=lost)


def read_event(row: StoredEvent) -> Event | None:
    """Return the event of a row, or ``None`` where the row cannot be read."""
    try:
        event: Event = decoded(EVENT_KINDS[row.kind], row.body)
        return event
    except (KeyError, UnreadableError):
        return WITHOUT_CONTENT.get(row.kind)
