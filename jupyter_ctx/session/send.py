"""The way of one turn: answered from what is there already, else planned, sent, recorded and reported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..conversation.events import Kept, Summarized, TurnAdded
from ..conversation.messages import Turn, TurnRecord, new_id
from ..conversation.schema import Schema
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, InvalidRequestError, ProviderError
from ..providers.base import Reply, ReplySource
from ..runtime.interrupts import uninterrupted
from .actions import Change, keep_summary
from .complete import Completion, StreamListener, complete, parsed_reply
from .notices import AFTER_OTHERS, nearly_full, notices_of
from .prompt import Prompt
from .reply_checks import INCOMPLETE, NO_ROOM_LEFT
from .request_plan import RequestPlan
from .session import Session
from .state import NEARLY_FULL
from .summarizer import SummaryDraft, draft_summary, writer
from .view import request_digest

SUMMARY_FAILURES = 2


def send_prompt(session: Session, prompt: Prompt, coming: StreamListener) -> Reply:
    """Send a prompt and record the turn; the reply lacks the notices of the memory file and the store."""
    with asking(session, prompt) as said:
        is_anew = prompt.new and said.begins_anew(session.conversation)
        reply = _stored(session, said, prompt) if prompt.stored and prompt.record else None
        if reply is not None:
            coming.show(reply)
            return reply
        if is_anew:
            session.begin_anew()
        planned, before = _planned(session, said, prompt, coming)
        is_nearly_full = prompt.record and session.is_first_above(NEARLY_FULL, planned.fill)
        warning = nearly_full(planned.fill) if is_nearly_full else None
        coming.begin(warning)
        came = _recorded(session, said, prompt, planned, coming)
        try:
            reply = _with_notices(session, came, coming, before, record=prompt.record)
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped after the answer, which is kept.") from None
        if warning is None or coming.on_begin is not None:
            return reply
        return replace(reply, notices=(warning, *reply.notices))  # a script hears of it only so


@contextmanager
def asking(session: Session, prompt: Prompt) -> Iterator[TurnAdded]:
    """Hold the conversation while a prompt is asked, and notify the listeners."""
    if not prompt.text.strip():
        raise InvalidRequestError("The prompt is empty.")
    try:
        said = prompt.said(session.kept_settings())
        with session.turn():
            yield said
    except ChatInterrupted:
        raise
    except KeyboardInterrupt:  # while a file was read, a model loaded or a summary written
        raise ChatInterrupted(stopped((), record=prompt.record)) from None
    finally:
        session.notify()


# instead: answers that are there already


def _stored(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    """Return an answer to the same request that is there already; one that does not match its schema is none.

    The cell's own from an earlier kernel, or any of the user's; else one that was handed out with the notebook.
    """
    reply = None
    if prompt.stored == "all" and not said.begins_anew(session.conversation):
        reply = _stored_anywhere(session, said, prompt)
    elif prompt.stored == "cell":
        reply = _stored_in_cell(session, said, prompt)
    if reply is None and not session.notebook.handout.is_empty:
        reply = _handed(session, said, prompt)
    return reply


def _stored_in_cell(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    asked = said.turn.record
    for past, turn in session.earlier_answers(asked.cell, asked.run):
        is_whole = turn.stop_reason not in INCOMPLETE
        if is_whole and session.answers_as_then(past, turn, said, prompt):
            reply = stored_reply(turn, prompt.schema)
            if reply is not None:
                _show_again(session, said, turn)
                return reply
    return None


def _show_again(session: Session, said: TurnAdded, turn: Turn) -> None:
    """Record that a cell's answer was shown again, or its turn where the conversation lacks it.

    What a clear or an undo took out stays out while cells above the conversation's last turn are run.
    """
    asked, now = said.turn.record, session.conversation
    session.notebook.seen.add(turn.id)
    mine = now.of_cell(asked.cell)
    place = next((place for place in mine if place.turn.id == turn.id), None)
    if place is not None:
        session.record(Kept(place.id, asked.run or "", asked.execution))
    elif mine or not session.is_behind:
        if said.begins_anew(now):
            session.begin_anew()
        session.change(counted="", sent="")
        record = replace(turn.record, run=asked.run, execution=asked.execution, cost=None, stored=True)
        session.record(replace(said, turn=replace(turn, record=record)))


def _stored_anywhere(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    target = session.target(prompt.options, ask=True, prompt=prompt)
    planned = session.plan(said, target, session.system_for(prompt.options), record=True)
    turn = session.journal.answer_to(request_digest(target, planned.request)) if session.journal else None
    reply = None if turn is None or turn.stop_reason in INCOMPLETE else stored_reply(turn, prompt.schema)
    if turn is None or reply is None:
        return None
    asked, turn_id = said.turn.record, new_id()
    record = replace(
        turn.record, id=turn_id, start=planned.begins_at(turn_id), apart=planned.apart, cost=None, stored=True,
        shortened=planned.shortened_at(turn_id),
        cell=asked.cell, run=asked.run, source=asked.source, sources=asked.sources, typed=asked.typed,
        extents=asked.extents, at=time.time(),
    )  # fmt: skip
    turn = replace(turn, attachments=said.turn.attachments, record=record)
    _keep(session, replace(said, turn=turn), planned, counted=False)
    return reply


def _handed(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    """Return the answer to a prompt that was handed out with the notebook."""
    past, schema = session.conversation, prompt.schema
    turn, in_place = next(session.notebook.handout.turns(said, session.model_of(prompt.options), past), (None, True))
    reply = stored_reply(turn, schema, "handout") if turn is not None else None
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


# before: what is sent


def _planned(session: Session, said: TurnAdded, prompt: Prompt, coming: StreamListener) -> tuple[RequestPlan, str]:
    """Return the request for a turn, and what to say of a summary that was written for it.

    Before anything is left out, a server that reports its window is asked for it anew.
    """
    options = prompt.options
    coming.sent(str(options.get("model") or session.state.settings.model))
    system, target = session.system_for(options), session.target(options, ask=True, prompt=prompt)
    planned = session.plan(said, target, system, record=prompt.record)
    if planned.cut.start > planned.first:
        session.models.ask_again(target.provider)
        now = session.target(options, ask=True, prompt=prompt)
        if now.window != target.window:
            planned = session.plan(said, now, system, record=prompt.record)
    if planned.decision.means != "summarise before":
        return planned, ""
    draft = _drafted(session, coming)
    if draft.summary is None:
        return planned, str(Change(draft.text))
    shorter = session.plan(said, planned.target, system, record=True, summary=draft.summary)
    return shorter, str(Change(draft.text, before=round(planned.cut.before), after=round(shorter.cut.tokens)))


def _drafted(session: Session, coming: StreamListener) -> SummaryDraft:
    """Write a summary without being asked; a failure is reported, not raised."""
    if session.summary_failures >= SUMMARY_FAILURES:
        return SummaryDraft("Two summaries failed, so the oldest turns are only left out")
    if writer(session):
        coming.sent(writer(session), "Writing a summary of the oldest turns")
    try:
        draft = draft_summary(session)
    except ChatError as error:
        draft = SummaryDraft(f"No summary was written: {error}", failed=True)
    if draft.failed or draft.summary is not None:
        session.summary_failures = session.summary_failures + 1 if draft.failed else 0
    return draft


# then: the answer


def _recorded(
    session: Session, said: TurnAdded, prompt: Prompt, planned: RequestPlan, coming: StreamListener
) -> Completion:
    """Complete the planned request, and record the turn: whole, or with a flag what came of it. Raises a ChatError."""
    turn_id, record = new_id(), prompt.record
    turn_to_be, came = turn_id if record else None, None
    try:
        with uninterrupted():
            came = complete(
                session.models, planned, coming, prompt.schema, turn_id=turn_to_be, previous=session.previous,
                caller=session.caller(prompt, planned.target),
            )  # fmt: skip
            session.sent = came.sent
            for reply in came.replies:
                session.spend(came.sent.target, reply)
            if record and came.replies and came.verdict is not None:
                reply, counted = came.verdict.reply, came.verdict.counted
                answered = record_of(said.turn.record, came.sent, reply, turn_id)
                turn = replace(said.turn, reply=reply.text, thinking=reply.thinking, rounds=reply.rounds)
                turn = replace(turn, record=answered)
                is_counted = counted is not None and not counted.guessed
                _keep(session, replace(said, turn=turn), came.sent, counted=is_counted)
        reply = came.whole().reply
    except InvalidAnswerError as error:
        error.args = (f"{error} The answer is {'kept' if record else 'not kept'}.",)
        raise
    except KeyboardInterrupt:
        has_begun = bool(coming.pieces or (came is not None and came.replies))
        raise ChatInterrupted(stopped(has_begun, record=record)) from None
    if reply.stop_reason == "cut":
        is_kept = reply.text or reply.rounds
        left = "What came is kept, marked as cut." if is_kept else "No text had come; nothing was recorded."
        raise ProviderError(f"{broke_off(reply)} {left}")
    return came


def broke_off(reply: Reply) -> str:
    """Return that a reply broke off, and why."""
    return f"The reply broke off{f' ({reply.detail})' if reply.detail else ''}."


def _keep(session: Session, said: TurnAdded, sent: RequestPlan, *, counted: bool) -> None:
    """Record a turn; ``counted``: its view is the one whose size was reported last."""
    summary, usage = sent.past.summary, said.turn.usage
    view = sent.key(said.turn.id)
    # what a schema or a tool takes is not in the next request
    plain = sent.target.schema is None and not sent.target.tools and not (usage and usage.includes_tools)
    session.change(counted=view if counted else "", sent=view if plain else "")
    drafted = summary is not None and summary.id not in session.conversation.summaries
    session.record(*([Summarized(summary, "before")] if summary is not None and drafted else []), said)
    session.sent_at = session.clock() - (said.turn.record.seconds or 0.0)


def _with_notices(session: Session, came: Completion, coming: StreamListener, before: str, *, record: bool) -> Reply:
    """Do what an answer calls for once its turn is recorded, and return it with what is to be said of it.

    A server that truncated the prompt is asked for its window anew. What the request left out is summarised as a
    part of the turn, where the policy says so.
    """
    sent, verdict, after = came.sent, came.whole(), ""
    if verdict.truncated:
        session.models.ask_again(sent.target.provider)
    if sent.decision.means == "summarise after":
        after = str(keep_summary(session, _drafted(session, coming), "after"))
    problems = session.once(*session.models.problems, *session.memory.problems)
    lines = notices_of(came, outdated=_outdated(session, sent) if record else ())
    new = [line.text for line in lines if not line.once or session.once(line.once)]
    return replace(verdict.reply, notices=(*verdict.reply.notices, *problems, *filter(None, (before, *new, after))))


def _outdated(session: Session, sent: RequestPlan) -> tuple[int, ...]:
    """Return the numbers of later turns that answered another version of the turn that was just recorded."""
    past, position = session.conversation, sent.scope.at
    later = past.places[position + 1 :]
    stale = past.stale() if later and len(past.places[position].shown) > 1 else ()
    return tuple(number for number, place in enumerate(later, position + 2) if place.id in stale)


def record_of(asked: TurnRecord, sent: RequestPlan, reply: Reply, turn_id: str) -> TurnRecord:
    """Return the record of a turn with how it was answered."""
    target, summary = sent.target, sent.scope.summary
    return replace(
        asked, id=turn_id, model=target.model, stop_reason=reply.stop_reason, usage=reply.usage,
        window=target.window.tokens, limit=target.limit, cost=reply.cost, seconds=reply.seconds,
        start=sent.begins_at(turn_id), apart=sent.apart, summary=summary.id if summary else None,
        at=time.time(), digest=request_digest(target, sent.opening), tokens=reply.tokens, citations=reply.citations,
        shortened=sent.shortened_at(turn_id),
    )  # fmt: skip


def stored_reply(turn: Turn, schema: Schema | None, source: ReplySource = "store") -> Reply | None:
    """Return an answer that is there already; it costs nothing. ``None``: it does not match its schema, or is none."""
    if turn.stop_reason in NO_ROOM_LEFT and not turn.reply.strip():  # all thinking
        return None
    reply = Reply(
        turn.reply, turn.usage, turn.stop_reason, turn.model, source=source,
        thinking=turn.thinking, seconds=turn.record.seconds, tokens=turn.record.tokens, citations=turn.record.citations,
        rounds=turn.rounds,
    )  # fmt: skip
    try:
        return reply if schema is None else parsed_reply(reply, schema)
    except InvalidAnswerError:
        return None


def stopped(has_begun: object, *, record: bool) -> str:
    """Return what an interrupt has left."""
    if not has_begun:
        return "stopped before any text came; nothing was recorded."
    return "the text so far is kept." if record else "the text so far is shown, not kept."
