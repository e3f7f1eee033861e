"""Where a store is, a connection to it, and statements with values that stand in them as ``:name``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MEMORY = "memory"
URL = "sqlite:///"  # before a file's path
AT_ONCE = 500  # values in one question


class Connection(sqlite3.Connection):
    """An open connection; outside a transaction each statement commits."""

    def scalar(self, statement: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the first value of the first row, or ``None``."""
        row = self.execute(statement, values or {}).fetchone()
        return row[0] if row is not None else None


def connect(file: Path | None) -> Connection:
    """Open an SQLite file; ``None``: a database in memory. Any thread may use it, one at a time."""
    where = str(file) if file is not None else ":memory:"
    return sqlite3.connect(where, isolation_level=None, check_same_thread=False, factory=Connection)


def file_at(address: str) -> Path | None:
    """Return the file at a store's address; ``None``: it is in memory. Raises ValueError where no store can be."""
    if address == MEMORY:
        return None
    path = address.removeprefix(URL)
    has_options = path != address and "?" in path
    if not path or path == ":memory:" or "://" in path or has_options:
        raise ValueError
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:  # nobody has this home folder
        raise ValueError from None


def error_code(error: BaseException) -> str:
    """Return SQLite's own name for an error, without its details."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def insert(table: str, columns: Iterable[str]) -> str:
    """Return the statement that adds a row of these columns."""
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def by_parts(values: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the values by parts: how a statement names them, and the named values."""
    for i in range(0, len(values), AT_ONCE):
        named = {f"v{j}": value for j, value in enumerate(values[i : i + AT_ONCE])}
        yield ", ".join(f":{name}" for name in named), named
