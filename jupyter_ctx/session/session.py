"""One conversation at work: its events, its state, the models it talks to and the journal that stores it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..attachments.attached import TextRoom
from ..config.settings import MODEL_SETTINGS, Settings, check_setting, is_default, kept_settings, restored_settings
from ..context.budget import HALF
from ..conversation.conversation import Conversation
from ..conversation.events import Event, MemorySet, Offered, Summarized, SystemSet, TurnAdded
from ..conversation.messages import Summary, Turn, new_id
from ..conversation.places import TurnSlot
from ..errors import ChatInterrupted, InvalidRequestError
from ..models.cost_budget import CostBudget
from ..models.registry import Models, Target, asked_model, settings_with
from ..models.request_price import RequestPrice, request_price, worst_case
from ..providers.base import Reply
from ..runtime.frontend import fingerprint, here
from ..runtime.interrupts import uninterrupted
from ..runtime.redaction import Redactor, Unredacted
from ..storage.conversation_writer import ConversationWriter, OpenedConversation
from ..storage.spending import Sum
from .complete import as_answer
from .course import COURSE_FILE
from .info import NextRequest, Replayed, info_of, replayed
from .planning import counted_plan, next_plan, plan
from .preview import View, preview
from .prompt import MemoryFile, Prompt, joined_system, text_room
from .request_plan import RequestPlan
from .state import ABOVE, NEARLY_FULL, NotebookState, SessionState
from .tool_rounds import ToolCaller
from .view import Scope, request_digest, request_in, scope_then

if TYPE_CHECKING:
    from ..tools.functions import Tool

T = TypeVar("T")
ALWAYS_OF_NOW = {"parameters", "max_cost", "confirm_cost"}  # settings that are not kept, or that bound what is paid
MAY_BE_CACHED = 600.0  # seconds after which no cache is hoped for whose provider does not say how long it lasts
# settings that decide how much of a conversation a request has room for
FITS_BY = frozenset({"model", "window", "max_tokens", "compact_at", "min_turns", "max_turns", "budget_share"})


class Session:
    """One conversation with its state: recorded, saved, restored, and aimed at a model.

    One turn is asked at a time, and actions are done between turns: on some kernels (ipykernel 7.0 to 7.3) button
    callbacks run in threads beside a cell.

    conversation, state: all that it knows
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
        self.state = SessionState(settings, defaults or settings)
        self.journal = journal
        self.models, self.notebook = models or Models(), notebook or NotebookState()
        self.memory = MemoryFile(self.notebook.folder)
        self.running = False
        self.listeners: list[Callable[[], object]] = []
        self.functions: dict[str, Tool] = {}  # that settings name
        self.summary_failures = 0  # of those nobody asked for, in a row
        self._latest: NextRequest | None = None  # as of the last change
        self.sent: RequestPlan | None = None  # the last request, until the conversation is looked at anew
        self._is_saved = False
        self._turns = threading.RLock()
        self._cache_key = f"jupyter_ctx-{new_id()}"
        self._has_set_system = False
        self.clock: Callable[[], float] = time.time
        self.sent_at: float | None = None  # when the last turn was sent from here, by this clock
        self.cost_budget = CostBudget(total=total)
        self._lock = threading.Lock()  # a button's callback may run in another thread

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the conversation for one turn, and save what it leads to; actions wait.

        Raises InvalidRequestError for a turn inside a turn.
        """
        with self._turns:
            self._check_no_turn_runs()
            self.running, before = True, self.conversation.length
            try:
                with suppress(Exception):  # of a drawing
                    self.notify()
                yield
            finally:
                self.running = False
                with uninterrupted():
                    if self.conversation.length == before or not self._is_saved:
                        self.save()  # what a refusal has taught, or a turn that is not recorded

    def act(self, action: Callable[..., T], *args: Any, **options: Any) -> T:
        """Do something to the conversation once no turn runs, and notify the listeners. Raises ChatInterrupted."""
        with self._turns:
            self._check_no_turn_runs()
            before = self.conversation.length
            try:
                result = action(self, *args, **options)
            except KeyboardInterrupt:  # perhaps while it was saved
                done = self.conversation.length != before
                raise ChatInterrupted(f"stopped; {'it was done' if done else 'nothing has changed'}.") from None
            finally:
                self._latest = self.sent = None
        self.notify()
        return result

    def _check_no_turn_runs(self) -> None:
        if self.running:
            raise InvalidRequestError("A turn is running: do this when it has ended.")

    def notify(self) -> None:
        """Call the listeners."""
        for listener in tuple(self.listeners):
            listener()

    @property
    def settings(self) -> Settings:
        """The settings of the conversation as they are now."""
        return self.state.settings

    def change(self, **changes: Any) -> None:
        """Replace fields of the state; :meth:`save` writes them."""
        with self._lock:
            self.state = self.state._replace(**changes)
            self._is_saved = False
            if changes.keys() - {"warned"}:
                self._latest = None

    def begin_anew(self) -> None:
        """Say again how full it is, and try summaries again."""
        self.change(warned=frozenset(key for key in self.state.warned if not key.startswith(ABOVE)))
        self.summary_failures = 0

    def record(self, *events: Event) -> None:
        """Append the events and save them."""
        for event in events:
            self.conversation.append(event)
            if isinstance(event, TurnAdded):
                self.notebook.seen.add(event.turn.id)
            elif isinstance(event, Summarized):
                self.notebook.seen.add(event.summary.id)
            elif isinstance(event, SystemSet | MemorySet):
                self._has_set_system = True
            elif isinstance(event, Offered):
                self.notebook.seen.update((event.alternatives.id, *(turn.id for turn in event.alternatives.turns)))
            self.notebook.recorded[type(event)] += 1
        self.save(*events)

    def close(self) -> None:
        """Release the conversation in its store for other kernels. What is recorded later is not stored."""
        if self.journal is not None:
            self.journal.close()
            self.journal = None

    def save(self, *events: Event) -> None:
        """Write the events and the state to the store, if there is one."""
        self._latest, self._is_saved = None, True
        if self.journal is not None:
            state = self.state.stored(self.models.state(), self.notebook)
            self.journal.save(events, self.models.news(), state, self.conversation, self.models.sizes)

    def restore(self, opened: OpenedConversation, given: Mapping[str, Any] | None = None) -> None:
        """Continue an opened conversation; settings that were ``given`` hold."""
        self.conversation = opened.conversation
        kept = opened.state.get("settings", {})
        left = self.notebook.course.unforbidden(kept)
        if "model" in kept.keys() - left.keys() and self.journal is not None:
            now = f"{self.settings.model} is asked instead of {kept['model']}"
            self.journal.notices.append(f"{now}, as {COURSE_FILE} beside this notebook says.")
        self.state = self.state.restored(opened.state | {"settings": left}, given or {})
        for file, version in opened.state.get("told", {}).items():
            self.notebook.notes.setdefault(file, version)
        self.models.restore(opened.state, opened.sizes)

    # what a request begins with

    @property
    def own_system(self) -> str:
        """The conversation's own system prompt, else that of the settings."""
        return (self.conversation.system if self.has_own_system else self.settings.system) or ""

    @property
    def has_own_system(self) -> bool:
        """Whether the conversation has a system prompt of its own, and no course's file locks another."""
        return self.conversation.system is not None and "system" not in self.notebook.course.locked

    @property
    def system(self) -> str:
        """The text that every request begins with: the system prompt and the memory file."""
        try:
            return self.system_for({})
        except InvalidRequestError:  # the file that it names cannot be read: sending raises that
            return self.own_system

    def system_for(self, options: Mapping[str, Any], past: Conversation | None = None) -> str:
        """Return the text that a request begins with; a system prompt among its options replaces the conversation's.

        Until a system prompt or a memory file is set in this kernel, it is that of the ``past`` conversation: a cell
        below may have set it since.
        """
        now = self.conversation if past is None or self._has_set_system else past
        return self.system_of(now.system, now.memory, options.get("system"))

    def system_of(self, own: str | None, memory: str | None, given: str | None = None) -> str:
        """Return the text of a conversation's own system prompt, or one that is given for it, and its memory file."""
        if own is None or "system" in self.notebook.course.locked:
            own = self.state.settings.system
        return joined_system((own if given is None else given) or "", self._read_memory(memory)[1])

    def memory_file(self) -> tuple[Path | None, str]:
        """Return the memory file and as much of its text as joins the system prompt."""
        return self._read_memory(self.conversation.memory)

    def _read_memory(self, chosen: str | None) -> tuple[Path | None, str]:
        return self.memory.read(chosen, lambda: self.target({}, ask=False))

    def memory_notice(self) -> str | None:
        """Return one line where the default memory file joins the system prompt: at first and after each change."""
        path, text = self.memory_file()
        if path is None or not text or self.conversation.memory is not None:
            return None
        file, version = fingerprint(str(path)), fingerprint(text)
        before = self.notebook.notes.get(file)
        self.notebook.notes[file] = version
        return self.memory.notice(path, changed=before is not None) if before != version else None

    # where it goes, and what it carries

    def target(
        self, options: Mapping[str, Any], *, ask: bool, prompt: Prompt | None = None, usual: Settings | None = None
    ) -> Target:  # fmt: skip
        """Return where a request with these options goes, with ``usual`` settings other than those of now.

        ``ask``: the server may be asked and started. ``prompt`` says what the answer must be, and which functions may
        be called; without it those of the settings.
        """
        target = self.models.target(self._settings_for(options, usual), ask=ask)
        cost_budget = None if target.is_free else self.cost_budget_for(target.settings)
        schema = as_answer(prompt.schema) if prompt is not None else None
        tools = tuple(tool.spec for tool in self._tools(target.settings, prompt))
        return replace(target, cache_key=self._cache_key, cost_budget=cost_budget, schema=schema, tools=tools)

    def _tools(self, settings: Settings, prompt: Prompt | None) -> tuple[Tool, ...]:
        """Return the functions that a model may call; without a prompt, those of the settings that are known."""
        if prompt is not None and prompt.tools is not None:
            return prompt.tools
        missing = [name for name in settings.tools if name not in self.functions]
        if missing and prompt is not None:
            raise InvalidRequestError(
                f"tools names {missing[0]}, which is no function here: define it, or leave it out "
                "(%chat config tools none). Nothing was sent."
            )
        return tuple(self.functions[name] for name in settings.tools if name in self.functions)

    def learn_functions(self, settings: Mapping[str, Any]) -> None:
        """Keep the functions that settings name with themselves. Raises InvalidRequestError."""
        tools = settings.get("tools") or ()
        functions = [] if isinstance(tools, str) else [each for each in tools if not isinstance(each, str)]
        if functions:
            self.functions.update({tool.spec.name: tool for tool in self.known_tools(functions)})

    def known_tools(self, given: Iterable[Any]) -> tuple[Tool, ...]:
        """Return functions as tools; a name is one of those that were given before. Raises InvalidRequestError."""
        from ..tools.functions import as_tools

        if isinstance(given, str) or not isinstance(given, Iterable):
            given = [given]
        return as_tools(self.functions.get(each, each) if isinstance(each, str) else each for each in given)

    def caller(self, prompt: Prompt, target: Target) -> ToolCaller | None:
        """Return who calls the functions that a prompt offers; ``None``: it offers none."""
        tools, room = self._tools(target.settings, prompt), partial(text_room, self.models, target.settings)
        most = target.settings.tool_rounds
        if not tools:
            return None
        return ToolCaller(tools, room, self.redactor(), most, prompt.confirm, prompt.ask_always)

    def cost_budget_for(self, settings: Settings) -> CostBudget:
        """Return what pays for requests with these settings, within their cap."""
        self.cost_budget.cap = settings.max_cost
        return self.cost_budget

    def back_to_course(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return changes of settings, of which "default" means what the course's file says, where it says anything."""
        named, begun = self.notebook.course.named, self.state.defaults
        back = {name for name, value in changes.items() if name in named and is_default(value)}
        return {name: getattr(begun, name) if name in back else value for name, value in changes.items()}

    def model_of(self, options: Mapping[str, Any]) -> str:
        """Return the full name of the model that a request with these options goes to; nothing is loaded for it."""
        return asked_model(self._settings_for(options))

    def room(self, options: Mapping[str, Any], among: int = 1) -> TextRoom:
        """Return how much room one of so many attached things may take in a request with these options.

        Where the running cell was answered before this kernel, it is that of then: its prompt is to be the same.
        """
        cell = here()
        before = next(self.earlier_answers(cell.cell, cell.run), None)
        usual = self.settings_then(before[1].record.settings) if before is not None else None
        return text_room(self.models, self._settings_for(options, usual), among)

    def check_given(self, names: Collection[str]) -> None:
        """Raise InvalidRequestError for a setting that one request, or one run, may not have of its own."""
        self.notebook.course.check_unlocked(names)
        if "max_cost" in names:
            raise InvalidRequestError("max_cost holds for the whole notebook: %chat config max_cost N sets it.")

    def _settings_for(self, options: Mapping[str, Any], usual: Settings | None = None) -> Settings:
        usual = usual or self.state.settings
        given = {name: value for name, value in options.items() if value is not None} if options else {}
        if not given:
            return usual
        self.check_given(given)
        return self.notebook.course.priced(settings_with(usual, given))

    def kept_settings(self) -> dict[str, Any]:
        """Return what has been set since the start, as each turn records it."""
        return kept_settings(self.state.defaults, self.state.settings)

    def settings_then(self, kept: Mapping[str, Any] | None, now: Settings | None = None) -> Settings:
        """Return the settings of then, of which these were ``kept``; what was set in this kernel is as it is now.

        A turn of an earlier release has kept none: then they are all as now.
        """
        now = now or self.state.settings
        if kept is None:
            return now
        of_now = self.notebook.set_here | ALWAYS_OF_NOW | ({"system"} if self._has_set_system else set())
        if of_now & {"model", *MODEL_SETTINGS}:
            of_now |= {"model", *MODEL_SETTINGS}
        then = restored_settings(self.state.defaults, self.notebook.course.unforbidden(kept))
        try:
            return replace(then, **{name: getattr(now, name) for name in of_now})
        except InvalidRequestError:  # no request can have both
            return now

    def settings_of_run(self) -> Settings:
        """Return the settings of a run over a table: those that the unchanged cell ran with last, as of a turn."""
        now = settings_with(self.state.settings, {"system": self.own_system or None})
        cell = here()
        if cell.cell is None:
            return now
        key, runs = f"{cell.cell} {cell.source}", self.state.runs
        settings = self.settings_then(runs.get(key), now)
        others = {name: kept for name, kept in runs.items() if name.rpartition(" ")[0] != cell.cell}
        self.change(runs={**others, key: kept_settings(self.state.defaults, settings)})
        return settings

    def plan(
        self, said: TurnAdded, target: Target, system: str, *, record: bool, summary: Summary | None = None
    ) -> RequestPlan:
        """Return the request for a turn, in its place among earlier turns.

        ``summary`` stands for older turns although it is not recorded yet. Raises ContextOverflowError where
        ``on_overflow`` is "stop" and it does not fit.
        """
        is_anew = not record or (said.new and said.begins_anew(self.conversation))
        past = Conversation() if is_anew else self.conversation
        past = past.summarized(summary) if summary is not None else past
        by, message = said.turn.record, said.turn.messages[0]
        at = past.position(by.cell, by.run, append=said.append)
        if message.attachments:
            target.check_files(message.attachments)
        if target.settings.certainty == "on":
            target.check_logprobs()
        target.check_tools()
        asked, usual = target.settings, self.state.settings
        differs = {name for name in FITS_BY if getattr(asked, name) != getattr(usual, name)}
        is_last = at in (len(past.places), len(self.conversation.places) - 1)
        lasting = record and is_last and not differs - {"max_tokens"}
        apart = bool(differs) or (asked is not usual and system != self.system)
        # what is sent once is not worth a cache's writing fee
        target = target if record else replace(target, cache_key=None)
        return counted_plan(plan(message, target, past, at, system, lasting=lasting, apart=apart))

    def next_plan(self) -> RequestPlan:
        """Return the next request at the conversation's end, with an empty prompt; no server is asked."""
        return next_plan(self.target({}, ask=False), self.conversation, self.system)

    # what cells were answered before this kernel was started

    def earlier_answers(self, cell: str | None, run: str | None) -> Iterator[tuple[Conversation, Turn]]:
        """Yield what a cell was answered, with its conversation: what stands there now first, then what was last.

        Nothing where the cell has run in this kernel: then another answer is wanted.
        """
        now, seen = self.conversation, self.notebook.seen
        older = now.older(cell, run)
        if older and older[0].turn.id in seen:
            return
        if older:
            yield now, older[0].turn
        for past in self.pasts_of(cell):
            turns = past.last_run(cell, run)
            new = next((turn for turn in turns if turn.id not in seen), None)
            if new is not None:
                yield past, new
            elif turns:
                return

    def pasts_of(self, cell: str | None) -> Iterator[Conversation]:
        """Yield this conversation, then the notebook's others that a cell has asked in, as they are stored."""
        yield self.conversation
        if self.journal is not None and cell is not None:
            yield from self.journal.others_of(cell, self.notebook.others)

    def answers_as_then(self, past: Conversation, turn: Turn, said: TurnAdded, prompt: Prompt) -> bool:
        """Return whether a turn answered this request: if it were asked with what stood before the turn, and set then.

        None of what stood before it may have another answer now.
        """
        before = past.before(turn.id)
        if before is None:
            return False
        system, usual = self.system_for(prompt.options, before), self.settings_then(turn.record.settings)
        target = self.target(prompt.options, ask=False, prompt=prompt, usual=usual)
        before = Conversation() if said.begins_anew(before) else before
        scope, start, view = self._view_then(past, before, turn, system, append=said.append)
        request = request_in(target, before, scope, start, said.turn.messages[0])
        is_same = request_digest(target, request) == turn.record.digest
        return is_same and not self.conversation.has_other_answers(view)

    def _view_then(
        self, past: Conversation, before: Conversation, turn: Turn, system: str, *, append: bool
    ) -> tuple[Scope, int, list[TurnSlot]]:
        """Return the view that a turn of ``past`` was sent with: its scope, where it begins, and the turns in it."""
        at = before.position(turn.record.cell, past.run_of(turn.id), append=append)
        scope, start = scope_then(before, at, system, turn)
        return scope, start, [place for places in scope.in_view(before, start) for place in places]

    @property
    def is_behind(self) -> bool:
        """Whether the last turn is of an earlier kernel, and its cell has not run again: cells above it are run."""
        places = self.conversation.places
        return bool(places) and places[-1].turn.id not in self.notebook.seen

    def previous(self, planned: RequestPlan) -> Turn | None:
        """Return the last turn, where the request is that turn's with its reply and a new prompt added."""
        places = planned.places
        is_known = bool(places) and planned.key() in (self.state.counted, self.state.sent)
        return places[-1].turn if is_known else None

    # what is said once

    def once(self, *keys: str) -> tuple[str, ...]:
        """Return the keys that were not told before, and count them as told; most are the lines themselves."""
        new = tuple(key for key in keys if key not in self.state.warned)
        if new:
            self.change(warned=self.state.warned.union(new))
        return new

    def is_first_above(self, share: float, fill: float) -> bool:
        """Return whether ``fill`` is the first above this share of the limit; the line at 85 % covers that at half."""
        return fill >= share and ABOVE + str(share) in self.once(
            *(ABOVE + str(each) for each in (HALF, NEARLY_FULL) if each <= share)
        )

    def notices(self) -> tuple[str, ...]:
        """Return new notices about the memory file, the store and the handout, a line each; each is returned once."""
        lines = self.once(*self.memory.problems, *self.notebook.handout.problems)
        if self.journal is not None:
            lines, self.journal.notices = (*lines, *self.journal.notices), []
        return lines

    # money

    def spend(self, target: Target, reply: Reply) -> None:
        """Add up the cost of a reply; the user's own server costs nothing."""
        if reply.cost is not None or not target.is_free:
            self.change(spent=self.state.spent.plus(reply.cost))

    def spend_on_run(self, cost: float | None, unpriced: int) -> None:
        """Add what a run over a table has cost."""
        if cost or unpriced:
            self.change(spent=self.state.spent.plus_run(cost, unpriced))
        self.save()  # what was reserved and not spent, too
        self.notify()

    def price(self, planned: RequestPlan, *, tries: int = 1) -> RequestPrice:
        """Return what a request may cost, before it is sent; ``tries``: how often it may be asked."""
        cached, target = self._cached(planned), planned.target
        price = request_price(self.models, target, planned.tokens, planned.most_tokens, cached, tries=tries)
        if target.cost_budget is None or not target.is_capped or price.high is None:
            return price
        reserved = target.cost_budget.needed(
            worst_case(self.models, target, planned.tokens, planned.request.messages) or 0.0
        )
        return price._replace(high=max(price.high, reserved))

    def _cached(self, planned: RequestPlan) -> tuple[int, float | None]:
        """Return how many tokens of a request a cache holds, as the last report shows, and until when, if known."""
        turn, documented = self.previous(planned), planned.target.cache_seconds
        if self.sent_at is None or turn is None or turn.usage is None or turn.model != planned.target.model:
            return 0, None
        usage, until = turn.usage, self.sent_at + (documented or MAY_BE_CACHED)
        if not usage.cache_read_tokens + usage.cache_write_tokens or self.clock() >= until:
            return 0, None
        return usage.input_tokens, until if documented else None

    # how full it is

    def latest(self) -> NextRequest:
        """Return the next request as of the last change: what a cell shows of it is of one moment."""
        if self._latest is None:
            sent = self.sent
            if sent is None or sent.target.settings != self.state.settings:
                return self.snapshot()
            target = self.models.renewed(replace(sent.target, schema=None))
            self._latest = self._looked(next_plan(target, self.conversation, sent.scope.fixed.system))
        return self._latest

    def snapshot(self) -> NextRequest:
        """Return the next request, with an empty prompt, looked at anew, for readers; no server is asked."""
        self._latest, self.sent = self._looked(self.next_plan()), None
        return self._latest

    def _looked(self, planned: RequestPlan) -> NextRequest:
        allowance = self.cost_budget_for(self.state.settings).allowance
        return NextRequest(planned, info_of(planned, self.state, allowance))

    def view(self, prompt: Prompt) -> View:
        """Return the request for a prompt before it is sent, part by part, with what it leaves out."""
        said = prompt.said()
        target = self.target(prompt.options, ask=False, prompt=prompt)
        planned = self.plan(said, target, self.system_for(prompt.options), record=prompt.record)
        counted = planned.key() == self.state.counted
        return preview(
            planned, said.turn, is_counted=counted, price=self.price(planned, tries=1 if prompt.schema is None else 2)
        )

    def turns_before(self, asked: Prompt) -> list[Turn]:
        """Return the turns that the request for a prompt carries, before it is known how long that is.

        Where its cell was answered before this kernel, those of then.
        """
        if asked.new or not asked.record:
            return []
        answered = next(self.earlier_answers(asked.cell, asked.run), None) if asked.stored is not None else None
        then = answered[0].before(answered[1].id) if answered is not None else None
        if answered is not None and then is not None:
            *_, view = self._view_then(answered[0], then, answered[1], "", append=asked.append)
            return [place.turn for place in view]
        if asked.options.keys() & FITS_BY:
            planned = self.plan(asked.said(), self.target(asked.options, ask=False), self.system, record=True)
        else:
            planned = self.latest().plan
        at = self.conversation.position(asked.cell, asked.run, append=asked.append)
        above = {place.id for place in self.conversation.places[:at]}
        return [place.turn for place in planned.places if place.id in above]

    def turn_of(self, asked: Prompt) -> Turn | None:
        """Return the turn that the cell of a prompt has so far, or had before this kernel."""
        answered = next(self.earlier_answers(asked.cell, asked.run), None)
        if answered is not None:
            return answered[1]
        at = self.conversation.position(asked.cell, asked.run, append=asked.append)
        return self.conversation.places[at].turn if at < len(self.conversation.places) else None

    def replayed(self) -> list[Replayed]:
        """Return the requests of the turns since the last clear; turns for which nothing was sent have none."""
        usual = self.target({}, ask=False)

        def target_of(model: str) -> Target:
            return usual if model in ("", usual.model) else self.target({"model": model}, ask=False)

        return replayed(self.conversation, target_of, self.system_of)

    # reading

    @property
    def notebook_file(self) -> str | None:
        """The file of the running notebook, where that is known."""
        return self.journal.origin.notebook if self.journal is not None else None

    def redactor(self, *, on: bool = True) -> Redactor:
        """Return what blanks secrets in whatever leaves the kernel, those of the providers' keys among them."""
        return Redactor(self.models.secrets) if on else Unredacted()

    def chosen(self, alternatives: str) -> int | None:
        """Return the number of the answer that is the turn, of several answers with this id; ``None``: none is."""
        offered = self.conversation.offers.get(alternatives)
        place = self.conversation.place_of(offered) if offered is not None else None
        ids = [answer.record.id for answer in offered.answers] if offered is not None else []
        return ids.index(place.turn.id) + 1 if place is not None and place.turn.id in ids else None

    def source_of(self, name: str) -> Literal["default", "at the start", "jupyter_ctx.toml", "set here"]:
        """Return where a setting's value comes from.

        "at the start" means keywords, IPython's configuration or environment variables; "jupyter_ctx.toml" the file
        beside the notebook. Raises InvalidRequestError for an unknown setting.
        """
        check_setting(name)
        begun = getattr(self.state.defaults, name)
        is_own_system = name == "system" and self.has_own_system
        if getattr(self.settings, name) != begun or is_own_system:
            return "set here"
        if name in self.notebook.course.named:
            return "jupyter_ctx.toml"
        return "default" if begun == getattr(Settings(), name) else "at the start"
