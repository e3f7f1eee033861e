"""A database in a file or in memory: one transaction at a time, and what can go wrong with it, in words.

A damaged file is never overwritten: it is kept under another name, and what can be read of it is copied into a new one.
A file that was never a store is left untouched. No lock is waited for longer than ``PATIENCE``.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InvalidRequestError, StoreError
from ..runtime.files import data_file, is_on_network
from .database_tables import DamagedError, OtherVersionError, make_tables, salvage

T = TypeVar("T")

MEMORY, URL = "memory", "sqlite:///"  # addresses: of a store that is in no file, and before a file's path
DEFAULT_FILE = "history.sqlite"  # of the default store, in Jupyter's data folder
SQLITE_HEAD = b"SQLite format 3\0"  # how each SQLite database begins
PATIENCE, IMPATIENCE = 5.0, 0.1  # seconds to wait for a lock: at first, and where that was in vain before
LOGS = ("-wal", "-shm")  # files that SQLite has beside its own
DAMAGED = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_FORMAT"})  # ERROR: not our tables
NOT_UTF8 = "Could not decode to UTF-8"  # how Python begins, where SQLite has no complaint of a row
CHECKED = 32 * 2**20  # bytes: a larger file is not looked through when it is opened (a millisecond for each MB)
TROUBLES = {  # what SQLite says, and what to do
    "SQLITE_BUSY": "is locked by another program: end that",
    "SQLITE_FULL": "has no room left: make some on its disk",
    "SQLITE_READONLY": "may only be read: allow writing there",
    "SQLITE_CANTOPEN": "cannot be opened: see that its folder is there and may be written to",
    "SQLITE_IOERR": "cannot be written: see that its disk has room",
}


class TakenError(StoreError):
    """Another kernel has written what we were about to write."""


class AddressError(StoreError, InvalidRequestError):
    """No store can be at this address: it is no file's, or a folder or somebody's file is there."""


class Connection(sqlite3.Connection):
    """An open connection; values stand in statements as ``:name``."""

    def scalar(self, statement: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the first value of the first row, or ``None``."""
        row = self.execute(statement, values or {}).fetchone()
        return row[0] if row is not None else None

    def wait(self, seconds: float) -> None:
        """Wait so long for a lock, from now on."""
        self.execute(f"PRAGMA busy_timeout={int(seconds * 1000)}")


_inherited: list[Connection] = []  # of the process that this one was forked from: they are its own to close


