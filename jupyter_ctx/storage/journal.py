"""One conversation in a store: opened, written after each action, let go at the end.

Saving never fails a cell. Events that cannot be written now wait for the next action;
one notice says so, and another one when they are saved.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple
from weakref import WeakSet

from ..conversation.conversation import Conversation
from ..conversation.events import Event, Offered, Said
from ..conversation.messages import Alternatives, Turn, new_id
from ..errors import StoreError
from ..runtime.frontend import Origin, cells_of
from ..runtime.interrupts import uninterrupted
from ..wording import counted
from .database import AddressError, Database, TakenError
from .holders import is_held_elsewhere, is_held_here, this_process
from .ownership import MAIN, Wish, choose, fork, free_name, is_new_here, offer_note, opened_note
from .reading import read_event, read_events
from .serialization import EventRow, Sizes, StoredState, UnreadableError, state_text, stored_state, to_row
from .spending import NotebookSum
from .store import Claim, ConversationRow, Store

ATTEMPTS = 3  # at a name that somebody else has taken meanwhile


class Opened(NamedTuple):
    """A conversation as it was found.

    ``sizes``, ``state``: what was learned of its turns' sizes, and everything else beside its events.
    ``note``: one line that says where it comes from.
    ``offer``: one line that names another notebook's conversation with the same cells, and how to bring it in.
    ``next``: number of the next row.
    """

    conversation: Conversation
    sizes: Sequence[Sizes] = ()
    state: StoredState = {}  # noqa: RUF012  # it is read only
    note: str = ""
    offer: str = ""
    next: int = 0


class Whole(NamedTuple):
    """All of a conversation, for where all of it must be written again; ``sizes`` gives what was learned."""

    conversation: Conversation
    sizes: Callable[[], list[Sizes]]


class Journal:
    """Saves one conversation. ``notices`` are lines to be shown once.

    ``troubles`` are the store's failures that were shown already, perhaps in other conversations of the notebook.
    ``strict``: opening raises AddressError for an address that no store can have; else that is a notice.
    """

    def __init__(self, address: str, origin: Origin, troubles: set[str] | None = None, *, strict: bool = False) -> None:
        self.address, self.origin, self._strict = address, origin, strict
        self._troubles = troubles if troubles is not None else set[str]()
        self.notices: list[str] = []
        self.row = ConversationRow(new_id(), origin.scope, MAIN)
        self._store: Store | None = None
        self._next: int | None = None  # the number of the next row; None: the store does not know of the conversation
        self._waiting: list[EventRow] = []
        self._sizes: list[Sizes] = []  # told since the last event
        self._whole: Whole | None = None  # what the waiting records belong to
        self._failing = ""
        self._is_deleted = False
        self._process = os.getpid()
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """Name of the conversation."""
        return self.row.name

    @property
    def store(self) -> Store:
        """The store, which the first reading opens. Raises StoreError."""
        if self._store is None:
            self._store = store_at(self.address)
        return self._store

    def sum(self) -> NotebookSum:
        """Return what the notebook of the conversation spends; where there is no notebook, the conversation."""
        return NotebookSum(lambda: store_at(self.address).database, self.row.notebook or self.row.id)

    def open(self, name: str | None = None, *, afresh: bool = False) -> Opened:
        """Take hold of a conversation and read it; begin one in memory where the store fails."""
        _settle_all()
        with self._lock:
            try:
                sharing = frozenset[str]() if afresh or name is not None else self._sharing()
                return self._open(partial(choose, is_held=_is_held), name, afresh=afresh, sharing=sharing)
            except StoreError as error:
                if self._strict and isinstance(error, AddressError):
                    raise
                self._failed(error)
                self.row, self._next = _begun(name, self.origin), None
                return Opened(Conversation())
            except BaseException:  # nobody will talk in it
                _open_journals.discard(self)
                raise

    def _sharing(self) -> frozenset[str]:
        """Return the conversations with turns of this notebook's cells, where it is new.

        Read before anything is claimed: a disk may be slow, and a claim keeps other kernels waiting.
        """
        if not is_new_here(self.store.rows(), self.origin):
            return frozenset()
        return frozenset(self.store.sharing(cells_of(self.origin.notebook)))

    def keep_apart(self, others: Sequence[ConversationRow]) -> None:
        """Take a name that none of these conversations has, where the store could not be asked for one."""
        if self._next is None:
            self.row = self.row._replace(name=free_name(self.row.name, others))

    def fork(self, row: ConversationRow, name: str | None = None) -> Opened:
        """Take hold of a new conversation that begins with everything in another one. Raises StoreError."""
        _settle_all()
        with self._lock:
            return self._open(lambda rows, wish: fork(row, name, rows, wish), name)

    def _open(
        self, decide: Callable[[Sequence[ConversationRow], Wish], Claim], name: str | None,
        *, afresh: bool = False, sharing: Iterable[str] = (),
    ) -> Opened:  # fmt: skip
        wish = Wish(self.origin, this_process(), time.time(), name, afresh, frozenset(sharing))
        claim = self._claim(lambda rows: decide(rows, wish))
        self.row, self._next = claim.row, 0
        self._hold()
        self._collect()
        if claim.how == "new":
            return Opened(Conversation(), offer=offer_note(claim.offer) if claim.offer else "")
        before = (claim.source or claim.row).updated
        opened = self._read(claim.row)
        self._next = opened.next
        self._sizes = opened.state.get("sizes", [])
        self._collect()
        note = opened_note(claim, before) if opened.conversation.events else ""
        return opened._replace(note=note)

    def _claim(self, decide: Callable[[Sequence[ConversationRow]], Claim]) -> Claim:
        for _ in range(ATTEMPTS):
            try:
                return self.store.claim(decide)
            except TakenError as error:
                taken = error
        raise taken

    def _read(self, row: ConversationRow) -> Opened:
        text, stored = self.store.load(row.id)
        events = read_events(stored)
        if events.lost:
            lost = counted(events.lost, "damaged row")
            self.notices.append(f"{lost} of {row.name!r} cannot be read: what they held is left out.")
        state: StoredState = {}
        try:
            state = stored_state(text)
        except UnreadableError as error:
            self.notices.append(f"{error} Settings of {row.name!r}, and what was learned of the model, begin anew.")
        sizes = [*events.sizes, *state.get("sizes", [])]
        return Opened(events.conversation, sizes, state, next=events.next)

    def save(
        self, events: Sequence[Event], sizes: list[Sizes], state: StoredState,
        conversation: Conversation, everything: Callable[[], list[Sizes]],
    ) -> None:  # fmt: skip
        """Write new events; ``everything`` gives the sizes where the whole conversation must be written again."""
        with self._lock, uninterrupted():
            if self._is_deleted:
                return
            self._sizes += sizes
            for event in events:
                self._waiting.append(to_row(event, self._sizes))
                self._sizes = []
            text, now = state_text({**state, "sizes": self._sizes}), time.time()
            if not events and text == self.row.state:
                return
            self.row = self.row._replace(updated=now, seen=now, turns=len(conversation.places), state=text)
            if self._process != os.getpid():
                self._process = os.getpid()
                self._part(f"This process was forked from one that talks in {self.name!r}")
            self._flush(Whole(conversation, everything))
            works = self._whole is None
        if works:
            with uninterrupted():
                _settle_all(self.address)

    def _flush(self, whole: Whole) -> None:
        """Write the waiting events; they go on waiting where the store fails."""
        try:
            if self._next is None or not self._append():
                self._write(whole)
        except StoreError as error:
            self._whole = whole
            _unsaved.add(self)
            self._failed(error)
        else:
            self._whole = None
            _unsaved.discard(self)
            self._worked()

    def _append(self) -> bool:
        """Add the waiting events; return ``False`` where the whole conversation must be written instead."""
        try:
            there = self.store.append(self.row, self._next or 0, self._waiting)
        except TakenError:
            self._part(f"Another kernel has gone on with {self.name!r}")
            return False
        if there:
            self._next = (self._next or 0) + len(self._waiting)
            self._waiting.clear()
        return there

    def _write(self, whole: Whole) -> None:
        events = whole.conversation.events
        records = [to_row(event, whole.sizes() if event is events[-1] else []) for event in events]
        self.row = self._claim(self._begin).row
        self.store.append(self.row, 0, records)
        self._next = len(records)
        self._waiting.clear()
        self._hold()

    def _begin(self, rows: Sequence[ConversationRow]) -> Claim:
        """Make the conversation known to the store."""
        others = [row for row in rows if row.notebook == self.row.notebook and row.id != self.row.id]
        row = self.row._replace(name=free_name(self.name, others), opened=time.time(), **this_process()._asdict())
        return Claim((row,), "new")

    def _part(self, why: str) -> None:
        self.row, self._next = self.row._replace(id=new_id()), None
        self.notices.append(f"{why}; what is said here is kept apart from now on: %chat list.")

    def settle(self) -> None:
        """Write the waiting events, where the store takes them now."""
        with self._lock, uninterrupted():
            if self._whole is not None:
                self._flush(self._whole)

    def answered(self, digest: str) -> Turn | None:
        """Return the newest turn of this notebook that answered just this request; never another notebook's.

        A run without a reader also finds the turns of such runs in the same folder.
        """
        event = self._event_of(digest)
        return event.turn if isinstance(event, Said) else None

    def offered(self, digest: str) -> Alternatives | None:
        """Return the newest answers of this notebook to just these requests at once, as :meth:`answered`."""
        event = self._event_of(digest)
        return event.alternatives if isinstance(event, Offered) else None

    def _event_of(self, digest: str) -> Event | None:
        try:
            places = filter(None, (self.row.notebook, self.origin.run_of))
            row = self.store.answered(digest, places, runs=self.origin.runs)
            return read_event(row) if row is not None else None
        except StoreError as error:
            self._failed(error)
            return None

    def change(self, **values: object) -> None:
        """Set columns of the conversation's row. Raises StoreError."""
        with self._lock:
            self.store.change(self.row.id, **values)
            self.row = self.row._replace(**values)  # type: ignore[arg-type]

    def read(self, row: ConversationRow) -> Opened:
        """Return the content of another conversation without taking hold of it. Raises StoreError."""
        with self._lock:
            return self._read(row)

    def forget(self) -> None:
        """Write nothing more: the conversation is deleted, and the waiting events with it."""
        with self._lock:
            self._waiting.clear()
            self._whole, self._is_deleted = None, True
            _unsaved.discard(self)
            _open_journals.discard(self)

    def close(self) -> None:
        """Try once more to write the waiting events, and let go: another kernel may go on with the conversation."""
        with self._lock:
            self.settle()
            _open_journals.discard(self)
            if self._store is not None and self._next is not None and self._process == os.getpid():
                with suppress(StoreError):
                    self._store.change(self.row.id, pid=None, started=None)

    def _failed(self, error: StoreError) -> None:
        """Add a notice of what is wrong, once."""
        self._collect()
        trouble = str(error).partition(": ")[0]
        if trouble != self._failing and trouble not in self._troubles:
            self.notices.append(f"{error} The conversation goes on in memory, and is saved when that can be done.")
        self._failing = trouble
        self._troubles.add(trouble)

    def _worked(self) -> None:
        self._collect()
        if self._failing:
            self.notices.append(f"Saved again in {self.store.database.shown}: nothing was lost.")
            self._failing = ""
            self._troubles.clear()

    def _collect(self) -> None:
        if self._store is not None:
            notices = self._store.database.notices
            self.notices += notices
            notices.clear()

    def _hold(self) -> None:
        """Keep other kernels from the conversation."""
        _open_journals.add(self)


