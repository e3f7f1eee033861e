"""Answers that are there already: what a cell was answered before this kernel, and what was handed out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..attachments.attached import TextRoom
from ..config.settings import MODEL_SETTINGS, Settings, kept_settings, restored_settings
from ..conversation.conversation import Conversation
from ..conversation.events import Chosen, Kept, Offered, TurnAdded
from ..conversation.messages import INCOMPLETE, Alternative, Alternatives, Turn, new_id
from ..conversation.places import TurnSlot
from ..conversation.schema import Schema
from ..errors import InvalidAnswerError, InvalidRequestError
from ..models.registry import asked_model, settings_with
from ..providers.base import Reply, ReplySource
from ..runtime.frontend import here
from .complete import NO_ROOM_LEFT, parsed_reply
from .plan import RequestPlan
from .prompt import Prompt, text_room
from .session import Session
from .view import Scope, messages_before, request_digest

ALWAYS_OF_NOW = {"parameters", "max_cost", "confirm_cost"}  # settings that are not kept, or that bound what is paid
AFTER_OTHERS = "It was asked after other turns than those that stand before it here."


class StoredAnswers(NamedTuple):
    """Answers to one prompt that are there already.

    answers: one for each request
    replies: the same as replies; ``None``: that one failed
    past: the conversation that has them; ``None``: they were handed out with the notebook
    """

    answers: Alternatives
    replies: Sequence[Reply | None]
    past: Conversation | None = None


def stored_answer(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    """Return an answer to the same request that is there already, or any of the user's, where those will do."""
    if prompt.stored == "all" and not session.conversation.begins_anew(said):
        reply = _stored_anywhere(session, said, prompt)
        if reply is not None:
            return reply
    known = stored_answers(session, said, [prompt])
    return known.replies[0] if known is not None else None


def stored_answers(session: Session, said: TurnAdded, prompts: Sequence[Prompt]) -> StoredAnswers | None:
    """Return answers to requests for one prompt that are there already, and count its cell as run.

    They are the cell's own from an earlier kernel, else those that were handed out with the notebook.
    """
    known = _of_the_cell(session, said, prompts) if prompts[0].stored != "handed" else None
    if known is None and not session.notebook.handout.is_empty:
        known = _handed(session, said, prompts)
    if known is not None:
        _show_again(session, said, known)
    return known


def _of_the_cell(session: Session, said: TurnAdded, prompts: Sequence[Prompt]) -> StoredAnswers | None:
    asked = said.turn.record
    for past, turn in earlier_answers(session, asked.cell, asked.run):
        offers = (event.alternatives for event in past.newest(Offered)) if len(prompts) > 1 else ()
        offered = next((offer for offer in offers if turn.id in [each.id for each in offer.turns]), None)
        answers = offered or Alternatives(said.turn, (Alternative.of(turn),), said.append, said.new)
        if len(answers.answers) != len(prompts):
            continue
        pairs = zip(answers.answers, prompts, strict=True)
        replies = [
            None if answer.error else _reply_then(session, past, answers.turn(answer), said, prompt)
            for answer, prompt in pairs
        ]
        if [reply is None for reply in replies] == [bool(answer.error) for answer in answers.answers]:
            return StoredAnswers(answers, replies, past)
    return None


def _reply_then(session: Session, past: Conversation, turn: Turn, said: TurnAdded, prompt: Prompt) -> Reply | None:
    """Return the reply of a turn of ``past``; ``None``: it broke off, or answered another request than this one."""
    reply = None if turn.stop_reason in INCOMPLETE else stored_reply(turn, prompt.schema)
    return reply if reply is not None and _answers_as_then(session, past, turn, said, prompt) else None


def _handed(session: Session, said: TurnAdded, prompts: Sequence[Prompt]) -> StoredAnswers | None:
    """Return the answers of each model in the order in which they were handed out; ``None``: there are fewer."""
    answers, replies = list[Alternative](), list[Reply]()
    models = [asked_model(session.settings_for(prompt.options)) for prompt in prompts]
    found = {model: session.notebook.handout.turns(said, model, session.conversation) for model in models}
    for model, prompt in zip(models, prompts, strict=True):
        turn, in_place = next(found[model], (None, True))
        reply = stored_reply(turn, prompt.schema, "handout") if turn is not None else None
        if turn is None or reply is None:
            return None
        answers.append(Alternative.of(turn))
        replies.append(reply if in_place else replace(reply, notices=(*reply.notices, AFTER_OTHERS)))
    return StoredAnswers(Alternatives(said.turn, tuple(answers), said.append, said.new), replies)


