"""The batches of experiments that are not over: what was meant to be handed in to a provider, and what was.

The intention is written before anything is sent, so that no batch is lost or paid twice, wherever a process is killed.
Each method is one transaction, and raises StoreError where the database fails.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from .connection import Connection, insert
from .database_tables import BATCHES
from .holders import is_held_elsewhere, is_held_here, this_process
from .serialization import UnreadableError, decoded, encoded_text
from .stored_answers import AnswerKey, Answers

BatchState = Literal["intended", "sending", "submitted", "cancelling"]
COLUMNS = ("id", "endpoint", "created", "asked", "state", "reference", "host", "pid", "started", "seen")


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch that is not over.

    id: its mark in the provider's records
    endpoint: who answers it
    asked: the rows in it, in their order there
    created, seen: when it was intended, and the last sign of life of who holds it (s since 1970)
    state: "intended": nothing was sent that costs money; "sending": it may have been handed in;
        "submitted": it was; "cancelling": its end was asked for
    reference: the provider's id of it, once known
    host, pid, started: the process that holds it
    """

    id: str
    endpoint: str
    asked: tuple[AnswerKey, ...]
    created: float = 0.0
    state: BatchState = "intended"
    reference: str | None = None
    host: str | None = None
    pid: int | None = None
    started: float | None = None
    seen: float = 0.0


class BatchTable:
    """The batches of one user; they are in the database of the answers."""

    def __init__(self, answers: Answers) -> None:
        self._database = answers.database
        self._held: set[str] = set()

    def open(self, endpoint: str) -> list[BatchRecord]:
        """Return the batches at an endpoint, the oldest first; a damaged one is not there."""
        return self._database.run(lambda connection: self._open(connection, endpoint), write=False)

    def intend(self, endpoint: str, parts: Sequence[Sequence[AnswerKey]]) -> list[BatchRecord]:
        """Write one intention for each part, and hold them; none where an open batch has one of the rows already."""
        now, holder = time.time(), this_process()._asdict()
        records = [BatchRecord(secrets.token_hex(8), endpoint, tuple(part), now, seen=now, **holder) for part in parts]
        asked = {key for part in parts for key in part}

        def write(connection: Connection) -> bool:
            if any(not asked.isdisjoint(record.asked) for record in self._open(connection, endpoint)):
                return False
            for record in records:
                values = _values(record)
                connection.execute(insert(BATCHES, values), values)
            return True

        done = records if self._database.run(write) else []
        self._hold(done)
        return done

    def take(self, record: BatchRecord) -> BatchRecord | None:
        """Hold a batch and return it as it is now; ``None`` where it is over, or another run holds it."""

        def write(connection: Connection) -> BatchRecord | None:
            found = (each for each in self._open(connection, record.endpoint) if each.id == record.id)
            now = next(found, None)
            if now is None or self.is_held(now):
                return None
            taken = replace(now, **this_process()._asdict())
            self._set(connection, taken)
            return taken

        taken = self._database.run(write)
        self._hold([taken] if taken is not None else [])
        return taken

    def is_held(self, record: BatchRecord) -> bool:
        """Return whether another run, here or in another live process, works on a batch."""
        if is_held_here(record):
            return record.id in _here and record.id not in self._held
        return is_held_elsewhere(record)

    def change(self, record: BatchRecord) -> bool:
        """Write what is new of a batch; ``False`` where another run has taken it, or it is gone.

        One with a reference that is gone, as in a file that was damaged and begun anew, is written again: it is paid.
        """

        def write(connection: Connection) -> bool:
            if self._set(connection, record, "host = :host AND pid = :pid"):
                return True
            values = _values(record)
            there = f"SELECT count(*) FROM {BATCHES} WHERE id = :id"
            if record.reference is None or connection.scalar(there, values):
                return False
            connection.execute(insert(BATCHES, values), values)
            return True

        return self._database.run(write)

    def end(self, record: BatchRecord) -> None:
        """Forget a batch whose answers are stored."""
        remove = f"DELETE FROM {BATCHES} WHERE id = :id"
        values = {"id": record.id}
        self._database.run(lambda connection: connection.execute(remove, values))
        self.let_go([record])

    def let_go(self, records: Iterable[BatchRecord]) -> None:
        """Let other runs of this process hold these."""
        for record in records:
            self._held.discard(record.id)
            _here.discard(record.id)

    def _hold(self, records: Iterable[BatchRecord]) -> None:
        for record in records:
            self._held.add(record.id)
            _here.add(record.id)

    def _open(self, connection: Connection, endpoint: str) -> list[BatchRecord]:
        rows = connection.execute(
            f"SELECT {', '.join(COLUMNS)} FROM {BATCHES} WHERE endpoint = :endpoint ORDER BY created, id",
            {"endpoint": endpoint},
        )
        found = list[BatchRecord]()
        for row in rows:
            with suppress(UnreadableError):
                found.append(_record(dict(zip(COLUMNS, row, strict=True))))
        return found

    def _set(self, connection: Connection, record: BatchRecord, where: str = "1 = 1") -> bool:
        values = _values(record)
        del values["asked"]  # which never changes, and may be megabytes
        columns = ", ".join(f"{name} = :{name}" for name in values if name != "id")
        change = f"UPDATE {BATCHES} SET {columns} WHERE id = :id AND {where}"
        return bool(connection.execute(change, values).rowcount)


_here: set[str] = set()  # ids of the batches that runs of this process work on


def _values(record: BatchRecord) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in COLUMNS}
    return {**values, "asked": encoded_text(record.asked)}


def _record(values: dict[str, Any]) -> BatchRecord:
    """Return a row as a batch. Raises UnreadableError."""
    asked = decoded(tuple[AnswerKey, ...], values["asked"])
    import msgspec

    try:
        record: BatchRecord = msgspec.convert({**values, "asked": asked}, BatchRecord, from_attributes=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise UnreadableError(f"A batch in the store cannot be read ({error}).") from None
    return record
