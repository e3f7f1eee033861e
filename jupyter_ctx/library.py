"""The conversations of one notebook by name, and which of them is current."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import wording as words
from .chat import Chat, chat_of, checked_name
from .config.settings import ADDRESS_VARIABLE, DEFAULT_MODEL, MODEL_VARIABLE, Settings, default_settings
from .display.tabular import Table
from .errors import InvalidRequestError, StoreError
from .models.cost_budget import CostBudget
from .models.registry import Models
from .providers.lookup import SERVICES, given_address, key_of, split_model
from .runtime.files import path_of
from .runtime.frontend import Origin
from .runtime.redaction import without_address_keys
from .session import actions
from .session.actions import Change
from .session.course import COURSE_FILE, course_in
from .session.session import NotebookState, Session
from .storage.conversation_writer import ConversationWriter, forget
from .storage.ownership import MAIN, free_name, is_held_elsewhere
from .storage.serialization import OpenedConversation
from .storage.spending import Sum
from .storage.store import ConversationRow, store_address
from .storage.stored_answers import Answers


class Conversations(Table[ConversationRow]):
    """Conversations with their size and when they were last used; in a notebook, ``here``, with the ``current`` one."""

    columns = ConversationRow._fields
    here: str | None = None
    current: str = ""

    def _cells(self) -> list[list[str]]:
        head = ["conversation", "turns", "last used", "state", "notebook"]
        cells, now = [head], time.time()
        for row in self:
            is_here = row.notebook == self.here
            elsewhere = "in another kernel" if is_held_elsewhere(row) else ""
            state = "current" if is_here and row.name == self.current else elsewhere
            where = "this one" if is_here else row.notebook or "scripts"
            cells.append([row.name, words.turns(row.turns), words.ago(now - row.updated), state, where])
        return cells if any(row.notebook != self.here for row in self) else [line[:-1] for line in cells]

    def _below(self) -> str:
        return "%chat switch NAME talks in another one"


class Library:
    """The conversations of one notebook; without an ``origin``, those of scripts and terminals.

    Nothing is opened before it is needed. ``store`` is as for :class:`Chat`. ``notebook`` is what the conversations
    share, such as a course's file. ``confirm`` puts a question to the user, and returns ``None`` where nobody can be
    asked. ``notes`` are notices to show once.
    """

    def __init__(
        self, origin: Origin | None = None, config: Mapping[str, Any] | None = None, *, store: str | Path = "default",
        notebook: NotebookState | None = None, confirm: Callable[[str], bool | None] | None = None,
    ) -> None:  # fmt: skip
        self.origin, self.notes = origin or Origin(), list[str]()
        self._notebook = notebook or NotebookState()
        self._address, self._is_named = store_address(store), store != "default"
        self._config, self._confirm = config or {}, confirm
        self._folder = self.origin.folder or Path.cwd()
        self._usual = default_settings(self._config, {})  # without a course's file
        self._course = course_in(self._folder, self._usual, self._config.keys())
        self._models = Models(check=lambda model: self._course.check_unlocked((), model))
        self.notes += self._course.problems
        self._told = set[str]()  # lines that a notice has said
        self._chats: dict[str, Chat] = {}
        self._current: Chat | None = None
        self._total: Sum | None = None  # what all conversations have spent

    @property
    def current(self) -> Chat:
        """The current conversation; at first the one that the notebook used last."""
        if self._current is None:
            self._current = self._open()
        return self._current

    def cost_budget(self) -> CostBudget | None:
        """Return what pays for requests apart from conversations; ``None``: nothing was spent yet, without a cap."""
        if self._current is None and self._course.begun.max_cost is None:
            return None
        return self.current.session.cost_budget

    def rows(self, *, everywhere: bool = False) -> Conversations:
        """Return this notebook's conversations, or all, last opened first; where the store fails, the open ones."""
        try:
            rows = self._journal().store.rows()
        except StoreError:
            rows = [journal_of(chat).row for chat in self._chats.values()]
        listed = Conversations(row for row in rows if everywhere or row.notebook == self.origin.scope)
        listed.here, listed.current = self.origin.scope, self._current.name if self._current is not None else ""
        return listed

    @property
    def names(self) -> list[str]:
        """The names of this notebook's conversations."""
        return [row.name for row in self.rows()]

    @property
    def chats(self) -> list[Chat]:
        """The conversations that are open in this kernel, the current one first."""
        current = [self._current] if self._current is not None else []
        return list(dict.fromkeys((*current, *self._chats.values())))

    def get(self, name: str, *, begin: bool = True) -> Chat:
        """Return the conversation of this name for one cell.

        Where there is none, ``begin`` it, else raise InvalidRequestError with the nearest name.
        """
        current = self.current
        if not begin:
            self._check_known(name, f"A prompt with %%chat -i {shlex.quote(name)} would begin it.")
        if name not in self._chats:
            chat = self._open(current.config, checked_name(name))
            if chat.name == name:
                there = f"which has {words.turns(len(chat.turns))}" if chat.turns else "a new conversation"
                self.notes.append(f"In {name!r}, {there}.")
            self._make_current(current)  # one cell's conversation is not the notebook's
        return self._capped(self._chats[name])

    def switch(self, name: str) -> Chat:
        """Make this conversation the current one. Raises InvalidRequestError for an unknown name."""
        current = self.current
        self._check_known(name, f"%chat new {name} begins it.")
        return self._make_current(self._chats.get(name) or self._open(current.config, name))

    def _check_known(self, name: str, remedy: str) -> None:
        """Raise InvalidRequestError where there is no conversation of this name, with the nearest name."""
        if name not in self._chats and name not in (names := self.names):
            hint = words.did_you_mean(name, names, "{!r}") or f" Conversations: {', '.join(sorted(names))}."
            raise InvalidRequestError(f"There is no conversation {name!r}.{hint} {remedy}")

    def _check_free(self, name: str | None) -> None:
        if name is not None and checked_name(name) in self.names:
            raise InvalidRequestError(f"There is a conversation {name!r} here already: %chat switch {name}.")

    def new(self, name: str | None = None) -> Chat:
        """Begin a conversation and make it the current one; the others stay as they are."""
        self._check_free(name)
        settings = self._current.config if self._current is not None else None
        chat = self._make_current(self._open(settings, name or free_name(MAIN, self.rows()), afresh=True))
        chat.configure()  # stores its settings, so that they hold after a restart
        return chat

    def fork(self, name: str | None = None) -> Chat:
        """Copy the current conversation into a new one and make that the current one."""
        self._check_free(name)
        current, journal = self.current, self._journal()
        opened = journal.fork(journal_of(current).row, name)
        return self._make_current(self._take(journal, opened, current.config))

    def rename(self, name: str) -> Chat:
        """Rename the current conversation."""
        chat, old = self.current, self.current.name
        if name != old:
            self._check_free(name)
            journal_of(chat).change(name=name)
            self._chats[name] = self._chats.pop(old, chat)
        return chat

    def find(self, name: str) -> ConversationRow:
        """Return the row of a conversation of this notebook that may be deleted. Raises InvalidRequestError."""
        row = next((row for row in self.rows() if row.name == name), None)
        if row is None:
            raise InvalidRequestError(f"No conversation {name!r} here: %chat list shows them.")
        if is_held_elsewhere(row):
            raise InvalidRequestError(f"Another kernel talks in {name!r}: nothing was deleted. End that one first.")
        return row

    def delete(self, name: str, *, confirm: str) -> ConversationRow:
        """Delete a conversation and all its content for good; ``confirm`` repeats its name."""
        row = self.find(name)
        if confirm != name:
            raise InvalidRequestError(f"{confirm!r} is not {name!r}: nothing was deleted.")
        gone = next((chat for chat in self._chats.values() if chat.name == row.name), None)
        self._journal().store.delete(row.id)
        forget(row.id)
        if gone is not None:
            gone.close()
            self._chats = {called: chat for called, chat in self._chats.items() if chat is not gone}
        if gone is not None and gone is self._current:
            newest = next((other.name for other in self.rows() if not is_held_elsewhere(other)), None)  # used before
            known = self._chats.get(newest or "")
            self._make_current(known or self._open(gone.config, newest, afresh=newest is None))
        return row

    def delete_answers(self) -> int:
        """Delete every stored answer of runs over tables for good, and return how many. Raises StoreError."""
        with closing(Answers(self._address)) as answers:
            return answers.delete_all()

    def resume(self, notebook: str, name: str | None = None) -> Change:
        """Append another notebook's conversation to the current one."""
        from .export.conversation_files import carried, renewed

        row = self._elsewhere(notebook, name)
        added = renewed(carried(self._journal().read(row).conversation))
        system = None if self.current.system else added.system  # the current system prompt stays
        return self.current.session.act(actions.add, replace(added, system=system))

    def _open(self, settings: Settings | None = None, name: str | None = None, *, afresh: bool = False) -> Chat:
        """Open the conversation of this name, else the one that was used last; ``afresh``: a new one."""
        journal = self._journal()
        opened = journal.open(name, afresh=afresh)
        if opened.note and name != journal.name:  # the last one's, or a fork's, which has a name of its own
            self.notes.append(opened.note)
        chat = self._take(journal, opened, settings)
        if name is not None and not afresh:
            self._chats[name] = chat
        return chat

    def _journal(self) -> ConversationWriter:
        return ConversationWriter(self._address, self.origin, strict=self._is_named)

    def _take(self, journal: ConversationWriter, opened: OpenedConversation, settings: Settings | None = None) -> Chat:
        """Take in a conversation that was opened, with these settings, else those that the notebook begins with."""
        self._agree({**opened.state.get("told", {}), **self._notebook.notes})
        course = self._course
        notebook = replace(self._notebook, folder=self._folder, course=course)
        self._total = self._total or journal.sum()
        session = Session(
            settings or course.begun, self._models, journal, defaults=course.begun, notebook=notebook, total=self._total
        )
        session.restore(opened)
        environment = _told_of_environment(course.begun, self._config.keys() | course.named)
        is_new = session.once(course.line(course.begun))
        now = session.settings.model_copy(update={"system": session.own_system or None})
        lines = [*session.once(environment), *([course.line(now)] if is_new else [])]
        self.notes += [line for line in lines if line and line not in self._told]
        self._told.update(lines)
        chat = self._chats[journal.name] = self._capped(chat_of(session))
        return chat

    def _agree(self, told: Mapping[str, str]) -> None:
        """Ask once whether prompts may go where only the course's file says; else its model is not used."""
        model, provider = self._course.begun.model, self._course.unchosen_provider(self._usual)
        key = f"{COURSE_FILE}: {provider}"
        if not provider or told.get(key) == "yes":
            return
        if key not in told:
            sets, why = f"{COURSE_FILE} beside this notebook sets the model {model}", "as you chose"
            question = f"{sets}. Send prompts to {provider}, with your key?"
            is_agreed = self._confirm(question) if self._confirm is not None else None
            if is_agreed is None:
                why = "and nobody can be asked here whether your key may go there"
            else:
                self._notebook.notes[key] = "yes" if is_agreed else "no"
            if is_agreed:
                return
            self.notes.append(f"{sets}. It is not used, {why}: %chat use {model} uses it.")
        self._course = course_in(self._folder, self._usual, self._config.keys(), has_model=False)

    def _capped(self, chat: Chat) -> Chat:
        """Return a conversation with the cap of the notebook, which is that of the current one."""
        cap = chat.config.max_cost if self._current is None else self._current.config.max_cost
        if cap != chat.config.max_cost:
            chat.session.change(settings=chat.config.model_copy(update={"max_cost": cap}))
            chat.session.save()
        return chat

    def _make_current(self, chat: Chat) -> Chat:
        self._current = self._capped(chat)
        with suppress(StoreError):
            journal_of(chat).change(opened=time.time())
        return chat

    def _elsewhere(self, notebook: str, name: str | None) -> ConversationRow:
        """Return the row of another notebook's conversation, found by the notebook's path or the end of it."""
        path = str((self._folder / path_of(notebook)).absolute())
        here = journal_of(self.current).row.id
        rows = [row for row in self.rows(everywhere=True) if row.turns and row.id != here and name in (None, row.name)]
        exact = [row for row in rows if row.notebook in (path, notebook)]
        found = exact or [row for row in rows if row.notebook.endswith(f"{os.sep}{notebook}")]
        notebooks = sorted({row.notebook for row in found})
        if len(notebooks) > 1:
            raise InvalidRequestError(f"{notebook!r} may be {' or '.join(notebooks)}: give the whole path.")
        if not found:
            raise InvalidRequestError(
                f"No conversation of {notebook!r} is known here: %chat list all shows what is, and %chat import FILE "
                "reads what a saved notebook shows."
            )
        return found[0]


