"""Chat, the public interface to a conversation: used by scripts and by the magics alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import wording as words
from .attachments.attached import Attached
from .attachments.files import attached_file
from .attachments.given import parts_given
from .config.settings import DEFAULT_MODEL, HELP, Settings, check_setting, default_settings, is_none
from .context.info import ContextInfo, Plan
from .context.windows import ContextWindow
from .conversation.code_blocks import CodeBlock, code_blocks, code_of
from .conversation.conversation import Conversation
from .conversation.events import Added, Said
from .conversation.messages import Alternatives, Turn
from .conversation.schema import Schema
from .conversation.text_safety import checked
from .errors import ChatError, ChatInterrupted, InvalidRequestError, StoreError
from .models.registry import Models, key_owner, settings_with
from .models.request_price import input_cost
from .providers.base import Reply, SupportsStream
from .providers.guests import Guest, guest
from .providers.lookup import check_known, key_holder
from .runtime.files import path_of
from .runtime.frontend import EARLIER, Origin
from .runtime.interrupts import Stopper, uninterrupted
from .session.actions import Actions, Change, Method
from .session.confirmation import Confirm
from .session.exchange import Coming
from .session.history import History, history, turns_without_cells
from .session.info import context_info
from .session.notices import large_values, sized, threshold
from .session.preview import View
from .session.prompt import Prompt
from .session.savings import Savings, savings
from .session.send import Sender, stopped
from .session.session import Session
from .session.state import is_just_taken
from .session.structured import as_answer
from .session.system_prompt import prompt_text
from .session.turn_lock import TurnQueue
from .session.usage_table import Usages, usages
from .storage.journal import Journal
from .storage.store import ConversationRow, store_address
from .template.keys import Keys

if TYPE_CHECKING:
    from .attachments.tracebacks import Failure
    from .experiments.run import Run
    from .experiments.side_by_side import Candidate, Watcher

CONVERSATION_NAME = re.compile(r"[^\s-]([^\x00-\x1f\x7f]{0,78}[^\s])?")  # of a conversation
ONLY_A_PART = re.compile(r"\d of [\d,]+ |shortened")  # in what an attachment says of itself
TOGETHER = 0.5  # of the limit, that several attachments may take
OF_A_TARGET = {"model", "base_url", "window", "n_ctx", "max_tokens"}


class Chat:
    """A conversation with a model that never gets stuck on a full context window.

    ``model`` is a full name such as ``local/smollm2`` or ``openai/gpt-5.2``. ``provider`` answers for that
    model instead of the one that its name finds: a ``Provider``, or any object with its method ``stream``;
    without ``model`` the name is the provider's own. ``api_key`` is kept in memory only.
    ``store`` is where the conversation is stored: a database URL, a file path, or ``"default"`` for the default
    store; without it nothing is stored. ``name`` opens the conversation of that name in the store, or begins it.
    ``config`` holds settings that any other source overrides. ``session`` is for :class:`Library`, which opens
    conversations itself. ``confirm`` is called with a question before a prompt is sent that may cost more than
    ``confirm_above``: it returns True to send it, False not to, and None where nobody can be asked; without it, such a
    prompt raises InvalidRequestError.

    Every setting below is a keyword here, can be changed with :meth:`configure`, and can be passed to
    :meth:`send` and :meth:`preview` for one request.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        provider: SupportsStream | None = None,
        api_key: str | None = None,
        config: Mapping[str, Any] | None = None,
        store: str | Path | None = None,
        name: str | None = None,
        session: Session | None = None,
        confirm: Confirm | None = None,
        **settings: Any,
    ) -> None:
        if session is None:
            if name is not None and checked_name(name) and store is None:
                raise InvalidRequestError(f'name={name!r} has no effect without store=: store="default" stores it.')
            answers = _handed_in(provider, model, api_key=api_key, base_url=settings.get("base_url"))
            asked = {"model": answers.model if answers else model, **settings}
            given = {name: value for name, value in asked.items() if value is not None}
            begin = default_settings(config or {}, given).changed({"base_url": None} if answers else {})
            journal = Journal(store_address(store), Origin(), strict=True) if store is not None else None
            session = Session(begin, Models(answers), journal)
            if journal is not None:
                session.restore(journal.open(name), given)
                _say_where_it_is_a_copy(journal, name, len(session.conversation.places))
        self._session = session
        self._confirm = confirm
        self._actions = Actions(self._session, confirm)
        self._sender = Sender(self._session, self._actions, confirm)
        self._queue = TurnQueue()
        self.listeners: list[Callable[[Change | None], None]] = []
        self.watchers = self._queue.watchers  # functions that are called when a turn begins, and when it has ended
        self.put_back: Callable[[], Change] | None = None  # where it was taken over from another notebook
        if api_key is not None:
            self.models.set_key(key_owner(self.config), api_key)

    def __repr__(self) -> str:
        return f"Chat({self.config.model!r}, {words.turns(len(self.turns))})"

    # reading

    @property
    def config(self) -> Settings:
        """The settings of the conversation as they are now."""
        return self._session.settings

    @property
    def conversation(self) -> Conversation:
        """Everything that was said and done; read it, do not change it."""
        return self._session.conversation

    @property
    def models(self) -> Models:
        """The models that were used, with their providers, keys and limits."""
        return self._session.models

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The current version of every turn since the last clear, in order."""
        return tuple(place.turn for place in self.conversation.places)

    @property
    def system(self) -> str:
        """The conversation's own system prompt, else that of the settings."""
        return self._session.own_system

    @property
    def memory(self) -> tuple[Path | None, str]:
        """The memory file (``None``: there is none) and as much of its text as joins the system prompt."""
        return self._session.memory_file()

    def memory_notice(self) -> str | None:
        """Return one line where the default memory file joins the system prompt: at first and after each change."""
        return self._session.memory_notice()

    @property
    def is_busy(self) -> bool:
        """Whether a turn is being asked for; actions requested meanwhile run after it."""
        return self._queue.running

    def info(self) -> ContextInfo:
        """Return how full the next request is with an empty prompt. No server is asked."""
        return context_info(self._session.snapshot())

    @property
    def name(self) -> str:
        """The conversation's name in its store; empty where it is not stored."""
        return self._session.journal.name if self._session.journal is not None else ""

    @property
    def row(self) -> ConversationRow:
        """The conversation's row in its store. Raises StoreError where it is not stored."""
        return self._journal.row

    @property
    def _journal(self) -> Journal:
        if self._session.journal is None:
            raise StoreError("This conversation is not stored: Chat(store=…) keeps one.")
        return self._session.journal

    def rename(self, name: str) -> None:
        """Rename the conversation in its store. Raises StoreError, and TakenError for a name that is in use."""
        self._journal.change(name=checked_name(name))

    def close(self) -> None:
        """Release the conversation in its store for other kernels. What is said later is not stored."""
        if self._session.journal is not None:
            self._session.journal.close()
            self._session.journal = None

    def notices(self) -> tuple[str, ...]:
        """Return new notices about the memory file and the store, a line each; each is returned once."""
        return self._session.notices()

    @property
    def writer(self) -> str:
        """The model that writes summaries; empty where they consist of your own lines and no model is asked."""
        return self._actions.writer

    def plans(self) -> dict[str, Plan]:
        """Return what summarise, trim, clear, undo and redo would do now, by command. No server is asked."""
        return self._actions.plans()

    def history(self) -> History:
        """Return a table of every turn since the last clear, with what becomes of it in the next request."""
        return history(self._session.snapshot(), self._session.notebook.deleted)

    def usage(self) -> Usages:
        """Return a table of tokens, cost and seconds of every answer since the last clear, older versions included."""
        return usages(self.conversation)

    def savings(self) -> Savings:
        """Return what prompt caches and leaving out earlier turns have saved so far, in tokens and dollars."""
        return savings(self.conversation, self._session.target({}, ask=False).meter, input_cost)

    def versions(self, number: int) -> tuple[Turn, ...]:
        """Return all answers to a turn in the order in which they were written, the current one among them."""
        return tuple(self._actions.places((number,))[0].versions)

    def deleted(self) -> tuple[int, ...]:
        """Return the numbers of the turns that may be sent although their cells were deleted."""
        return turns_without_cells(self.conversation, self._session.notebook.deleted)

    def preview(
        self,
        prompt: str = "",
        *,
        cell: str | None = None,
        run: str | None = None,
        append: bool = False,
        new: bool = False,
        record: bool = True,
        attachments: Any = (),
        schema: Any = None,
        **options: Any,
    ) -> View:
        """Return what :meth:`send` would send with the same arguments, part by part, and what it would leave out."""
        asked = Prompt(
            prompt, options, self._parts(attachments, options), cell=cell, run=run, append=append, new=new,
            record=record, schema=_optional_schema(schema),
        )  # fmt: skip
        return self.view(asked)

    def view(self, prompt: Prompt) -> View:
        """Return what :meth:`ask` would send, part by part, and what it would leave out."""
        schema = as_answer(prompt.schema)
        return self._session.view(prompt.said(), prompt.options, record=prompt.record, schema=schema)

    def code(self, number: int | None = None, block: int | None = None) -> str:
        """Return the code in an answer, as it may stand in a cell: that of turn ``number``, else the last that has any.

        ``block`` is the number of one code block, from 1. Without it all Python is joined; an answer without Python
        gives its first block.
        """
        number = self.turn_with_code() if number is None else number
        blocks = self.code_blocks(number)
        if not blocks:
            raise InvalidRequestError(f"There is no code in turn {number}.")
        if block is None:
            return code_of(self.turn(number).reply)
        if block not in range(1, len(blocks) + 1):
            held = "1 code block" if len(blocks) == 1 else f"{len(blocks):,} code blocks"
            raise InvalidRequestError(f"Turn {number} has {held}, and no block {block!r}: %chat code lists them.")
        return blocks[block - 1].cell

    def code_blocks(self, number: int) -> tuple[CodeBlock, ...]:
        """Return the code blocks in the answer of a turn, in order."""
        return code_blocks(self.turn(number).reply)

    def turn_with_code(self) -> int:
        """Return the number of the last turn whose answer has code. Raises InvalidRequestError where none has."""
        numbered = reversed(list(enumerate(self.turns, 1)))
        found = next((number for number, turn in numbered if code_blocks(turn.reply)), None)
        if found is None:
            raise InvalidRequestError("There is no code in any answer.")
        return found

    def turn(self, number: int) -> Turn:
        """Return a turn by its number, from 1."""
        return self._actions.places((number,))[0].turn

    def available(self, provider: str | None = None) -> tuple[tuple[str, ContextWindow], ...]:
        """Return the models that a provider lists now, with their windows. Without a name, the provider in use."""
        if provider is not None:
            provider = provider.lower()
            check_known(provider)
        model = DEFAULT_MODEL if provider == "local" else f"{provider}/any"
        return self.models.available(self.config if provider is None else self.config.changed({"model": model}))

    def threshold_notice(self) -> str | None:
        """Return one line where the conversation has passed a threshold of its limit for the first time."""
        try:
            info = self.info()
        except ChatError:  # the cell used another model, and the conversation's own is not available
            return None
        if not self._session.passes_threshold(info.fill):
            return None
        self._session.save()
        return threshold(info)

    def attached(self, name: str, value: Any, **options: Any) -> Attached:
        """Return a value as it goes with a prompt, as ``attachments`` of :meth:`send` take it; ``name`` names it there.

        A picture is sent as an image, a table as its shape, columns and first and last rows, anything else as text,
        in the room that the setting ``attach_share`` leaves it. What looks like a key is blanked. ``options`` are the
        settings of the request. Raises InvalidRequestError.
        """
        from .attachments.values import attached_value

        return attached_value(name, value, self._session.room(options), Keys(self.models.secrets))

    def shared(self, number: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings for each of so many things in one prompt: together they take half of the limit at most.

        One alone takes what the setting ``attach_share`` leaves it.
        """
        given = {name: value for name, value in options.items() if value is not None}
        share = settings_with(self.config, given).attach_share
        return {**options, "attach_share": min(share, TOGETHER / number)} if number > 1 else options

    def _parts(self, given: Any, options: Mapping[str, Any]) -> tuple[Attached, ...]:
        """Return attachments as attached things, files read. Raises InvalidRequestError, and ChatInterrupted."""
        try:
            among = len(given) if type(given) in (list, tuple, dict) else 1
            share = self.shared(among, options)
            parts = parts_given(given, lambda name, value: self.attached(name, value, **share))
            found = tuple(each if isinstance(each, Attached) else attached_file(path_of(each)) for each in parts)
            self.sizes(found, **options)
            return found
        except KeyboardInterrupt:
            raise ChatInterrupted(stopped((), record=True)) from None

    def attached_error(self, error: BaseException | Failure, **options: Any) -> Attached:
        """Return an exception as it goes with a prompt: its traceback in short, with causes, and without variables.

        What looks like a key is blanked. ``options`` are the settings of the request. Raises InvalidRequestError.
        """
        from .attachments.error_report import attached_error
        from .attachments.tracebacks import Failure, failure_of

        if not isinstance(error, BaseException | Failure):
            raise InvalidRequestError(f"{error!r} is not an exception: catch one with `except Exception as error:`.")
        failure = failure_of(error) if isinstance(error, BaseException) else error
        return attached_error(failure, self._session.room(options), Keys(self.models.secrets))

    def takes(self, kind: Literal["image", "pdf"], **options: Any) -> bool:
        """Return whether files of a kind can be sent to the model; ``options`` are settings for the request."""
        return kind in self._session.target(options, ask=False).provider.takes

    def values_notice(self, values: Sequence[tuple[str, str]], **options: Any) -> str | None:
        """Return one line where values filled into a prompt take more than a fifth of the limit.

        ``values`` are pairs of an expression and its text; ``options`` are settings for this request.
        """
        return large_values(values, self._session.target(options, ask=False)) if values else None

    def sizes(self, parts: Sequence[Attached], **options: Any) -> tuple[str, ...]:
        """Return lines that say what goes with a prompt, with its tokens; ``options`` are settings for the request.

        Raises InvalidRequestError where a text alone takes more than a prompt may have.
        """
        return sized(parts, self._session.target(options, ask=False)) if parts else ()

    # talking

    def send(
        self,
        prompt: str,
        *,
        on_piece: Callable[[str], object] | None = None,
        on_thought: Callable[[str], object] | None = None,
        on_begin: Callable[[str | None], object] | None = None,
        cell: str | None = None,
        run: str | None = None,
        source: str | None = None,
        append: bool = False,
        new: bool = False,
        record: bool = True,
        execution: int | None = None,
        stored: Literal["cell", "all"] | None = None,
        attachments: Any = (),
        schema: Any = None,
        **options: Any,
    ) -> Reply:
        """Send a prompt, record the turn, and return the reply.

        ``on_piece`` is called with each piece of the reply's text, ``on_thought`` with each piece of the model's
        thinking where the provider sends that. ``on_begin`` is called once before the reply: with one line where the
        request nearly fills the context window for the first time, else with ``None``.
        ``cell`` and ``run`` identify the notebook cell and its execution: another execution of a cell replaces its
        turn, unless ``append``. ``source`` is a digest of the cell's text, ``execution`` the number that the cell
        shows. ``new`` clears the conversation first; ``record=False`` sends the prompt alone and records nothing.
        ``stored`` accepts an answer to this very request from the store: "cell", the cell's own from before a restart
        of the kernel; "all", any of this user's. ``options`` are settings for this request.

        ``attachments`` are paths of files and values, one or several: text becomes part of the prompt, images and PDFs
        are sent beside it. A value is sent as :meth:`attached` says, named by its type.

        ``schema`` says what the answer must be: a pydantic model, a dataclass, a TypedDict, or a JSON schema (a dict).
        The reply's ``parsed`` is then an instance of it, or a dict. The provider's own structured output is used where
        there is one; an answer that does not match is asked for once more, as a part of the same turn.

        The reply's ``notices`` end with those of :meth:`notices`, which are shown once.

        Raises a :class:`ChatError`; nothing is recorded then unless text had arrived. InvalidAnswerError is raised for
        an answer that does not match its schema, which is recorded like any other.
        """
        for name, called in {"on_piece": on_piece, "on_thought": on_thought, "on_begin": on_begin}.items():
            if called is not None and not callable(called):
                raise InvalidRequestError(f"{name} is {called!r}: it must be a function.")
        parts = self._parts(attachments, options)
        asked = Prompt(
            prompt, options, parts, cell=cell, run=run, execution=execution, source=source,
            append=append, new=new, record=record, stored=stored, schema=_optional_schema(schema),
        )  # fmt: skip
        reply = self.ask(asked, Coming(on_begin, on_piece, on_thought))
        return replace(reply, notices=(*reply.notices, *self._left_out(parts, options), *self.notices()))

    def _left_out(self, parts: Sequence[Attached], options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return lines about what was left out of attachments, or blanked in them."""
        blanked = tuple(line for part in parts for line in part.notices)
        is_part = any(ONLY_A_PART.search(part.what) for part in parts)
        return (*(self.sizes(parts, **options) if is_part else ()), *blanked)

    def ask(self, prompt: Prompt, coming: Coming) -> Reply:
        """Send a prompt and keep what was said, as :meth:`send`; the reply lacks the lines of :meth:`notices`."""
        if not prompt.text.strip():
            raise InvalidRequestError("The prompt is empty.")
        try:
            said = prompt.said()
            with self._queue.turn():
                among = prompt.stored if prompt.record else None
                reply = self._sender.stored(said, prompt.options, among, prompt.schema) if among else None
                if reply is not None:
                    coming.show(reply)
                    return reply
                if said.begins_anew(self.conversation):
                    self._begin_anew()
                return self._send(said, prompt, coming)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # while a file was read, a model loaded or a summary written
            raise ChatInterrupted(stopped((), record=prompt.record)) from None
        finally:
            self._session.save()  # what a refusal has taught, or a turn that is not recorded
            self._notify()

    def _send(self, said: Said, prompt: Prompt, coming: Coming) -> Reply:
        """Send; save what was learned and what it cost even where no turn is recorded."""
        happened = self.conversation.length
        try:
            return self._sender.send(said, prompt.options, coming, record=prompt.record, schema=prompt.schema)
        finally:
            if self.conversation.length == happened:
                with uninterrupted():
                    self._session.save()

    def ask_each(self, prompt: Prompt, columns: Sequence[Candidate], watcher: Watcher) -> Alternatives:
        """Ask several models, or one several times, at once; the conversation stays as it is until :meth:`choose`.

        Raises ChatError where none answers, and ChatInterrupted, which keeps what came.
        """
        from .experiments.side_by_side import SideBySide

        if not prompt.text.strip():
            raise InvalidRequestError("The prompt is empty.")
        try:
            said = prompt.said()
            with self._queue.turn():
                asking = SideBySide(self._session, prompt.schema, self._confirm)
                return asking.of(said, columns, watcher, record=prompt.record, stored=prompt.stored)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:
            raise ChatInterrupted(stopped((), record=prompt.record)) from None
        finally:
            self._session.save()
            self._notify()

    def choose(self, number: int, alternatives: str | None = None) -> Change:
        """Make one of several answers the turn, by its number from 1; ``alternatives`` is the id of them all.

        Without the id, of those that came last. The others stay as versions of the turn; undo takes the choice back.
        """
        return self._do(lambda: self._actions.choose(number, alternatives))

    def chosen(self, alternatives: str) -> int | None:
        """Return the number of the answer that is the turn, of several answers with this id; ``None``: none is."""
        offered = self.conversation.offers.get(alternatives)
        place = self.conversation.place_of(offered) if offered is not None else None
        ids = [answer.record.id for answer in offered.answers] if offered is not None else []
        return ids.index(place.turn.id) + 1 if place is not None and place.turn.id in ids else None

    # experiments

    def map(self, template: str, rows: object, **options: Any) -> Run:
        """Ask a prompt of every row of a table, apart from the conversation; see :func:`~jupyter_ctx.sweep`.

        The model, the other settings and the system prompt are those of the conversation.
        """
        return self.sweep(template, rows, {}, **options)

    def sweep(self, template: str, rows: object, grid: Mapping[str, Iterable[Any]], **options: Any) -> Run:
        """Ask a prompt of every row of a table, with every combination of the values in ``grid``, as :meth:`map`."""
        from .experiments.options import parted
        from .experiments.start import start

        chosen, given = parted(options)
        if "store" not in options and self._session.journal is not None:
            chosen = replace(chosen, store=self._session.journal.address)
        settings = settings_with(self.config, {"system": self.system or None, **given})
        return start(template, rows, grid, self.models, settings, chosen, self._count_cost)

    def _count_cost(self, run: Run) -> None:
        """Add what a run has cost to what the conversation has, now or after the turn that is running."""
        cost, unknown = run.cost or None, run.unpriced  # a server of one's own bills nothing

        def act() -> None:
            self._session.change(spent=self._session.state.spent.plus_run(cost, unknown))
            self._session.save()
            self._notify()

        if cost is not None or unknown:
            self._queue.do(act, act, None)

    # acting

    def trim(self, turns: int | None = None) -> Change:
        """Leave out the oldest turns: down to about 0.6 of the limit, or to the newest ``turns``."""
        return self._do(lambda: self._actions.trim(turns))

    def summarize(
        self,
        instructions: str | None = None,
        *,
        turns: int | None = None,
        method: Method | None = None,
        stopper: Stopper | None = None,
    ) -> Change:
        """Send a summary in place of the older turns; the newest stay as they are.

        ``turns`` is how many of the newest; without it at least two, and at least a quarter of the limit.
        ``method`` "extractive" keeps lines of your own, needs no model and is the default with local models.
        "model" asks ``summary_model``, else the conversation's model, with your ``instructions``, and falls back to
        "extractive" where that fails. A summary that is no smaller, or has lost most of the numbers and names, is
        dropped. A ``stopper`` cancels from another thread; with one, the call waits for a turn that is running.
        """

        def act() -> Change:
            return self._actions.summarize(instructions, method, stopper, turns)

        return self._do(act) if stopper is None else self._do_alone(act)

    def clear(self) -> Change:
        """Begin the conversation anew; system prompt, model and settings stay."""
        self._begin_anew()
        return self._do(self._actions.clear)

    def undo(self) -> Change:
        """Undo the last action; a takeover from another notebook together with the first turn after it."""
        return self._do(self._undo)

    def _undo(self) -> Change:
        if self.put_back is None or not is_just_taken(self.conversation, self._session.state):
            return self._actions.undo()
        if self.conversation.steps - 1 == self._session.state.taken_at:
            self._actions.undo()
        return self.put_back()

    def redo(self) -> Change:
        """Redo what was undone last."""
        return self._do(self._actions.redo)

    def pin(self, *numbers: int) -> Change:
        """Keep these turns in every view."""
        return self._do(lambda: self._actions.pin(numbers, on=True))

    def unpin(self, *numbers: int) -> Change:
        """Unpin these turns."""
        return self._do(lambda: self._actions.pin(numbers, on=False))

    def exclude(self, *numbers: int) -> Change:
        """Leave these turns out of every view."""
        return self._do(lambda: self._actions.exclude(numbers, on=True))

    def include(self, *numbers: int) -> Change:
        """Bring excluded turns back; without numbers, everything that was trimmed, left out or excluded."""
        if not numbers:
            return self._do(self._actions.include_all)
        return self._do(lambda: self._actions.exclude(numbers, on=False))

    def pick(self, number: int, version: int) -> Change:
        """Make another answer the current one of a turn, by its number among the turn's answers, from 1."""
        return self._do(lambda: self._actions.pick(number, version))

    def set_memory(self, path: str | Path | None) -> Change:
        """Add this file's text to the system prompt from now on; ``None``: no file's."""
        return self._do(lambda: self._actions.set_memory(str(path or "")))

    def set_system(self, text: str) -> Change:
        """Set the system prompt from now on; an empty text removes it."""
        if not isinstance(text, str):
            raise InvalidRequestError(f"The system prompt is {text!r}: it must be text, empty for none.")
        return self._do(lambda: self._actions.set_system(text))

    def add_messages(self, messages: Iterable[Mapping[str, object]]) -> Change:
        """Append a conversation in OpenAI's format: ``{"role": …, "content": …}``.

        A system message at the beginning becomes the system prompt; adjacent messages of one role are joined.
        """
        return self._do(lambda: self._actions.add_messages(messages))

    def resume(self, added: Added, source: str, *, summary: bool = False) -> Change:
        """Append another conversation, or a ``summary`` of it; ``source`` names it in messages."""
        if summary:
            return self._do(lambda: self._actions.add_summary(added, source))
        return self._do(lambda: self._actions.add(added))

    def export(self, path: str | Path) -> Path:
        """Write the conversation to a file and return its absolute path.

        The suffix decides the format: Markdown, JSON in OpenAI's format, or a notebook. The folder must exist.
        An earlier export of that name is replaced; any other file is refused.
        """
        journal = self._session.journal
        notebook = EARLIER.sub("", journal.origin.notebook or "") if journal is not None else None
        from .export.files import export

        return export(self.conversation, path_of(path), notebook)

    def load(self, path: str | Path) -> Change:
        """Append the conversation in an exported file; JSON and notebooks of other programs are read, too."""
        from .export.files import load

        added = load(path_of(path))
        return self._do(lambda: self._actions.add(added))

    def configure(self, **changes: Any) -> Settings:
        """Change settings of the conversation from now on; an invalid value changes none of them."""
        system = self._new_system(changes)
        settings = settings_with(self.config, {name: value for name, value in changes.items() if name != "system"})
        if changes.keys() & OF_A_TARGET:
            self.models.target(settings, ask=False)
        if changes.get("summary_model") and settings.summary_model:
            self.models.target(settings.changed({"model": settings.summary_model}), ask=False)
        if changes.get("window") is not None:
            self.models.reopen(settings)
        if settings.model != self.config.model:
            self._sender.begin_anew()
        self._session.change(settings=settings)
        if system is not None:
            self.set_system(system)
        self._session.save()
        self._notify()
        return self.config

    def _new_system(self, changes: Mapping[str, Any]) -> str | None:
        """Return the system prompt among new settings; ``None`` where it stays as it is."""
        if "system" not in changes:
            return None
        system = changes["system"]
        if not (system is None or isinstance(system, str)):
            raise InvalidRequestError(f"system is {system!r}: it must be text.")
        if system is None or is_none(system):
            return ""
        prompt_text(system)  # raises for a file that cannot be read
        return checked(system)

    def set_key(self, owner: str, key: str) -> None:
        """Keep an API key in memory for a provider (``openai``) or a base URL.

        Raises InvalidRequestError for an unknown provider.
        """
        self.models.set_key(key_holder(owner), key)

    def source_of(self, name: str) -> Literal["default", "at the start", "set here"]:
        """Return where a setting's value comes from.

        "at the start" means keywords, IPython's configuration or environment variables. Raises InvalidRequestError
        for an unknown setting.
        """
        check_setting(name)
        begun = getattr(self._session.state.defaults, name)
        if getattr(self.config, name) != begun or (name == "system" and self.conversation.system is not None):
            return "set here"
        return "default" if begun == getattr(Settings(), name) else "at the start"

    def missing_key(self) -> str:
        """Return what to do where the model in use lacks an API key that it needs; empty where it lacks none."""
        return self.models.missing_key(self.config)

    def _do(self, act: Callable[[], Change]) -> Change:
        """Act now, or after the turn that is running; then notify the listeners."""
        later = Change("Will be done after this turn", changed=False)

        def act_late() -> None:
            try:
                change = act()
            except ChatError as error:  # the turn that it waited for is unaffected
                change = Change(str(error), changed=False)
            self._notify(change)

        before = self.conversation.length
        try:
            change = self._queue.do(act, act_late, later)
        except KeyboardInterrupt:  # perhaps while it was saved
            done = self.conversation.length != before
            raise ChatInterrupted(f"stopped; {'it was done' if done else 'nothing has changed'}.") from None
        if change is not later:
            self._notify()
        return change

    def _do_alone(self, act: Callable[[], Change]) -> Change:
        """Wait in this thread until no turn runs, then act."""
        try:
            return self._queue.wait(act)
        finally:
            self._notify()

    def _begin_anew(self) -> None:
        """Announce thresholds again, and try summaries again."""
        self._session.change(announced=frozenset())
        self._sender.begin_anew()

    def _notify(self, change: Change | None = None) -> None:
        """Call the listeners; ``change``: what was done after waiting for a turn."""
        for listener in tuple(self.listeners):
            listener(change)


Chat.__doc__ = "\n".join(
    [
        cleandoc(Chat.__doc__ or ""),
        "",
        *(f"{name}: {line} (default: {getattr(Settings(), name)!r})" for name, line in HELP.items()),
    ]
)


def _handed_in(provider: SupportsStream | None, model: str | None, **other: str | None) -> Guest | None:
    """Return the provider that answers for a model. Raises InvalidRequestError for what only it can be told."""
    for name in [name for name, value in other.items() if value is not None and provider is not None]:
        raise InvalidRequestError(f"{name} has no effect with provider=: give it to the provider.")
    return None if provider is None else guest(provider, model)


def _optional_schema(kind: Any) -> Schema | None:
    return None if kind is None else Schema.of(kind)


def _say_where_it_is_a_copy(journal: Journal, name: str | None, turns: int) -> None:
    """Add a notice where the conversation of this name was open already."""
    if name not in (None, journal.name):
        journal.notices.append(
            f"{name!r} is open already, here or in another process: this is a copy of it, {journal.name!r}, "
            f"with {words.turns(turns)}. To go on with {name!r}, close the other one first."
        )


def checked_name(name: str) -> str:
    """Return a name that a conversation may have. Raises InvalidRequestError."""
    if not isinstance(name, str) or not CONVERSATION_NAME.fullmatch(name):
        raise InvalidRequestError(f"{name!r} cannot be a name: use up to 80 characters in one line, with no - first.")
    return name
