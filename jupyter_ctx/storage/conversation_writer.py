"""One conversation in a store: opened, written after each action, let go at the end.

Saving never fails a cell. Events that cannot be written now wait for the next action.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from weakref import WeakSet

from ..conversation.conversation import Conversation
from ..conversation.events import Event, TurnAdded
from ..conversation.messages import Turn, new_id
from ..errors import StoreError
from ..runtime.frontend import Origin, cells_of
from ..runtime.interrupts import uninterrupted
from ..wording import counted
from . import ownership
from .database import AddressError, Database, TakenError
from .serialization import (
    EventRow,
    OpenedConversation,
    Sizes,
    StoredState,
    UnreadableError,
    read_event,
    read_events,
    state_text,
    stored_state,
    to_row,
)
from .spending import NotebookSum
from .store import Claim, ConversationRow, Store


class ConversationWriter:
    """Saves one conversation. ``notices`` are lines to be shown once, which :meth:`pop_notices` returns.

    ``strict``: opening raises AddressError for an address that no store can have; else that is a notice.
    """

    def __init__(self, address: str, origin: Origin, *, strict: bool = False) -> None:
        self.address, self.origin, self._strict = address, origin, strict
        self.notices: list[str] = []
        self.row = ConversationRow(new_id(), origin.scope, ownership.MAIN)
        self._next: int | None = None  # the number of the next row; None: the store does not know of the conversation
        self._waiting: list[EventRow] = []
        self._sizes: list[Sizes] = []  # learned since the last event
        self._unsaved: tuple[Conversation, Callable[[], list[Sizes]]] | None = None  # what the waiting rows belong to
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
        return store_at(self.address)

    def sum(self) -> NotebookSum:
        """Return what the notebook of the conversation spends; where there is no notebook, the conversation."""
        return NotebookSum(lambda: self.store.database, self.row.notebook or self.row.id)

    def pop_notices(self) -> list[str]:
        """Return the lines that are to be shown, those of the store too, once."""
        store = _stores.get(self.address)
        lines, self.notices = [*(store.database.pop_notices() if store else ()), *self.notices], []
        return lines

    # opening

    def open(self, name: str | None = None, *, afresh: bool = False) -> OpenedConversation:
        """Take hold of a conversation and read it; begin one in memory where the store fails."""
        try:
            opened = self._take(partial(ownership.choose, is_held=_is_held), name, afresh=afresh)
        except StoreError as error:
            if self._strict and isinstance(error, AddressError):
                raise
            if self.address not in _stores:  # no store can be there
                self.notices.append(f"{error} What is new is kept in memory.")
            self.row, self._next = ownership.new_row(self.origin, name or ownership.MAIN, time.time()), None
            return OpenedConversation(Conversation())
        except BaseException:  # nobody will talk in it
            _open_writers.discard(self)
            raise
        if name is None and not afresh and not opened.note:
            with suppress(StoreError):
                return opened._replace(note=self._offer())
        return opened

    def fork(self, row: ConversationRow, name: str | None = None) -> OpenedConversation:
        """Take hold of a new conversation that begins with everything in another one. Raises StoreError."""
        return self._take(partial(ownership.fork, source=row), name)

    def _take(
        self, decide: Callable[[Sequence[ConversationRow], ownership.OpenRequest], Claim], name: str | None,
        *, afresh: bool = False,
    ) -> OpenedConversation:  # fmt: skip
        _settle_all()
        request = ownership.OpenRequest(self.origin, ownership.this_process(), time.time(), name, afresh)
        claim = self.store.claim(lambda rows: decide(rows, request))
        self.row, self._next = claim.row, 0
        _open_writers.add(self)
        if claim.how == "new":
            return OpenedConversation(Conversation())
        opened = self.read(claim.row)
        self._next, self._sizes = opened.next, opened.state.get("sizes", [])
        is_told = claim.how == "forked" or opened.conversation.events
        return opened._replace(note=ownership.opened_note(claim) if is_told else "")

    def _offer(self) -> str:
        """Return one line on another notebook's conversation with the same cells, where this notebook is new."""
        others = [row for row in self.store.rows() if row.id != self.row.id]
        if any(row.notebook == self.row.notebook for row in others):
            return ""
        sharing = self.store.sharing(cells_of(self.origin.notebook))
        offer = next((row for row in others if row.turns and row.id in sharing), None)
        return ownership.offer_note(offer) if offer is not None else ""

    def read(self, row: ConversationRow) -> OpenedConversation:
        """Return the content of a conversation without taking hold of it. Raises StoreError."""
        text, rows = self.store.load(row.id)
        opened = read_events(rows)
        if opened.lost:
            lost = counted(opened.lost, "damaged row")
            self.notices.append(f"{lost} of {row.name!r} cannot be read: what they held is left out.")
        try:
            state = stored_state(text)
        except UnreadableError as error:
            state = {}
            self.notices.append(f"{error} Settings of {row.name!r}, and what was learned of the model, begin anew.")
        return opened._replace(sizes=[*opened.sizes, *state.get("sizes", [])], state=state)

    # writing

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
                self._begin_apart(f"This process was forked from one that talks in {self.name!r}")
            self._unsaved = conversation, everything
            is_saved = self._write_waiting()
        if is_saved:
            with uninterrupted():
                _settle_all()

    def settle(self) -> None:
        """Write the waiting events, where the store takes them now."""
        with self._lock, uninterrupted():
            if self._unsaved is not None:
                self._write_waiting()

    def _write_waiting(self) -> bool:
        """Write the waiting events, which go on waiting where the store fails; return whether they are written."""
        try:
            if self._next is None or not self._append():
                self._write_all()
        except StoreError:
            _unsaved_writers.add(self)
            return False
        self._unsaved = None
        _unsaved_writers.discard(self)
        self.store.database.say_saved()
        return True

    def _append(self) -> bool:
        """Add the waiting events; return ``False`` where the whole conversation must be written instead."""
        try:
            is_there = self.store.append(self.row, self._next or 0, self._waiting)
        except TakenError:
            self._begin_apart(f"Another kernel has gone on with {self.name!r}")
            return False
        if is_there:
            self._next = (self._next or 0) + len(self._waiting)
            self._waiting.clear()
        return is_there

    def _write_all(self) -> None:
        assert self._unsaved is not None
        conversation, sizes = self._unsaved
        events = conversation.events
        rows = [to_row(event, sizes() if event is events[-1] else []) for event in events]
        self.row = self.store.claim(self._claim_anew).row
        self.store.append(self.row, 0, rows)
        self._next = len(rows)
        self._waiting.clear()
        _open_writers.add(self)

    def _claim_anew(self, rows: Sequence[ConversationRow]) -> Claim:
        """Make the conversation known to the store."""
        others = [row for row in rows if row.notebook == self.row.notebook and row.id != self.row.id]
        name, holder = ownership.free_name(self.name, others), ownership.this_process()
        return Claim((self.row._replace(name=name, opened=time.time(), **holder._asdict()),), "new")

    def _begin_apart(self, why: str) -> None:
        self.row, self._next = self.row._replace(id=new_id()), None
        self.notices.append(f"{why}; what is said here is kept apart from now on: %chat list.")

    def change(self, **values: object) -> None:
        """Set columns of the conversation's row. Raises StoreError."""
        with self._lock:
            self.store.change(self.row.id, **values)
            self.row = self.row._replace(**values)  # type: ignore[arg-type]

    def answer_to(self, digest: str) -> Turn | None:
        """Return the newest turn of this notebook that answered just this request; never another notebook's.

        A run without a reader also finds the turns of such runs in the same folder.
        """
        try:
            places = filter(None, (self.row.notebook, self.origin.run_of))
            row = self.store.answered(digest, places, runs=self.origin.runs)
        except StoreError:
            return None
        event = read_event(row) if row is not None else None
        return event.turn if isinstance(event, TurnAdded) else None

    def others_of(self, cell: str, known: dict[str, Conversation]) -> list[Conversation]:
        """Return the notebook's other conversations that a cell has asked in, the one opened last first.

        ``known`` keeps those that were read, by their ids: what came later came from this kernel.
        """
        try:
            ids = self.store.sharing([cell]) - {self.row.id} if self.row.notebook else frozenset[str]()
            rows = self.store.rows() if ids else []
            mine = [row for row in rows if row.id in ids and row.notebook == self.row.notebook]
            known.update({row.id: self.read(row).conversation for row in mine if row.id not in known})
            return [known[row.id] for row in mine]
        except StoreError:
            return []

    def forget(self) -> None:
        """Write nothing more: the conversation is deleted, and the waiting events with it."""
        with self._lock:
            self._waiting.clear()
            self._unsaved, self._is_deleted = None, True
            _unsaved_writers.discard(self)
            _open_writers.discard(self)

    def close(self) -> None:
        """Try once more to write the waiting events, and let go: another kernel may go on with the conversation."""
        with self._lock:
            self.settle()
            _open_writers.discard(self)
            if self._next is not None and self._process == os.getpid():
                with suppress(StoreError):
                    self.store.change(self.row.id, pid=None, started=None)


