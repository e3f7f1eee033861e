"""The conversations of one notebook, by name, and the one that is talked in now."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import wording as words
from .chat import Chat, checked_name, path_of
from .config.settings import Settings, default_settings, kept_settings, restored_settings
from .conversation.events import Said
from .errors import InvalidRequestError, StoreError
from .export.files import load
from .export.formats import carried, renewed
from .models.registry import Models
from .runtime.frontend import Origin
from .session.actions import Change
from .session.session import Session
from .session.state import NotebookState
from .storage.database import TakenError
from .storage.journal import Journal, Opened, forget, is_held_elsewhere
from .storage.ownership import at_home
from .storage.store import ConversationRow, store_address


class Library:
    """Opens what is asked for; nothing before that. ``notes`` are lines that are to be shown once.

    Without an ``origin``, those of scripts and terminals; ``store`` as for a Chat. ``ask`` is
    asked, where ``restore`` says so, whether to go on with what is there.
    """

    def __init__(
        self,
        origin: Origin | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        store: str | Path = "default",
        ask: Callable[[str], bool] | None = None,
    ) -> None:
        self.origin, self.notes = origin or Origin(), list[str]()
        self.deleted: set[str] = set()  # cells that are not in the notebook any more
        self.offered: set[str] = set()  # those of them that were spoken of
        self._seen: set[str] = set()  # turns of this kernel, in whichever fork
        self._told: dict[str, str] = {}  # memory files that were spoken of
        self._address, self._ask = store_address(store), ask
        self._begun, self._models = default_settings(config or {}, {}), Models()
        self._troubles: set[str] = set()  # of the store, that were spoken of
        self._chats: dict[str, Chat] = {}
        self._current: Chat | None = None

    @property
    def current(self) -> Chat:
        """The conversation that is talked in now; the notebook's last one where none was asked for."""
        if self._current is None:
            self._current = self._first()
        return self._current

    def rows(self, *, everywhere: bool = False) -> list[ConversationRow]:
        """The conversations of this notebook, or of all; the one opened last first. Raises StoreError."""
        rows = self._journal().store.rows()
        self.origin = at_home(rows, self.origin)
        return [row for row in rows if everywhere or row.notebook == self.origin.scope]

    @property
    def in_memory(self) -> list[ConversationRow]:
        """The conversations that are open here."""
        return [chat.row for chat in self._chats.values()]

    @property
    def names(self) -> list[str]:
        """What they are called; those that are open where the store cannot be read."""
        try:
            return [row.name for row in self.rows()]
        except StoreError:
            return list(self._chats)

    def get(self, name: str) -> Chat:
        """The conversation of this name, for one cell; a new one where there is none."""
        current = self.current
        if name not in self._chats:
            chat = self._open(name, current.config)
            if chat.name == name:
                there = f"which has {words.turns(len(chat.turns))}" if chat.turns else "a new conversation"
                self.notes.append(f"In {name!r}, {there}.")
            self._make_current(current)  # one cell's conversation is not the notebook's
        return self._chats[name]

    def switch(self, name: str) -> Chat:
        """Talk in this one from here on. Raises InvalidRequestError for a name that is not there."""
        current = self.current
        if name not in self._chats and name not in (names := [row.name for row in self.rows()]):
            there = ", ".join(sorted(names)) or "none yet"
            raise InvalidRequestError(f"No conversation {name!r} here; %chat new {name} begins it. There are: {there}.")
        return self._make_current(self._chats.get(name) or self._open(name, current.config))

    def new(self, name: str | None = None) -> Chat:
        """Begin another one and talk in it; what was said before stays where it is."""
        settings, journal = self._current.config if self._current else self._begun, self._journal()
        if name is not None:
            self._free(checked_name(name))
        opened = journal.open(name, afresh=True)
        journal.keep_apart(self.in_memory)
        chat = self._make_current(self._take(journal, opened, settings))
        chat.configure()  # what is set for it holds after a restart, too
        return chat

    def fork(self, name: str | None = None) -> Chat:
        """Talk in a new one that begins with all that was said in this one."""
        current, journal = self.current, self._journal()
        if name is not None:
            self._free(checked_name(name))
        opened = journal.fork(current.row, name)
        return self._make_current(self._take(journal, opened, current.config))

    def rename(self, name: str) -> Chat:
        """Call the current conversation something else."""
        chat, old = self.current, self.current.name
        if checked_name(name) != old:
            try:
                chat.rename(name)
            except TakenError:
                raise InvalidRequestError(f"There is a conversation {name!r} here already.") from None
            self._chats[name] = self._chats.pop(old, chat)
        return chat

    def find(self, name: str) -> ConversationRow:
        """The row of a conversation of this notebook that may be deleted. Raises InvalidRequestError."""
        row = next((row for row in self.rows() if row.name == name), None)
        if row is None:
            raise InvalidRequestError(f"No conversation {name!r} here: %chat list names them.")
        if is_held_elsewhere(row):
            raise InvalidRequestError(f"Another kernel talks in {name!r}: nothing was deleted. End that one first.")
        return row

    def delete(self, name: str, *, confirm: str) -> ConversationRow:
        """Remove a conversation with its content, for good; ``confirm`` is its name again."""
        row = self.find(name)
        if confirm != name:
            raise InvalidRequestError(f"{confirm!r} is not {name!r}: nothing was deleted.")
        gone = next((chat for chat in self._chats.values() if chat.name == name), None)
        self._journal().store.delete(row.id)
        forget(row.id)
        if gone is not None:
            self._drop(gone)
        if gone is not None and gone is self._current:
            self._make_current(self._next(gone.config))
        return row

    def resume(self, notebook: str, name: str | None = None, *, summary: bool = False) -> Change:
        """Bring another notebook's conversation, or a summary of it, into the current one."""
        row = self._elsewhere(notebook, name)
        if row is None:
            return self.current.resume(load(self._path(notebook)), notebook, summary=summary)
        added = renewed(carried(self._journal().read(row).conversation))
        if self.current.system:  # its own holds
            added = replace(added, system=None)
        return self.current.resume(added, f"{Path(row.notebook).name} ({row.name})", summary=summary)

    def _first(self) -> Chat:
        """The one that the notebook had before its kernel was started, where ``restore`` says so."""
        settings, journal = self._begun, self._journal()
        opened = journal.open(afresh=settings.restore == "off")
        if opened.note:
            restore = restored_settings(settings, opened.state.get("settings", {})).restore
            if restore == "off" or (restore == "ask" and not self._goes_on(journal.row, opened.note)):
                self._decline(journal, opened.taken)
                settings, journal = settings.changed({"restore": restore}), self._journal()
                opened = journal.open(afresh=True)
            elif restore == "auto":
                self.notes.append(opened.note)
        if opened.offer:
            self.notes.append(opened.offer)
        chat = self._take(journal, opened, settings)
        if opened.taken:
            chat.put_back = partial(self._put_back, chat, opened.taken, chat.config, len(chat.conversation.events))
        return chat

    def _put_back(self, chat: Chat, taken: Sequence[ConversationRow], settings: Settings, known: int) -> Change:
        """Leave another notebook's conversation to it, and begin anew with what was set here.

        What was said after the events that were ``known`` is not lost: redo brings it in.
        """
        chosen = kept_settings(settings, chat.config)
        said = [event for event in chat.conversation.events[known:] if isinstance(event, Said)]
        chat.leave(taken)
        self._drop(chat)
        journal = self._journal()
        new = self._take(journal, journal.open(afresh=True), restored_settings(self._begun, chosen))
        new.listeners, chat.listeners = chat.listeners, []
        new.offer(said)
        self._make_current(new).changed()
        turns = taken[0].turns
        whose = f"{words.turns(turns)} of {taken[0].name!r} {'is' if turns == 1 else 'are'} left to {taken[0].notebook}"
        since = f"%chat redo brings back what was said since: {words.turns(len(said))}." if said else ""
        return Change(f"Undid the takeover: {whose}, and this notebook begins anew", note=since)

    def _drop(self, chat: Chat) -> None:
        chat.close()
        self._chats = {called: other for called, other in self._chats.items() if other is not chat}

    def _goes_on(self, row: ConversationRow, note: str) -> bool:
        """Whether the user wants to go on with what is there."""
        used = words.ago(time.time() - row.updated)
        continued = f"Go on with {words.turns(row.turns)} of {row.name!r}, last used {used}?"
        return self._ask is not None and self._ask(f"{note} Go on with that?" if _is_made_now(row) else continued)

    def _decline(self, journal: Journal, taken: Sequence[ConversationRow]) -> None:
        """Leave a conversation as it was found; a fork was made for nothing."""
        with suppress(StoreError):
            if taken or _is_made_now(journal.row):
                journal.give_back(taken)
        journal.close()

    def _next(self, settings: Settings) -> Chat:
        """The conversation that was talked in before, where there is one that is free."""
        name = next((row.name for row in self.rows() if not is_held_elsewhere(row)), None)
        if name is not None:
            return self._chats.get(name) or self._open(name, settings)
        journal = self._journal()
        return self._take(journal, journal.open(afresh=True), settings)

    def _open(self, name: str, settings: Settings) -> Chat:
        journal = self._journal()
        opened = journal.open(checked_name(name))
        chat = self._chats[name] = self._take(journal, opened, settings)
        if chat.name != name:  # a fork has a name of its own
            self.notes.append(opened.note)
        return chat

    def _journal(self) -> Journal:
        return Journal(self._address, self.origin, self._troubles)

    def _take(self, journal: Journal, opened: Opened, settings: Settings) -> Chat:
        notebook = NotebookState(self.origin.folder or Path.cwd(), self.deleted, self._seen, self._told)
        session = Session(settings, self._models, journal, defaults=self._begun, notebook=notebook)
        session.restore(opened)
        self.offered |= set(opened.state.get("deleted", ()))
        chat = self._chats[journal.name] = Chat(session=session)
        return chat

    def _make_current(self, chat: Chat) -> Chat:
        self._current = chat
        with suppress(StoreError):
            chat.opened()
        return chat

    def _free(self, name: str) -> None:
        with suppress(StoreError):
            if name in [row.name for row in self.rows()]:
                raise InvalidRequestError(f"There is a conversation {name!r} here already: %chat switch {name}.")

    def _elsewhere(self, notebook: str, name: str | None) -> ConversationRow | None:
        """The conversation of a notebook, by its path or the end of it."""
        path, here = str(self._path(notebook)), self.current.row.id
        rows = [row for row in self.rows(everywhere=True) if row.turns and row.id != here and name in (None, row.name)]
        exact = [row for row in rows if row.notebook in (path, notebook)]
        near = [row for row in rows if row.notebook.endswith(f"{os.sep}{notebook}")]
        found = {row.notebook for row in near}
        if not exact and len(found) > 1:
            raise InvalidRequestError(f"{notebook!r} may be {' or '.join(sorted(found))}: give the whole path.")
        if not exact and not near and not self._path(notebook).is_file():
            which = f" with a conversation {name!r}" if name else ""
            raise InvalidRequestError(f"No notebook {notebook!r}{which} is known here: %chat list all names them.")
        return next(iter(exact or near), None)

    def _path(self, notebook: str) -> Path:
        return ((self.origin.folder or Path.cwd()) / path_of(notebook)).absolute()


def _is_made_now(row: ConversationRow) -> bool:
    """Whether it is a fork or a copy of what was found."""
    return row.created == row.opened