def _show_again(session: Session, said: TurnAdded, known: StoredAnswers) -> None:
    """Record that answers were shown again, or their turn where the conversation lacks it.

    What a clear or an undo took out stays out while cells above the conversation's last turn are run.
    """
    asked, now, turns = said.turn.record, session.conversation, known.answers.turns
    session.notebook.seen.update(turn.id for turn in turns)
    same = [(turn, turn.record.digest) for turn in turns]
    older = now.older(asked.cell, asked.run)
    place = next((place for place in older if (place.turn, place.turn.record.digest) in same), None)
    if place is not None:
        session.record(Kept(place.id, asked.run or "", asked.execution))
        return
    if known.past is not None and session.is_behind:
        return
    if len(known.replies) > 1:
        choices = known.past.newest(Chosen) if known.past is not None else ()
        record_offer(session, known.answers, next((e.turn for e in choices if e.alternatives == known.answers.id), ""))
        return
    record = replace(turns[0].record, run=asked.run, execution=asked.execution, cost=None, stored=True)
    session.record_turn(replace(said, turn=replace(turns[0], record=record)))


def record_offer(session: Session, answers: Alternatives, chosen: str = "") -> None:
    """Record several answers: the ``chosen`` one is the turn, else the first whole one, else the first there is."""
    there = [answer for answer in answers.answers if not answer.error]
    first = min(there, key=lambda answer: (bool(answer.problem), answer.record.stop_reason != "stop"))
    session.record(Offered(answers), Chosen(answers.id, chosen or first.record.id))


def _stored_anywhere(session: Session, said: TurnAdded, prompt: Prompt) -> Reply | None:
    planned = session.plan(said, prompt, ask=True)
    turn = session.journal.answer_to(request_digest(planned.target, planned.request)) if session.journal else None
    reply = None if turn is None or turn.stop_reason in INCOMPLETE else stored_reply(turn, prompt.schema)
    if reply is not None:
        turn = answered_turn(said.turn, planned, reply, new_id(), stored=True)
        session.record_turn(replace(said, turn=turn), planned)
    return reply


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


def answered_turn(asked: Turn, sent: RequestPlan, reply: Reply, turn_id: str, *, stored: bool = False) -> Turn:
    """Return a turn with its answer, how it was answered, and the view that it was sent with."""
    target, summary = sent.target, sent.scope.summary
    opening = replace(sent, again=()).request if sent.again else sent.request
    record = replace(
        asked.record, id=turn_id, start=sent.place_at(sent.cut.start, turn_id), apart=sent.apart, stored=stored,
        shortened=sent.place_at(sent.scope.shortened, turn_id), model=target.model, stop_reason=reply.stop_reason,
        usage=reply.usage, window=target.window.tokens, limit=target.limit, cost=reply.cost, seconds=reply.seconds,
        summary=summary.id if summary else None, at=time.time(), digest=request_digest(target, opening),
        tokens=reply.tokens, citations=reply.citations,
    )  # fmt: skip
    return replace(asked, reply=reply.text, thinking=reply.thinking, rounds=reply.rounds, record=record)


# what cells were answered before this kernel was started


def earlier_answers(session: Session, cell: str | None, run: str | None) -> Iterator[tuple[Conversation, Turn]]:
    """Yield what a cell was answered, with its conversation: what stands there now first, then what was last.

    Nothing where the cell has run in this kernel: then another answer is wanted.
    """
    now, seen = session.conversation, session.notebook.seen
    older = now.older(cell, run)
    if older and older[0].turn.id in seen:
        return
    if older:
        yield now, older[0].turn
    for past in session.pasts_of(cell):
        turns = past.last_run(cell, run)
        new = next((turn for turn in turns if turn.id not in seen), None)
        if new is not None:
            yield past, new
        elif turns:
            return


