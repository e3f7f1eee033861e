"""Where a database is, and a connection to it: SQLite by the standard library, PostgreSQL by psycopg."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote

MEMORY = "memory"
SCHEMES: dict[str, Literal["sqlite", "postgresql"]] = {
    "sqlite": "sqlite", "postgres": "postgresql", "postgresql": "postgresql", "postgresql+psycopg": "postgresql",
}  # fmt: skip
URL = re.compile(
    r"(?P<scheme>[\w+]+)://((?P<user>[^:/@]*)(:(?P<password>[^@/?#]*))?@)?(?P<host>\[[^]/]*\]|[^:/?@]*)(:(?P<port>\d*))?"
    r"(/(?P<database>[^?]*))?(\?(?P<query>.*))?"
)
A_NAME = re.compile(r":(\w+)")  # of a value in a statement
TAKEN = "23"  # how PostgreSQL's codes for broken constraints begin


class Address(NamedTuple):
    """Where a database is: its kind, and a file's path (empty: in memory) or a database's name on a server."""

    kind: Literal["sqlite", "postgresql"]
    database: str = ""
    user: str = ""
    password: str = ""
    host: str = ""
    port: str = ""
    options: tuple[tuple[str, str], ...] = ()  # of the driver

    @classmethod
    def of(cls, text: str) -> Address | None:
        """Return the address that a text is, a URL or a path; ``None`` where no store can be there."""
        if text == MEMORY:
            return cls("sqlite")
        if "://" not in text:
            return cls("sqlite", str(Path(text).expanduser().absolute()))
        match = URL.fullmatch(text)
        parts = match.groupdict("") if match else {"scheme": "", "host": ""}
        kind = SCHEMES.get(parts.pop("scheme"))
        if kind is None or (kind == "sqlite" and parts["host"]):
            return None
        query = parts.pop("query")
        if kind == "postgresql" and "@" in parts["database"] + query:  # of a password, which would be shown
            return None
        if kind == "sqlite":
            name = parts["database"]
            return cls(kind, f"{name}?{query}" if name.startswith("file:") and query else name.replace(":memory:", ""))
        return cls(kind, **{name: unquote(part) for name, part in parts.items()}, options=tuple(parse_qsl(query)))

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database that is stored in one."""
        plain = self.kind == "sqlite" and self.database and not self.database.startswith("file:")
        return Path(self.database).absolute() if plain else None

    @property
    def shown(self) -> str:
        """The address without its password."""
        if self.kind == "sqlite":
            return str(self.path or self.database.partition("?")[0] or MEMORY)
        at, port = f"{self.user}@" if self.user else "", f":{self.port}" if self.port else ""
        return f"{self.kind}://{at}{self.host}{port}/{self.database}"


class Connection:
    """An open connection. Values stand in statements as ``:name``; outside a transaction each statement commits."""

    def __init__(self, driver: Any, *, is_sqlite: bool) -> None:
        self.driver, self.is_sqlite = driver, is_sqlite

    @classmethod
    def to_file(cls, database: str) -> Connection:
        """Open an SQLite database: a file, a ``file:`` URI, or one in memory where that is empty."""
        uri = database.startswith("file:")
        driver = sqlite3.connect(database or ":memory:", isolation_level=None, check_same_thread=False, uri=uri)
        return cls(driver, is_sqlite=True)

    @classmethod
    def to_server(cls, address: Address, **options: Any) -> Connection:
        """Connect to PostgreSQL; the address's own options come before these."""
        import psycopg

        given = {
            "dbname": address.database, "user": address.user, "password": address.password,
            "host": re.sub(r"\A\[(.*)\]\Z", r"\1", address.host), "port": address.port,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value}
        return cls(psycopg.connect(autocommit=True, **{**options, **given, **dict(address.options)}), is_sqlite=False)

    def execute(self, statement: str, values: Mapping[str, Any] | None = None) -> Any:
        """Run one statement and return the driver's cursor."""
        return self.driver.execute(self._spelled(statement), values or {})

    def execute_many(self, statement: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement once for each row of values."""
        self.driver.cursor().executemany(self._spelled(statement), rows)

    def scalar(self, statement: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the first value of the first row, or ``None``."""
        row = self.execute(statement, values).fetchone()
        return row[0] if row is not None else None

    @property
    def is_alive(self) -> bool:
        """Whether the server still answers; a file always does."""
        with suppress(Exception):
            return self.is_sqlite or self.scalar("SELECT 1") == 1
        return False

    def close(self) -> None:
        """Close it; safe from any thread."""
        with suppress(Exception):
            self.driver.close()

    def _spelled(self, statement: str) -> str:
        return statement if self.is_sqlite else A_NAME.sub(r"%(\1)s", statement)


def error_code(error: BaseException) -> str:
    """Return SQLite's own name for an error, without its details, or PostgreSQL's number."""
    name = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or ""
    return "_".join(name.split("_")[:2])


def is_of_driver(error: BaseException) -> bool:
    """Return whether one of the two drivers raised an error."""
    return isinstance(error, sqlite3.Error) or type(error).__module__.partition(".")[0] == "psycopg"


def is_taken(error: BaseException) -> bool:
    """Return whether an error says that a row is there already."""
    return isinstance(error, sqlite3.IntegrityError) or (is_of_driver(error) and error_code(error).startswith(TAKEN))


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
