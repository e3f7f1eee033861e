"""Parts of the statements that all tables of the store share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .connection import Connection

AT_ONCE = 500  # values in one question


def insert(table: str, values: Iterable[str]) -> str:
    """Return the statement that adds a row of these columns."""
    names = list(values)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def by_parts(values: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the values by parts: how a statement names them, and the named values."""
    for i in range(0, len(values), AT_ONCE):
        named = {f"v{j}": value for j, value in enumerate(values[i : i + AT_ONCE])}
        yield ", ".join(f":{name}" for name in named), named


def raw(connection: Connection, column: str) -> str:
    """Return a text column as it is; SQLite's as bytes: it may be no text, and str takes as long as all else."""
    return f"CAST({column} AS BLOB)" if connection.is_sqlite else column
