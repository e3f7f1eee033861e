"""A database beside the product: its address, statements that run in it, and a program that locks it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from postgres import Postgres

import jupyter_ctx.storage.database
from jupyter_ctx.storage.database_tables import ANSWERS, CONVERSATIONS, EVENTS, SCHEMA_VERSION

TABLES = (CONVERSATIONS, EVENTS, ANSWERS, SCHEMA_VERSION)


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The same file as the address of SQLite, for what PostgreSQL takes no part in."""
    return str(tmp_path / "store.sqlite")


def schema_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["options"][0].partition("search_path=")[2]


@pytest.fixture
def sql(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Runs a statement in the database beside the product."""
    address: str = request.getfixturevalue("sqlite" if "sqlite" in request.fixturenames else "address")

    def run(statement: str, *values: Any) -> list[Any]:
        if not address.startswith("postgres"):
            with contextlib.closing(sqlite3.connect(address, isolation_level=None)) as connection:
                connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
                return connection.execute(statement, values).fetchall()
        server: Postgres = request.getfixturevalue("postgres")
        with server.connect(schema_of(address)) as connection:
            cursor = connection.execute(statement.replace("?", "%s"), values)
            return list(cursor.fetchall()) if cursor.description else []

    return run


@pytest.fixture
def content(address: str, sql: Callable[..., list[Any]]) -> Callable[[], str]:
    """All that the database holds: its files' bytes, or each row of a server's tables."""

    def read() -> str:
        if address.startswith("postgres"):
            return "\n".join(str(row) for table in TABLES for row in sql(f"SELECT * FROM {table}"))
        files = Path(address).parent.glob(f"{Path(address).name}*")
        return "".join(file.read_bytes().decode("latin-1") for file in files)

    return read


@pytest.fixture
def locked(
    address: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Another program that lets nobody write, for which nobody waits long."""
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", 0.3)

    @contextlib.contextmanager
    def lock() -> Iterator[None]:
        if not address.startswith("postgres"):
            with contextlib.closing(sqlite3.connect(address, isolation_level=None)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                yield
            return
        server: Postgres = request.getfixturevalue("postgres")
        with server.connect(schema_of(address)) as connection, connection.transaction():
            connection.execute(f"LOCK TABLE {', '.join(TABLES)} IN ACCESS EXCLUSIVE MODE")
            yield

    return lock
