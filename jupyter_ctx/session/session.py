"""The state of one conversation: what was said, to which models, with which settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..config.settings import Settings, kept_settings, restored_settings
from ..context.budget import whole
from ..context.info import ContextInfo, segments_of
from ..context.tokens import Fixed
from ..context.usage import Spending
from ..conversation.conversation import Conversation, Place
from ..conversation.events import Event, Said
from ..conversation.messages import Summary, new_id
from ..errors import ChatError, InvalidRequestError
from ..models.registry import Models, Target
from ..providers.base import Reply
from ..runtime.frontend import fingerprint
from ..storage.journal import Journal, Opened
from ..storage.serialization import StoredState
from .history import History, history
from .planner import Attempt, Fitter
from .request_digest import digest_of
from .system_prompt import MemoryFile, joined_system
from .view import (
    PartStatus,
    Scope,
    View,
    ViewPart,
    in_view,
    part_status,
    scope_at,
    scope_then,
    summary_is_old,
    to_messages,
    turn_parts,
    turn_tokens,
)

WARNED = -1.0  # among the shares announced: that a send was nearly full
WAS_COUNTED: tuple[object, ...] = ("before a restart",)


class Session:
    """Reads the conversation, plans requests, and keeps what happened."""

    def __init__(
        self,
        settings: Settings,
        models: Models | None = None,
        journal: Journal | None = None,
        *,
        folder: Path | None = None,
    ) -> None:
        self.settings, self.begun_with = settings, settings
        self.conversation = Conversation()
        self.models = models or Models()
        self.fitter = Fitter(self.models)
        self.journal = journal
        self.counted: tuple[object, ...] = ()  # the view whose size the provider has just told
        self.sent: tuple[object, ...] = ()  # the view that the last reply has left, whatever was told of it
        self.spent = Spending()
        self.announced: set[float] = set()  # shares of the limit that were warned of
        self.warned: set[str] = set()
        self.seen: set[str] = set()  # turns that were answered, or shown again, since the kernel was started
        self.deleted: set[str] = set()  # cells that are not in the notebook any more
        self.told: dict[str, str] = {}  # memory files that were spoken of, and in which version
        self.memory = MemoryFile(folder)
        self.taken_at: int | None = None  # its steps when it was taken over from another notebook
        self._cache_key = f"jupyter_ctx-{new_id()}"

    def record(self, *events: Event, counted: Callable[[], tuple[object, ...]] | None = None) -> None:
        """Keep what happened, all of it or nothing; ``counted`` gives the view whose size was told with it."""
        self._look_again()
        for event in events:
            self.conversation.append(event)
            if isinstance(event, Said):
                self.seen.add(event.turn.id)
        if counted is not None:
            self.counted = counted()
        self.save(*events)

    def save(self, *events: Event) -> None:
        """Write what has happened, and what is known by now."""
        if self.journal is not None:
            self.journal.save(events, self.models.news(), self.state(), self.conversation, self.models.sizes)

    def state(self) -> StoredState:
        """What the conversation knows beside its events."""
        return {
            **self.models.state(),
            "settings": kept_settings(self.begun_with, self.settings),
            "announced": sorted(self.announced),
            "warned": sorted(self.warned),
            "spent": self.spent,
            "deleted": sorted(self.deleted),
            "told": dict(self.told),
            "exact": self.counted == WAS_COUNTED or (self.counted != () and self.counted == self._now_key()),
        }

    def restore(self, opened: Opened, given: Mapping[str, Any] | None = None) -> None:
        """Go on where a conversation stood; settings that were ``given`` hold."""
        state = opened.state
        self.conversation = opened.conversation
        self.settings = restored_settings(self.settings, state.get("settings", {})).changed(given or {})
        self.models.restore(state, opened.sizes)
        self.announced |= set(state.get("announced", ()))
        self.warned |= set(state.get("warned", ()))
        self.spent = state.get("spent", self.spent)
        self.deleted |= set(state.get("deleted", ()))
        for file, version in state.get("told", {}).items():
            self.told.setdefault(file, version)
        self.counted = WAS_COUNTED if state.get("exact") else ()

    def _look_again(self) -> None:
        """Which view it was whose size was known before a restart: found when that is first asked for."""
        if self.counted != WAS_COUNTED:
            return
        self.counted, places = (), self.conversation.places
        with suppress(ChatError):
            if places and places[-1].turn.model == self.target({}, ask=False).model:
                self.counted = self._now_key()

    def _now_key(self) -> tuple[object, ...]:
        """The view that the next request at the end would have; nothing where no model can be named."""
        try:
            target = self.target({}, ask=False)
            return self.key(target, *self.now(target))
        except ChatError:
            return ()

    @property
    def own_system(self) -> str:
        """The system prompt of the conversation, else of the settings."""
        said = self.conversation.system
        return said if said is not None else self.settings.system or ""

    @property
    def system(self) -> str:
        """What every request begins with: the system prompt and the memory file."""
        try:
            return self.system_for({})
        except InvalidRequestError:  # the file that it names is not there now: sending will say so
            return self.own_system

    def system_for(self, options: Mapping[str, Any]) -> str:
        """Return the same for one cell, whose own system prompt comes first."""
        own = options.get("system")
        return joined_system(self.own_system if own is None else own, self.memory_file()[1])

    def memory_file(self) -> tuple[Path | None, str]:
        """Return the memory file and as much of its text as joins the system prompt."""
        return self.memory.read(self.conversation.memory, lambda: self.target({}, ask=False))

    def memory_notice(self) -> str | None:
        """Return one line where the default memory file joins the system prompt: at first and after each change."""
        path, text = self.memory_file()
        if path is None or not text or self.conversation.memory is not None:
            return None
        file, version = fingerprint(str(path)), fingerprint(text)
        before, self.told[file] = self.told.get(file), version
        return self.memory.notice(changed=before is not None) if before != version else None

    def target(self, options: Mapping[str, Any], *, ask: bool) -> Target:
        """Where a request with these settings of its own goes."""
        given = {name: value for name, value in options.items() if value is not None}
        target = self.models.target(self.settings.changed(given), ask=ask)
        return replace(target, cache_key=self._cache_key)

    def attempt(
        self, said: Said, target: Target, system: str, *, record: bool, summary: Summary | None = None
    ) -> Attempt:
        """The request for a turn, in its place among those that were said before it.

        ``summary`` stands for older turns, though it is not recorded yet.
        """
        past = Conversation() if self.conversation.begins_anew(said) or not record else self.conversation
        past = past.summarized(summary) if summary is not None else past
        at = past.position(said.turn.cell, said.turn.run, append=said.append)
        message = said.turn.messages[0]
        for attachment in message.attachments:
            if attachment.kind not in target.provider.takes:
                raise InvalidRequestError(
                    f"{attachment.name} cannot be sent to {target.model}, which takes text only: "
                    "ask a model that takes images and PDFs (-m)."
                )
        # what is sent once is not worth a cache's writing fee
        return self.fitter.attempt(message, target if record else replace(target, cache_key=None), past, at, system)

    def request_then(self, said: Said, place: Place, target: Target, system: str) -> str:
        """What tells the request that a place's turn was sent with, if it were sent again now."""
        past = self.conversation.as_marked_at(place.turn)
        scope, start = scope_then(past, past.index(place.id), system, place.turn)
        return digest_of(target, target.request(to_messages(past, scope, start, said.turn.messages[0])))

    def once(self, *lines: str) -> tuple[str, ...]:
        """Those that were not said before."""
        new = tuple(line for line in lines if line not in self.warned)
        self.warned.update(new)
        return new

    @property
    def is_just_taken(self) -> bool:
        """Whether undo takes back that it was taken over from another notebook, with its first turn there."""
        steps, past = self.conversation.steps, self.conversation
        first = steps - 1 == self.taken_at and past.undo_label in ("turn", "re-run")
        return self.taken_at is not None and (first or steps <= self.taken_at)

    @property
    def undo_label(self) -> str | None:
        """What undo would take back, in a word."""
        return "takeover" if self.is_just_taken else self.conversation.undo_label

    def notices(self) -> tuple[str, ...]:
        """What there is to say of the memory file and the store, a line each; every line once."""
        lines = self.once(*self.memory.problems)
        if self.journal is not None:
            lines, self.journal.notices = (*lines, *self.journal.notices), []
        return lines

    def of_deleted_cells(self) -> tuple[int, ...]:
        """Numbers of the turns that are sent although their cells were deleted."""
        places = enumerate(self.conversation.places, 1)
        return tuple(number for number, place in places if place.turn.cell in self.deleted and place.sendable)

    def passed(self, fill: float) -> tuple[float, ...]:
        """The thresholds that this share of the limit passes for the first time."""
        reached = [share for share in self.settings.thresholds or () if fill >= share]
        new = tuple(share for share in reached if share not in self.announced)
        self.announced.update(new)
        return new

    def nearly_full(self, fill: float) -> bool:
        """Whether a request of this share is the first that there should be a warning of."""
        warn_at = self.settings.warn_at
        if warn_at is None or fill < warn_at or WARNED in self.announced:
            return False
        self.announced.add(WARNED)
        self.passed(fill)  # one line is enough
        return True

    def billed(self, target: Target, reply: Reply) -> float | None:
        """Add up what replies cost, in US dollars; a server of one's own bills nothing."""
        cost = self.models.cost(target, reply.usage, reply.model)
        if cost is not None or target.provider.catalogue:
            self.spent = self.spent.plus(cost)
        return cost

    def now(self, target: Target) -> tuple[Scope, int]:
        """What the next request at the end of the conversation may hold, and where it begins."""
        scope = scope_at(self.conversation, len(self.conversation.places), self.system)
        return scope, self.fitter.start(target, self.conversation, scope)

    def key(self, target: Target, scope: Scope, start: int) -> tuple[object, ...]:
        """What tells one view of this conversation from another."""
        return (self.conversation.revision, target.provider.tokenizer, scope.fixed, start, scope.at)

    def is_counted(self, target: Target, scope: Scope, start: int) -> bool:
        """Whether that is the view whose size the provider has just told."""
        self._look_again()
        return self.counted != () and self.key(target, scope, start) == self.counted

    def follows(self, target: Target, scope: Scope, start: int) -> bool:
        """Whether that is the view that the last request and its reply have left."""
        return self.is_counted(target, scope, start) or self.key(target, scope, start) == self.sent

    def info(self) -> ContextInfo:
        """How full the next request is with an empty prompt. Nobody is asked for it."""
        target = self.target({}, ask=False)
        scope, start = self.now(target)
        ledger, meter = self.fitter.ledger(target, self.conversation, scope), target.meter
        fixed, system = meter.fixed(scope.fixed), meter.fixed(Fixed(self.system))
        pinned, turns = ledger.pinned(scope.at), ledger.between(start, scope.at)
        newest = ledger.between(max(start, scope.at - 1), scope.at)
        summary = max(0.0, fixed - system) if scope.fixed.summary else 0.0
        segments = segments_of(
            [
                ("system", fixed - summary),
                ("pinned", pinned),
                ("summary", summary),
                ("earlier turns", turns - newest),
                ("this turn", newest),
            ]
        )
        exact = self.is_counted(target, scope, start)
        usage = self.conversation.places[-1].turn.usage if scope.at else None
        return ContextInfo(
            target.model,
            target.budget(fixed + pinned, fixed + pinned + turns, exact=exact),
            segments,
            turns=len(self.conversation.places),
            in_view=ledger.count(start, scope.at) + sum(map(scope.holds, self.conversation.pins)),
            left_out=ledger.count(0, start),
            will_leave=self._will_leave(target, scope, start),
            reported=usage.carried if usage else None,
            cached=usage.cache_read_tokens if usage else None,
            sent=usage.input_tokens if usage else None,
            undo=self.undo_label,
            redo=self.conversation.redo_label,
            cost=self.spent.dollars,
            unpriced=self.spent.unknown,
        )

    def _will_leave(self, target: Target, scope: Scope, start: int) -> int:
        """How many turns the next send leaves out by itself; a learned limit that it will try again counts for none."""
        cut = self.fitter.cut(target.trial or target, self.conversation, scope, start)
        return self.fitter.ledger(target, self.conversation, scope).count(start, cut.start)

    def history(self) -> History:
        """Every turn since the last clear, and what becomes of it in the next request."""
        target = self.target({}, ask=False)
        (scope, start), meter = self.now(target), target.meter
        sizes = (
            (round(turn_tokens(place.turn, meter)), meter.counted(place.turn.id), part_status(place, i, scope, start))
            for i, place in enumerate(self.conversation.places)
        )
        return history(self.conversation, sizes, frozenset(self.deleted))

    def view(self, said: Said, options: Mapping[str, Any], *, record: bool) -> View:
        """A request before it is sent, part by part, and what it leaves out."""
        target, prompt = self.target(options, ask=False), said.turn.prompt
        attempt = self.attempt(said, target, self.system_for(options), record=record)
        past = attempt.past
        fixed, meter = attempt.scope.fixed, target.meter
        system = meter.fixed(Fixed(fixed.system))
        alone = meter.counted(fixed) and not fixed.summary
        head = [ViewPart("system", fixed.system, round(system), "system", exact=alone)] if fixed.system else []
        summary = []
        if fixed.summary and past.summary:
            state: PartStatus = "summary of older answers" if summary_is_old(past) else "summary"
            summary = [ViewPart("user", past.summary.text, round(meter.fixed(fixed) - system), state)]
        last = [ViewPart("user", prompt, round(attempt.asked), "prompt", exact=attempt.counted is not None)]
        flat = list(turn_parts(past, attempt.scope, attempt.cut.start, meter))
        turns = list(zip(flat[::2], flat[1::2], strict=True))
        passed, rest = in_view(past, attempt.scope, attempt.cut.start)
        sent = {past.index(place.id) for place in (*passed, *rest)}

        def parts(places: Sequence[Place]) -> list[ViewPart]:
            return [part for place in places for part in turns[past.index(place.id)]]

        return View(
            (*head, *parts(passed), *summary, *parts(rest), *(last if prompt else ())),
            tuple(part for i, both in enumerate(turns) if i not in sent for part in both),
            whole(attempt.tokens),
            attempt.counted is not None or (not prompt and self.is_counted(target, attempt.scope, attempt.cut.start)),
            attempt.request,
        )
