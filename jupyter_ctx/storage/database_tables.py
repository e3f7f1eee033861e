"""The tables of the store: one schema, of statements that SQLite and PostgreSQL both understand."""

from __future__ import annotations

from ..errors import StoreError
from .connection import Connection

CONVERSATIONS, EVENTS, SCHEMA_VERSION = "jupyter_ctx_conversations", "jupyter_ctx_events", "jupyter_ctx_version"
ANSWERS, BATCHES, CLAIMS = "jupyter_ctx_answers", "jupyter_ctx_batches", "jupyter_ctx_claims"  # of experiments
SPENDING = "jupyter_ctx_spending"  # by notebook
LOCK = 0x6A637478  # of PostgreSQL's: whoever makes the tables holds this, whoever claims this with the owner
VERSION = 8  # of the schema; those before it were never released

SCHEMA = (
    f"""CREATE TABLE {CONVERSATIONS} (
        owner TEXT NOT NULL, id TEXT NOT NULL, notebook TEXT NOT NULL, name TEXT NOT NULL,
        kernel TEXT, host TEXT, pid BIGINT, started DOUBLE PRECISION, device BIGINT,
        seen DOUBLE PRECISION NOT NULL, opened DOUBLE PRECISION NOT NULL,
        created DOUBLE PRECISION NOT NULL, updated DOUBLE PRECISION NOT NULL,
        turns BIGINT NOT NULL, state TEXT,
        PRIMARY KEY (owner, id), UNIQUE (owner, notebook, name)
    )""",
    f"CREATE INDEX {CONVERSATIONS}_kernel ON {CONVERSATIONS} (owner, kernel)",
    f"""CREATE TABLE {EVENTS} (
        owner TEXT NOT NULL, conversation TEXT NOT NULL, seq BIGINT NOT NULL,
        at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, sizes TEXT,
        digest TEXT, cell TEXT, source TEXT,
        PRIMARY KEY (owner, conversation, seq)
    )""",
    f"CREATE INDEX {EVENTS}_digest ON {EVENTS} (owner, digest)",
    f"CREATE INDEX {EVENTS}_cell ON {EVENTS} (owner, cell)",
    f"""CREATE TABLE {ANSWERS} (
        owner TEXT NOT NULL, digest TEXT NOT NULL, repeat BIGINT NOT NULL,
        at DOUBLE PRECISION NOT NULL, failed BIGINT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (owner, digest, repeat)
    )""",
    f"""CREATE TABLE {CLAIMS} (
        owner TEXT NOT NULL, digest TEXT NOT NULL, repeat BIGINT NOT NULL, run TEXT NOT NULL,
        host TEXT, pid BIGINT, started DOUBLE PRECISION, seen DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (owner, digest, repeat)
    )""",
    f"""CREATE TABLE {BATCHES} (
        owner TEXT NOT NULL, id TEXT NOT NULL, endpoint TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,
        asked TEXT NOT NULL, state TEXT NOT NULL, reference TEXT,
        host TEXT, pid BIGINT, started DOUBLE PRECISION, seen DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (owner, id)
    )""",
    f"""CREATE TABLE {SPENDING} (
        notebook TEXT NOT NULL PRIMARY KEY, spent BIGINT NOT NULL
    )""",
)


class DamagedError(Exception):
    """The file is no database of ours, or a broken one."""


def make_tables(connection: Connection, shown: str) -> None:
    """Make the tables where there are none, in this transaction. Raises StoreError where they are of another version.

    Raises DamagedError where they cannot be ours.
    """
    if not connection.is_sqlite:
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA_VERSION} (version BIGINT NOT NULL)")
    version = connection.scalar(f"SELECT max(version) FROM {SCHEMA_VERSION}") or 0
    if not isinstance(version, int):
        raise DamagedError("its version is no number")
    if version > VERSION:
        raise StoreError(f"{shown} was written by a newer jupyter_ctx (version {version}): update this one.")
    if 0 < version < VERSION:
        raise StoreError(f"{shown} was written before the first release (version {version}): move it away.")
    if not version:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"INSERT INTO {SCHEMA_VERSION} VALUES ({VERSION})")
