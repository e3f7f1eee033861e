"""A database at an address: one transaction at a time, and what can go wrong with it, in words.

SQLite by default; a damaged file is moved aside, never overwritten, and a file that was never a store is left
untouched. The same for PostgreSQL.
Each transaction runs in a thread of its own: no server or disk that hangs is waited for longer
than ``PATIENCE``, and Ctrl-C ends the wait.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InvalidRequestError, StoreError
from ..runtime.files import data_file, is_on_network
from ..runtime.interrupts import Job, StoppedError
from .connection import Address, Connection, error_code, is_of_driver, is_taken
from .database_tables import CONVERSATIONS, DamagedError, make_tables

T = TypeVar("T")

DEFAULT_FILE = "history.sqlite"  # of the default store, in Jupyter's data folder
SQLITE_HEAD = b"SQLite format 3\0"  # how each SQLite database begins
PATIENCE, IMPATIENCE = 5.0, 0.1  # seconds to wait for an answer: at first, and where that was in vain before
LEAST_TRANSACTION = 2.0  # seconds that a transaction may take in any case, with connecting
FOR_A_LOCK = 0.9  # of the patience: a lock is waited for a little shorter, so that it is named
STUCK = 0.5  # seconds to wait for the end of a transaction that was given up, before another one
PASSWORD_LENGTH = 6  # what is shorter may be a part of any word
LOGS = ("-wal", "-shm")  # files that SQLite has beside its own
DAMAGED = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_FORMAT"})  # ERROR: not our tables
CHECKED = 32 * 2**20  # bytes: a larger file is not looked through when it is opened (a millisecond for each MB)
ALARM = 30.0  # seconds for which a file that turned out to be whole is not looked through again
# such a value is found when its row is read
OF_ONE_ROW = re.compile(r"(NULL|TEXT|NUMERIC|BLOB|INT|REAL|non-\w+) value in |CHECK constraint")
LOCKED = "is locked by another program: end that"
DISK_FULL = "has no room left: make some on its disk"
READ_ONLY = "may only be read: allow writing there"
UNOPENED = "cannot be opened: see that its folder is there and may be written to"
UNWRITTEN = "cannot be written: see that its disk has room"
TROUBLES = {  # what SQLite and PostgreSQL say, and what to do
    "SQLITE_BUSY": LOCKED, "55P03": LOCKED,
    "SQLITE_FULL": DISK_FULL, "53100": DISK_FULL,
    "SQLITE_READONLY": READ_ONLY, "25006": READ_ONLY,
    "SQLITE_CANTOPEN": UNOPENED,
    "SQLITE_IOERR": UNWRITTEN,
}  # fmt: skip


class TakenError(StoreError):
    """Another kernel has written what we were about to write."""


class AddressError(StoreError, InvalidRequestError):
    """No store can be at this address: its scheme is unknown, or a folder or somebody's file is there."""


_inherited: list[Connection] = []  # of the process that this one was forked from: they are its own to close


@dataclass(slots=True)
class _Link:
    """What is open of a database, by which process, and the file that it was."""

    connection: Connection | None = None
    process: int = 0
    file: object = None
    marks: object = None

    def close(self) -> None:
        """Let go of it, unless it is the parent process's."""
        connection, self.connection = self.connection, None
        if connection is not None and self.process == os.getpid():
            connection.close()
        elif connection is not None:
            _inherited.append(connection)


