"""Conversations and their events as rows. Each method is one transaction.

Every row has an owner and every query is by owner: copies of one handout have the same cell
ids and the same paths.
"""

from __future__ import annotations

import getpass
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import wording as words
from ..runtime.files import data_file
from .connection import Connection, by_parts, insert, raw
from .database import DEFAULT_FILE, Database
from .database_tables import CONVERSATIONS, EVENTS, LOCK
from .serialization import EventRow
from .spending import move_sum

VARIABLE = "JUPYTER_CTX_STORE"
OF_AN_EVENT = ("seq", "at", "kind", "body", "sizes", "digest", "cell", "source")
WITH_TURNS = ("said", "added")  # kinds of events
TEXT_COLUMNS = ("id", "notebook", "name", "kernel", "host", "state")  # the other columns are numbers
NEEDED = ("id", "notebook", "name")
NO_STATE = "damaged"  # which nobody can read either


class ConversationRow(NamedTuple):
    """One conversation. ``notebook`` says where it belongs; ``host``, ``pid`` and ``started`` who holds it.

    ``host`` stays when it is let go: the machine on which the notebook has its path, on the disk
    ``device``. Times are in seconds since 1970; ``turns`` is how many it had when it was last saved.
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
    device: int | None = None

    def __repr__(self) -> str:  # its state is kilobytes of JSON
        return f"ConversationRow({self.name!r}, {words.turns(self.turns)}, notebook={self.notebook!r}, id={self.id!r})"


class Ran(NamedTuple):
    """An event that brought turns, and the cell that ran; ``None`` where no cell is known."""

    conversation: str
    seq: int
    at: float
    cell: str | None
    source: str | None


class Stored(NamedTuple):
    """An event as it lies in the store; the body is JSON. What is damaged may be anything, and ``seq`` ``None``."""

    kind: str | bytes | None
    body: str | bytes | None
    sizes: str | bytes | None
    seq: int | None


class Claim(NamedTuple):
    """What is to be written: ``rows``, the claimed one last, and the events of ``source`` for it where it is a copy.

    ``before`` are conversations of another notebook as they were: those that are taken over
    ("copied" and "renamed"), or that which might have been ("new").
    """

    rows: tuple[ConversationRow, ...]
    how: Literal["new", "continued", "forked", "copied", "renamed"]
    source: ConversationRow | None = None
    before: tuple[ConversationRow, ...] = ()

    @property
    def row(self) -> ConversationRow:
        """The claimed conversation."""
        return self.rows[-1]


Found = tuple[ConversationRow, tuple[str, ...]]  # with the columns that are damaged


def sound(values: Sequence[Any]) -> Found:
    """Read a row, and name its damaged columns, which are as in a new row."""
    usable, damaged = dict[str, Any](), list[str]()
    for name, value in zip(ConversationRow._fields, values, strict=True):
        there = _text(value) if name in TEXT_COLUMNS else value
        if (there is None and name in NEEDED) or (there is not None and not _is_usable(name, there)):
            damaged.append(name)
        elif there is not None:
            usable[name] = there
    if "state" in damaged:
        usable["state"] = NO_STATE
    return ConversationRow(**{**dict.fromkeys(NEEDED, ""), **usable}), tuple(damaged)


def _apart(row: ConversationRow, found: Sequence[Found]) -> ConversationRow:
    """Return the row, under another name where an unusable row has its own."""
    taken = {(other.notebook, other.name) for other, damaged in found if set(damaged) & set(NEEDED)}
    if (row.notebook, row.name) not in taken:
        return row
    taken |= {(other.notebook, other.name) for other, _ in found}
    names = (f"{row.name}-{number}" for number in range(2, len(taken) + 3))
    return row._replace(name=next(name for name in names if (row.notebook, name) not in taken))


def _text(value: Any) -> Any:
    """As text, or as it is where it is none."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def _ran(conversation: str, seq: Any, at: Any, cell: Any, source: Any) -> Ran:
    """Return the cell of an event; a damaged one belongs to no cell."""
    cell, source = (str(_text(value)) if value is not None else None for value in (cell, source))
    return Ran(conversation, seq, at if isinstance(at, int | float) else 0.0, cell, source)


def _is_usable(name: str, value: Any) -> bool:
    if name in TEXT_COLUMNS:
        return isinstance(value, str)
    if name in ("pid", "turns"):
        return isinstance(value, int) and 0 <= value < 2**31
    if name == "device":
        return isinstance(value, int)
    return isinstance(value, int | float) and math.isfinite(value) and abs(value) < 2**40  # seconds


Decide = Callable[[Sequence[ConversationRow]], Claim]


def owner() -> str:
    """Return the user who owns the conversations: the hub's, else the system's."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (OSError, KeyError, ImportError):  # no name for this user, as in some containers
        return str(os.getuid()) if hasattr(os, "getuid") else "nobody"


def store_address(store: str | Path = "default") -> str:
    """Return where conversations are kept: as given, by ``JUPYTER_CTX_STORE``, or in Jupyter's data folder."""
    if store != "default":
        return str(store)
    return os.environ.get(VARIABLE, "").strip() or str(data_file(DEFAULT_FILE))


