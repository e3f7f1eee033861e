"""Chat, the public interface to a conversation: used by scripts and by the magics alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import wording as words
from .config.settings import DEFAULT, Settings, default_settings, is_none
from .context.context_info import ContextInfo
from .conversation.conversation import Conversation
from .conversation.messages import Turn
from .errors import InvalidRequestError
from .export.openai_messages import from_messages
from .models.registry import Models, key_owner, settings_with
from .providers.base import Reply, SupportsStream
from .providers.plugins import PluginProvider, plugin
from .runtime.files import path_of
from .runtime.frontend import Origin
from .session import actions
from .session.actions import Change
from .session.attaching import attachments_given, left_out
from .session.complete import StreamListener, nothing
from .session.prompt import Prompt
from .session.send import send_prompt
from .session.session import Session
from .session.stored import settings_of_run
from .session.summarizer import Method
from .session.tables import History, Usages, View, history, preview_of, usages
from .shown_as import mimebundle
from .storage.conversation_writer import ConversationWriter
from .storage.store import store_address
from .tools.rounds import known_tools

if TYPE_CHECKING:
    from .experiments.run import Run

CONVERSATION_NAME = re.compile(r"[^\s-]([^\x00-\x1f\x7f]{0,78}[^\s])?")
TARGET_SETTINGS = {"model", "base_url", "window", "n_ctx", "max_tokens"}


class Chat:
    """A conversation with a model that never gets stuck on a full context window.
    Settings, see help(jupyter_ctx.Settings), are keywords here, of configure, and for one request of send and preview.

    model, api_key: a full name such as local/smollm2 or openai/gpt-6.2-sol; its provider's key, held in memory only
    provider: a Provider, or any object with its method stream, which answers in place of the model's own
    store: a database URL, a file, or "default"; without it nothing is stored
    name: the conversation of this name in the store, which is continued or begun
    """

    __slots__ = {"__weakref__": "", "session": "The conversation with its state, which cells of a notebook work with."}

    def __init__(
        self,
        model: str | None = None,
        *,
        provider: SupportsStream | None = None,
        api_key: str | None = None,
        store: str | Path | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        if name is not None and checked_name(name) and store is None:
            raise InvalidRequestError(f'name={name!r} has no effect without store=: store="default" stores it.')
        answers = _handed_in(provider, model, api_key=api_key, base_url=settings.get("base_url"))
        asked = {"model": answers.model if answers else model, **settings}
        given = {name: value for name, value in asked.items() if value is not None}
        begin = default_settings({}, given).changed({"base_url": None} if answers else {})
        journal = ConversationWriter(store_address(store), Origin(), strict=True) if store is not None else None
        opened = journal.open(name) if journal is not None else None
        session = Session(begin, Models(answers), journal, total=journal.sum() if journal is not None else None)
        if journal is not None and opened is not None:
            session.restore(opened, given)
            if opened.note and name not in (None, journal.name):
                journal.notices.append(opened.note)
        self.session = session
        session.learn_functions(settings)
        if api_key is not None:
            self.models.set_key(key_owner(self.config), api_key)

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        return f"Chat({self.config.model!r}, {words.turns(len(self.turns))})"

    @property
    def config(self) -> Settings:
        """The settings of the conversation as they are now."""
        return self.session.settings

    @property
    def conversation(self) -> Conversation:
        """Everything that was said and done; read it, do not change it."""
        return self.session.conversation

    @property
    def models(self) -> Models:
        """The models that were used, with their providers, keys and limits."""
        return self.session.models

    @property
    def name(self) -> str:
        """The conversation's name in its store; empty where it is not stored."""
        journal = self.session.journal
        return journal.name if journal is not None else ""

    @property
    def system(self) -> str:
        """The conversation's own system prompt, else that of the settings."""
        return self.session.own_system

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The current version of every turn since the last clear, in order."""
        return tuple(place.turn for place in self.conversation.places)

    def send(
        self,
        prompt: str,
        *,
        attachments: Any = (),
        schema: Any = None,
        on_piece: Callable[[str], object] | None = None,
        on_thought: Callable[[str], object] | None = None,
        tools: Iterable[Any] | None = None,
        **options: Any,
    ) -> Reply:
        """Send a prompt, record the turn, and return the reply.
        attachments: files and values, one or several; text joins the prompt, images and PDFs go beside it
        schema: what reply.parsed must be: a pydantic model, dataclass, TypedDict, or JSON schema; asked twice at most
        on_piece, on_thought: called with each piece of the answer, of the model's thinking
        tools: functions that the model may call, with type hints and docstrings; reply.rounds has calls and results
        options: settings for this request; record=False sends the prompt alone and records nothing
        Raises a ChatError; then only text that had come is recorded, and an answer that does not match its schema.
        """
        coming = StreamListener(on_piece=on_piece or nothing, on_thought=on_thought or nothing)
        asked = self._prompt(prompt, attachments, schema, tools, options)
        reply = send_prompt(self.session, asked, coming)
        lines = left_out(asked.attachments)
        return replace(reply, notices=(*reply.notices, *lines, *self.session.notices()))

    def preview(
        self,
        prompt: str = "",
        *,
        attachments: Any = (),
        schema: Any = None,
        tools: Iterable[Any] | None = None,
        **options: Any,
    ) -> View:
        """Return what send would send with the same arguments, part by part, and what it would leave out."""
        return preview_of(self.session, self._prompt(prompt, attachments, schema, tools, options))

    def _prompt(
        self, prompt: str, attachments: Any, schema: Any, tools: Iterable[Any] | None, options: Mapping[str, Any]
    ) -> Prompt:
        asked = Prompt.of(prompt, schema, options)
        offered = None if tools is None else known_tools(tools, self.session.functions)
        attached = attachments_given(self.session, attachments, asked.options)
        return replace(asked, attachments=attached, tools=offered)

    def info(self) -> ContextInfo:
        """Return how full the next request is with an empty prompt, in tokens. No server is asked."""
        return self.session.snapshot().info

    def history(self) -> History:
        """Return a table of every turn since the last clear, with what becomes of it in the next request."""
        return history(self.session.snapshot())

    def usage(self) -> Usages:
        """Return a table of the tokens, dollars and seconds of every answer since the last clear."""
        return usages(self.conversation)

    def map(self, template: str, rows: object, **options: Any) -> Run:
        """Ask a prompt of every row of a table, apart from the conversation, with its model, settings and system."""
        return self.sweep(template, rows, {}, **options)

    def sweep(self, template: str, rows: object, grid: Mapping[str, Iterable[Any]], **options: Any) -> Run:
        """Ask a prompt of every row with every combination of the values in grid; see jupyter_ctx.sweep."""
        from .experiments.run import Options, split_options
        from .experiments.start import start

        chosen, given = split_options(options, Options())
        session, journal = self.session, self.session.journal
        if "store" not in options and journal is not None:
            chosen = replace(chosen, store=journal.address)
        settings = settings_with(settings_of_run(session), given)
        session.check_given({*given, *grid} if isinstance(grid, Mapping) else given)
        return start(
            template, rows, grid, self.models, settings, chosen,
            lambda run: session.spend_on_run(run.cost, run.unpriced),
            session.cost_budget, session.notebook.handout.rows, session.check_given,
        )  # fmt: skip

    def trim(self, turns: int | None = None) -> Change:
        """Leave out the oldest turns: down to about 0.6 of the limit, or to the newest turns."""
        return self.session.act(actions.trim_turns, turns)

    def summarize(
        self, instructions: str | None = None, *, turns: int | None = None, method: Method | None = None
    ) -> Change:
        """Send a summary in place of the older turns; the newest, at least two and a quarter of the limit, stay.
        method: "extractive", your own lines, the default with local models; or "model", with your instructions
        """
        return self.session.act(actions.summarize, instructions, method, turns=turns)

    def clear(self) -> Change:
        """Leave out all turns, which are kept; system prompt, model and settings stay."""
        return self.session.act(actions.clear)

    def undo(self) -> Change:
        """Undo the last action, whole."""
        return self.session.act(actions.undo)

    def redo(self) -> Change:
        """Redo what was undone last."""
        return self.session.act(actions.redo)

    def pick(self, number: int, version: int | None = None) -> Change:
        """Take answer N of those that came last side by side; with a version, that answer of turn N."""
        if version is None:
            return self.session.act(actions.choose_answer, number)
        return self.session.act(actions.pick, number, version)

    def pin(self, *numbers: int) -> Change:
        """Keep these turns, by their numbers from 1, in every request."""
        return self.session.act(actions.mark, numbers, pinned=True, on=True)

    def unpin(self, *numbers: int) -> Change:
        """Unpin these turns."""
        return self.session.act(actions.mark, numbers, pinned=True, on=False)

    def exclude(self, *numbers: int) -> Change:
        """Leave these turns out of every request."""
        return self.session.act(actions.mark, numbers, pinned=False, on=True)

    def include(self, *numbers: int) -> Change:
        """Bring excluded turns back; without numbers, everything that was trimmed, left out or excluded."""
        if not numbers:
            return self.session.act(actions.include_all)
        return self.session.act(actions.mark, numbers, pinned=False, on=False)

    def add_messages(self, messages: Iterable[Mapping[str, object]]) -> Change:
        """Append a conversation in OpenAI's format; a system message at its beginning becomes the system prompt."""
        return self.session.act(actions.add, from_messages(messages))

    def load(self, path: str | Path) -> Change:
        """Append the conversation in a .json or .ipynb file, an export or one of another program."""
        from .export.conversation_files import load

        return self.session.act(actions.add, load(path_of(path)))

    def export(self, path: str | Path) -> Path:
        """Write the conversation to a .md, .json or .ipynb file, over an earlier export; return its absolute path."""
        from .export.conversation_files import export

        return export(self.conversation, path_of(path), self.session.redactor(), self.session.notebook_file)

    def configure(self, **changes: Any) -> Settings:
        """Change settings of the conversation from now on; an invalid value changes none of them."""
        course = self.session.notebook.course
        back = [name for name, value in changes.items() if value == DEFAULT and name in course.named]
        changes |= {name: getattr(course.begun, name) for name in back}
        settings = settings_with(self.config, {name: value for name, value in changes.items() if name != "system"})
        settings = course.priced(settings)
        course.check_unlocked(changes)
        self.session.learn_functions(changes)
        if changes.keys() & TARGET_SETTINGS:
            self.models.target(settings, ask=False)
        if changes.get("summary_model") and settings.summary_model:
            self.models.target(settings.changed({"model": settings.summary_model}), ask=False)
        if changes.get("window") is not None:
            self.models.reopen(settings)
        self.session.summary_failures = 0
        if "system" in changes:
            system = changes["system"]
            self.session.act(actions.set_system, "" if system is None or is_none(system) else system)
        self.session.notebook.set_here.update(changes)
        self.session.change(settings=settings)
        self.session.save()
        self.session.notify()
        return self.config

    def close(self) -> None:
        """Release the conversation in its store for other kernels. What is said later is not stored."""
        self.session.close()


def chat_of(session: Session) -> Chat:
    """Return the Chat of a conversation that is open already."""
    chat = Chat.__new__(Chat)
    chat.session = session
    return chat


def _handed_in(provider: SupportsStream | None, model: str | None, **other: str | None) -> PluginProvider | None:
    """Return the provider that answers for a model. Raises InvalidRequestError for what only it can be told."""
    for name in [name for name, value in other.items() if value is not None and provider is not None]:
        raise InvalidRequestError(f"{name} has no effect with provider=: give it to the provider.")
    return None if provider is None else plugin(provider, model)


def checked_name(name: str) -> str:
    """Return a name that a conversation may have. Raises InvalidRequestError."""
    if not isinstance(name, str) or not CONVERSATION_NAME.fullmatch(name):
        raise InvalidRequestError(f"{name!r} cannot be a name: use up to 80 characters in one line, with no - first.")
    return name
