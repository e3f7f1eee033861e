"""Copy what can be read of a damaged store into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .connection import Connection
from .database_tables import CONVERSATIONS, EVENTS, STORE_TABLES

COLUMN_KINDS = {"TEXT": str, "INTEGER": int, "REAL": float}  # of values, by the type of their column


def salvage(damaged: Path, new: Connection) -> None:
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
