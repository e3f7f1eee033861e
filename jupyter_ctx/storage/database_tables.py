"""The tables of the store: one schema, and what can be read of a damaged file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

CONVERSATIONS, EVENTS, SCHEMA_VERSION = "jupyter_ctx_conversations", "jupyter_ctx_events", "jupyter_ctx_version"
ANSWERS = "jupyter_ctx_answers"  # of experiments
SPENDING = "jupyter_ctx_spending"  # by notebook
STORE_TABLES = (CONVERSATIONS, EVENTS, ANSWERS, SPENDING)
VERSION = 8  # of the schema
COLUMN_KINDS = {"TEXT": str, "INTEGER": int, "REAL": float}  # of values, by the type of their column

SCHEMA = (
    f"""CREATE TABLE {CONVERSATIONS} (
        id TEXT NOT NULL PRIMARY KEY, notebook TEXT NOT NULL, name TEXT NOT NULL,
        kernel TEXT, host TEXT, pid INTEGER, started REAL,
        seen REAL NOT NULL, opened REAL NOT NULL,
        created REAL NOT NULL, updated REAL NOT NULL,
        turns INTEGER NOT NULL, state TEXT,
        UNIQUE (notebook, name)
    )""",
    f"""CREATE TABLE {EVENTS} (
        conversation TEXT NOT NULL, seq INTEGER NOT NULL,
        at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, sizes TEXT,
        digest TEXT, cell TEXT, source TEXT,
        PRIMARY KEY (conversation, seq)
    )""",
    f"CREATE INDEX {EVENTS}_digest ON {EVENTS} (digest)",
    f"CREATE INDEX {EVENTS}_cell ON {EVENTS} (cell)",
    f"""CREATE TABLE {ANSWERS} (
        digest TEXT NOT NULL, repeat INTEGER NOT NULL,
        at REAL NOT NULL, failed INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (digest, repeat)
    )""",
    f"CREATE TABLE {SPENDING} (notebook TEXT NOT NULL PRIMARY KEY, spent INTEGER NOT NULL)",
)


class DamagedError(Exception):
    """The file is no database of ours, or a broken one."""


class OtherVersionError(Exception):
    """Another version of jupyter_ctx has made the tables."""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables where there are none, in this transaction. Raises OtherVersionError."""
    connection.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA_VERSION} (version INTEGER NOT NULL)")
    ((version,),) = connection.execute(f"SELECT max(version) FROM {SCHEMA_VERSION}")
    if version is None:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"INSERT INTO {SCHEMA_VERSION} VALUES ({VERSION})")
    elif version != VERSION:
        raise OtherVersionError(f"its version is {version}, and this jupyter_ctx writes {VERSION}")


def salvage(damaged: Path, new: sqlite3.Connection) -> None:
    """Copy the rows that can be read, in the transaction of the new file; those that are there stay."""
    with closing(sqlite3.connect(f"{damaged.as_uri()}?mode=ro", uri=True)) as old:
        old.text_factory = bytes
        for table in STORE_TABLES:
            columns = {name: COLUMN_KINDS[kind] for _, name, kind, *_ in new.execute(f"PRAGMA table_info({table})")}
            add = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            for row in _rows(old, table, columns):
                values = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in row]
                if _is_sound(values, columns.values()):
                    new.execute(add, values)
    new.execute(f"DELETE FROM {EVENTS} WHERE conversation NOT IN (SELECT id FROM {CONVERSATIONS})")


def _rows(old: sqlite3.Connection, table: str, columns: Iterable[str]) -> Iterator[Sequence[Any]]:
    """Yield rows from the first on, and where one cannot be read, from the last back."""
    for order in ("ASC", "DESC"):
        try:
            yield from old.execute(f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED ORDER BY rowid {order}")
            return
        except sqlite3.Error:
            continue


def _is_sound(values: Iterable[Any], kinds: Iterable[type]) -> bool:
    """Return whether values are what their columns are for: SQLite accepts any type in any column."""
    return all(value is None or type(value) is kind for value, kind in zip(values, kinds, strict=True))