class Database:
    """Opened when first used, once more after a fork, and where its file is not the same any more.

    ``path`` is that of its file; ``shown`` is the address in words; ``notices`` are lines to be shown once.
    """

    def __init__(self, address: str) -> None:
        """``address``: a file's path, ``sqlite:///PATH``, or ``memory``. Raises AddressError."""
        self.path = _file_of(address)
        self.shown = str(self.path or MEMORY)
        self.notices: list[str] = []
        self._trouble = ""  # why transactions fail, until what waited is written
        self._connection: Connection | None = None
        self._process = 0  # that opened it
        self._file: object = None  # that was opened last
        self._store: object = None  # the file that was one of ours when it was opened last
        self._lock = threading.RLock()

    def run(self, work: Callable[[Connection], T], *, write: bool = True) -> T:
        """Do this in one transaction; with a new file, once more, where the old one turns out to be damaged.

        Raises StoreError, with a notice at first, and TakenError where a row is there already.
        """
        with self._lock:
            try:
                return self._recovered(work, write=write)
            except TakenError:
                raise
            except StoreError as error:
                before, self._trouble = self._trouble, str(error).partition(": ")[0]
                if self._trouble != before:
                    self.notices.append(f"{error} What is new is kept in memory, and is saved when that can be done.")
                raise

    def _recovered(self, work: Callable[[Connection], T], *, write: bool) -> T:
        try:
            try:
                return self._transact(work, write=write)
            except (DamagedError, OtherVersionError) as error:
                self._begin_anew(error)
                return self._transact(work, write=write)
        except (DamagedError, OtherVersionError) as error:
            raise StoreError(f"{self.shown} cannot be used: {error}.") from None

    def say_saved(self) -> None:
        """Say that what was kept in memory is written, where a notice said that it was kept."""
        if self._trouble:
            self._trouble = ""
            self.notices.append(f"Saved again in {self.shown}: nothing was lost.")

    def query(self, statement: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Return the rows that a statement reads. Raises StoreError."""
        return self.run(lambda connection: connection.execute(statement, values or {}).fetchall(), write=False)

    def pop_notices(self) -> list[str]:
        """Return the lines that are to be shown, once."""
        notices, self.notices = self.notices, []
        return notices

    def _transact(self, work: Callable[[Connection], T], *, write: bool) -> T:
        with self._translated():
            connection = self._open()
            connection.wait(IMPATIENCE if self._trouble else PATIENCE)
            with _transaction(connection, write=write):
                return work(connection)

    def forget_deleted(self) -> None:
        """Let nothing that was deleted stay in the file, or in the log beside it. Raises StoreError.

        Pages that were split keep text which ``secure_delete`` knows nothing of: the file is written anew.
        """
        if self.path is None:
            return
        with self._lock, suppress(DamagedError, OtherVersionError), self._translated():
            connection = self._open()
            try:
                connection.execute("VACUUM")
                place = f"{self.shown}-wal" if connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)") else ""
            except sqlite3.OperationalError:  # another program reads it, or the disk is full
                place = self.shown
            if place:
                self.notices.append(f"What was deleted stays in {place} while another program reads it: end that.")

    def close(self) -> None:
        """Let go of it; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process != os.getpid():
                _inherited.append(connection)
            elif connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def _open(self) -> Connection:
        if (self._process, self._file) != (os.getpid(), _identity(self.path)):
            self.close()
        if self._connection is not None:
            return self._connection
        if self.path is not None:
            if self._store is None or self._store != _identity(self.path):  # ours is ours, however damaged
                _check_place(self.path)
            _make_private(self.path)
        self._process, self._file = os.getpid(), _identity(self.path)
        where = str(self.path or ":memory:")  # any thread may use it, one at a time; outside a transaction each commits
        connection = sqlite3.connect(where, isolation_level=None, check_same_thread=False, factory=Connection)
        try:
            self._configure(connection)
            with _transaction(connection):
                make_tables(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._store = connection, self._file
        return connection

    def _configure(self, connection: Connection) -> None:
        """Set up a connection, and look for damage. Raises DamagedError."""
        connection.wait(IMPATIENCE if self._trouble else PATIENCE)
        connection.execute("PRAGMA secure_delete=on")  # what is deleted is overwritten
        connection.execute("PRAGMA synchronous=normal")
        if self.path is not None:
            # a write-ahead log is shared memory: of no use between machines
            mode = "delete" if is_on_network(self.path) else "wal"
            with suppress(sqlite3.OperationalError):  # another process sets it just now, or a transaction will tell
                connection.execute(f"PRAGMA journal_mode={mode}")
            is_small = self.path.stat().st_size <= CHECKED
            problem = connection.scalar("PRAGMA integrity_check(1)") if is_small else "ok"
            if problem != "ok":  # found before anything is written
                raise DamagedError(problem)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Whatever SQLite says, as a StoreError with the address and a remedy."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise TakenError(f"{self.shown}: another kernel has written there ({error}).") from None
        except OSError as error:
            raise StoreError(f"{self.shown} {TROUBLES['SQLITE_CANTOPEN']} ({error.strerror}).") from None
        except (sqlite3.Error, UnicodeError) as error:
            code, is_no_text = _code(error), isinstance(error, UnicodeDecodeError) or str(error).startswith(NOT_UTF8)
            if self.path is not None and (code in DAMAGED or is_no_text):
                raise DamagedError(str(error)) from None
            raise StoreError(f"{self.shown} {TROUBLES.get(code, f'cannot be used: {error}')}.") from None

    def _begin_anew(self, error: DamagedError | OtherVersionError) -> None:
        """Keep the file under another name, unless another kernel has done so already, and copy what was damaged."""
        assert self.path is not None
        is_damaged = isinstance(error, DamagedError)
        self.close()
        with self._translated():
            if self._file != _identity(self.path):
                return
            aside = _moved_aside(self.path, "damaged" if is_damaged else "other-version")
        if not is_damaged:
            self.notices.append(f"{self.path} is kept as {aside.name} beside a new file: {error}.")
            return
        self.notices.append(
            f"{self.path} was damaged. It is kept beside it as {aside.name}; "
            "what could be read of it was copied into a new file."
        )
        with suppress(DamagedError):  # nothing can be read
            self._transact(lambda connection: salvage(aside, connection), write=True)


def _code(error: BaseException) -> str:
    """Return SQLite's own name for an error, without its details."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def _file_of(address: str) -> Path | None:
    """Return the file at a store's address; ``None``: it is in memory. Raises AddressError."""
    if address == MEMORY:
        return None
    path = address.removeprefix(URL)
    has_options = path != address and "?" in path
    with suppress(RuntimeError):  # nobody has this home folder
        if path and path != ":memory:" and "://" not in path and not has_options:
            return Path(path).expanduser().absolute()
    raise AddressError(
        "No store can be at this address: write a file's path, sqlite:///PATH without options, or memory."
    )


@contextmanager
def _transaction(connection: Connection, *, write: bool = True) -> Iterator[None]:
    """Write all that is done in the block, or nothing where it fails."""
    try:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # there may be none
            connection.execute("ROLLBACK")
        raise


def insert(table: str, columns: Iterable[str]) -> str:
    """Return the statement that adds a row of these columns."""
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _check_place(path: Path) -> None:
    """Raise AddressError for a folder, and for what is no database; they stay as they are."""
    if path.is_dir():
        raise AddressError(f"{path} is a folder: name a file in it, such as {path / DEFAULT_FILE}.")
    if path.exists() and path != data_file(DEFAULT_FILE).absolute() and _is_foreign(path):
        raise AddressError(
            f"{path} is not an SQLite database, and is left as it is: "
            "name another file as the store, or move this one away."
        )


def _make_private(path: Path) -> None:
    """Only its owner may read what was said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = [beside for suffix in LOGS if (beside := path.with_name(path.name + suffix)).exists()]
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    else:
        for beside in old:  # of a file that was deleted: SQLite would take them for this one's
            beside.unlink(missing_ok=True)


def _is_foreign(path: Path) -> bool:
    """Return whether there is something else than an SQLite database, damaged or not.

    SQLite looks first: a process that opens and closes a database in use loses SQLite's locks on it.
    """
    if not path.is_file() or path.stat().st_size == 1:  # which SQLite takes for an empty file
        return True
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        if _code(error) != "SQLITE_NOTADB":
            return False
    else:
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEAD)) != SQLITE_HEAD


def _moved_aside(path: Path, why: str) -> Path:
    """Give a file and its logs another name, and return that of the file."""
    aside = path.with_name(f"{path.name}.{why}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{os.urandom(2).hex()}")
    for suffix in ("", *LOGS):
        there = path.with_name(path.name + suffix)
        if there.exists():
            there.rename(aside.with_name(aside.name + suffix))
    return aside


def _identity(path: Path | None) -> object:
    """Return what tells a file from another of the same name."""
    try:
        status = path.stat() if path is not None else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status is not None else None
