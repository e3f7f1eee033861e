"""Where a store is, a connection to it, and statements with values that stand in them as ``:name``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MEMORY = "memory"
URL = "sqlite:///"  # before a file's path


class Connection(sqlite3.Connection):
    """An open connection; outside a transaction each statement commits."""

    def scalar(self, statement: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the first value of the first row, or ``None``."""
        row = self.execute(statement, values or {}).fetchone()
        return row[0] if row is not None else None

    def wait(self, seconds: float) -> None:
        """Wait so long for a lock, from now on."""
        self.execute(f"PRAGMA busy_timeout={int(seconds * 1000)}")


def connect(file: Path | None) -> Connection:
    """Open an SQLite file; ``None``: a database in memory. Any thread may use it, one at a time."""
    where = str(file) if file is not None else ":memory:"
    return sqlite3.connect(where, isolation_level=None, check_same_thread=False, factory=Connection)


def error_code(error: BaseException) -> str:
    """Return SQLite's own name for an error, without its details."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def insert(table: str, columns: Iterable[str]) -> str:
    """Return the statement that adds a row of these columns."""
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
