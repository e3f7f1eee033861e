"""Which run asks for which answer, so that of several runs of the same rows each pays for others.

A claim is a row of a table until its answer is written. Where the store fails, every answer is this run's to ask:
better paid twice than not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import NamedTuple

from ..errors import StoreError
from .connection import Connection, insert
from .database_tables import CLAIMS
from .holders import is_held_elsewhere, is_held_here, this_process
from .stored_answers import AnswerKey, Answers, StoredAnswer

AHEAD = 25  # answers that are claimed at once: as few as let a transaction cost little beside the requests
LOOKS = (0.25, 1.0)  # seconds between two looks for answers of other runs: at first, and where none come
SECONDS_BETWEEN_SIGNS = 30.0  # seconds between two, which runs on other machines look for


class _Holder(NamedTuple):
    """A run with claims, its process, and its last sign of life (seconds since 1970)."""

    run: str
    host: str | None
    pid: int | None
    started: float | None
    seen: float

    @property
    def is_alive(self) -> bool:
        return self.run in _live if is_held_here(self) else is_held_elsewhere(self)


_live: set[str] = set()  # runs of this process that may hold claims


class Claims:
    """The answers that one run asks for. ``failed``: whether a stored error is an answer."""

    def __init__(self, answers: Answers, run: str, *, failed: bool = True) -> None:
        self._answers, self._failed = answers, failed
        self._database, self._mine = answers.database, {"owner": answers.owner, "run": run}
        self._own: dict[AnswerKey, bool] = {}  # of those that have not begun
        self._due, self._rest, self._told = 0.0, LOOKS[0], time.monotonic()

    def is_own(self, key: AnswerKey, upcoming: Callable[[], Iterable[AnswerKey]]) -> bool:
        """Return whether this run is to ask for an answer; those that are ``upcoming`` are claimed with it."""
        if key not in self._own:
            self._take({key, *(each for each in upcoming() if each not in self._own)})
        return self._own.pop(key)

    def look(self, keys: Collection[AnswerKey]) -> tuple[dict[AnswerKey, StoredAnswer], list[AnswerKey]]:
        """Return which of these have come from other runs, and which are this run's now, where a look is due."""
        now, answers = time.monotonic(), dict[AnswerKey, StoredAnswer]()
        if now - self._told > SECONDS_BETWEEN_SIGNS:
            self._told = now
            self._do(f"UPDATE {CLAIMS} SET seen = {time.time()}")
        if not keys or now < self._due:
            return answers, []
        with suppress(StoreError):
            answers = self._answers.find(keys, failed=self._failed)
        left = [key for key in keys if key not in answers]
        if left:
            self._take(left)
        let_go = [key for key in left if self._own.pop(key)]
        self._rest = LOOKS[0] if answers or let_go else min(LOOKS[1], 1.5 * self._rest)
        self._due = time.monotonic() + self._rest
        return answers, let_go

    def end(self) -> None:
        """Let go of what was claimed and has no answer."""
        _live.discard(self._mine["run"])
        self._do(f"DELETE FROM {CLAIMS}")

    def _do(self, statement: str) -> None:
        of_the_run = f"{statement} WHERE owner = :owner AND run = :run"
        with suppress(StoreError):
            self._database.run(lambda connection: connection.execute(of_the_run, self._mine))

    def _take(self, keys: Collection[AnswerKey]) -> None:
        """Claim what no other live run has claimed or answered."""
        own = set(keys)
        _live.add(self._mine["run"])
        with suppress(StoreError):
            own = self._database.run(lambda connection: self._claimed(connection, keys))
            own -= self._answers.find(own, failed=self._failed).keys()
        self._own.update((key, key in own) for key in keys)

    def _claimed(self, connection: Connection, keys: Collection[AnswerKey]) -> set[AnswerKey]:
        holders = connection.execute(
            f"SELECT run, host, pid, started, max(seen) FROM {CLAIMS} WHERE owner = :owner "
            "GROUP BY run, host, pid, started", self._mine,
        ).fetchall()  # fmt: skip
        for holder in map(_Holder._make, holders):
            if not holder.is_alive:
                gone = {**self._mine, "run": holder.run}
                connection.execute(f"DELETE FROM {CLAIMS} WHERE owner = :owner AND run = :run", gone)
        claim = {**self._mine, "seen": time.time(), **this_process()._asdict()}
        rows = [{**claim, "digest": digest, "repeat": repeat} for digest, repeat in sorted(keys)]
        connection.execute_many(f"{insert(CLAIMS, rows[0])} ON CONFLICT (owner, digest, repeat) DO NOTHING", rows)
        own = connection.execute(f"SELECT digest, repeat FROM {CLAIMS} WHERE owner = :owner AND run = :run", self._mine)
        return {(digest, repeat) for digest, repeat in own} & set(keys)
