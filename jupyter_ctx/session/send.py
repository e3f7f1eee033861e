"""One turn: sent, recovered after a refusal, recorded whole or flagged."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..context.overflow import Overflow
from ..context.usage import Usage
from ..conversation.events import Kept, Said, Summarized
from ..conversation.messages import Turn, new_id
from ..errors import ChatError, ChatInterrupted, ContextOverflowError, ProviderError
from ..models.registry import Target
from ..providers.base import Reply, Thought
from ..runtime.interrupts import uninterrupted
from . import notices as receipts
from .actions import Actions, Change, SummaryDraft
from .byte_limit import request_bytes
from .planner import Attempt, heavy_error, overflow_error, seen
from .request_digest import digest_of
from .session import Session
from .truncation import is_truncated

RETRIES = 2
SUMMARY_FAILURES = 2
INCOMPLETE = ("interrupted", "cut")
NEAR_THE_EDGE = 0.5  # of the window: a reply without a token to a shorter prompt is not the window's doing
UNSAID = 3  # tokens that a reply without text may be reported with
TRUNCATED = "reads only a part:"  # among what was said of an endpoint, each once
OnText = Callable[[str], object] | None


@dataclass(slots=True)
class Coming:
    """A reply while it comes: who is shown it, what was shown of it so far, and when it was asked for.

    ``on_begin`` hears, before it is sent, the one line that should stand above it, or ``None``.
    """

    on_begin: Callable[[str | None], object] | None = None
    on_piece: OnText = None
    on_thought: OnText = None
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    def take(self, item: str | Thought) -> None:
        """Keep and show what has come."""
        if isinstance(item, Thought):
            text, kept, show = item.text, self.thoughts, self.on_thought
        else:
            text, kept, show = item, self.pieces, self.on_piece
        kept.append(text)
        if show is not None:
            show(text)

    def begin(self, warning: str | None = None) -> None:
        """Say that it will come now."""
        if self.on_begin is not None:
            self.on_begin(warning)

    def show(self, reply: Reply) -> None:
        """Show one that is there already: in one piece."""
        self.begin()
        for text, show in ((reply.thinking, self.on_thought), (reply.text, self.on_piece)):
            if text and show is not None:
                show(text)

    @property
    def seconds(self) -> float:
        """How long it takes so far."""
        return time.monotonic() - self.asked

    def broken(self, why: Literal["interrupted", "cut"]) -> Reply:
        """What has come, where nothing more will."""
        thinking = "".join(self.thoughts)
        return Reply("".join(self.pieces), None, why, thinking=thinking, seconds=self.seconds)


class Sender:
    """Sends turns of a session and records them."""

    def __init__(self, session: Session, actions: Actions) -> None:
        self._session, self._actions = session, actions
        self._summary_failures = 0  # of those nobody asked for, in a row

    def begin_anew(self) -> None:
        """Try again what had failed: the conversation or its model is another."""
        self._summary_failures = 0

    def send(self, said: Said, options: Mapping[str, Any], coming: Coming, *, record: bool) -> Reply:
        """Ask, and keep what was said. Raises a ChatError, or ChatInterrupted."""
        system = self._session.system_for(options)
        attempt = self._planned(said, options, system, record=record)
        target = attempt.target
        notes = self._warnings(target)
        if attempt.left_out and target.settings.compact_at < 1 and self._summarizes(attempt, record=record):
            attempt, line = self._with_summary(said, attempt, system)
            notes += (line,)
        coming.begin(self._warning(attempt) if record else None)
        attempt, reply = self._exchange(said, attempt, coming, record=record)
        if reply.stop_reason == "cut":
            kept = "What came is kept, marked as cut." if reply.text else "No text had come; nothing was recorded."
            why = f" ({reply.detail})" if reply.detail else ""
            raise ProviderError(f"The reply broke off{why}. {kept}")
        notes += (*reply.receipts, *receipts.rerun(attempt))
        if attempt.left_out and target.settings.compact_at == 1 and self._summarizes(attempt, record=record):
            notes += (self._summarize_after(),)
        return replace(reply, receipts=notes)

    def _planned(self, said: Said, options: Mapping[str, Any], system: str, *, record: bool) -> Attempt:
        """The request for a turn. Before anything is left out, a server that reports its window is asked anew."""
        session, target = self._session, self._session.target(options, ask=True)
        attempt = session.attempt(said, target, system, record=record)
        if attempt.cut.start == attempt.first:
            return attempt
        session.models.ask_again(target.provider)
        now = session.target(options, ask=True)
        return attempt if now.window == target.window else session.attempt(said, now, system, record=record)

    def stored(self, said: Said, options: Mapping[str, Any], among: Literal["cell", "all"]) -> Reply | None:
        """The answer to just this request that is there already: from before a restart, or ``all`` of the owner's."""
        session = self._session
        if session.conversation.begins_anew(said):
            return None
        # where the turn says itself what was in view, no server need be asked for its window
        target, system = session.target(options, ask=among == "all"), session.system_for(options)
        if among == "all":
            return self._stored_anywhere(said, target, system)
        place = next(iter(session.conversation.older(said.turn.record.cell, said.turn.record.run)), None)
        if place is None or place.turn.id in session.notebook.seen or place.turn.stop_reason in INCOMPLETE:
            return None
        session.notebook.seen.add(place.turn.id)
        if session.request_then(said, place, target, system) != place.turn.record.digest:
            return None
        session.record(Kept(place.id, said.turn.record.run or "", said.turn.record.execution))
        return _as_stored(place.turn)

    def _stored_anywhere(self, said: Said, target: Target, system: str) -> Reply | None:
        session = self._session
        attempt = session.attempt(said, target, system, record=True)
        turn = session.journal.answered(digest_of(target, attempt.request)) if session.journal else None
        if turn is None or turn.stop_reason in INCOMPLETE:
            return None
        asked, turn_id = said.turn.record, new_id()
        record = replace(
            turn.record, id=turn_id, start=_start_of(attempt, turn_id), cost=None, stored=True,
            cell=asked.cell, run=asked.run, source=asked.source,
        )  # fmt: skip
        turn = replace(turn, attachments=said.turn.attachments, record=record)
        self._keep(replace(said, turn=turn), attempt, counted=False)
        return _as_stored(turn)

    def _exchange(self, said: Said, attempt: Attempt, coming: Coming, *, record: bool) -> tuple[Attempt, Reply]:
        """Send and record: whole, or what came of it with a flag."""
        begun = self._session.conversation.length
        try:
            attempt, reply = self._answer(attempt, coming)
            truncated = self._is_truncated(attempt, reply)
            with uninterrupted():
                reply = self._record(said, attempt, reply, record=record, truncated=truncated)
            reply = replace(reply, receipts=(*reply.receipts, *self._doubts(attempt, reply, truncated=truncated)))
        except KeyboardInterrupt:
            with uninterrupted():
                self._record_partial(said, attempt, coming.broken("interrupted"), begun, record=record)
            raise ChatInterrupted(stopped(coming.pieces, record=record)) from None
        except Exception:  # whatever it was, what came is kept
            self._record_partial(said, attempt, coming.broken("cut"), begun, record=record)
            raise
        return attempt, reply

    def _answer(self, attempt: Attempt, coming: Coming) -> tuple[Attempt, Reply]:
        """Send, and after a refusal send less: at most twice, never once text or a thought was shown."""
        notes = receipts.fitted(attempt)
        first: tuple[Attempt, ContextOverflowError] | None = None
        for retry in range(RETRIES + 1):
            try:
                reply = self._stream(attempt, coming)
                again = (receipts.again(*first, attempt),) if first is not None else ()
                files = self._session.once(*receipts.without_files(attempt))
                return attempt, replace(reply, receipts=(*notes, *again, *files))
            except ContextOverflowError as error:
                first = first or (attempt, error)
                stop = attempt.target.settings.on_overflow == "stop"
                if coming.pieces or coming.thoughts or stop or retry == RETRIES:
                    raise self._given_up(attempt, error, kept=bool(coming.pieces)) from None
                attempt = self._smaller(attempt, error)
        raise AssertionError("the last retry returns or raises")

    def _smaller(self, attempt: Attempt, error: ContextOverflowError) -> Attempt:
        """A request that is strictly smaller than the refused one, in what was refused of it."""
        fitter = self._session.fitter
        try:
            return fitter.lighter(attempt) if error.by_bytes else fitter.smaller(attempt, error.overflow or Overflow())
        except ContextOverflowError:
            self._session.models.failed(attempt.target)
            raise

    def _given_up(self, attempt: Attempt, refusal: ContextOverflowError, *, kept: bool) -> ContextOverflowError:
        """What to say of a refusal that stands; what it taught holds from the next cell on."""
        if refusal.by_bytes:
            return heavy_error(attempt)
        models, overflow = self._session.models, refusal.overflow or Overflow()
        models.refused(attempt.target, seen(attempt, overflow))
        models.failed(attempt.target)
        attempt = replace(attempt, target=models.target(attempt.target.settings, ask=False))
        return overflow_error(attempt, overflow, kept=kept)

    def _stream(self, attempt: Attempt, coming: Coming) -> Reply:
        coming.asked = time.monotonic()  # a request that was refused before is not this one
        with closing(attempt.target.provider.stream(attempt.request)) as stream:
            for item in stream:
                if isinstance(item, Reply):
                    return _checked(_judged(replace(item, seconds=coming.seconds), attempt))
                coming.take(item)
        raise ProviderError("The provider sent no reply.")

    def _warnings(self, target: Target) -> tuple[str, ...]:
        """What the user should know of the window, each once."""
        lines = [*self._session.models.problems, *self._session.memory.problems]
        if target.window.source == "assumed":
            lines.append(receipts.assumed(target.model, target.window))
        if self._session.conversation.has_files and not target.provider.takes:
            lines.append(f"{target.model} takes text only: the files of earlier turns are not sent to it.")
        return self._session.once(*lines)

    def _warning(self, attempt: Attempt) -> str | None:
        """One line, once, where the request nearly fills the context."""
        fill = attempt.tokens / max(1, attempt.budget.limit)
        return receipts.nearly_full(fill) if self._session.nearly_full(fill) else None

    def _is_truncated(self, attempt: Attempt, reply: Reply) -> bool:
        session = self._session
        goes_on = attempt.past is session.conversation and session.follows(
            attempt.target, attempt.scope, attempt.cut.start
        )  # fmt: skip
        follows = attempt.past.places[attempt.scope.at - 1].turn if goes_on else None
        if reply.usage is None:
            return False
        read, end = session.models.read, attempt.target.provider.endpoint
        truncated = is_truncated(attempt, reply.usage, follows, read.get(end, 0))
        if truncated:
            read[end] = max(reply.usage.input_tokens, read.get(end, 0))
        return truncated

    def _summarizes(self, attempt: Attempt, *, record: bool) -> bool:
        """Whether turns that this request leaves out are summarised for good: not for one cell's model or for bytes."""
        if self._session.models.evidence(attempt.target).heavy is not None:
            return False  # a summary is measured in tokens
        settings, usual = attempt.target.settings, self._session.settings
        same = (settings.model, settings.window) == (usual.model, usual.window)
        end = attempt.scope.at in (len(attempt.past.places), len(self._session.conversation.places) - 1)
        return settings.on_overflow == "summarise" and same and end and record

    def _with_summary(self, said: Said, attempt: Attempt, system: str) -> tuple[Attempt, str]:
        """The request with a summary of older turns in it, which is recorded with the turn, and what to say of that."""
        draft = self._drafted()
        if draft.summary is None:
            return attempt, str(Change(draft.text))
        shorter = self._session.attempt(said, attempt.target, system, record=True, summary=draft.summary)
        before, after = round(attempt.cut.before), round(shorter.cut.tokens)
        return shorter, str(Change(draft.text, before=before, after=after))

    def _summarize_after(self) -> str:
        """Summarise what the request has left out, as a part of the turn, and return what to say of that."""
        try:
            return str(self._actions.keep(self._drafted(), "after"))
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped while a summary was written; the answer is kept.") from None

    def _drafted(self) -> SummaryDraft:
        """Write a summary without being asked; what goes wrong is only said."""
        if self._summary_failures >= SUMMARY_FAILURES:
            return SummaryDraft("Two summaries failed, so the oldest turns are only left out")
        try:
            draft = self._actions.draft()
        except ChatError as error:
            draft = SummaryDraft(f"No summary was written: {error}", failed=True)
        if draft.failed or draft.summary is not None:
            self._summary_failures = self._summary_failures + 1 if draft.failed else 0
        return draft

    def _doubts(self, attempt: Attempt, reply: Reply, *, truncated: bool) -> tuple[str, ...]:
        """What a report tells of a prompt that was perhaps not read whole."""
        if reply.usage is None:
            return ()
        if not truncated:
            return receipts.beyond(attempt, reply.usage)
        self._session.models.ask_again(attempt.target.provider)
        said = self._session.once(f"{TRUNCATED} {attempt.target.provider.endpoint}")
        return (receipts.truncated(attempt, reply.usage),) if said else ()

    def _record(self, said: Said, attempt: Attempt, reply: Reply, *, record: bool, truncated: bool = False) -> Reply:
        """Keep a turn whole, with what its report tells of sizes; nothing where not all was read."""
        target, model = attempt.target, attempt.target.model
        if reply.stop_reason == "cut" and not reply.text:
            return reply
        cost, turn_id = self._session.billed(target, reply), new_id()
        answered = replace(
            said.turn.record, id=turn_id, model=model, stop_reason=reply.stop_reason, usage=reply.usage,
            window=target.window.tokens, cost=cost, seconds=reply.seconds, start=_start_of(attempt, turn_id),
            summary=attempt.scope.summary.id if attempt.scope.summary else None,
            digest=digest_of(target, attempt.request),
        )  # fmt: skip
        turn = replace(said.turn, reply=reply.text, thinking=reply.thinking, record=answered)
        usage = None if truncated or attempt.dropped or not _is_whole(reply) else reply.usage
        if usage is not None:
            target.meter.reported(attempt.sent, reply.text, usage, turn_id=turn_id if record else None)
        heavy = self._session.models.evidence(target).heavy is not None
        size = request_bytes(attempt.request.messages) if heavy else None
        self._session.models.answered(target.provider, reply, attempt.tokens, size)
        if record:
            self._keep(replace(said, turn=turn), attempt, counted=usage is not None and not usage.guessed)
        return replace(reply, model=model, cost=cost)

    def _keep(self, said: Said, attempt: Attempt, *, counted: bool) -> None:
        session, summary = self._session, attempt.past.summary
        now = replace(attempt.scope, at=attempt.scope.at + 1)  # where that is the end, all of the view was counted
        drafted = summary is not None and summary.id not in session.conversation.summaries
        session.record(
            *([Summarized(summary, "before")] if summary is not None and drafted else []),
            said,
            counted=lambda: session.key(attempt.target, now, attempt.cut.start) if counted else (),
        )
        session.change(sent=session.key(attempt.target, now, attempt.cut.start))

    def _record_partial(self, said: Said, attempt: Attempt, reply: Reply, begun: int, *, record: bool) -> None:
        """Keep what has come, unless the turn is there already: what failed then came after it."""
        if reply.text and self._session.conversation.length == begun:
            self._record(said, attempt, reply, record=record)


