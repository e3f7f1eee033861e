"""Chat: send, recover, record, and everything the user can do with a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal

from . import receipts
from .context.budget import FULL, HALF, HIGH, TRIM_TO, ContextInfo, Segment
from .context.compaction import fit, keep_verbatim, summary_cap, summary_message
from .context.overflow import Overflow
from .context.tokens import Fixed
from .conversation import (
    Cleared,
    Conversation,
    Event,
    Excluded,
    IncludedAll,
    Pinned,
    Place,
    Redone,
    Said,
    Summarized,
    Summary,
    SystemSet,
    Trimmed,
    Turn,
    Undone,
    new_id,
)
from .errors import ChatError, ChatInterrupted, ContextOverflowError, InvalidRequestError, ProviderError
from .fitting import Attempt, Fitter, overflow_error
from .interrupts import uninterrupted
from .models import Models, Target, key_owner
from .providers import Reply
from .providers.shape import UNSENDABLE
from .queue import TurnQueue
from .settings import Settings, default_settings
from .summaries import completed, extractive_summary, keeps_enough, model_summary
from .view import Part, Scope, State, View, in_view, scope_at, summary_is_old, turn_parts

RETRIES = 2
SUMMARY_FAILURES = 2
OF_A_TARGET = {"model", "base_url", "window", "n_ctx", "max_tokens"}
THRESHOLDS = (FULL, HIGH, HALF)
Method = Literal["extractive", "model"]


@dataclass(frozen=True, slots=True)
class Change:
    """What an action did: ``before`` and ``after`` are tokens of the next request."""

    text: str
    changed: bool = True
    before: int = 0
    after: int = 0

    def __str__(self) -> str:
        moved = self.changed and self.before != self.after
        text = self.text.rstrip(".")
        return f"{text} ({self.before:,} → {self.after:,} tokens)." if moved else f"{text}."


class Chat:
    """A conversation with a model that never gets stuck on a full context window.

    ``model`` is a full name such as ``local/smollm2`` or ``openai/gpt-5.2``; ``settings``
    are those of :class:`~jupyter_ctx.settings.Settings`, ``config`` the same with less
    weight. The key is kept in memory only.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.config: Settings = default_settings(config or {}, {"model": model, **settings})
        self.conversation = Conversation()
        self.models = Models()
        self.listeners: list[Callable[[Change | None], None]] = []
        self._fitter = Fitter(self.models)
        self._counted: tuple[object, ...] = ()  # the view whose size the provider has just told
        self._announced: set[float] = set()
        self._warned: set[str] = set()
        self._summary_failures = 0  # of those nobody asked for, in a row
        self._queue = TurnQueue()
        if api_key:
            self.set_key(key_owner(self.config), api_key)

    def __repr__(self) -> str:
        return f"Chat({self.config.model!r}, {len(self.turns)} turns)"

    # reading

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The current version of every turn since the last clear, in order."""
        return tuple(place.turn for place in self.conversation.places)

    @property
    def system(self) -> str:
        """The system prompt of the conversation, else of the settings."""
        said = self.conversation.system
        return said if said is not None else self.config.system or ""

    def info(self) -> ContextInfo:
        """How full the next request is with an empty prompt. Nobody is asked for it."""
        target = self.models.target(self.config, ask=False)
        scope, start = self._now(target)
        ledger, meter = self._fitter.ledger(target, self.conversation, scope), target.meter
        fixed, system = meter.fixed(scope.fixed), meter.fixed(Fixed(self.system))
        pinned, turns = ledger.pinned(scope.at), ledger.between(start, scope.at)
        segments = (
            Segment("system", round(min(system, fixed))),
            Segment("summary", max(0, round(fixed - system)) if scope.fixed.summary else 0),
            Segment("pinned", round(pinned)),
            Segment("turns", round(turns)),
        )
        exact = self._key(target, scope, start) == self._counted
        usage = self.conversation.places[-1].turn.usage if scope.at else None
        return ContextInfo(
            self.config.model,
            target.budget(fixed + pinned, fixed + pinned + turns, exact=exact),
            segments,
            in_view=sum(map(len, in_view(self.conversation, scope, start))),
            left_out=ledger.count(0, start),
            will_leave=self._will_leave(target, scope, start),
            reported=usage.carried if usage else None,
            cached=usage.cache_read_tokens if usage else None,
            undo=self.conversation.undo_label,
            redo=self.conversation.redo_label,
        )

    def _will_leave(self, target: Target, scope: Scope, start: int) -> int:
        """How many turns the next send leaves out by itself."""
        ledger = self._fitter.ledger(target, self.conversation, scope)
        budget = target.budget(target.meter.fixed(scope.fixed))
        cut = fit(ledger, budget, 0.0, start=start, end=scope.at, share=target.settings.compact_at)
        return ledger.count(start, cut.start)

    def history(self) -> tuple[Part, ...]:
        """Both messages of every turn since the last clear, and what becomes of them in the next request."""
        target = self.models.target(self.config, ask=False)
        scope, start = self._now(target)
        return tuple(turn_parts(self.conversation, scope, start, target.meter))

    def preview(
        self,
        prompt: str = "",
        *,
        cell: str | None = None,
        run: str | None = None,
        append: bool = False,
        new: bool = False,
        record: bool = True,
        **options: Any,
    ) -> View:
        """What :meth:`send` would send with the same arguments, part by part, and what it would leave out."""
        target = self._target(options, ask=False)
        said = Said(Turn(_checked(prompt), "", "", cell=cell, run=run), append, new)
        attempt = self._attempt(said, target, self._system_for(options), record=record)
        past = attempt.past
        fixed, meter = attempt.scope.fixed, target.meter
        system = meter.fixed(Fixed(fixed.system))
        head = [Part("system", fixed.system, round(system), "system")] if fixed.system else []
        if fixed.summary and past.summary:
            state: State = "summary of older answers" if summary_is_old(past) else "summary"
            head.append(Part("user", past.summary.text, round(meter.fixed(fixed) - system), state))
        turns = list(turn_parts(past, attempt.scope, attempt.cut.start, meter))
        numbers = {past.index(place.id) + 1: i for i, place in enumerate(attempt.places)}
        sent = sorted((part for part in turns if part.number in numbers), key=lambda part: numbers[part.number or 0])
        last = [Part("user", prompt, round(attempt.asked), "prompt")] if prompt else []
        return View(
            (*head, *sent, *last),
            tuple(part for part in turns if part.number not in numbers),
            round(attempt.tokens),
            not prompt and self._key(target, attempt.scope, attempt.cut.start) == self._counted,
            attempt.request,
        )

    def threshold_notice(self) -> str | None:
        """One line where the conversation has passed a share of its limit for the first time."""
        info = self.info()
        passed = [share for share in THRESHOLDS if info.fill >= share]
        new = [share for share in passed if share not in self._announced]
        self._announced.update(passed)
        if not new:
            return None
        about = "" if info.exact else "~"
        remedy = " %chat summarise, trim or clear makes room." if new[0] >= HIGH else ""
        return f"Context {about}{info.fill:.0%} full: {info.used:,} of {info.limit:,} tokens.{remedy}"

    # talking

    def send(
        self,
        prompt: str,
        *,
        on_piece: Callable[[str], object] | None = None,
        cell: str | None = None,
        run: str | None = None,
        append: bool = False,
        new: bool = False,
        record: bool = True,
        **options: Any,
    ) -> Reply:
        """Ask, and keep what was said.

        ``on_piece`` gets the text as it comes. ``cell`` and ``run`` say which notebook cell
        asks and in which execution: another execution of a cell replaces its turn, unless
        ``append``. ``new`` begins the conversation anew, ``record=False`` neither sends nor
        keeps any of it. ``options`` are settings for this request alone.

        Raises a :class:`ChatError`; then nothing was recorded unless text had arrived.
        """
        if not _checked(prompt).strip():
            raise InvalidRequestError("The prompt is empty.")
        said = Said(Turn(prompt, "", "", cell=cell, run=run), append, new)
        try:
            with self._queue.turn():
                return self._send(said, options, on_piece, record=record)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # while a model was loaded or a summary written
            raise ChatInterrupted(_stopped((), record=record)) from None
        finally:
            self._notify()

    def _send(
        self, said: Said, options: Mapping[str, Any], on_piece: Callable[[str], object] | None, *, record: bool
    ) -> Reply:
        target, system = self._target(options, ask=True), self._system_for(options)
        attempt = self._attempt(said, target, system, record=record)
        notes = self._warnings(target)
        if attempt.left_out and target.settings.compact_at < 1 and self._summarizes(attempt, record=record):
            notes += self._summarize_unasked("before")
            attempt = self._attempt(said, target, system, record=record)
        pieces: list[str] = []
        done = False
        try:
            attempt, reply = self._answer(attempt, pieces, on_piece)
            with uninterrupted():
                reply = self._record(said, attempt, reply, record=record)
                done = True
        except KeyboardInterrupt:
            with uninterrupted():
                if not done:
                    self._record_partial(said, attempt, pieces, "interrupted", record=record)
            raise ChatInterrupted(_stopped(pieces, record=record)) from None
        except Exception:  # whatever it was, what came is kept
            self._record_partial(said, attempt, pieces, "cut", record=record)
            raise
        if reply.stop_reason == "cut":
            kept = "What came is kept, marked as cut." if reply.text else "No text had come; nothing was recorded."
            raise ProviderError(f"The reply broke off. {kept}")
        notes += (*reply.receipts, *receipts.rerun(attempt))
        if attempt.left_out and target.settings.compact_at == 1 and self._summarizes(attempt, record=record):
            notes += self._summarize_unasked("after")
        return replace(reply, receipts=notes)

    def _attempt(self, said: Said, target: Target, system: str, *, record: bool) -> Attempt:
        past = Conversation() if self.conversation.begins_anew(said) or not record else self.conversation
        at = past.position(said.turn.cell, said.turn.run, append=said.append)
        return self._fitter.attempt(said.turn.prompt, target, past, at, system)

    def _summarizes(self, attempt: Attempt, *, record: bool) -> bool:
        """Whether turns that this request leaves out are to be summarised for good: not for one cell's model."""
        settings, mine = attempt.target.settings, self.config
        same = (settings.model, settings.window) == (mine.model, mine.window)
        end = attempt.scope.at == len(attempt.past.places) or attempt.scope.at + 1 == len(self.conversation.places)
        return settings.on_overflow == "summarise" and same and end and record

    def _summarize_unasked(self, when: Literal["before", "after"]) -> tuple[str, ...]:
        """Summarise without being asked, as a part of the turn; what goes wrong is only said."""
        if self._summary_failures >= SUMMARY_FAILURES:
            return ("Two summaries failed, so the oldest turns are only left out.",) if when == "after" else ()
        try:
            change = self._summarize(None, None, when)
        except ChatError as error:
            change = Change(f"No summary was written: {error}", changed=False)
        self._summary_failures = 0 if change.changed else self._summary_failures + 1
        return (str(change),)

    def _answer(
        self, attempt: Attempt, pieces: list[str], on_piece: Callable[[str], object] | None
    ) -> tuple[Attempt, Reply]:
        """Send, and after a refusal send less: at most twice, never once text was shown."""
        notes = receipts.fitted(attempt)
        first: tuple[Attempt, Overflow] | None = None
        for retry in range(RETRIES + 1):
            try:
                reply = self._stream(attempt, pieces, on_piece)
                if first is not None:
                    notes = (*notes, receipts.recovered(*first, attempt))
                return attempt, replace(reply, receipts=notes)
            except ContextOverflowError as error:
                overflow = error.overflow or Overflow()
                first = first or (attempt, overflow)
                stop = attempt.target.settings.on_overflow == "stop"
                if pieces or stop or retry == RETRIES:
                    self.models.refused(attempt.target.provider, overflow)
                    attempt = replace(attempt, target=self.models.target(attempt.target.settings, ask=False))
                    raise overflow_error(attempt, overflow, kept=bool(pieces)) from None
                attempt = self._fitter.smaller(attempt, overflow)
        raise AssertionError("the last retry returns or raises")

    def _stream(self, attempt: Attempt, pieces: list[str], on_piece: Callable[[str], object] | None) -> Reply:
        with closing(attempt.target.provider.stream(attempt.request)) as stream:
            for item in stream:
                if isinstance(item, Reply):
                    return _judged(item, attempt)
                pieces.append(item)
                if on_piece is not None:
                    on_piece(item)
        raise ProviderError("The provider sent no reply.")

    def _target(self, options: Mapping[str, Any], *, ask: bool) -> Target:
        given = {name: value for name, value in options.items() if value is not None}
        return self.models.target(self.config.changed(given), ask=ask)

    def _system_for(self, options: Mapping[str, Any]) -> str:
        """A cell's own system prompt holds for that cell."""
        own = options.get("system")
        return _checked(self.system if own is None else own)

    def _warnings(self, target: Target) -> tuple[str, ...]:
        """What the user should know of the window, each once."""
        lines = [f"{problem}; the other tables are used." for problem in self.models.problems]
        if target.window.source == "assumed":
            lines.append(receipts.assumed(target.settings.model, target.window))
        new = tuple(line for line in lines if line not in self._warned)
        self._warned.update(new)
        return new

    # recording

    def _record(self, said: Said, attempt: Attempt, reply: Reply, *, record: bool) -> Reply:
        """Keep a turn whole, with what its report tells of sizes."""
        target, model = attempt.target, attempt.target.settings.model
        if reply.stop_reason == "cut" and not reply.text:
            return reply
        turn = replace(
            said.turn, reply=reply.text, model=model, stop_reason=reply.stop_reason, usage=reply.usage,
            window=target.window.tokens, id=new_id(),
        )  # fmt: skip
        turn = replace(turn, start=_start_of(attempt, turn))
        if reply.usage is not None:
            target.meter.reported(attempt.sent, reply.text, reply.usage, turn_id=turn.id if record else None)
        self.models.answered(target.provider, reply)
        reply = replace(reply, model=model)
        if record:
            self._keep(replace(said, turn=turn), attempt, reply)
        return reply

    def _keep(self, said: Said, attempt: Attempt, reply: Reply) -> None:
        if self.conversation.begins_anew(said):
            self._begin_anew()
        self.conversation.append(said)
        now = replace(attempt.scope, at=attempt.scope.at + 1)  # where that is the end, all of the view was counted
        self._counted = self._key(attempt.target, now, attempt.cut.start) if reply.usage else ()

    def _record_partial(
        self, said: Said, attempt: Attempt, pieces: Sequence[str], why: Literal["interrupted", "cut"], *, record: bool
    ) -> None:  # fmt: skip
        if pieces:
            self._record(said, attempt, Reply("".join(pieces), None, why), record=record)

    def _key(self, target: Target, scope: Scope, start: int) -> tuple[object, ...]:
        return (self.conversation.revision, target.provider.tokenizer, scope.fixed, start, scope.at)

    def _now(self, target: Target) -> tuple[Scope, int]:
        """What the next request at the end of the conversation may hold, and where it begins."""
        scope = scope_at(self.conversation, len(self.conversation.places), self.system)
        return scope, self._fitter.start(target, self.conversation, scope)

    # acting

    def trim(self, turns: int | None = None) -> Change:
        """Leave out the oldest turns: down to 0.6 of the limit, or to the newest ``turns``."""
        return self._do(lambda: self._trim(turns))

    def _trim(self, turns: int | None) -> Change:
        if turns is not None and turns < 0:
            raise InvalidRequestError(f"Trim to {turns} turns? Say 0 or more.")
        target, places = self.models.target(self.config, ask=False), self.conversation.places
        scope, start = self._now(target)
        ledger, end = self._fitter.ledger(target, self.conversation, scope), scope.at
        budget = target.budget(target.meter.fixed(scope.fixed))
        goal = TRIM_TO * budget.limit
        if turns is not None:
            cut = ledger.last(turns, start, end)
        elif budget.fixed + ledger.pinned(end) + ledger.between(start, end) <= goal:
            return Change("Nothing to trim: the view is within 60 % of the limit", changed=False)
        else:
            cut = fit(ledger, budget, 0.0, start=start, end=end, goal=goal).start
        gone = ledger.count(start, cut)
        if not gone:
            return Change("Nothing to trim", changed=False)
        first = places[cut].id if cut < end else None
        return self._apply(Trimmed(first), f"Left out {receipts.oldest(gone)}")

    def summarize(self, instructions: str | None = None, *, method: Method | None = None) -> Change:
        """Send the older turns as a summary; the newest stay as they are.

        ``method`` "extractive" needs no model and is the default with local models; "model"
        asks the chat's own, with your ``instructions``. A summary that is no smaller or has
        lost most of the numbers and names is dropped.
        """
        return self._do(lambda: self._summarize(instructions, method, None))

    def _summarize(
        self, instructions: str | None, method: Method | None, automatic: Literal["before", "after"] | None
    ) -> Change:
        target = self.models.target(self.config, ask=False)
        scope, start = self._now(target)
        ledger, limit = self._fitter.ledger(target, self.conversation, scope), target.budget().limit
        keep = keep_verbatim(ledger, limit, start, scope.at)
        older = [p.turn for p in self.conversation.places[scope.floor : keep] if scope.holds(p) and not p.pinned]
        if not older:
            return Change("Nothing to summarise: the newest turns stay as they are", changed=False)
        old = self.conversation.summary if scope.covers else None
        before, cap = old.text if old else "", summary_cap(limit)
        method = method or ("extractive" if self.config.model.startswith("local/") else "model")
        if method == "extractive":
            text = extractive_summary(older, before, target, cap)
        else:
            text = model_summary(older, before, target, cap, instructions)
        text, kept, wanted = completed(text, [before, *(turn.prompt for turn in older)], target, cap)
        stands_for = target.meter.text(before) + sum(target.meter.turn(t.id, t.prompt, t.reply) for t in older)
        then = target.meter.fixed(Fixed(self.system, summary_message(text))) + ledger.between(keep, scope.at)
        problem = _summary_problem(text, kept, wanted)
        if target.meter.text(text) >= stands_for or then > limit:
            problem = problem or "it is no smaller than what it stands for, or leaves no room"
        if problem:
            return Change(f"Summary dropped: {problem}. Everything is as it was", changed=False)
        covers = scope.covers | {turn.id for turn in older}
        summary = Summary(text, frozenset(covers), method)
        count = "the oldest turn" if len(older) == 1 else f"{len(older):,} older turns"
        return self._apply(Summarized(summary, automatic), f"Summarised {count}")

    def clear(self) -> Change:
        """Begin anew; system prompt, model and settings stay."""

        def act() -> Change:
            count = len(self.conversation.places)
            if not count:
                return Change("Nothing to clear", changed=False)
            self._begin_anew()
            return self._apply(Cleared(), f"Cleared {_turns(count)}")

        return self._do(act)

    def undo(self) -> Change:
        """Take back the last action, whole."""

        def act() -> Change:
            label = self.conversation.undo_label
            return self._apply(Undone(), f"Undid the {label}") if label else Change("Nothing to undo", changed=False)

        return self._do(act)

    def redo(self) -> Change:
        """Do again what was last taken back."""

        def act() -> Change:
            label = self.conversation.redo_label
            return self._apply(Redone(), f"Redid the {label}") if label else Change("Nothing to redo", changed=False)

        return self._do(act)

    def pin(self, *numbers: int) -> Change:
        """Keep these turns in every view."""
        return self._mark(numbers, lambda place: place.pinned, Pinned, True, "Pinned")

    def unpin(self, *numbers: int) -> Change:
        """No longer keep these turns in every view."""
        return self._mark(numbers, lambda place: place.pinned, Pinned, False, "Unpinned")

    def exclude(self, *numbers: int) -> Change:
        """Leave these turns out of every view."""
        return self._mark(numbers, lambda place: place.excluded, Excluded, True, "Excluded")

    def include(self, *numbers: int) -> Change:
        """Bring excluded turns back; without numbers all that was trimmed, cut or excluded."""
        if numbers:
            return self._mark(numbers, lambda place: place.excluded, Excluded, False, "Included")

        def act() -> Change:
            past = self.conversation
            excluded = any(place.excluded for place in past.places)
            if not past.trimmed_to and not excluded and not self.info().left_out:
                return Change("Nothing to include: no turn is left out", changed=False)
            return self._apply(IncludedAll(), "Included all turns")

        return self._do(act)

    def set_system(self, text: str) -> Change:
        """Set the system prompt from here on; empty takes it away."""

        def act() -> Change:
            if _checked(text) == self.system:
                return Change("The system prompt is that already", changed=False)
            return self._apply(SystemSet(text), "System prompt set" if text else "System prompt taken away")

        return self._do(act)

    def configure(self, **changes: Any) -> Settings:
        """Change settings for the conversation from here on; a wrong one changes none."""
        system = changes.pop("system", None)
        settings = self.config.changed(changes)
        if changes.keys() & OF_A_TARGET:
            self.models.target(settings, ask=False)
        if settings.model != self.config.model:
            self._summary_failures = 0
        self.config = settings
        if system is not None:
            self.set_system(system)
        self._notify()
        return self.config

    def set_key(self, owner: str, key: str) -> None:
        """Keep a key in memory for a provider (``openai``) or an address."""
        self.models.set_key(owner, key)

    def add_messages(self, messages: Iterable[Mapping[str, str]]) -> Change:
        """Take in a conversation in OpenAI's form: ``{"role": …, "content": …}``.

        A first system message becomes the system prompt; neighbours of one role are joined.
        """
        system, turns = _read_messages(messages)

        def act() -> Change:
            before = self._used()
            if system is not None:
                self.conversation.append(SystemSet(system))
            for turn in turns:
                self.conversation.append(Said(turn, append=True))
            return Change(f"Added {_turns(len(turns))}", bool(turns or system), before, self._used())

        return self._do(act)

    def _mark(
        self,
        numbers: Iterable[int],
        marked: Callable[[Place], bool],
        event: type[Pinned] | type[Excluded],
        on: bool,
        word: str,
    ) -> Change:
        def act() -> Change:
            chosen = [self._place(number) for number in numbers]
            places = tuple(place.id for place in chosen if marked(place) != on)
            named = ", ".join(str(number) for number in numbers)
            if not chosen:
                raise InvalidRequestError("Which turn? Give its number.")
            if not places:
                return Change(
                    f"Nothing to do: turn {named} is {'' if on else 'not '}{event.__name__.lower()}", changed=False
                )
            return self._apply(event(places, on), f"{word} turn {named}")

        return self._do(act)

    def _place(self, number: int) -> Place:
        places = self.conversation.places
        if not 1 <= number <= len(places):
            there = f"there are 1 to {len(places)}" if places else "there are none yet"
            raise InvalidRequestError(f"There is no turn {number}: {there}.")
        return places[number - 1]

    def _do(self, act: Callable[[], Change]) -> Change:
        """Act now, or after the turn that is running; then those who listen are told what was done."""
        later = Change("Will be done after this turn", changed=False)

        def act_late() -> None:
            try:
                change = act()
            except ChatError as error:  # the turn it waited for is none the worse
                change = Change(str(error), changed=False)
            self._notify(change)

        try:
            change = self._queue.do(act, act_late, later)
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped; nothing has changed.") from None
        if change is not later:
            self._notify()
        return change

    def _apply(self, event: Event, text: str) -> Change:
        before = self._used()
        with uninterrupted():
            self.conversation.append(event)
        return Change(text, True, before, self._used())

    def _used(self) -> int:
        try:
            return self.info().used
        except ChatError:  # an action needs no model
            return 0

    def _begin_anew(self) -> None:
        """Warnings are given again after a clear."""
        self._announced.clear()
        self._summary_failures = 0

    def _notify(self, change: Change | None = None) -> None:
        """Tell who draws the conversation; ``change``: what was done after waiting for a turn."""
        for listener in tuple(self.listeners):
            listener(change)