def journal_of(chat: Chat) -> ConversationWriter:
    """Return the journal that stores a conversation. Raises StoreError where none does."""
    if chat.session.journal is None:
        raise StoreError("This conversation is not stored: Chat(store=…) stores one.")
    return chat.session.journal


def _told_of_environment(settings: Settings, named: Collection[str]) -> str:
    """Return one line on which model begins where, as variables say, or on what they offer; empty: they say nothing.

    ``named``: the settings that IPython's configuration or a course's file gives.
    """
    address, variables = settings.base_url, list[str]()
    if "model" not in named and os.environ.get(MODEL_VARIABLE, "").strip():
        variables.append(MODEL_VARIABLE)
    try:
        if address is None:
            provider = split_model(settings.model)[0]
            address = given_address(provider)
            variables += [SERVICES[provider].variable] if address else []
        elif "base_url" not in named:
            variables.append(ADDRESS_VARIABLE)
        if variables:
            at = f" at {address}" if address else ""
            line = f"Model {settings.model}{at}, as set by {' and '.join(variables)} in the environment."
            return without_address_keys(line)
        for name, service in SERVICES.items() if settings.model == DEFAULT_MODEL and "model" not in named else ():
            if key_of(service) and given_address(name):
                return (
                    f"{service.variable} and its key are in the environment: %chat models {name} lists the models at "
                    f"{given_address(name)}, %chat use {name}/MODEL asks one."
                )
    except InvalidRequestError as error:  # of an address, which is refused when it is used
        return str(error)
    return ""
