"""The way of one turn: planned, sent, sent again smaller after a refusal, judged, recorded, reported."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..conversation.events import Kept, Said, Summarized
from ..conversation.messages import Turn, TurnRecord, new_id
from ..conversation.schema import Schema
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, ProviderError
from ..models.registry import Target
from ..providers.base import AnswerSchema, Reply
from ..runtime.interrupts import uninterrupted
from .actions import Actions, Change, SummaryDraft
from .attempt import Attempt
from .exchange import Coming, Exchanged, exchange
from .judge import INCOMPLETE, NO_ROOM_LEFT, Verdict
from .messages_sent import request_digest
from .notices import AFTER_OTHERS, HANDED, STORED, Outcome, nearly_full, notices_of
from .prompt import FromStore
from .session import Session
from .tries import answered, as_answer, parsed_reply

SUMMARY_FAILURES = 2


class Sender:
    """Sends turns of a session and records them."""

    def __init__(self, session: Session, actions: Actions) -> None:
        self._session, self._actions = session, actions
        self._summary_failures = 0  # of those nobody asked for, in a row

    def begin_anew(self) -> None:
        """Forget failed summaries: the conversation or its model is another one."""
        self._summary_failures = 0

    def send(
        self,
        said: Said,
        options: Mapping[str, Any],
        coming: Coming,
        *,
        record: bool,
        schema: Schema | None = None,
    ) -> Reply:
        """Plan a request, exchange it for a reply, record both, and say what was done. Raises a ChatError."""
        session = self._session
        planned, before = self._planned(said, options, as_answer(schema), coming, record=record)
        coming.begin(nearly_full(planned.fill) if record and session.nearly_full(planned.fill) else None)
        exchanged = self._exchange(said, planned, coming, schema, record=record)
        sent, verdict, refusal = exchanged.sent, exchanged.whole(), exchanged.refusal
        reply = verdict.reply
        if reply.stop_reason == "cut":
            left = "What came is kept, marked as cut." if reply.text else "No text had come; nothing was recorded."
            raise ProviderError(f"The reply broke off{f' ({reply.detail})' if reply.detail else ''}. {left}")
        try:
            after = self._follow_up(sent, verdict, coming)
            problems = (*session.models.problems, *session.memory.problems)
            files = tuple(session.conversation.files.values())
            outdated = self._outdated(sent) if record else ()
            lines = notices_of(Outcome(planned, sent, refusal, verdict, problems, files, before, after, outdated))
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped after the answer, which is kept.") from None
        new = (line.text for line in lines if not line.once or session.once(line.once))
        return replace(reply, notices=(*reply.notices, *new))

    def _planned(
        self, said: Said, options: Mapping[str, Any], schema: AnswerSchema | None, coming: Coming, *, record: bool
    ) -> tuple[Attempt, str]:
        """Return the request for a turn, and what to say of a summary that was written for it.

        Before anything is left out, a server that reports its window is asked for it anew.
        """
        session = self._session
        coming.sent(session.asked(options))
        system, target = session.system_for(options), session.target(options, ask=True, schema=schema)
        attempt = session.attempt(said, target, system, record=record)
        if attempt.cut.start > attempt.first:
            session.models.ask_again(target.provider)
            now = session.target(options, ask=True, schema=schema)
            if now.window != target.window:
                attempt = session.attempt(said, now, system, record=record)
        if attempt.decision.means != "summarise before":
            return attempt, ""
        draft = self._drafted(coming)
        if draft.summary is None:
            return attempt, str(Change(draft.text))
        shorter = session.attempt(said, attempt.target, system, record=True, summary=draft.summary)
        return shorter, str(Change(draft.text, before=round(attempt.cut.before), after=round(shorter.cut.tokens)))

    def stored(
        self, said: Said, options: Mapping[str, Any], among: FromStore, schema: Schema | None = None
    ) -> Reply | None:
        """Return a stored answer to the same request: the cell's own from an earlier kernel, or any of the user's.

        One that does not match its schema is none.
        """
        session = self._session
        if among == "handed" or said.begins_anew(session.conversation):
            return None
        # the stored turn names the view it was sent with: no server need be asked for its window
        target = session.target(options, ask=among == "all", schema=as_answer(schema))
        if among == "all":
            return self._stored_anywhere(said, target, session.system_for(options), schema)
        pasts, asked = (session.conversation, *reversed(session.conversation.earlier)), said.turn.record
        older = ((past, place) for past in pasts for place in past.older(asked.cell, asked.run))
        past, place = next(older, (session.conversation, None))
        if place is None or place.turn.id in session.notebook.seen or place.turn.stop_reason in INCOMPLETE:
            return None
        session.notebook.seen.add(place.turn.id)
        system, at = session.system_for(options, place.turn), past.index(place.id)
        if session.request_then(past, said, place.turn, at, target, system) != place.turn.record.digest:
            return None
        reply = stored_reply(place.turn, schema)
        if reply is not None:
            session.record(Kept(place.id, said.turn.record.run or "", said.turn.record.execution))
        return reply

    def handed(self, said: Said, options: Mapping[str, Any], schema: Schema | None) -> Reply | None:
        """Return the answer to a prompt that was handed out with the notebook."""
        session, past = self._session, self._session.conversation
        found = session.notebook.handout.turns(said, session.model_of(options), past)
        turn, in_place = next(found, (None, True))
        reply = stored_reply(turn, schema) if turn is not None else None
        if turn is None or reply is None:
            return None
        reply = reply if in_place else replace(reply, notices=(*reply.notices, AFTER_OTHERS))
        shown = next(iter(past.older(turn.record.cell, turn.record.run)), None)
        if shown is not None and (shown.turn, shown.turn.record.digest) == (turn, turn.record.digest):
            session.record(Kept(shown.id, turn.record.run or "", turn.record.execution))
            return reply
        session.change(counted="", sent="")
        session.record(replace(said, turn=turn))
        return reply

    def _stored_anywhere(self, said: Said, target: Target, system: str, schema: Schema | None) -> Reply | None:
        session = self._session
        attempt = session.attempt(said, target, system, record=True)
        digest = request_digest(target, attempt.request)
        turn = session.journal.answered(digest) if session.journal else None
        reply = None if turn is None or turn.stop_reason in INCOMPLETE else stored_reply(turn, schema)
        if turn is None or reply is None:
            return None
        asked, turn_id = said.turn.record, new_id()
        record = replace(
            turn.record, id=turn_id, start=attempt.begins_at(turn_id), apart=attempt.apart, cost=None, stored=True,
            cell=asked.cell, run=asked.run, source=asked.source, sources=asked.sources, typed=asked.typed,
            extents=asked.extents, at=time.time(),
        )  # fmt: skip
        turn = replace(turn, attachments=said.turn.attachments, record=record)
        self._keep(replace(said, turn=turn), attempt, counted=False)
        return reply

    def _exchange(
        self, said: Said, planned: Attempt, coming: Coming, schema: Schema | None, *, record: bool
    ) -> Exchanged:
        """Exchange the planned request for an answer, and record the turn: whole, or with a flag what came of it."""
        session, turn_id = self._session, new_id()
        turn_to_be = turn_id if record else None
        send = partial(exchange, session.fitter, turn_id=turn_to_be, previous=session.previous)
        try:
            with uninterrupted():
                exchanged = answered(schema, send, planned, coming)
                for reply in exchanged.replies:
                    session.spend(exchanged.sent.target, reply)
                if record and exchanged.replies and exchanged.verdict is not None:
                    self._record(said, exchanged.sent, exchanged.verdict, turn_id)
            exchanged.whole()
        except InvalidAnswerError as error:
            error.args = (f"{error} The answer is {'kept' if record else 'not kept'}.",)
            raise
        except KeyboardInterrupt:
            raise ChatInterrupted(stopped(coming.pieces, record=record)) from None
        return exchanged

    def _record(self, said: Said, attempt: Attempt, verdict: Verdict, turn_id: str) -> None:
        """Record a turn as it was answered."""
        reply, counted = verdict.reply, verdict.counted
        answered = record_of(said.turn.record, attempt, reply, turn_id)
        turn = replace(said.turn, reply=reply.text, thinking=reply.thinking, record=answered)
        self._keep(replace(said, turn=turn), attempt, counted=counted is not None and not counted.guessed)

    def _keep(self, said: Said, attempt: Attempt, *, counted: bool) -> None:
        session, summary, usage = self._session, attempt.past.summary, said.turn.usage
        view = attempt.key(said.turn.id)
        # what a schema or a tool takes is not in the next request
        plain = attempt.request.schema is None and not (usage and usage.includes_tools)
        session.change(counted=view if counted else "", sent=view if plain else "")
        drafted = summary is not None and summary.id not in session.conversation.summaries
        session.record(*([Summarized(summary, "before")] if summary is not None and drafted else []), said)
        session.sent_at = session.clock() - (said.turn.record.seconds or 0.0)

    def _outdated(self, sent: Attempt) -> tuple[int, ...]:
        """Return the numbers of later turns that answered another version of the turn that was just recorded."""
        past, position = self._session.conversation, sent.scope.at
        later = past.outdated_by(past.places[position]) if position < len(past.places) else ()
        return tuple(past.index(place.id) + 1 for place in later)

    def _follow_up(self, sent: Attempt, verdict: Verdict, coming: Coming) -> str:
        """Do what an answer calls for once its turn is recorded; return what to say of a summary that was written.

        A server that truncated the prompt is asked for its window anew. What the request left out is summarised as a
        part of the turn, where the policy says so.
        """
        if verdict.truncated:
            self._session.models.ask_again(sent.target.provider)
        if sent.decision.means != "summarise after":
            return ""
        draft = self._drafted(coming)
        return str(self._actions.keep(draft, "after"))

    @property
    def _gave_up(self) -> bool:
        """Whether no more summaries are tried that nobody asked for."""
        return self._summary_failures >= SUMMARY_FAILURES

    def _drafted(self, coming: Coming) -> SummaryDraft:
        """Write a summary without being asked; a failure is reported, not raised."""
        if self._gave_up:
            return SummaryDraft("Two summaries failed, so the oldest turns are only left out")
        if self._actions.writer:
            coming.sent(self._actions.writer, "Writing a summary of the oldest turns")
        try:
            draft = self._actions.draft()
        except ChatError as error:
            draft = SummaryDraft(f"No summary was written: {error}", failed=True)
        if draft.failed or draft.summary is not None:
            self._summary_failures = self._summary_failures + 1 if draft.failed else 0
        return draft


def record_of(asked: TurnRecord, attempt: Attempt, reply: Reply, turn_id: str) -> TurnRecord:
    """Return the record of a turn with how it was answered."""
    target, summary = attempt.target, attempt.scope.summary
    return replace(
        asked, id=turn_id, model=target.model, stop_reason=reply.stop_reason, usage=reply.usage,
        window=target.window.tokens, limit=target.budget().limit, cost=reply.cost, seconds=reply.seconds,
        start=attempt.begins_at(turn_id), apart=attempt.apart, summary=summary.id if summary else None,
        at=time.time(), digest=request_digest(target, attempt.request), tokens=reply.tokens, citations=reply.citations,
    )  # fmt: skip


def stored_reply(turn: Turn, schema: Schema | None) -> Reply | None:
    """Return an answer that is there already; it costs nothing. ``None``: it does not match its schema, or is none."""
    if turn.stop_reason in NO_ROOM_LEFT and not turn.reply.strip():  # all thinking
        return None
    reply = Reply(
        turn.reply, turn.usage, turn.stop_reason, turn.model, (HANDED if turn.record.handed else STORED,), stored=True,
        thinking=turn.thinking, seconds=turn.record.seconds, tokens=turn.record.tokens, citations=turn.record.citations,
    )  # fmt: skip
    try:
        return reply if schema is None else parsed_reply(reply, schema)
    except InvalidAnswerError:
        return None


def stopped(pieces: Sequence[str], *, record: bool) -> str:
    """Return what an interrupt has left."""
    if not pieces:
        return "stopped before any text came; nothing was recorded."
    return "the text so far is kept." if record else "the text so far is shown, not kept."
