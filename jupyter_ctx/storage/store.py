"""Conversations and their events as rows. Each method is one transaction."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import wording as words
from ..runtime.files import data_file
from .database import DEFAULT_FILE, Connection, Database, insert
from .database_tables import CONVERSATIONS, EVENTS
from .serialization import EventRow, StoredEvent
from .spending import move_sum

VARIABLE = "JUPYTER_CTX_STORE"
OF_AN_EVENT = ", ".join(("seq", "at", *EventRow._fields))
COPY = f"""
    INSERT INTO {EVENTS} (conversation, {OF_AN_EVENT})
    SELECT :copy, {OF_AN_EVENT} FROM {EVENTS} WHERE conversation = :source
"""
AS_STORED = "kind, CAST(body AS BLOB), CAST(sizes AS BLOB), seq"  # reading text as str takes as long as all else


class ConversationRow(NamedTuple):
    """One conversation. ``notebook`` says where it belongs; ``host``, ``pid`` and ``started`` who holds it.

    Times are in seconds since 1970; ``turns`` is how many it had when it was last saved.
    """

    id: str
    notebook: str
    name: str
    kernel: str | None = None
    host: str | None = None
    pid: int | None = None
    started: float | None = None
    seen: float = 0.0
    opened: float = 0.0
    created: float = 0.0
    updated: float = 0.0
    turns: int = 0
    state: str | None = None

    def __repr__(self) -> str:  # its state is kilobytes of JSON
        return f"ConversationRow({self.name!r}, {words.turns(self.turns)}, notebook={self.notebook!r}, id={self.id!r})"


class Claim(NamedTuple):
    """What is to be written: ``rows``, the claimed one last, and the events of ``source`` for it where it is a copy."""

    rows: tuple[ConversationRow, ...]
    how: Literal["new", "continued", "forked"]
    source: ConversationRow | None = None

    @property
    def row(self) -> ConversationRow:
        """The claimed conversation."""
        return self.rows[-1]


def store_address(store: str | Path = "default") -> str:
    """Return where conversations are kept: as given, by ``JUPYTER_CTX_STORE``, or in Jupyter's data folder."""
    if store != "default":
        return str(store)
    return os.environ.get(VARIABLE, "").strip() or str(data_file(DEFAULT_FILE))


class Store:
    """The conversations in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def rows(self) -> list[ConversationRow]:
        """Return the conversations, the one opened last first."""
        return self.database.run(_rows, write=False)

    def claim(self, decide: Callable[[Sequence[ConversationRow]], Claim]) -> Claim:
        """Write what ``decide`` makes of all rows, the one opened last first; in one transaction with reading them.

        Raises TakenError where somebody else has taken a name meanwhile.
        """

        def take(connection: Connection) -> Claim:
            before = _rows(connection)
            claim = decide(before)
            for row in claim.rows:
                values = row._asdict()
                if not _set(connection, row.id, values):
                    connection.execute(insert(CONVERSATIONS, values), values)
            places = {row.id: row.notebook for row in before}  # what a notebook has spent follows its conversations
            for old, new in {places[row.id]: row.notebook for row in claim.rows if row.id in places}.items():
                move_sum(connection, old, new)
            if claim.source is not None:
                connection.execute(COPY, {"source": claim.source.id, "copy": claim.row.id})
            return claim

        return self.database.run(take)

    def change(self, conversation: str, **values: Any) -> None:
        """Set columns of a conversation. Raises TakenError for a name that is there."""
        self.database.run(lambda connection: _set(connection, conversation, values))

    def delete(self, conversation: str) -> None:
        """Remove a conversation with its content, for good."""

        def remove(connection: Connection) -> None:
            connection.execute(f"DELETE FROM {EVENTS} WHERE conversation = :id", {"id": conversation})
            connection.execute(f"DELETE FROM {CONVERSATIONS} WHERE id = :id", {"id": conversation})

        self.database.run(remove)
        self.database.forget_deleted()

    def load(self, conversation: str) -> tuple[str | None, list[StoredEvent]]:
        """Return the state and the events of a conversation, in order."""
        state = f"SELECT state FROM {CONVERSATIONS} WHERE id = :id"
        events = f"SELECT {AS_STORED} FROM {EVENTS} WHERE conversation = :id ORDER BY seq"
        values = {"id": conversation}

        def read(connection: Connection) -> tuple[str | None, list[StoredEvent]]:
            return connection.scalar(state, values), list(map(StoredEvent._make, connection.execute(events, values)))

        return self.database.run(read, write=False)

    def sharing(self, cells: Iterable[str]) -> set[str]:
        """Ids of the conversations that have turns of any of these cells."""
        query = f"SELECT DISTINCT conversation FROM {EVENTS} WHERE cell IN (SELECT value FROM json_each(:cells))"
        return {conversation for (conversation,) in self.database.query(query, {"cells": json.dumps(list(cells))})}

    def append(self, row: ConversationRow, seq: int, records: Sequence[EventRow]) -> bool:
        """Add events from number ``seq`` on, with what the row says now; ``False`` where the row is not there.

        Raises TakenError where another kernel has written these numbers.
        """
        now = {name: getattr(row, name) for name in ("updated", "seen", "turns", "state")}
        same = {"conversation": row.id, "at": row.updated}
        values = [{**same, "seq": seq + i, **record._asdict()} for i, record in enumerate(records)]

        def write(connection: Connection) -> bool:
            there = _set(connection, row.id, now)
            if there and values:
                connection.executemany(insert(EVENTS, values[0]), values)
            return there

        return self.database.run(write)

    def answered(self, digest: str, notebooks: Iterable[str], *, runs: str | None = None) -> StoredEvent | None:
        """Return the newest turn that answered exactly this request, in the conversations of these notebooks.

        ``runs``: or in those that have no notebook, and whose place ends in this.
        """
        query = f"""
            SELECT {AS_STORED} FROM {EVENTS} WHERE digest = :digest AND conversation IN (
                SELECT id FROM {CONVERSATIONS} WHERE notebook IN (SELECT value FROM json_each(:notebooks))
                OR substr(notebook, length(notebook) - length(:runs) + 1) = :runs
            ) ORDER BY at DESC LIMIT 1
        """
        values = {"digest": digest, "notebooks": json.dumps(list(notebooks)), "runs": runs}
        return next(map(StoredEvent._make, self.database.query(query, values)), None)


def _rows(connection: Connection) -> list[ConversationRow]:
    columns = ", ".join(ConversationRow._fields)
    rows = connection.execute(f"SELECT {columns} FROM {CONVERSATIONS} ORDER BY opened DESC")
    return list(map(ConversationRow._make, rows))


def _set(connection: Connection, conversation: str, values: Mapping[str, Any]) -> bool:
    """Set columns of a conversation; ``False`` where it is not there."""
    columns = ", ".join(f"{name} = :{name}" for name in values)
    change = f"UPDATE {CONVERSATIONS} SET {columns} WHERE id = :id"
    return bool(connection.execute(change, {**values, "id": conversation}).rowcount)
