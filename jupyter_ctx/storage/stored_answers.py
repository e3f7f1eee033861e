"""The answers of experiments: a table of their own in the database of the conversations.

An answer is kept under the digest of its request's content and the number of its repeat, so that a run
that is started again asks only what is missing. Answers are written as they come, and again where that failed. Each
method is one transaction, unless it says otherwise.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, TypedDict

from ..conversation.messages import Message
from ..errors import ChatError, StoreError
from ..providers.base import Reply
from .database import Database
from .database_tables import ANSWERS
from .serialization import UnreadableError, decoded, encoded_text
from .store import store_address

AnswerKey = tuple[str, int]  # the digest of a request, and the number of its repeat from 0
Fault = Literal["", "row", "busy", "limited", "run"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer to one request, or what became of it. The store keeps the first three.

    reply: the answer, also beside an error, where it is not what its schema allows; ``None`` where there is none
    truncated: whether a part of the request was left out or not read, or the answer was cut
    error: what went wrong, in words; empty where nothing did
    fault: whose fault that is: "row": this request alone fails, "busy": another try may succeed, "limited": the
    same, and the server asks for fewer requests, "run": no other request would succeed either
    retry_after: seconds after which the server wants to be asked again; ``None``: it does not say
    billed: whether it may have been billed although no answer came
    cause: the type of the error of the run
    """

    reply: Reply | None = None
    truncated: bool = False
    error: str = ""
    fault: Fault = ""
    retry_after: float | None = None
    billed: bool = False
    cause: type[ChatError] = ChatError

    @property
    def failed(self) -> bool:
        """Whether it is an error, which may be asked again."""
        return bool(self.error) or self.reply is None


class _Body(TypedDict, total=False):
    """What is stored of an outcome beside its reply."""

    truncated: bool
    error: str
    answered: bool


NOT_KEPT = ("parsed", "tokens", "citations", "source")  # of a reply
KEPT = {field.name: field.default for field in fields(Reply) if field.name not in NOT_KEPT}  # with what is usual
READ = f"""
    SELECT digest, repeat, CAST(body AS BLOB) FROM {ANSWERS}
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
        self, address: str | Path | Database = "default", *, beside: Mapping[AnswerKey, Outcome] | None = None
    ) -> None:
        self.database = address if isinstance(address, Database) else Database(store_address(address))
        self._notices: list[str] = []
        self._waiting: dict[AnswerKey, Outcome] = {}
        self.beside = beside or {}

    @property
    def notices(self) -> list[str]:
        """Lines to be shown once: of a damaged file that was moved aside, for example."""
        self._notices += self.database.pop_notices()
        return self._notices

    def find(self, keys: Iterable[AnswerKey], *, failed: bool = True) -> dict[AnswerKey, Outcome]:
        """Return what is stored or waits under these keys; a damaged row is not there.

        ``failed``: whether errors count as well.
        """
        wanted = set(keys)
        if not wanted:
            return {}
        digests = {"digests": json.dumps(sorted({digest for digest, _ in wanted})), "errors": failed}
        answers = dict[AnswerKey, Outcome]()
        for digest, repeat, body in self.database.query(READ, digests):
            if (digest, repeat) in wanted:
                with suppress(UnreadableError):
                    answers[digest, repeat] = _answer(body)
        waiting = {key: self._waiting[key] for key in wanted & self._waiting.keys()}
        return answers | {key: answer for key, answer in waiting.items() if failed or not answer.failed}

    def keep(self, rows: Iterable[tuple[AnswerKey, Outcome]]) -> None:
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
        except StoreError:
            return False
        for key, _ in waiting:
            del self._waiting[key]
        self.database.say_saved()
        return True

    def write(self, rows: Sequence[tuple[AnswerKey, Outcome]]) -> None:
        """Write all of these, or none. An answer replaces what is there; an error replaces no answer."""
        now = time.time()
        values = [(digest, repeat, now, answer.failed, _body(answer)) for (digest, repeat), answer in rows]
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


def _body(answer: Outcome) -> str:
    """Return an answer as JSON, without what has its usual value in a reply."""
    reply, outcome = answer.reply, _Body(truncated=answer.truncated, error=answer.error)
    outcome["answered"] = reply is not None
    values = {} if reply is None else {name: getattr(reply, name) for name in KEPT}
    return encoded_text({**{name: value for name, value in values.items() if value != KEPT[name]}, **outcome})


def _answer(body: bytes) -> Outcome:
    """Return the answer that :func:`_body` wrote. Raises UnreadableError."""
    outcome = decoded(_Body, body)
    reply = replace(decoded(Reply, body), source="store") if outcome.get("answered", True) else None
    return Outcome(reply, outcome.get("truncated", False), outcome.get("error", ""))


def digested(settings: object, messages: Iterable[Message]) -> str:
    """Return a digest of the settings, as JSON, and after it one of the messages that are sent, files included."""
    text, parts = json.dumps(settings, sort_keys=True, default=str), list[bytes]()
    for message in messages:
        parts.append(f"\0{message.role}\0{message.text}".encode())
        if message.files:
            parts += [b"\0" + attachment.data for attachment in message.files]
    of_settings = hashlib.blake2b(text.encode(), digest_size=8)
    return of_settings.hexdigest() + hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()
