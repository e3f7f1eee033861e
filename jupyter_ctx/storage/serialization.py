"""Events and what was learned, as text that a database keeps.

msgspec reads ten thousand turns in a few hundredths of a second, and takes our frozen values
as they are. A field that is new has a default; one that is gone is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypedDict

from ..context.calibration import Calibration
from ..context.evidence import Evidence
from ..context.usage import Spending
from ..conversation.events import (
    Added,
    Cleared,
    Event,
    Excluded,
    IncludedAll,
    Kept,
    Lost,
    MemorySet,
    Picked,
    Pinned,
    Redone,
    Said,
    Summarized,
    SystemSet,
    Trimmed,
    Undone,
)
from ..conversation.text_safety import without_keys
from ..errors import StoreError

EVENT_KINDS: dict[str, type[Event]] = {
    "said": Said,
    "cleared": Cleared,
    "trimmed": Trimmed,
    "summarized": Summarized,
    "pinned": Pinned,
    "excluded": Excluded,
    "included all": IncludedAll,
    "system": SystemSet,
    "memory": MemorySet,
    "added": Added,
    "picked": Picked,
    "kept": Kept,
    "lost": Lost,
    "undone": Undone,
    "redone": Redone,
}
KIND_NAMES = {kind: name for name, kind in EVENT_KINDS.items()}


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
    calibration: Calibration
    overhead: float | None
    floor: float


class EndpointState(TypedDict, total=False):
    """What one endpoint has shown of itself; ``served`` is what it calls the model."""

    evidence: Evidence
    served: str


class StoredState(TypedDict, total=False):
    """What a conversation knows beside its events; ``exact``: its size was the provider's.

    ``sizes`` are those that were told since its last event, which has all that were told before.
    """

    settings: dict[str, Any]
    announced: list[float]
    warned: list[str]
    spent: Spending
    deleted: list[str]
    told: dict[str, str]
    sizes: list[Sizes]
    meters: list[MeterState]
    endpoints: dict[str, EndpointState]
    exact: bool


class Record(NamedTuple):
    """One event as a row.

    ``digest`` finds the answer to a request again, ``cell`` the conversations of a notebook's
    cell; ``source`` tells that cell's text from any other.
    """

    kind: str
    body: str
    sizes: str | None
    digest: str | None
    cell: str | None = None
    source: str | None = None


def to_record(event: Event, sizes: list[Sizes]) -> Record:
    """An event with what was learned of sizes by it; a newer release's one as it was."""
    if isinstance(event, Lost) and event.kind and event.kind not in EVENT_KINDS:
        return Record(event.kind, event.body, None, None, None, None)
    turn = event.turn if isinstance(event, Said) else None
    where = (turn.digest or None, turn.cell, turn.source) if turn else (None, None, None)
    return Record(KIND_NAMES[type(event)], _text(event), _text(sizes) if sizes else None, *where)


def from_record(kind: str, body: str | bytes) -> Event:
    """An event as it was. Raises UnreadableError."""
    if kind not in EVENT_KINDS:
        raise UnreadableError(f"Nobody here knows an event that is {kind!r}.")
    event: Event = _decode(EVENT_KINDS[kind], body)
    return event


def sizes_of(text: str | bytes) -> list[Sizes]:
    """What a row tells of sizes."""
    sizes: list[Sizes] = _decode(list[Sizes], text)
    return sizes


def state_text(state: StoredState) -> str:
    """What a conversation knows beside its events, as text; no key stands in an address."""
    kept: StoredState = {**state}
    kept["warned"] = [without_keys(line) for line in state.get("warned", [])]
    return _text(kept)


def stored_state(text: str | bytes | None) -> StoredState:
    """The same as it was; nothing where nothing was kept."""
    state: StoredState = _decode(StoredState, text) if text else {}
    return state


def _text(value: Mapping[str, Any] | list[Sizes] | Event) -> str:
    import msgspec

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # the name of a file may be no text
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace").decode()


@cache
def _decoder(kind: Any) -> Any:
    import msgspec

    return msgspec.json.Decoder(kind)


def _decode(kind: Any, text: str | bytes) -> Any:
    import msgspec

    try:
        return _decoder(kind).decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise UnreadableError(f"A row of the store cannot be read ({error}).") from None