def _checked(prompt: str) -> str:
    """A text that every server takes."""
    if not isinstance(prompt, str):
        raise InvalidRequestError(f"A prompt is text, not {type(prompt).__name__}.")
    found = UNSENDABLE.search(prompt)
    if found:
        kind = "a NUL" if found.group() == "\0" else f"a lone surrogate (U+{ord(found.group()):04X})"
        raise InvalidRequestError(
            f"There is {kind} at character {found.start() + 1:,}: no model takes that. Take it out."
        )
    return prompt


def _judged(reply: Reply, attempt: Attempt) -> Reply:
    """Servers say "length" too when it was the window that ended a reply."""
    usage, asked = reply.usage, attempt.request.max_tokens
    if reply.stop_reason != "max_tokens" or usage is None:
        return reply
    at_the_edge = usage.input_tokens + usage.output_tokens >= attempt.target.window.tokens - 1
    if at_the_edge or (asked is not None and usage.output_tokens < asked):
        return replace(reply, stop_reason="context_window")
    return reply


def _start_of(attempt: Attempt, turn: Turn) -> str | None:
    """The place at which the view began; the turn's own where nothing else was in view."""
    if attempt.cut.start == 0:
        return None
    return attempt.past.places[attempt.cut.start].id if attempt.cut.start < attempt.scope.at else turn.id