_open_writers: WeakSet[ConversationWriter] = WeakSet()
_unsaved_writers: set[ConversationWriter] = set()  # what they hold outlives the chat that said it
_stores: dict[str, Store] = {}  # by address


def forget(conversation: str) -> None:
    """Write nothing more of a conversation that was deleted."""
    for writer in (*_open_writers, *_unsaved_writers):
        if writer.row.id == conversation:
            writer.forget()


def _is_held(row: ConversationRow) -> bool:
    """Return whether a conversation is talked in: this process may have let go of it before its row says so."""
    if ownership.is_held_here(row):
        return any(writer.row.id == row.id for writer in _open_writers)
    return ownership.is_held_elsewhere(row)


@atexit.register
def close_stores() -> None:
    """Let go of every conversation of this process, and of every database. What was kept in memory only is gone."""
    for writer in (*_open_writers, *_unsaved_writers):
        writer.close()
    _unsaved_writers.clear()
    for store in _stores.values():
        store.database.close()
    _stores.clear()


def _settle_all() -> None:
    """Write what waits in any conversation."""
    for writer in tuple(_unsaved_writers):
        writer.settle()


def store_at(address: str) -> Store:
    """Return the store at an address: the conversations of this process share its connection."""
    if address not in _stores:
        _stores.setdefault(address, Store(Database(address)))  # threads that come at once share one
    return _stores[address]
