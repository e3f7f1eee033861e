"""The tables of the store: one schema."""

from __future__ import annotations

import sqlite3

CONVERSATIONS, EVENTS, SCHEMA_VERSION = "jupyter_ctx_conversations", "jupyter_ctx_events", "jupyter_ctx_version"
ANSWERS = "jupyter_ctx_answers"  # of experiments
SPENDING = "jupyter_ctx_spending"  # by notebook
STORE_TABLES = (CONVERSATIONS, EVENTS, ANSWERS, SPENDING)
VERSION = 8  # of the schema

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
