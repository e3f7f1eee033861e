"""The answers of experiments: a table of their own in the database of the conversations.

An answer is kept under the digest of its request's content and the number of its repeat, so that a run
that is started again asks only what is missing. Answers are written as they come, and again where that failed. Each
method is one transaction, unless it says otherwise.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ..context.usage import Usage
from ..conversation.messages import StopReason
from ..errors import StoreError
from .database import Database
from .database_tables import ANSWERS
from .serialization import UnreadableError, decoded, encoded_text
from .store import store_address

AnswerKey = tuple[str, int]  # the digest of a request, and the number of its repeat from 0


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
READ = f"""
    SELECT digest, repeat, at, CAST(body AS BLOB) FROM {ANSWERS}
    WHERE digest IN (SELECT value FROM json_each(:digests)) AND (:errors OR failed = 0)
"""  # a body as text takes as long as all else
WRITE = f"""
    INSERT INTO {ANSWERS} (digest, repeat, at, failed, body)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (digest, repeat) DO UPDATE SET at = excluded.at, failed = excluded.failed, body = excluded.body
    WHERE excluded.failed = 0 OR {ANSWERS}.failed <> 0
"""  # an answer that another process has is worth more than an error


class Answers:
    """The answers in a database, and those that could not be written yet, which wait in memory.

    Every method raises StoreError where the database fails, except :meth:`keep` and :meth:`settle`.

    ``address``: as ``Chat(store=…)`` takes it; ``"default"``: the store of the conversations.
    ``beside``: answers that were handed out, which will do where the store has none; they are not written.
    """

    def __init__(
        self, address: str | Path | Database = "default", *, beside: Mapping[AnswerKey, StoredAnswer] | None = None
    ) -> None:
        self.database = address if isinstance(address, Database) else Database(store_address(address))
        self._notices: list[str] = []
        self._waiting: dict[AnswerKey, StoredAnswer] = {}
        self.beside = beside or {}
        self._trouble = ""

    @property
    def notices(self) -> list[str]:
        """Lines to be shown once: of a damaged file that was moved aside, for example."""
        self._notices += self.database.pop_notices()
        return self._notices

    def find(self, keys: Iterable[AnswerKey], *, failed: bool = True) -> dict[AnswerKey, StoredAnswer]:
        """Return what is stored or waits under these keys; a damaged row is not there.

        ``failed``: whether errors count as well.
        """
        wanted = set(keys)
        if not wanted:
            return {}
        digests = {"digests": json.dumps(sorted({digest for digest, _ in wanted})), "errors": failed}
        answers = dict[AnswerKey, StoredAnswer]()
        for digest, repeat, at, body in self.database.query(READ, digests):
            if (digest, repeat) in wanted:
                with suppress(UnreadableError):
                    answers[digest, repeat] = replace(decoded(StoredAnswer, body), at=at)
        waiting = {key: self._waiting[key] for key in wanted & self._waiting.keys()}
        return answers | {key: answer for key, answer in waiting.items() if failed or not answer.failed}

    def keep(self, rows: Iterable[tuple[AnswerKey, StoredAnswer]]) -> None:
        """Write these answers and those that wait; where the store fails, all wait. Never raises StoreError."""
        for key, answer in rows:
            before = self._waiting.get(key)
            if before is None or before.failed or not answer.failed:
                self._waiting[key] = answer
        self.settle()

    def settle(self) -> bool:
        """Write what waits, now; return whether nothing waits any more. Never raises StoreError."""
        waiting = list(self._waiting.items())
        try:
            self.write(waiting)
        except StoreError as error:
            before, self._trouble = self._trouble, str(error).partition(": ")[0]
            if self._trouble != before:
                self.notices.append(f"{error} Answers are kept in memory, and are saved when that can be done.")
            return False
        for key, _ in waiting:
            del self._waiting[key]
        if self._trouble:
            self.notices.append(f"Saved again in {self.database.shown}: no answer was lost.")
            self._trouble = ""
        return True

    def write(self, rows: Sequence[tuple[AnswerKey, StoredAnswer]]) -> None:
        """Write all of these, or none. An answer replaces what is there; an error replaces no answer."""
        now = time.time()
        values = [(digest, repeat, answer.at or now, answer.failed, _body(answer)) for (digest, repeat), answer in rows]
        if values:
            self.database.run(lambda connection: connection.executemany(WRITE, values))

    def delete_all(self) -> int:
        """Remove the answers for good; return how many there were."""
        removed = self.database.run(lambda connection: connection.execute(f"DELETE FROM {ANSWERS}").rowcount)
        if removed:
            self.database.forget_deleted()
        return removed

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        self.database.close()


def _body(answer: StoredAnswer) -> str:
    """Return an answer as JSON, without what has its usual value."""
    values = ((name, getattr(answer, name)) for name in DEFAULTS if name != "at")
    return encoded_text({name: value for name, value in values if value != DEFAULTS[name]})