def _as_stored(turn: Turn) -> Reply:
    """An answer that is there already; it costs nothing."""
    return Reply(
        turn.reply, turn.usage, turn.stop_reason, turn.model, (receipts.STORED,), stored=True,
        thinking=turn.thinking, seconds=turn.record.seconds,
    )  # fmt: skip


def _judged(reply: Reply, attempt: Attempt) -> Reply:
    """The reply with why it really ended: servers say "length", too, when it was the window that ended it."""
    usage, asked = reply.usage, attempt.request.max_tokens
    if reply.stop_reason != "max_tokens" or usage is None:
        return reply
    at_the_edge = abs(usage.input_tokens + usage.output_tokens - attempt.target.window.tokens) <= 1
    near = usage.input_tokens >= NEAR_THE_EDGE * attempt.target.window.tokens
    nothing = near and not usage.output_tokens and not reply.text
    if at_the_edge or nothing or (asked is not None and _ends_early(reply, usage, asked, attempt)):
        return replace(reply, stop_reason="context_window")
    return reply


def _ends_early(reply: Reply, usage: Usage, asked: int, attempt: Attempt) -> bool:
    """Whether a server of one's own has written less than was asked for; others may think without counting it."""
    thought = reply.thinking or usage.reasoning_tokens
    return bool(reply.text) and usage.output_tokens < asked and not thought and not attempt.target.provider.catalogue


def _checked(reply: Reply) -> Reply:
    """A reply that the window ended before its first token is a refusal that came as a success."""
    usage, said = reply.usage, reply.text or reply.thinking
    if reply.stop_reason == "context_window" and not said and (usage is None or usage.output_tokens <= UNSAID):
        overflow = Overflow(input_tokens=usage.input_tokens if usage else None)
        raise ContextOverflowError("The window had no room for a reply.", overflow=overflow)
    return reply


def _is_whole(reply: Reply) -> bool:
    """Whether the report counts the whole reply: one that broke off was reported before its end, if at all."""
    usage = reply.usage
    return reply.stop_reason not in INCOMPLETE and usage is not None and (usage.output_tokens > 0 or not reply.text)


def _start_of(attempt: Attempt, turn_id: str) -> str | None:
    """The place at which the view began; the turn's own where nothing else was in view."""
    if attempt.cut.start == 0:
        return None
    return attempt.past.places[attempt.cut.start].id if attempt.cut.start < attempt.scope.at else turn_id


def stopped(pieces: Sequence[str], *, record: bool) -> str:
    """What an interrupt has left."""
    if not pieces:
        return "stopped before any text came; nothing was recorded."
    return "the text so far is kept." if record else "the text so far is shown, not kept."
