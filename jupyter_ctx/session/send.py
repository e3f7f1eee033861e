"""The way of one turn: answered from what is there already, else planned, sent, recorded and reported."""

from __future__ import annotations

from dataclasses import replace

from ..context.budget import HALF
from ..conversation.events import TurnAdded
from ..conversation.messages import new_id
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, ProviderError
from ..providers.base import Reply
from ..runtime.interrupts import uninterrupted
from ..wording import fill_share, named_turns
from .actions import Change, keep_summary
from .complete import Completion, StreamListener, complete, nothing
from .info import notices_of
from .plan import RequestPlan
from .prompt import Prompt
from .session import ABOVE, STOPPED_EARLY, Session
from .stored import answered_turn, stored_answer
from .summarizer import SummaryDraft, draft_summary, writer

MAKE_ROOM = "%chat summarise, trim or clear makes room."
SUMMARY_FAILURES = 2
NEARLY_FULL = 0.85  # of the limit: above this, a line says so before the answer


def send_prompt(session: Session, prompt: Prompt, coming: StreamListener) -> Reply:
    """Send a prompt and record the turn; the reply lacks the notices of the memory file and the store."""
    with session.turn(prompt) as said:
        reply = stored_answer(session, said, prompt) if prompt.stored and prompt.record else None
        if reply is not None:
            coming.show(reply)
            return reply
        planned, before = _planned(session, said, prompt, coming)
        fill = planned.tokens / max(1, planned.target.limit)
        is_nearly_full = prompt.record and fill <= 1 and _is_first_above(session, NEARLY_FULL, fill)
        warning = f"With this prompt, {fill_share(fill)} of the limit is used: {MAKE_ROOM}" if is_nearly_full else None
        coming.on_begin(warning)
        if warning is not None and coming.on_begin is nothing:
            before = [warning, *before]  # a script hears of it only so
        came = _recorded(session, said, prompt, planned, coming)
        try:
            return _with_notices(session, came, coming, before, record=prompt.record)
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped after the answer, which is kept.") from None


def _planned(
    session: Session, said: TurnAdded, prompt: Prompt, coming: StreamListener
) -> tuple[RequestPlan, list[str]]:  # fmt: skip
    """Return the request for a turn, and what to say of a summary that was written for it.

    Before anything is left out, a server that reports its window is asked for it anew.
    """
    coming.on_sent(str(prompt.options.get("model") or session.settings.model), "")
    planned = session.plan(said, prompt, ask=True)
    if planned.cut.start > planned.first:
        session.models.ask_again(planned.target.provider)
        if session.target(prompt.options, ask=True, prompt=prompt).window != planned.target.window:
            planned = session.plan(said, prompt, ask=True)
    if planned.cut.means != "summarise before":
        return planned, []
    draft = _drafted(session, coming)
    if draft.summary is None:
        return planned, [str(Change(draft.text))]
    shorter = session.plan(said, prompt, ask=True, summary=draft.summary)
    return shorter, [str(Change(draft.text, before=round(planned.cut.before), after=round(shorter.cut.tokens)))]


def _drafted(session: Session, coming: StreamListener) -> SummaryDraft:
    """Write a summary without being asked; a failure is reported, not raised."""
    if session.summary_failures >= SUMMARY_FAILURES:
        return SummaryDraft("Two summaries failed, so the oldest turns are only left out")
    if writer(session):
        coming.on_sent(writer(session), "Writing a summary of the oldest turns")
    try:
        draft = draft_summary(session)
    except ChatError as error:
        draft = SummaryDraft(f"No summary was written: {error}", failed=True)
    if draft.failed or draft.summary is not None:
        session.summary_failures = session.summary_failures + 1 if draft.failed else 0
    return draft


def _recorded(
    session: Session, said: TurnAdded, prompt: Prompt, planned: RequestPlan, coming: StreamListener
) -> Completion:
    """Complete the planned request, and record the turn: whole, or with a flag what came of it. Raises a ChatError."""
    turn_id, record, came = new_id(), prompt.record, Completion(planned)
    kept = "kept" if record else "not kept"
    try:
        with uninterrupted():
            came = complete(
                session.models, planned, coming, prompt.schema, turn_id=turn_id if record else None,
                previous=session.previous(planned), caller=session.caller(prompt, planned.target),
            )  # fmt: skip
            for each in came.replies:
                session.spend(came.sent.target, each)
            if record and came.replies and came.reply is not None:
                turn, usage = answered_turn(said.turn, came.sent, came.reply, turn_id), came.reply.usage
                is_counted = came.is_counted and usage is not None and not usage.guessed
                session.record_turn(replace(said, turn=turn), came.sent, is_counted=is_counted)
        reply = came.whole()
    except InvalidAnswerError as error:
        error.args = (f"{error} The answer is {kept}.",)
        raise
    except KeyboardInterrupt:
        has_begun = bool(coming.pieces or came.replies)
        raise ChatInterrupted(f"the text so far is {kept}." if has_begun else STOPPED_EARLY) from None
    if reply.stop_reason == "cut":
        has_begun = bool(reply.text or reply.rounds)
        raise ProviderError(f"{broke_off(reply)} {f'What came is {kept}.' if has_begun else 'No text had come.'}")
    return came


def broke_off(reply: Reply) -> str:
    """Return that a reply broke off, and why."""
    return f"The reply broke off{f' ({reply.detail})' if reply.detail else ''}."


def _with_notices(
    session: Session, came: Completion, coming: StreamListener, before: list[str], *, record: bool
) -> Reply:  # fmt: skip
    """Do what an answer calls for once its turn is recorded, and return it with what is to be said of it.

    A server that truncated the prompt is asked for its window anew. What the request left out is summarised as a
    part of the turn, where the policy says so.
    """
    sent, reply = came.sent, came.whole()
    if came.is_truncated:
        session.models.ask_again(sent.target.provider)
    is_summed_up = sent.cut.means == "summarise after"
    after = [str(keep_summary(session, _drafted(session, coming), "after"))] if is_summed_up else []
    problems = session.once(*session.models.problems)
    new = notices_of(came, session.once)
    outdated = _outdated(session, sent.scope.at) if record else []
    return replace(reply, notices=(*reply.notices, *problems, *before, *new, *outdated, *after))


def _outdated(session: Session, position: int) -> list[str]:
    """Return a line where later turns answered another version of the turn that was just recorded."""
    past = session.conversation
    later = past.places[position + 1 :]
    stale = past.stale() if later and past.places[position].changed else ()
    outdated = [number for number, place in enumerate(later, position + 2) if place.id in stale]
    if not outdated:
        return []
    return [f"{named_turns(outdated).capitalize()} answered the earlier wording. Run again to update."]


def threshold_notice(session: Session) -> str | None:
    """Return one line where the conversation first passes half of its limit."""
    try:
        info = session.latest().info
    except ChatError:  # the cell used another model, and the conversation's own is not available
        return None
    if not _is_first_above(session, HALF, info.fill):
        return None
    session.save()
    share = fill_share(info.fill, about=not info.exact)
    return f"Context {share} full: {info.used:,} of {info.limit:,} tokens. {MAKE_ROOM}"


def _is_first_above(session: Session, share: float, fill: float) -> bool:
    """Return whether ``fill`` is the first above this share of the limit; the line at 85 % covers that at half."""
    if fill < share:
        return False
    passed = [ABOVE + str(each) for each in (HALF, NEARLY_FULL) if each <= share]
    return ABOVE + str(share) in session.once(*passed)
