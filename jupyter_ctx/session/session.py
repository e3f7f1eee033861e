"""One conversation at work: its events, its state, the models it talks to and the journal that stores it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..config.settings import Settings, check_setting, kept_settings, restored_settings
from ..context.usage import Spending
from ..conversation.conversation import Conversation, ids_of
from ..conversation.events import Cleared, Event, MemorySet, Summarized, SystemSet, TurnAdded
from ..conversation.messages import Summary, Turn, new_id
from ..errors import ChatInterrupted, InvalidRequestError
from ..export.handout import HandedOut
from ..models.cost_budget import CostBudget
from ..models.registry import Models, settings_with
from ..models.target import Target
from ..providers.base import Reply
from ..runtime.frontend import fingerprint
from ..runtime.interrupts import uninterrupted
from ..runtime.redaction import Redactor, Unredacted
from ..storage.conversation_writer import ConversationWriter
from ..storage.serialization import OpenedConversation, StoredState
from ..storage.spending import Sum
from ..tools.rounds import ToolCaller, known_by_name, known_tools
from .complete import as_answer
from .course import Course
from .info import NextRequest, info_of
from .plan import RequestPlan, next_plan, plan
from .prompt import Prompt, joined_system, memory_path, memory_text, text_room

if TYPE_CHECKING:
    from ..tools.functions import Tool

T = TypeVar("T")
STOPPED_EARLY = "stopped before any text came; nothing was recorded."
ABOVE = "above "  # begins the keys of lines on how full it is, which are said again after a clear
# settings that decide how much of a conversation a request has room for
FITS_BY = frozenset({"model", "window", "max_tokens", "compact_at", "min_turns", "max_turns", "budget_share"})


@dataclass(frozen=True, slots=True)
class NotebookState:
    """What all conversations of one notebook share while its kernel runs; the members are shared and changed in place.

    ``folder``: the notebook's, where the default memory file is looked for.
    ``seen``: ids of turns and summaries that came or were shown again since the kernel was started.
    ``notes``: course files with the answer about them.
    ``handout``: the answers that were handed out with the notebook.
    ``course``: what a course's file beside the notebook decides.
    ``set_here``: names of settings that were set since the kernel was started.
    ``others``: conversations that stored answers were looked for in, by their ids in the store.
    """

    folder: Path | None = None
    seen: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    handout: HandedOut = field(default_factory=HandedOut)
    course: Course = field(default_factory=Course)
    set_here: set[str] = field(default_factory=set)
    others: dict[str, Conversation] = field(default_factory=dict)


class Session:
    """One conversation with its state: recorded, saved, restored, and aimed at a model.

    One turn is asked at a time, and actions are done between turns: on some kernels (ipykernel 7.0 to 7.3) button
    callbacks run in threads beside a cell.

    conversation: its events
    settings, defaults: the settings as they are now, and as it was started with: only what differs is stored
    warned: what is said once, and was
    spent: what replies cost
    counted: the view whose size the provider reported last, as ``RequestPlan.key`` names it; empty: none
    runs: the settings that were kept of runs over tables, by their cells and the fingerprints of their texts
    models, notebook: shared with the other conversations of the notebook
    journal: stores it, where it is not ``None``
    total: where all conversations add up what they spend
    running: whether a turn is being asked
    listeners: called when a turn begins, and after each turn and action
    """

    def __init__(
        self,
        settings: Settings,
        models: Models | None = None,
        journal: ConversationWriter | None = None,
        *,
        defaults: Settings | None = None,
        notebook: NotebookState | None = None,
        total: Sum | None = None,
    ) -> None:
        self.conversation = Conversation()
        self.settings, self.defaults = settings, defaults or settings
        self.warned, self.spent, self.counted = frozenset[str](), Spending(), ""
        self.runs: Mapping[str, dict[str, Any]] = {}
        self.journal = journal
        self.models, self.notebook = models or Models(), notebook or NotebookState()
        self.running = False
        self.listeners: list[Callable[[], object]] = []
        self.functions: dict[str, Tool] = {}  # that settings name
        self.summary_failures = 0  # of those nobody asked for, in a row
        self._latest: NextRequest | None = None  # as of the last change
        self._sent: RequestPlan | None = None  # the last turn's, until the conversation is looked at anew
        self._left_view = ""  # that the last request and its reply left, as ``counted``
        self._is_saved = False
        self._turns = threading.RLock()
        self._cache_key = f"jupyter_ctx-{new_id()}"
        self.has_set_system = False
        self._cost_budget = CostBudget(total=total)

    @contextmanager
    def turn(self, prompt: Prompt) -> Iterator[TurnAdded]:
        """Hold the conversation while a prompt is asked, and save what that leads to; actions wait.

        Raises InvalidRequestError for a turn inside a turn, and ChatInterrupted.
        """
        try:
            said = prompt.said(kept_settings(self.defaults, self.settings))
            if not prompt.text.strip():
                raise InvalidRequestError("The prompt is empty.")
            with self._turns:
                self._check_no_turn_runs()
                self.running, before = True, self.conversation.length
                try:
                    with suppress(Exception):  # of a drawing
                        self.notify()
                    yield said
                finally:
                    self.running = False
                    with uninterrupted():
                        if self.conversation.length == before or not self._is_saved:
                            self.save()  # what a refusal has taught, or a turn that is not recorded
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # while a file was read, a model loaded or a summary written
            raise ChatInterrupted(STOPPED_EARLY) from None
        finally:
            self.notify()

    def act(self, action: Callable[..., T], *args: Any, **options: Any) -> T:
        """Do something to the conversation once no turn runs, and notify the listeners. Raises ChatInterrupted."""
        with self._turns:
            self._check_no_turn_runs()
            try:
                result = action(self, *args, **options)
            except KeyboardInterrupt:  # perhaps while it was saved
                raise ChatInterrupted("stopped; %chat history shows what was done.") from None
            finally:
                self._latest = self._sent = None
        self.notify()
        return result

    def _check_no_turn_runs(self) -> None:
        if self.running:
            raise InvalidRequestError("A turn is running: do this when it has ended.")

    def notify(self) -> None:
        """Call the listeners."""
        for listener in tuple(self.listeners):
            listener()

    def change(self, **changes: Any) -> None:
        """Set what it knows beside its events; :meth:`save` writes it."""
        for name, value in changes.items():
            setattr(self, name, value)
        self._is_saved = False
        if changes.keys() - {"warned"}:
            self._latest = None

    def record(self, *events: Event) -> None:
        """Append the events and save them."""
        for event in events:
            if isinstance(event, Cleared) or (isinstance(event, TurnAdded) and self.conversation.begins_anew(event)):
                self.warned = frozenset(key for key in self.warned if not key.startswith(ABOVE))
            self.conversation.append(event)
            self.notebook.seen.update(ids_of(event))
            self.has_set_system |= isinstance(event, SystemSet | MemorySet)
        self.save(*events)

    def record_turn(self, said: TurnAdded, sent: RequestPlan | None = None, *, is_counted: bool = False) -> None:
        """Record a turn, with the summary that was written for it; it may have been shown again, and not ``sent``.

        ``is_counted``: the provider reported the size of its view.
        """
        self._sent, self._left_view, counted, before = sent, "", "", list[Event]()
        if sent is not None:
            view, usage = sent.key(said.turn.record.id), said.turn.record.usage
            counted = view if is_counted else ""
            # what a schema or a tool takes is not in the next request
            is_plain = sent.target.schema is None and not sent.target.tools and not (usage and usage.includes_tools)
            self._left_view = view if is_plain else ""
            summary = sent.past.summary
            if summary is not None and summary.id not in self.conversation.summaries:
                before = [Summarized(summary, "before")]
        self.change(counted=counted)
        self.record(*before, said)

    def close(self) -> None:
        """Release the conversation in its store for other kernels. What is recorded later is not stored."""
        if self.journal is not None:
            self.journal.close()
            self.journal = None

    def save(self, *events: Event) -> None:
        """Write the events and the state to the store, if there is one."""
        self._latest, self._is_saved = None, True
        if self.journal is not None:
            self.journal.save(events, self.models.news(), self.stored(), self.conversation, self.models.sizes)

    def stored(self) -> StoredState:
        """Return what storage keeps beside the events: what it knows, and what was learned of models."""
        return {
            **self.models.state(),
            "settings": kept_settings(self.defaults, self.settings),
            "warned": sorted(self.warned),
            "spent": self.spent,
            "told": dict(self.notebook.notes),
            "counted": self.counted,
            "runs": dict(self.runs),
        }

    def restore(self, opened: OpenedConversation, given: Mapping[str, Any] | None = None) -> None:
        """Continue an opened conversation; settings that were ``given`` hold."""
        self.conversation, stored = opened.conversation, opened.state
        kept = self.notebook.course.unforbidden(stored.get("settings", {}))
        self.settings = restored_settings(self.settings, kept).changed(given or {})
        self.warned = self.warned.union(stored.get("warned", ()))
        self.spent, self.counted = stored.get("spent", self.spent), stored.get("counted", "")
        self.runs = stored.get("runs", {})
        for file, version in stored.get("told", {}).items():
            self.notebook.notes.setdefault(file, version)
        self.models.restore(stored, opened.sizes)

    # what a request begins with

    @property
    def own_system(self) -> str:
        """The conversation's own system prompt, else that of the settings, as where a course's file locks it."""
        return self.own_system_of(self.conversation)

    def own_system_of(self, past: Conversation) -> str:
        """Return the same of a conversation as it was."""
        own = None if "system" in self.notebook.course.locked else past.system
        return (self.settings.system if own is None else own) or ""

    def system_for(self, options: Mapping[str, Any], past: Conversation | None = None) -> str:
        """Return the text that a request begins with: a system prompt, its own if it has one, and the memory file.

        Until a system prompt or a memory file is set in this kernel, both are those of the ``past`` conversation: a
        cell below may have set them since. Raises InvalidRequestError for a file that cannot be read.
        """
        now = self.conversation if past is None or self.has_set_system else past
        given = options.get("system")
        system = self.own_system_of(now) if given is None else given
        return joined_system(system, memory_path(self.notebook.folder, now.memory))

    def memory_file(self) -> tuple[Path | None, str]:
        """Return the memory file and its text. Raises InvalidRequestError where it cannot be read."""
        path = memory_path(self.notebook.folder, self.conversation.memory)
        return path, "" if path is None else memory_text(path)

    def memory_notice(self) -> str | None:
        """Return one line where the default memory file joins the system prompt: at first and after each change."""
        path, text = self.memory_file() if self.conversation.memory is None else (None, "")
        if path is None or not text or not self.once(f"memory {path} {fingerprint(text)}"):
            return None
        return (
            f"{path.name} beside this notebook joins every system prompt: %chat memory shows it, "
            "%chat memory off leaves it out."
        )

    # where it goes, and what it carries

    def target(
        self, options: Mapping[str, Any], *, ask: bool, prompt: Prompt | None = None, usual: Settings | None = None
    ) -> Target:  # fmt: skip
        """Return where a request with these options goes, with ``usual`` settings other than those of now.

        ``ask``: the server may be asked and started. ``prompt`` says what the answer must be, and which functions may
        be called; without it those of the settings.
        """
        target = self.models.target(self.settings_for(options, usual), ask=ask)
        cost_budget = None if target.is_free else self.cost_budget
        schema = as_answer(prompt.schema) if prompt is not None else None
        tools = [tool.spec for tool in self._offered(target.settings, prompt)]
        return replace(target, cache_key=self._cache_key, cost_budget=cost_budget, schema=schema, tools=tuple(tools))

    def _offered(self, settings: Settings, prompt: Prompt | None) -> tuple[Tool, ...]:
        """Return the functions that a model may call."""
        own = None if prompt is None else prompt.tools
        return own if own is not None else known_by_name(settings.tools, self.functions, strict=prompt is not None)

    def learn_functions(self, settings: Mapping[str, Any]) -> None:
        """Keep the functions that settings name with themselves. Raises InvalidRequestError."""
        functions = [each for each in settings.get("tools") or () if not isinstance(each, str)]
        if functions:
            self.functions.update({tool.spec.name: tool for tool in known_tools(functions, self.functions)})

    def caller(self, prompt: Prompt, target: Target) -> ToolCaller | None:
        """Return who calls the functions that a prompt offers; ``None``: it offers none."""
        settings, tools = target.settings, self._offered(target.settings, prompt)
        if not tools:
            return None
        room = partial(text_room, self.models, settings)
        return ToolCaller(tools, room, self.redactor(), settings.tool_rounds, prompt.confirm, prompt.ask_always)

    @property
    def cost_budget(self) -> CostBudget:
        """What pays for requests, within the cap."""
        self._cost_budget.cap = self.settings.max_cost
        return self._cost_budget

    def check_given(self, names: Collection[str]) -> None:
        """Raise InvalidRequestError for a setting that one request, or one run, may not have of its own."""
        self.notebook.course.check_unlocked(names)
        if "max_cost" in names:
            raise InvalidRequestError("max_cost holds for the whole notebook: %chat config max_cost N sets it.")

    def settings_for(self, options: Mapping[str, Any], usual: Settings | None = None) -> Settings:
        """Return the settings of a request with these options. Raises InvalidRequestError for a locked one."""
        usual = usual or self.settings
        given = {name: value for name, value in options.items() if value is not None} if options else {}
        if not given:
            return usual
        self.check_given(given)
        return self.notebook.course.priced(settings_with(usual, given))

    def plan(
        self, said: TurnAdded, prompt: Prompt, *, ask: bool, summary: Summary | None = None
    ) -> RequestPlan:  # fmt: skip
        """Return the request for a prompt, in its place among earlier turns; ``ask``: as of :meth:`target`.

        ``summary`` stands for older turns although it is not recorded yet. Raises ContextOverflowError where
        ``on_overflow`` is "stop" and it does not fit.
        """
        system, target = self.system_for(prompt.options), self.target(prompt.options, ask=ask, prompt=prompt)
        record = prompt.record
        is_anew = not record or self.conversation.begins_anew(said)
        past = Conversation() if is_anew else self.conversation
        past = past.summarized(summary) if summary is not None else past
        by, message = said.turn.record, said.turn.messages[0]
        at = past.position(by.cell, by.run, append=said.append)
        target.check(message)
        asked, usual = target.settings, self.settings
        differs = {name for name in FITS_BY if getattr(asked, name) != getattr(usual, name)}
        is_last = at in (len(past.places), len(self.conversation.places) - 1)
        lasting = record and is_last and not differs - {"max_tokens"}
        apart = bool(differs) or (asked is not usual and system != self.system_for({}))
        # what is sent once is not worth a cache's writing fee
        target = target if record else replace(target, cache_key=None)
        return plan(message, target, past, at, system, lasting=lasting, apart=apart)

    def next_plan(self) -> RequestPlan:
        """Return the next request at the conversation's end, with an empty prompt; no server is asked."""
        return next_plan(self.target({}, ask=False), self.conversation, self.system_for({}))

    def pasts_of(self, cell: str | None) -> Iterator[Conversation]:
        """Yield this conversation, then the notebook's others that a cell has asked in, as they are stored."""
        yield self.conversation
        if self.journal is not None and cell is not None:
            yield from self.journal.others_of(cell, self.notebook.others)

    @property
    def is_behind(self) -> bool:
        """Whether the last turn is of an earlier kernel, and its cell has not run again: cells above it are run."""
        places = self.conversation.places
        return bool(places) and places[-1].turn.id not in self.notebook.seen

    def previous(self, planned: RequestPlan) -> Turn | None:
        """Return the last turn, where the request is that turn's with its reply and a new prompt added."""
        places = planned.places
        is_known = bool(places) and planned.key() in (self.counted, self._left_view)
        return places[-1].turn if is_known else None

    # what is said once

    def once(self, *keys: str) -> tuple[str, ...]:
        """Return the keys that were not told before, and count them as told; most are the lines themselves."""
        new = tuple(key for key in keys if key not in self.warned)
        if new:
            self.change(warned=self.warned.union(new))
        return new

    def notices(self) -> tuple[str, ...]:
        """Return new notices about the store and the handout, a line each; each is returned once."""
        lines = self.once(*self.notebook.handout.problems)
        if self.journal is not None:
            lines = (*lines, *self.journal.pop_notices())
        return lines

    # money

    def spend(self, target: Target, reply: Reply) -> None:
        """Add up the cost of a reply; the user's own server costs nothing."""
        if reply.cost is not None or not target.is_free:
            self.change(spent=self.spent.plus(reply.cost))

    def spend_on_run(self, cost: float | None, unpriced: int) -> None:
        """Add what a run over a table has cost."""
        if cost or unpriced:
            self.change(spent=self.spent.plus_run(cost, unpriced))
        self.save()  # what was reserved and not spent, too
        self.notify()

    # how full it is

    def latest(self) -> NextRequest:
        """Return the next request as of the last change: what a cell shows of it is of one moment."""
        sent = self._sent
        if self._latest is None and sent is not None and sent.target.settings == self.settings:
            target = self.models.renewed(replace(sent.target, schema=None))
            self._see(next_plan(target, self.conversation, sent.scope.fixed.system))
        return self._latest or self.snapshot()

    def snapshot(self) -> NextRequest:
        """Return the next request, with an empty prompt, looked at anew, for readers; no server is asked."""
        self._sent = None
        return self._see(self.next_plan())

    def _see(self, planned: RequestPlan) -> NextRequest:
        self._latest = NextRequest(planned, info_of(planned, self.spent, self.counted, self.cost_budget.allowance))
        return self._latest

    # reading

    @property
    def notebook_file(self) -> str | None:
        """The file of the running notebook, where that is known."""
        return self.journal.origin.notebook if self.journal is not None else None

    def redactor(self, *, on: bool = True) -> Redactor:
        """Return what blanks secrets in whatever leaves the kernel, those of the providers' keys among them."""
        return Redactor(self.models.secrets) if on else Unredacted()


def source_of(session: Session, name: str) -> Literal["default", "at the start", "jupyter_ctx.toml", "set here"]:
    """Return where a setting's value comes from.

    "at the start" means keywords, IPython's configuration or environment variables; "jupyter_ctx.toml" the file
    beside the notebook. Raises InvalidRequestError for an unknown setting.
    """
    check_setting(name)
    begun = getattr(session.defaults, name)
    now = session.own_system or None if name == "system" else getattr(session.settings, name)
    if now != begun:
        return "set here"
    if name in session.notebook.course.named:
        return "jupyter_ctx.toml"
    return "default" if begun == getattr(Settings(), name) else "at the start"
