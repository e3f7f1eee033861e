"""Events and what was learned, as text that a database keeps.

msgspec reads ten thousand turns in a few hundredths of a second, and takes our frozen values
as they are. A field that is new has a default; one that is gone is passed over.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple, TypedDict

from ..context.calibration import Reports, Vector
from ..context.learned_limit import LearnedLimit
from ..context.usage import Spending
from ..conversation.events import EVENT_KINDS, Event, Offered, Said
from ..errors import StoreError
from ..runtime.redaction import without_address_keys


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
    calibration: Reports
    overhead: float | None
    floor: float
    settled: Vector


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
    ``sizes`` are those that were told since its last event, which has all that were told before.
    """

    settings: dict[str, Any]
    announced: list[float]
    warned: list[str]
    spent: Spending
    told: dict[str, str]
    sizes: list[Sizes]
    meters: list[MeterState]
    endpoints: dict[str, EndpointState]
    counted: str


class EventRow(NamedTuple):
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


def to_row(event: Event, sizes: list[Sizes]) -> EventRow:
    """Encode an event with the sizes learned by it."""
    where: tuple[str | None, str | None, str | None] = (None, None, None)
    if isinstance(event, Said):
        said = event.turn.record
        where = (said.digest or None, said.cell, said.source)
    elif isinstance(event, Offered):
        offered, asked = event.alternatives, event.alternatives.asked.record
        where = (offered.digest or None, asked.cell, asked.source)
    return EventRow(event.stored_as, encoded_text(event), encoded_text(sizes) if sizes else None, *where)


def from_row(kind: str, body: str | bytes) -> Event:
    """Decode an event. Raises UnreadableError."""
    if kind not in EVENT_KINDS:
        raise UnreadableError(f"Nobody here knows an event that is {kind!r}.")
    event: Event = decoded(EVENT_KINDS[kind], body)
    return event


def sizes_of(text: str | bytes) -> list[Sizes]:
    """Return the sizes that a row tells."""
    sizes: list[Sizes] = decoded(list[Sizes], text)
    return sizes


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
