"""One batch, from the intention to its results, in steps that may each be the last before a crash.

=========== ================================================== ==================================
state       what is known                                      after a crash
=========== ================================================== ==================================
intended    nothing was sent that costs money                  forgotten: its rows are dealt anew
sending     it may have been handed in                         looked for in the provider's list
submitted   the provider's id                                  waited for
cancelling  the provider was asked to end it                   waited for
=========== ================================================== ==================================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from ...errors import (
    REFUSED,
    ChatError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    StoreError,
)
from ...providers.base import Request
from ...providers.batch_services import BatchResult, BatchService, BatchStatus
from ...providers.error_mapping import BUSY
from ...storage.batch_records import BatchRecord, BatchState, BatchTable
from ...storage.stored_answers import AnswerKey

T = TypeVar("T")

AROUND = 64  # bytes around the requests of a batch
FIRST_WAIT, LONGEST_WAIT, WAIT_GROWTH = 2.0, 60.0, 1.5  # seconds between two looks at a batch
SKEW = 3_600.0  # seconds by which a provider's clock may be wrong
SETTLE = 30.0  # seconds after which a batch that was handed in stands in the provider's list, if ever it will
SIGN_OF_LIFE = 30.0  # seconds between two


class LostError(Exception):
    """Another run has taken the batch."""


class BatchJob:
    """One batch that this run works on.

    ``over``: whether nothing is left to do. ``status``: how far it was when it was last looked at.
    ``is_cancelled_here``: whether this run has asked the provider to end it. ``due``: when to look at it again, by
    the monotonic clock.
    """

    def __init__(self, record: BatchRecord, table: BatchTable, service: BatchService) -> None:
        self.record = record
        self.over, self.is_cancelled_here = False, False
        self.status = BatchStatus(record.reference or "", ended=False)
        self._table, self._service = table, service
        self._in_doubt_since = time.time()  # a request that was sent may still be on its way
        self._others: set[str] = set()  # batches in the list that are not this one
        self._is_unwritten = False
        self.due, self._wait = time.monotonic(), FIRST_WAIT

    @property
    def state(self) -> BatchState:
        """Return how far the batch is on our side."""
        return self.record.state

    def look_again(self, *, soon: bool) -> None:
        """Set when to look at the batch again: at once where it has changed, else after a longer wait each time."""
        self.due = time.monotonic() + (0.0 if soon else self._wait)
        self._wait = FIRST_WAIT if soon else min(LONGEST_WAIT, WAIT_GROWTH * self._wait)

    def hand_in(self, request_of: Callable[[AnswerKey], Request]) -> None:
        """Hand in an intended batch. Raises a ChatError: the batch is over where it was refused for good."""
        mark = self.record.id
        lines = (self._service.line(f"{mark}-{i}", request_of(key)) for i, key in enumerate(self.record.asked))
        try:
            uploaded = self._service.upload(self.record.id, lines)
            self._change("sending", seen=time.time())
            reference = self._service.submit(self.record.id, uploaded)
        except ChatError as error:
            self._in_doubt_since = time.time()
            if is_refusal(error) and is_passing(error):
                self._change("intended")
            elif is_refusal(error):
                self.forget()
            raise
        self._found(reference)

    def look_for(self, known: set[str]) -> bool:
        """Look for a batch that may have been handed in; return whether it is clear now.

        ``known``: ids of other batches of ours. It is over where the provider does not have it.
        """
        maybe = False
        for listed in self._service.listed(self.record.created - SKEW):
            if listed.mark == self.record.id:
                self._found(listed.reference)
                return True
            if listed.mark is not None or listed.reference in known | self._others:
                continue
            if listed.total != len(self.record.asked):
                continue
            status = self._service.status(listed.reference)
            if not status.ended:
                maybe = True
            elif self._service.mark(status) == self.record.id:
                self._found(listed.reference)
                return True
            else:
                self._others.add(listed.reference)
        if maybe or time.time() - self._in_doubt_since < SETTLE:
            return False
        self.forget()
        return True

    def look(self) -> bool:
        """Ask how far a submitted batch is; return whether it has ended."""
        self.status = self._service.status(self.record.reference or "")
        if self._is_unwritten or time.time() - self.record.seen > SIGN_OF_LIFE:
            self._write(replace(self.record, seen=time.time()))
        return self.status.ended

    def cancel(self) -> None:
        """Ask the provider to end it; forget it where it was not handed in."""
        if self.state == "intended":
            self.forget()
        elif self.record.reference and not self.is_cancelled_here:
            self._change("cancelling")  # first: rows without an answer are no errors then
            self._service.cancel(self.record.reference)
            self.is_cancelled_here = True

    def results(self) -> Iterator[tuple[AnswerKey, BatchResult]]:
        """Yield what became of each row of a batch that has ended; rows that were cancelled without any result."""
        missing = dict(enumerate(self.record.asked))
        for result in () if self.status.problem else self._service.results(self.status):
            mark, _, number = result.request_id.rpartition("-")
            key = missing.pop(int(number), None) if mark == self.record.id and number.isdecimal() else None
            if key is not None:
                yield key, result
        for position, key in missing.items():
            yield key, BatchResult(f"{self.record.id}-{position}")

    def why_missing(self, result: BatchResult) -> str:
        """Return why a row of a batch that has ended has no result."""
        if not self.status.problem:
            return f"The batch {self.record.reference} ended without an answer to this row."
        mine = self.status.problems.get(int(result.request_id.rpartition("-")[2]))
        said = (mine or self.status.problem).rstrip(".")
        where = self._service.adapter.at.address
        if mine or not self.status.problems:
            return f"{where} refused the batch: {said}."
        return f"{where} refused the batch for another row of it: {said}."

    def forget(self) -> None:
        """Forget a batch: it was never begun, or its answers are stored."""
        self._table.end(self.record)
        self.over = True

    def _found(self, reference: str) -> None:
        """Write the provider's id; where the store fails it is written later, or looked for after a crash."""
        self.status = replace(self.status, reference=reference)
        self._write(replace(self.record, state="submitted", reference=reference, seen=time.time()))

    def _write(self, record: BatchRecord) -> None:
        self.record, self._is_unwritten = record, True
        with suppress(StoreError):
            self._change(record.state)
            self._is_unwritten = False

    def _change(self, state: BatchState, *, seen: float | None = None) -> None:
        """Write what is new, in the store first. Raises StoreError, and LostError where another run has taken it."""
        new = replace(self.record, state=state, seen=self.record.seen if seen is None else seen)
        if not self._table.change(new):
            self.over = True
            self._table.let_go([new])
            raise LostError
        self.record = new


def deal(sizes: Iterable[tuple[T, int]], most_requests: int, most_bytes: int) -> list[list[T]]:
    """Deal out requests with their sizes in bytes, in order, to batches that a provider takes.

    No single one may be larger than a batch: see :func:`fits`.
    """
    parts, room = list[list[T]](), 0
    for item, size in sizes:
        if not parts or len(parts[-1]) >= most_requests or size > room:
            parts.append([])
            room = most_bytes - AROUND
        parts[-1].append(item)
        room -= size
    return parts


def fits(size: int, most_bytes: int) -> bool:
    """Return whether one request of this size in bytes fits into a batch."""
    return size <= most_bytes - AROUND


def is_passing(error: ChatError) -> bool:
    """Return whether the same question may be answered a little later."""
    if isinstance(error, RateLimitError):
        return error.helps_to_wait
    if isinstance(error, ProviderError):
        return error.status is None or error.status in BUSY
    return isinstance(error, ProviderConnectionError)


def is_refusal(error: ChatError) -> bool:
    """Return whether a batch was surely not begun; else it may have been, although no answer came."""
    if isinstance(error, ProviderError):
        return error.status is not None and 400 <= error.status < 500 and error.status not in BUSY
    return isinstance(error, REFUSED)