class Database:
    """Opened when first used, once more after a fork, and where its file is not the same any more.

    ``path`` is that of an SQLite file; ``shown`` is the address without its password; ``notices`` are lines to be
    shown once.
    """

    def __init__(self, address: str) -> None:
        """``address``: a URL, a file's path, or ``memory``. Raises StoreError."""
        self._address = _address_of(address)
        self.path, self.shown = self._address.path, self._address.shown
        self.notices: list[str] = []
        self._patience = PATIENCE
        self._link = _Link()
        self._stuck: tuple[Job[Any], float] | None = None  # what was given up, and until when that is waited for
        self._calm_until = 0.0
        self._opened: object = None  # the file that was a store when it was opened last
        self._lock = threading.RLock()

    @property
    def is_shared(self) -> bool:
        """Whether other machines may use it too."""
        return self._address.kind != "sqlite" or (self.path is not None and is_on_network(self.path))

    def run(self, work: Callable[[Connection], T], *, write: bool = True) -> T:
        """Do this in one transaction; with a new file, once more, where the old one turns out to be damaged.

        Raises StoreError, and TakenError where a row is there already.
        """
        with self._lock:
            try:
                done: T = self._within(partial(self._transact_somehow, work, write=write))
            except TakenError:
                raise
            except StoreError:
                self._patience = IMPATIENCE
                raise
            self._patience = PATIENCE
            return done

    def _within(self, work: Callable[[Job[T], _Link], T]) -> T:
        """Do this in time. Raises StoreError; what was given up goes on by itself, and writes nothing any more."""
        link = self._link
        job: Job[T] = Job(lambda job: work(job, link), link.close)
        if self._is_in_memory:
            return work(job, link)
        if self._stuck is not None:
            before, end = self._stuck
            if not before.ends_within(STUCK) and time.monotonic() < end:
                raise self._silent()
            self._stuck = None
        try:
            return job.wait(self._limit)
        except TimeoutError:
            raise self._silent() from None
        except StoppedError:
            raise StoreError(f"{self.shown} had not answered when Ctrl-C was pressed.") from None
        finally:
            if job.given_up:
                self._link, self._stuck = _Link(), (job, time.monotonic() + 2 * PATIENCE)

    def _silent(self) -> StoreError:
        return StoreError(f"{self.shown} does not answer: see to it that it does.")

    @property
    def _limit(self) -> float:
        return max(LEAST_TRANSACTION, self._patience)

    @property
    def _is_in_memory(self) -> bool:
        return self._address.kind == "sqlite" and not self._address.database

    def _transact_somehow(self, work: Callable[[Connection], T], job: Job[T], link: _Link, *, write: bool) -> T:
        try:
            return self._transact(work, job, link, write=write)
        except DamagedError:
            with self._translated():
                self._move_aside(link)
        try:
            return self._transact(work, job, link, write=write)
        except DamagedError as error:
            raise StoreError(f"{self.shown} cannot be used: {error}.") from None

    def forget_deleted(self) -> None:
        """Let nothing that was deleted stay in SQLite's file, or in the log beside it. Raises StoreError.

        Pages that were split keep text which ``secure_delete`` knows nothing of: the file is written anew.
        """
        if self.path is None:
            return
        with self._lock, suppress(DamagedError):
            where = self._within(lambda _, link: self._empty(link))
            if where:
                self.notices.append(f"What was deleted stays in {where} while another program reads it: end that.")

    def _empty(self, link: _Link) -> str:
        """Write the file anew and empty the log; where something stays."""
        with self._translated():
            connection = self._open(link)
            try:
                connection.execute("VACUUM")
                return f"{self.shown}-wal" if connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)") else ""
            except sqlite3.OperationalError:  # another program reads it, or the disk is full
                return self.shown

    def close(self) -> None:
        """Let go of it; the next use opens it again."""
        with self._lock, suppress(StoreError):
            if self._link.connection is not None:
                self._within(lambda _, link: link.close())

    def _transact(self, work: Callable[[Connection], T], job: Job[T], link: _Link, *, write: bool) -> T:
        with self._translated():
            connection = self._open(link)
            with self._transaction(connection, write=write):
                done = work(connection)
                if job.given_up:  # nobody would know that it was written
                    raise self._silent()
        link.marks = _marks_of(self.path)
        return done

    @contextmanager
    def _transaction(self, connection: Connection, *, write: bool = True) -> Iterator[None]:
        """Write all that is done in the block, or nothing where it fails."""
        try:
            self._begin(connection, write=write)
            yield
            connection.execute("COMMIT")
        except BaseException:
            with suppress(Exception):  # there may be none
                connection.execute("ROLLBACK")
            raise

    def _open(self, link: _Link) -> Connection:
        if (link.process, link.file) != (os.getpid(), _identity(self.path)) or self._is_disturbed(link):
            link.close()
        if link.connection is not None and not link.connection.is_alive:
            link.close()
        if link.connection is None:
            self._refuse_what_is_no_store()
            if self.path is not None:
                _make_private(self.path)
            link.process, link.file = os.getpid(), _identity(self.path)
            connection = self._new_connection()
            try:
                self._look_through(connection)
                with self._transaction(connection):
                    make_tables(connection, self.shown)
            except BaseException:
                connection.close()
                raise
            link.connection, self._opened = connection, link.file
        return link.connection

    def _refuse_what_is_no_store(self) -> None:
        """Raise AddressError for a folder, or a file that is no database; both stay as they are.

        A file that was a store is another matter, however damaged: it may be moved aside.
        """
        path = self.path
        if path is None:
            return
        if path.is_dir():
            raise AddressError(f"{path} is a folder: name a file in it, such as {path / DEFAULT_FILE}.")
        if self._opened is not None and self._opened == _identity(path):
            return
        if path != data_file(DEFAULT_FILE).absolute() and _is_foreign(path):
            raise AddressError(
                f"{path} is not an SQLite database, and is left as it is: "
                "name another file as the store, or move this one away."
            )

    def _is_disturbed(self, link: _Link) -> bool:
        """Whether the file was written to by something that is not SQLite, as far as that shows."""
        if link.connection is None or link.marks in (None, _marks_of(self.path)) or time.monotonic() < self._calm_until:
            return False
        self._calm_until = time.monotonic() + ALARM
        return True

    def _look_through(self, connection: Connection) -> None:
        """Find damage before anything is written. Raises DamagedError."""
        if self.path is None or not 0 < self.path.stat().st_size <= CHECKED:
            return
        problem = _first_problem(connection)
        if problem is not None:
            raise DamagedError(problem)

    def _new_connection(self) -> Connection:
        if self._address.kind != "sqlite":
            in_time = {"connect_timeout": int(self._limit) + 1}  # nobody waits for it any more then
            in_time["tcp_user_timeout"] = int(PATIENCE * 1000)  # a network that is gone is no reason to hang
            return Connection.to_server(self._address, **in_time)
        connection = Connection.to_file(self._address.database)
        try:
            self._configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def _milliseconds(self) -> int:
        return int(FOR_A_LOCK * self._patience * 1000)

    def _configure(self, connection: Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout={self._milliseconds}")
        connection.execute("PRAGMA secure_delete=on")  # what is deleted is overwritten
        connection.execute("PRAGMA synchronous=normal")
        journal = "delete" if self.is_shared else "wal"  # a WAL is shared memory: of no use between machines
        if self.path is not None:
            self._insist(connection, f"PRAGMA journal_mode={journal}")

    def _begin(self, connection: Connection, *, write: bool) -> None:
        """Take SQLite's write lock first of all; let PostgreSQL wait no longer than we do.

        PostgreSQL is told in each transaction: a pooler may give its connection to somebody else.
        """
        if not connection.is_sqlite:
            connection.execute("BEGIN")
            connection.execute(f"SET LOCAL lock_timeout = {self._milliseconds}")
            return
        connection.execute("PRAGMA busy_timeout=0")
        self._insist(connection, "BEGIN IMMEDIATE" if write else "BEGIN")
        connection.execute(f"PRAGMA busy_timeout={self._milliseconds}")

    def _insist(self, connection: Connection, statement: str) -> None:
        """Wait by chance: that is fairer than SQLite's own growing steps, and it does not wait at all for a WAL."""
        end = time.monotonic() + FOR_A_LOCK * self._patience
        while True:
            try:
                connection.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if error_code(error) != "SQLITE_BUSY":
                    raise
            if time.monotonic() > end:
                raise StoreError(f"{self.shown} {LOCKED}.")
            time.sleep(random.uniform(0.0005, 0.01))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Whatever a driver says, as a StoreError with the address and a remedy."""
        try:
            yield
        except Exception as error:
            if is_taken(error):
                raise TakenError(f"{self.shown}: another kernel has written there ({_first_line(error)}).") from None
            if is_of_driver(error) or isinstance(error, ImportError | OSError | UnicodeError):
                raise self._trouble(error) from None
            raise

    def _trouble(self, error: BaseException) -> StoreError | DamagedError:
        code = error_code(error)
        # our own texts are read as bytes: one that is none is a name in the schema, or stands in a message about it
        if (code in DAMAGED or isinstance(error, UnicodeDecodeError)) and self.path is not None:
            return DamagedError(str(error))
        if code in TROUBLES:
            return StoreError(f"{self.shown} {TROUBLES[code]}.")
        if isinstance(error, OSError):
            return StoreError(f"{self.shown} {UNOPENED} ({error.strerror}).")
        if isinstance(error, ImportError):
            return StoreError(f"{self.shown} needs {error.name or 'psycopg'}: pip install 'jupyter_ctx[postgres]'.")
        reason = _first_line(error).rstrip(".")
        if len(self._address.password) >= PASSWORD_LENGTH:
            reason = reason.replace(self._address.password, "***")
        if self._address.kind != "sqlite":
            reason = f"see to it that it answers ({reason})"
        return StoreError(f"{self.shown} cannot be used: {reason}.")

    def _move_aside(self, link: _Link) -> None:
        """Keep a damaged file under another name, unless another kernel has done so already."""
        assert self.path is not None
        link.close()
        if link.file != _identity(self.path):
            return
        aside = f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{os.urandom(2).hex()}"
        for suffix in ("", *LOGS):
            there = self.path.with_name(self.path.name + suffix)
            if there.exists():
                there.rename(self.path.with_name(aside + suffix))
        self.notices.append(f"{self.path} was damaged. It is kept beside it as {aside}; a new file was begun.")


def _address_of(text: str) -> Address:
    address = Address.of(text)
    if address is None:
        raise AddressError(
            "The store's address is no database's: write sqlite:///PATH, postgresql://… or a file's path; "
            "in a password, @ as %40, / as %2F and ? as %3F."
        )
    return address


def _make_private(path: Path) -> None:
    """Only its owner may read what was said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = [beside for suffix in LOGS if (beside := path.with_name(path.name + suffix)).exists()]
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    else:
        for beside in old:  # of a file that was deleted: SQLite would take them for this one's
            beside.unlink(missing_ok=True)


def _is_foreign(path: Path) -> bool:
    """Return whether a file is neither empty nor an SQLite database, and was none of ours before it was damaged.

    SQLite looks first: a process that opens and closes a database in use loses SQLite's locks on it.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size < 2:  # SQLite takes a single byte for an empty file
        return size == 1
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        if error_code(error) != "SQLITE_NOTADB":
            return False
    else:
        return False
    with path.open("rb") as file:
        data = file.read(CHECKED)
    was_ours = b"\0" in data and CONVERSATIONS.encode() in data  # no text, though it may be about our tables
    return not (data.startswith(SQLITE_HEAD) or was_ours)


def _identity(path: Path | None) -> object:
    """Return what tells a file from another of the same name."""
    try:
        status = path.stat() if path is not None else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status is not None else None


def _marks_of(path: Path | None) -> object:
    """Of a file with a log: what changes where something else than SQLite writes there, and at each checkpoint.

    Asked of the folder alone: a process that opens and closes such a file loses SQLite's locks on it.
    """
    if path is None:
        return None
    wal, shm = (_identity(path.with_name(path.name + suffix)) for suffix in LOGS)
    try:
        status = path.stat()
    except OSError:
        return None
    return (wal, shm, status.st_mtime_ns, status.st_size) if wal is not None else None


def _first_problem(connection: Connection) -> str | None:
    """Return what SQLite finds damaged first in its file, except single values; ``None``: nothing."""
    lines = (line for (line,) in connection.execute("PRAGMA integrity_check").fetchall())
    return next((line for line in lines if line != "ok" and not OF_ONE_ROW.match(line)), None)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