def settings_then(session: Session, kept: Mapping[str, Any] | None, now: Settings | None = None) -> Settings:
    """Return the settings of then, of which these were ``kept``; what was set in this kernel is as it is now.

    A turn of an earlier release has kept none: then they are all as now.
    """
    now = now or session.settings
    if kept is None:
        return now
    of_now = session.notebook.set_here | ALWAYS_OF_NOW | ({"system"} if session.has_set_system else set())
    if of_now & {"model", *MODEL_SETTINGS}:
        of_now |= {"model", *MODEL_SETTINGS}
    then = restored_settings(session.defaults, session.notebook.course.unforbidden(kept))
    try:
        return then.model_copy(update={name: getattr(now, name) for name in of_now}).checked()
    except InvalidRequestError:  # no request can have both
        return now


def room_for(session: Session, options: Mapping[str, Any], among: int = 1) -> TextRoom:
    """Return how much room one of so many attached things may take in a request with these options.

    Where the running cell was answered before this kernel, it is that of then: its prompt is to be the same.
    """
    cell = here()
    before = next(earlier_answers(session, cell.cell, cell.run), None)
    usual = settings_then(session, before[1].record.settings) if before is not None else None
    return text_room(session.models, session.settings_for(options, usual), among)


# the request of then


def _answers_as_then(session: Session, past: Conversation, turn: Turn, said: TurnAdded, prompt: Prompt) -> bool:
    """Return whether a turn answered this request: if it were asked with what stood before the turn, and set then.

    None of what stood before it may have another answer now.
    """
    before = past.before(turn.id)
    if before is None:
        return False
    system, usual = session.system_for(prompt.options, before), settings_then(session, turn.record.settings)
    target = session.target(prompt.options, ask=False, prompt=prompt, usual=usual)
    before = Conversation() if before.begins_anew(said) else before
    scope, view = _view_then(past, before, turn, system, append=said.append)
    messages = messages_before(target, before, scope, view)
    request = target.request((*messages, target.sendable(said.turn.messages[0])))
    is_same = request_digest(target, request) == turn.record.digest
    return is_same and not session.conversation.has_other_answers([*view[0], *view[1]])


def _view_then(
    past: Conversation, before: Conversation, turn: Turn, system: str, *, append: bool
) -> tuple[Scope, tuple[list[TurnSlot], list[TurnSlot]]]:
    """Return the view that a turn of ``past`` was sent with, as it would be now."""
    at, record = before.position(turn.record.cell, past.run_of(turn.id), append=append), turn.record
    start, shortened = (at if place == turn.id else before.index(place) for place in (record.start, record.shortened))
    scope = Scope(at, 0, system, before.summaries.get(record.summary or ""), shortened)
    return scope, scope.in_view(before, start)


def turns_around(session: Session, asked: Prompt) -> tuple[list[Turn], Turn | None]:
    """Return the turns that the request for a prompt carries, before it is known how long that is, and its own so far.

    Where its cell was answered before this kernel, they are those of then; else it has none of its own.
    """
    earlier = earlier_answers(session, asked.cell, asked.run) if asked.stored is not None else iter(())
    past, own = next(earlier, (session.conversation, None))
    if asked.new or not asked.record:
        return [], own
    then = past.before(own.id) if own is not None else None
    if own is not None and then is not None:
        passed, rest = _view_then(past, then, own, "", append=asked.append)[1]
        return [place.turn for place in (*passed, *rest)], own
    return [place.turn for place in session.plan(asked.said(), asked, ask=False).places], own


def settings_of_run(session: Session) -> Settings:
    """Return the settings of a run over a table: those that the unchanged cell ran with last, as of a turn."""
    now = settings_with(session.settings, {"system": session.own_system or None})
    cell = here()
    if cell.cell is None:
        return now
    key, runs = f"{cell.cell} {cell.source}", session.runs
    settings = settings_then(session, runs.get(key), now)
    others = {name: kept for name, kept in runs.items() if name.rpartition(" ")[0] != cell.cell}
    session.change(runs={**others, key: kept_settings(session.defaults, settings)})
    return settings


def chosen_index(session: Session, alternatives: str) -> int | None:
    """Return the index of the answer that is the turn, of several answers with this id; ``None``: none is."""
    offered = session.conversation.offers.get(alternatives)
    place = session.conversation.place_of(offered) if offered is not None else None
    ids = [answer.record.id for answer in offered.answers] if offered is not None else []
    return ids.index(place.turn.id) if place is not None and place.turn.id in ids else None