def forget(conversation: str) -> None:
    """Write nothing more of a conversation that was deleted."""
    for journal in (*_open_journals, *_unsaved):
        if journal.row.id == conversation:
            journal.forget()


def _is_held(row: ConversationRow) -> bool:
    """Return whether a conversation is talked in: this process may have let go of it before its row says so."""
    if is_held_here(row):
        return any(journal.row.id == row.id for journal in _open_journals)
    return is_held_elsewhere(row)


_open_journals: WeakSet[Journal] = WeakSet()
_unsaved: set[Journal] = set()  # what they hold outlives the chat that said it
_stores: dict[str, Store] = {}  # by address


@atexit.register
def close_stores() -> None:
    """Let go of every conversation of this process, and of every database. What was kept in memory only is gone."""
    for journal in (*_open_journals, *_unsaved):
        journal.close()
    _unsaved.clear()
    for store in _stores.values():
        store.database.close()
    _stores.clear()


def _settle_all(address: str | None = None) -> None:
    """Write what waits in any conversation, or in those of the store at this address."""
    for journal in tuple(_unsaved):
        if address in (None, journal.address):
            journal.settle()


def store_at(address: str) -> Store:
    """Return the store at an address: the conversations of this process share its connection."""
    if address not in _stores:
        _stores.setdefault(address, Store(Database(address)))  # threads that come at once share one
    return _stores[address]


def _begun(name: str | None, origin: Origin) -> ConversationRow:
    now = time.time()
    return ConversationRow(
        new_id(), origin.scope, name or MAIN, kernel=origin.kernel, opened=now, created=now, updated=now
    )
