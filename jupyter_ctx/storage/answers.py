"""The answers of experiments: a table of their own in the database of the conversations.

An answer is kept under its user, the digest of its request's content, and the number of its repeat, so that a run
that is started again asks only what is missing. Each method is one transaction, unless it says otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from ..context.usage import Usage
from ..conversation.messages import StopReason
from .connection import Connection
from .database import Database
from .migrations import ANSWERS, BATCHES
from .serialization import UnreadableError, decoded, encoded_text
from .statements import by_parts, raw
from .store import owner, store_address

AnswerKey = tuple[str, int]  # the digest of a request, and the number of its repeat from 0
IN_ONE_TRANSACTION = 10_000  # keys: the time of one transaction is limited


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer to one row, or what went wrong with it.

    ``text``, ``thinking``, ``usage``, ``stop_reason``, ``detail``, ``model``, ``cost``, ``seconds``, ``notices``: as
    of a :class:`~jupyter_ctx.providers.base.Reply`.
    ``truncated``: whether a part of the prompt was left out or not read, or the answer was cut.
    ``error``: what went wrong; empty where nothing did.
    ``answered``: whether there is an answer; also beside an error, where the answer is not what its schema allows.
    ``at``: when it was written, in seconds since 1970.
    """

    text: str = ""
    thinking: str = ""
    usage: Usage | None = None
    stop_reason: StopReason = "stop"
    detail: str = ""
    model: str = ""
    cost: float | None = None
    seconds: float | None = None
    notices: tuple[str, ...] = ()
    truncated: bool = False
    error: str = ""
    answered: bool = True
    at: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is an error, which may be asked again."""
        return bool(self.error) or not self.answered


DEFAULTS = {field.name: field.default for field in fields(StoredAnswer)}
WRITE = f"""
    INSERT INTO {ANSWERS} (owner, digest, repeat, at, failed, body)
    VALUES (:owner, :digest, :repeat, :at, :failed, :body)
    ON CONFLICT (owner, digest, repeat) DO UPDATE SET at = excluded.at, failed = excluded.failed, body = excluded.body
    WHERE excluded.failed = 0 OR {ANSWERS}.failed <> 0
"""  # an answer that another process has is worth more than an error


class Answers:
    """The answers of one user in a database. Every method raises StoreError where the database fails.

    ``address``: as ``Chat(store=…)`` takes it; ``"default"``: the store of the conversations.
    """

    def __init__(self, address: str | Path | Database = "default") -> None:
        self.database = address if isinstance(address, Database) else Database(store_address(address))
        self.owner = owner()

    def notices(self) -> list[str]:
        """Return lines to be shown, each once: of a damaged file that was moved aside, for example."""
        said = self.database.notices
        found = said[:]
        said.clear()
        return found

    def find(self, keys: Iterable[AnswerKey], *, failed: bool = True) -> dict[AnswerKey, StoredAnswer]:
        """Return what is stored under these keys, in a transaction for each ten thousand; a damaged row is not there.

        ``failed``: whether errors count as well.
        """
        found, rest = dict[AnswerKey, StoredAnswer](), iter(keys)
        while wanted := set(islice(rest, IN_ONE_TRANSACTION)):
            found.update(self.database.run(self._reading(wanted, failed=failed), write=False))
        return found

    def write(self, rows: Sequence[tuple[AnswerKey, StoredAnswer]]) -> None:
        """Write all of these, or none. An answer replaces what is there; an error replaces no answer."""
        now = time.time()
        values = [
            {
                "owner": self.owner, "digest": digest, "repeat": repeat, "at": answer.at or now,
                "failed": int(answer.failed), "body": _body(answer),
            }
            for (digest, repeat), answer in sorted(rows, key=lambda row: row[0])  # two writers wait in one order
        ]  # fmt: skip
        if values:
            self.database.run(lambda connection: connection.execute_many(WRITE, values))

    def forget(self, keys: Iterable[AnswerKey]) -> None:
        """Remove what is stored under these keys."""
        values = [{"owner": self.owner, "digest": digest, "repeat": repeat} for digest, repeat in sorted(set(keys))]
        remove = f"DELETE FROM {ANSWERS} WHERE owner = :owner AND digest = :digest AND repeat = :repeat"
        if values:
            self.database.run(lambda connection: connection.execute_many(remove, values))

    def count(self) -> int:
        """Return how many answers and errors are stored for this user."""
        wanted = f"SELECT count(*) FROM {ANSWERS} WHERE owner = :owner"
        return int(self.database.run(lambda connection: connection.scalar(wanted, {"owner": self.owner}), write=False))

    def delete_all(self, *, before: float | None = None) -> int:
        """Remove the user's answers for good, or those written ``before`` a time (s since 1970); return how many.

        Batches that were begun before that are forgotten, too: their answers will not be fetched.
        """
        values = {"owner": self.owner, "before": before if before is not None else inf}

        def remove(connection: Connection) -> int:
            connection.execute(f"DELETE FROM {BATCHES} WHERE owner = :owner AND created < :before", values)
            statement = f"DELETE FROM {ANSWERS} WHERE owner = :owner AND at < :before"
            return int(connection.execute(statement, values).rowcount)

        removed = self.database.run(remove)
        if removed:
            self.database.forget_deleted()
        return removed

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        self.database.close()

    def _reading(
        self, wanted: set[AnswerKey], *, failed: bool
    ) -> Callable[[Connection], dict[AnswerKey, StoredAnswer]]:
        digests = list(dict.fromkeys(digest for digest, _ in wanted))
        which = "" if failed else " AND failed = 0"

        def read(connection: Connection) -> dict[AnswerKey, StoredAnswer]:
            found = dict[AnswerKey, StoredAnswer]()
            columns = ", ".join((raw(connection, "digest"), "repeat", "at", raw(connection, "body")))
            for names, values in by_parts(digests):
                statement = f"SELECT {columns} FROM {ANSWERS} WHERE owner = :owner AND digest IN ({names}){which}"
                rows = connection.execute(statement, {"owner": self.owner, **values})
                found.update((key, answer) for key, answer in _read(rows) if key in wanted)
            return found

        return read


def _read(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[AnswerKey, StoredAnswer]]:
    """Yield the answers that can be read; SQLite accepts any type in any column."""
    for digest, repeat, at, body in rows:
        with suppress(UnreadableError, UnicodeDecodeError):
            answer: StoredAnswer = decoded(StoredAnswer, body)
            key = digest.decode() if isinstance(digest, bytes) else digest
            yield (key, repeat), replace(answer, at=at if isinstance(at, float) else 0.0)


def _body(answer: StoredAnswer) -> str:
    """Return an answer as JSON, without what has its usual value."""
    values = ((name, getattr(answer, name)) for name in DEFAULTS if name != "at")
    return encoded_text({name: value for name, value in values if value != DEFAULTS[name]})
