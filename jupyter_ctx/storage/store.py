"""Conversations and their events as rows. Each method is one transaction.

Every row has an owner and every query is by owner: copies of one handout have the same cell
ids and the same paths.
"""

from __future__ import annotations

import getpass
import math
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import wording as words
from ..runtime.files import data_file
from .database import DEFAULT_FILE, Database
from .migrations import CONVERSATIONS, EVENTS, LOCK
from .serialization import EventRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

VARIABLE = "JUPYTER_CTX_STORE"
OF_AN_EVENT = ("seq", "at", "kind", "body", "sizes", "digest", "cell", "source")
AT_ONCE = 500  # values in one question
WITH_TURNS = ("said", "added")  # kinds of events
TEXT_COLUMNS = ("id", "notebook", "name", "kernel", "host", "state")  # the other columns are numbers
NEEDED = ("id", "notebook", "name")
NO_TEXT = b"\xff"
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
        import sqlalchemy as sa

        self.owner, self.database = owner(), database
        self._sa = sa
        self._said: set[tuple[str, ...]] = set()  # of damaged rows
        self._conversations = sa.table(CONVERSATIONS, *map(sa.column, ("owner", *ConversationRow._fields)))
        self._events = sa.table(EVENTS, *map(sa.column, ("owner", "conversation", *OF_AN_EVENT)))

    def rows(self, **where: Any) -> list[ConversationRow]:
        """Return the conversations whose columns have these values, the one opened last first."""
        return self.database.run(lambda connection: self._rows(connection, where), write=False)

    def claim(self, decide: Decide) -> Claim:
        """Write what ``decide`` makes of all rows, the one opened last first; in one transaction with reading them.

        Raises TakenError where somebody else has taken a name meanwhile.
        """

        def take(connection: Connection) -> Claim:
            if connection.dialect.name == "postgresql":  # one at a time, for names that nobody has yet are not locked
                mine = self._sa.func.hashtext(self.owner)
                connection.execute(self._sa.select(self._sa.func.pg_advisory_xact_lock(LOCK, mine)))
            found = self._found(connection, {}, lock=True)
            claim = decide(self._usable(found))
            claim = claim._replace(rows=tuple(_apart(row, found) for row in claim.rows))
            for row in claim.rows:
                self._write(connection, row)
            if claim.source is not None:
                self._copy(connection, claim.source.id, claim.row.id)
            return claim

        return self.database.run(take)

    def change(self, conversation: str, **values: Any) -> None:
        """Set columns of a conversation. Raises TakenError for a name that is there."""
        table = self._conversations
        change = self._sa.update(table).where(*self._mine(table, id=conversation)).values(**values)
        self.database.run(lambda connection: connection.execute(change))

    def delete(self, conversation: str) -> None:
        """Remove a conversation with its content, for good."""
        events, table = self._events, self._conversations

        def remove(connection: Connection) -> None:
            connection.execute(self._sa.delete(events).where(*self._mine(events, conversation=conversation)))
            connection.execute(self._sa.delete(table).where(*self._mine(table, id=conversation)))

        self.database.run(remove)
        self.database.forget_deleted()

    def load(self, conversation: str) -> tuple[str | bytes | None, list[Stored]]:
        """Return the state and the events of a conversation, in order."""
        events, table = self._events, self._conversations

        def read(connection: Connection) -> tuple[str | bytes | None, list[Stored]]:
            state = self._sa.select(self._raw(connection, table.c.state)).where(*self._mine(table, id=conversation))
            mine = self._mine(events, conversation=conversation)
            wanted = self._sa.select(*self._stored(connection)).where(*mine).order_by(events.c.seq)
            return connection.scalar(state), list(map(Stored._make, connection.execute(wanted)))

        return self.database.run(read, write=False)

    def sharing(self, cells: Iterable[str]) -> set[str]:
        """Ids of the conversations that have turns of any of these cells."""
        events, ids = self._events, list(cells)

        def read(connection: Connection) -> set[str]:
            parts = (ids[i : i + AT_ONCE] for i in range(0, len(ids), AT_ONCE))
            wanted = (
                self._sa.select(events.c.conversation).where(*self._mine(events), events.c.cell.in_(part)).distinct()
                for part in parts
            )
            return {found for each in wanted for found in connection.scalars(each)}

        return self.database.run(read, write=False)

    def ran(self, conversations: Iterable[str]) -> list[Ran]:
        """Return the cells that brought these conversations their turns, in the order in which they ran."""
        events, ids = self._events, list(conversations)

        def read(connection: Connection) -> list[Ran]:
            found = list[Ran]()
            for i in range(0, len(ids), AT_ONCE):
                these = events.c.conversation.in_(ids[i : i + AT_ONCE]), events.c.kind.in_(WITH_TURNS)
                texts = (self._raw(connection, column) for column in (events.c.cell, events.c.source))
                wanted = self._sa.select(events.c.conversation, events.c.seq, events.c.at, *texts)
                rows = connection.execute(wanted.where(*self._mine(events), *these).order_by(events.c.seq))
                found += (_ran(*row) for row in rows)
            return found

        return self.database.run(read, write=False)

    def append(self, row: ConversationRow, seq: int, records: Sequence[EventRow]) -> bool:
        """Add events from number ``seq`` on, with what the row says now; ``False`` where the row is not there.

        Raises TakenError where another kernel has written these numbers.
        """
        table, changing = self._conversations, ("updated", "seen", "turns", "state")
        now = {name: getattr(row, name) for name in changing}
        change = self._sa.update(table).where(*self._mine(table, id=row.id)).values(**now)
        same = {"owner": self.owner, "conversation": row.id, "at": row.updated}
        values = [{**same, "seq": seq + i, **record._asdict()} for i, record in enumerate(records)]

        def write(connection: Connection) -> bool:
            there = bool(connection.execute(change).rowcount)
            if there and values:
                connection.execute(self._sa.insert(self._events), values)
            return there

        return self.database.run(write)

    def same(self, conversation: str, seq: int, records: Sequence[EventRow]) -> int:
        """Count the events that the store has already, from number ``seq`` on."""
        columns, mine = self._events.c, self._mine(self._events, conversation=conversation)
        wanted = self._sa.select(columns.kind, columns.body).where(*mine, columns.seq >= seq).order_by(columns.seq)

        def count(connection: Connection) -> int:
            there = connection.execute(wanted.limit(len(records))).all()
            pairs = zip(there, records, strict=False)
            return sum(1 for _ in takewhile(lambda pair: tuple(pair[0]) == pair[1][:2], pairs))

        return self.database.run(count, write=False)

    def answered(self, digest: str, notebooks: Iterable[str], *, runs: str | None = None) -> Stored | None:
        """Return the newest turn that answered exactly this request, in the conversations of these notebooks.

        ``runs``: or in those that have no notebook, and whose place ends in this.
        """
        events, table = self._events, self._conversations

        def read(connection: Connection) -> Stored | None:
            ends = [table.c.notebook.endswith(runs, autoescape=True)] if runs is not None else []
            theirs = self._sa.or_(table.c.notebook.in_(list(notebooks)), *ends)
            mine = self._sa.select(table.c.id).where(*self._mine(table), theirs)
            wanted = self._sa.select(*self._stored(connection)).where(
                *self._mine(events, digest=digest), events.c.conversation.in_(mine)
            )
            found = connection.execute(wanted.order_by(events.c.at.desc()).limit(1)).first()
            return Stored._make(found) if found is not None else None

        return self.database.run(read, write=False)

    def _stored(self, connection: Connection) -> Sequence[Any]:
        """Read the columns of an event, which may be damaged."""
        columns = self._events.c
        texts = [self._raw(connection, column) for column in (columns.kind, columns.body, columns.sizes)]
        return *texts, self._number(connection, columns.seq)

    def _raw(self, connection: Connection, column: Any) -> Any:
        """Return a text as it is; SQLite's as bytes: it may be no text, and str takes as long as all else."""
        return self._sa.cast(column, self._sa.LargeBinary) if _is_sqlite(connection) else column

    def _number(self, connection: Connection, column: Any) -> Any:
        """Return a whole number, or ``None``: SQLite accepts any type in any column."""
        whole = self._sa.func.typeof(column) == "integer"
        return self._sa.case((whole, column)) if _is_sqlite(connection) else column

    def _mine(self, table: Any, **where: Any) -> list[Any]:
        return [table.c.owner == self.owner, *(table.c[name] == value for name, value in where.items())]

    def _rows(self, connection: Connection, where: dict[str, Any]) -> list[ConversationRow]:
        return self._usable(self._found(connection, where))

    def _usable(self, found: Sequence[Found]) -> list[ConversationRow]:
        return [row for row, damaged in found if self._named(row, damaged)]

    def _found(self, connection: Connection, where: dict[str, Any], *, lock: bool = False) -> list[Found]:
        table = self._conversations
        columns = (self._column(connection, table.c[name]) for name in ConversationRow._fields)
        wanted = self._sa.select(*columns).where(*self._mine(table, **where)).order_by(table.c.opened.desc())
        return list(map(sound, connection.execute(wanted.with_for_update() if lock else wanted)))

    def _column(self, connection: Connection, column: Any) -> Any:
        """Read a column of a conversation; a value of another type in SQLite is not ours."""
        if not _is_sqlite(connection):
            return column
        sa, kind = self._sa, self._sa.func.typeof(column)
        if column.name in TEXT_COLUMNS:
            return sa.case((kind.in_(("text", "null")), sa.cast(column, sa.LargeBinary)), else_=NO_TEXT)
        return sa.case((kind.in_(("integer", "real", "null")), column), else_="")

    def _named(self, row: ConversationRow, damaged: tuple[str, ...]) -> bool:
        """Whether a row can be used; what is damaged in it is said once. Of its state, who opens it will say so."""
        useless, rest = set(damaged) & set(NEEDED), ", ".join(name for name in damaged if name != "state")
        if rest and (row.id, row.name, rest) not in self._said:
            self._said.add((row.id, row.name, rest))
            which = f"The row of the conversation {row.name or row.id!r}"
            done = "it is passed over, and left as it is" if useless else "these begin anew"
            self.database.notices.append(f"{which} in {self.database.shown} is damaged ({rest}): {done}.")
        return not useless

    def _write(self, connection: Connection, row: ConversationRow) -> None:
        table, values = self._conversations, row._asdict()
        change = self._sa.update(table).where(*self._mine(table, id=row.id)).values(**values)
        if not connection.execute(change).rowcount:
            connection.execute(self._sa.insert(table).values(owner=self.owner, **values))

    def _copy(self, connection: Connection, source: str, to: str) -> None:
        """Copy events to another conversation."""
        events, sa = self._events, self._sa
        columns = (sa.literal(self.owner), sa.literal(to), *(events.c[name] for name in OF_AN_EVENT))
        rows = sa.select(*columns).where(*self._mine(events, conversation=source))
        connection.execute(sa.insert(events).from_select(["owner", "conversation", *OF_AN_EVENT], rows))


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