def _stopped(pieces: Sequence[str], *, record: bool) -> str:
    if not pieces:
        return "stopped before any text came; nothing was recorded."
    return "the text so far is kept." if record else "the text so far is shown, not kept."


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count:,} turns"


def _summary_problem(text: str, kept: int, wanted: int) -> str | None:
    """Why a summary cannot stand for what was said, or ``None``."""
    if not text.strip():
        return "it is empty"
    return None if keeps_enough(kept, wanted) else f"it kept {kept} of {wanted} numbers and names"


def _read_messages(messages: Iterable[Mapping[str, str]]) -> tuple[str | None, list[Turn]]:
    """The system prompt and the turns of an OpenAI-style list."""
    joined: list[tuple[str, str]] = []
    for message in messages:
        if not isinstance(message, Mapping):
            raise InvalidRequestError(f"{type(message).__name__} is no message: a role and its text.")
        role, text = message.get("role"), message.get("content")
        if role not in ("system", "user", "assistant") or not isinstance(text, str):
            raise InvalidRequestError(f"{role!r} with {type(text).__name__} is no message: a role and its text.")
        if joined and joined[-1][0] == role:
            joined[-1] = (role, f"{joined[-1][1]}\n\n{_checked(text)}")
        else:
            joined.append((role, _checked(text)))
    system = joined.pop(0)[1] if joined and joined[0][0] == "system" else None
    turns = []
    while joined:
        role, prompt = joined.pop(0)
        if role != "user":
            raise InvalidRequestError(f"A turn begins with a user's message, not with one of role {role!r}.")
        reply = joined.pop(0)[1] if joined and joined[0][0] == "assistant" else ""
        turns.append(Turn(prompt, reply, ""))
    return system, turns
