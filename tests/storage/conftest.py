"""A database beside the product: statements that run in it, its bytes, and a program that locks it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jupyter_ctx.storage.database


@pytest.fixture
def sql(address: str) -> Callable[..., list[Any]]:
    """Runs a statement in the database beside the product."""

    def run(statement: str, *values: Any) -> list[Any]:
        with contextlib.closing(sqlite3.connect(address, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()

    return run


@pytest.fixture
def content(address: str) -> Callable[[], str]:
    """All that the database holds: its files' bytes."""

    def read() -> str:
        files = Path(address).parent.glob(f"{Path(address).name}*")
        return "".join(file.read_bytes().decode("latin-1") for file in files)

    return read


@pytest.fixture
def locked(address: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Another program that lets nobody write, for which nobody waits long."""
    monkeypatch.setattr(jupyter_ctx.storage.database, "PATIENCE", 0.3)

    @contextlib.contextmanager
    def lock() -> Iterator[None]:
        with contextlib.closing(sqlite3.connect(address, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield

    return lock