class Store:
    """The conversations of one owner in a database."""

    def __init__(self, database: Database) -> None:
        self.owner, self.database = owner(), database
        self._said: set[tuple[str, ...]] = set()  # of damaged rows

    def rows(self) -> list[ConversationRow]:
        """Return the conversations, the one opened last first."""
        return self.database.run(lambda connection: self._usable(self._found(connection)), write=False)

    def claim(self, decide: Decide) -> Claim:
        """Write what ``decide`` makes of all rows, the one opened last first; in one transaction with reading them.

        Raises TakenError where somebody else has taken a name meanwhile.
        """

        def take(connection: Connection) -> Claim:
            if not connection.is_sqlite:  # one at a time, for names that nobody has yet are not locked
                connection.execute(f"SELECT pg_advisory_xact_lock({LOCK}, hashtext(:owner))", self._mine())
            found = self._found(connection, lock=True)
            claim = decide(self._usable(found))
            claim = claim._replace(rows=tuple(_apart(row, found) for row in claim.rows))
            places = {row.id: row.notebook for row, _ in found}
            for row in claim.rows:
                self._write(connection, row)
            moved = {places[row.id]: row.notebook for row in claim.rows if row.id in places}
            for before, now in moved.items():
                if before != now:
                    move_sum(connection, before, now)
            if claim.source is not None:
                self._copy(connection, claim.source.id, claim.row.id)
            return claim

        return self.database.run(take)

    def change(self, conversation: str, **values: Any) -> None:
        """Set columns of a conversation. Raises TakenError for a name that is there."""
        self.database.run(lambda connection: self._set(connection, conversation, values))

    def delete(self, conversation: str) -> None:
        """Remove a conversation with its content, for good."""
        mine = self._mine(id=conversation)

        def remove(connection: Connection) -> None:
            connection.execute(f"DELETE FROM {EVENTS} WHERE owner = :owner AND conversation = :id", mine)
            connection.execute(f"DELETE FROM {CONVERSATIONS} WHERE owner = :owner AND id = :id", mine)

        self.database.run(remove)
        self.database.forget_deleted()

    def load(self, conversation: str) -> tuple[str | bytes | None, list[Stored]]:
        """Return the state and the events of a conversation, in order."""
        mine = self._mine(id=conversation)

        def read(connection: Connection) -> tuple[str | bytes | None, list[Stored]]:
            state = f"SELECT {raw(connection, 'state')} FROM {CONVERSATIONS} WHERE owner = :owner AND id = :id"
            events = (
                f"SELECT {_stored(connection)} FROM {EVENTS} WHERE owner = :owner AND conversation = :id ORDER BY seq"
            )
            return connection.scalar(state, mine), list(map(Stored._make, connection.execute(events, mine)))

        return self.database.run(read, write=False)

    def sharing(self, cells: Iterable[str]) -> set[str]:
        """Ids of the conversations that have turns of any of these cells."""
        ids = list(cells)

        def read(connection: Connection) -> set[str]:
            sharing = set[str]()
            for names, values in by_parts(ids):
                wanted = f"SELECT DISTINCT conversation FROM {EVENTS} WHERE owner = :owner AND cell IN ({names})"
                sharing.update(conversation for (conversation,) in connection.execute(wanted, self._mine(**values)))
            return sharing

        return self.database.run(read, write=False)

    def ran(self, conversations: Iterable[str]) -> list[Ran]:
        """Return the cells that brought these conversations their turns, in the order in which they ran."""
        ids = list(conversations)

        def read(connection: Connection) -> list[Ran]:
            events = list[Ran]()
            texts = ", ".join(raw(connection, column) for column in ("cell", "source"))
            for names, values in by_parts(ids):
                wanted = (
                    f"SELECT conversation, seq, at, {texts} FROM {EVENTS} "
                    f"WHERE owner = :owner AND conversation IN ({names}) AND kind IN {WITH_TURNS} ORDER BY seq"
                )
                events += (_ran(*row) for row in connection.execute(wanted, self._mine(**values)))
            return events

        return self.database.run(read, write=False)

    def append(self, row: ConversationRow, seq: int, records: Sequence[EventRow]) -> bool:
        """Add events from number ``seq`` on, with what the row says now; ``False`` where the row is not there.

        Raises TakenError where another kernel has written these numbers.
        """
        now = {name: getattr(row, name) for name in ("updated", "seen", "turns", "state")}
        same = {"owner": self.owner, "conversation": row.id, "at": row.updated}
        values = [{**same, "seq": seq + i, **record._asdict()} for i, record in enumerate(records)]

        def write(connection: Connection) -> bool:
            there = self._set(connection, row.id, now)
            if there and values:
                connection.execute_many(insert(EVENTS, values[0]), values)
            return there

        return self.database.run(write)

    def same(self, conversation: str, seq: int, records: Sequence[EventRow]) -> int:
        """Count the events that the store has already, from number ``seq`` on."""
        values = self._mine(id=conversation, seq=seq, most=len(records))

        def count(connection: Connection) -> int:
            there = connection.execute(
                f"SELECT kind, body FROM {EVENTS} WHERE owner = :owner AND conversation = :id AND seq >= :seq "
                "ORDER BY seq LIMIT :most", values,
            )  # fmt: skip
            pairs = zip(there, records, strict=False)
            return sum(1 for _ in takewhile(lambda pair: tuple(pair[0]) == pair[1][:2], pairs))

        return self.database.run(count, write=False)

    def answered(self, digest: str, notebooks: Iterable[str], *, runs: str | None = None) -> Stored | None:
        """Return the newest turn that answered exactly this request, in the conversations of these notebooks.

        ``runs``: or in those that have no notebook, and whose place ends in this.
        """
        named = {f"v{i}": notebook for i, notebook in enumerate(notebooks)}
        places = [f"notebook IN ({', '.join(f':{name}' for name in named)})"] if named else []
        values = self._mine(digest=digest, **named)
        if runs is not None:
            values["size"], values["runs"] = len(runs), runs
            places.append("substr(notebook, length(notebook) - :size + 1) = :runs")

        def read(connection: Connection) -> Stored | None:
            ids = f"SELECT id FROM {CONVERSATIONS} WHERE owner = :owner AND ({' OR '.join(places)})"
            wanted = (
                f"SELECT {_stored(connection)} FROM {EVENTS} "
                f"WHERE owner = :owner AND digest = :digest AND conversation IN ({ids}) ORDER BY at DESC LIMIT 1"
            )
            row = connection.execute(wanted, values).fetchone()
            return Stored._make(row) if row is not None else None

        return self.database.run(read, write=False) if places else None

    def _mine(self, **values: Any) -> dict[str, Any]:
        """Return values for a statement, with the owner whose rows it is about."""
        return {"owner": self.owner, **values}

    def _usable(self, found: Sequence[Found]) -> list[ConversationRow]:
        return [row for row, damaged in found if self._named(row, damaged)]

    def _found(self, connection: Connection, *, lock: bool = False) -> list[Found]:
        columns = ", ".join(_column(connection, name) for name in ConversationRow._fields)
        wanted = f"SELECT {columns} FROM {CONVERSATIONS} WHERE owner = :owner ORDER BY opened DESC"
        locked = " FOR UPDATE" if lock and not connection.is_sqlite else ""
        return list(map(sound, connection.execute(wanted + locked, self._mine())))

    def _named(self, row: ConversationRow, damaged: tuple[str, ...]) -> bool:
        """Whether a row can be used; what is damaged in it is said once. Of its state, who opens it will say so."""
        useless, rest = set(damaged) & set(NEEDED), ", ".join(name for name in damaged if name != "state")
        if rest and (row.id, row.name, rest) not in self._said:
            self._said.add((row.id, row.name, rest))
            which = f"The row of the conversation {row.name or row.id!r}"
            done = "it is passed over, and left as it is" if useless else "these begin anew"
            self.database.notices.append(f"{which} in {self.database.shown} is damaged ({rest}): {done}.")
        return not useless

    def _set(self, connection: Connection, conversation: str, values: Mapping[str, Any]) -> bool:
        """Set columns of a conversation; ``False`` where it is not there."""
        columns = ", ".join(f"{name} = :{name}" for name in values)
        change = f"UPDATE {CONVERSATIONS} SET {columns} WHERE owner = :owner AND id = :id"
        return bool(connection.execute(change, self._mine(**{**values, "id": conversation})).rowcount)

    def _write(self, connection: Connection, row: ConversationRow) -> None:
        values = row._asdict()
        if not self._set(connection, row.id, values):
            connection.execute(insert(CONVERSATIONS, self._mine(**values)), self._mine(**values))

    def _copy(self, connection: Connection, source: str, to: str) -> None:
        """Copy events to another conversation."""
        columns = ", ".join(OF_AN_EVENT)
        connection.execute(
            f"INSERT INTO {EVENTS} (owner, conversation, {columns}) "
            f"SELECT owner, :to, {columns} FROM {EVENTS} WHERE owner = :owner AND conversation = :source",
            self._mine(source=source, to=to),
        )


def _stored(connection: Connection) -> str:
    """Return the columns of an event, which may be damaged: SQLite accepts any type in any column."""
    seq = "CASE WHEN typeof(seq) = 'integer' THEN seq END" if connection.is_sqlite else "seq"
    return ", ".join((*(raw(connection, column) for column in ("kind", "body", "sizes")), seq))


def _column(connection: Connection, name: str) -> str:
    """Read a column of a conversation; a value of another type in SQLite is not ours."""
    if not connection.is_sqlite:
        return name
    if name in TEXT_COLUMNS:
        return f"CASE WHEN typeof({name}) IN ('text', 'null') THEN CAST({name} AS BLOB) ELSE x'ff' END"
    return f"CASE WHEN typeof({name}) IN ('integer', 'real', 'null') THEN {name} ELSE '' END"
