"""Turns whose answers are handed out with a notebook: gathered from conversations, and found again for a request."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

from ..conversation.conversation import Conversation
from ..conversation.events import Cleared, Said, Undone
from ..conversation.messages import Summary, Turn, new_id
from ..conversation.places import Places
from ..export.handout import Handout, HandoutAnswer
from ..providers.base import AnswerSchema
from .handed_out import summary_digest
from .reply_checks import INCOMPLETE
from .session import Session


def handed_turns(
    session: Session, said: Said, options: Mapping[str, Any], schema: AnswerSchema | None, *, offered: bool = False
) -> Iterator[tuple[Turn, Summary | None]]:
    """Yield the turns with answers that were handed out for just this request, and the summary in their view.

    An answer names the view that it was asked in, so that no server need be asked for its window.
    """
    past = Conversation() if said.begins_anew(session.conversation) else session.conversation
    asked, handout = said.turn.record, session.notebook.handout
    answers = [each for each in handout.answers if each.asked and not each.method]
    if not answers:
        return
    at = past.position(asked.cell, asked.run, append=said.append, offered=offered)
    target, system = session.target(options, ask=False, schema=schema), session.system_for(options)

    @cache
    def in_view(start: int, apart: bool, digest: str) -> tuple[Turn, Summary | None, str]:
        """Return the turn without its answer in the view that an answer names, the summary there, and its digest."""
        summary = handout.summary(past, digest) if digest else None
        begins = past.places[start].id if 0 <= start < at else asked.id
        record = replace(
            asked, model=target.model, window=target.window.tokens, stored=True, handed=True, apart=apart,
            start=begins if start else None, summary=summary.id if summary is not None else None,
        )  # fmt: skip
        turn = replace(said.turn, record=record)
        before = past.summarized(summary) if summary is not None else past
        return turn, summary, session.request_then(before, said, turn, at, target, system)

    for answer in sorted(answers, key=lambda each: each.asked != asked.source):  # the cell's own first
        turn, summary, digest = in_view(answer.start, answer.apart, answer.summary)
        if digest != answer.digest:
            continue
        if answer.start:
            session.models.confirm(target)
        id_ = new_id()
        record = replace(
            turn.record, id=id_, start=id_ if turn.record.start == turn.id else turn.record.start,
            stop_reason=answer.stop_reason, digest=digest, tokens=answer.tokens,
        )  # fmt: skip
        yield replace(turn, reply=answer.text, thinking=answer.thinking, record=record), summary


def gathered(conversations: Sequence[Conversation], cells: Container[str], is_secret: Callable[[str], bool]) -> Handout:
    """Return the answers of these cells, by the fingerprints of their texts, without those that hold a secret.

    Where several conversations have answered a cell, the first of them counts. A cell that none has any more, because
    of a clear or an undo, has the answer that it had before.
    """
    groups = [conversations, *([past] for each in conversations for past in _earlier(each))]
    pasts = [past for group in groups for past in group]
    taken, turns = dict[str, Places](), list[tuple[Places, Turn, int]]()
    for group in groups:
        for past, turn, at in ((each, *found) for each in group for found in _current(each)):
            cell, is_there = turn.record.cell, turn.record.source in cells
            if cell and is_there and taken.setdefault(cell, past) is past and not is_secret(turn.reply + turn.thinking):
                turns.append((past, turn, at))
        for past in group:  # an older state has no answer to a cell whose answer is stale now
            for place in past.places:
                taken.setdefault(place.turn.record.cell or "", past)
    ids, summaries = {turn.id for _, turn, _ in turns}, dict[str, HandoutAnswer]()
    for past in pasts:
        here = ids & {place.turn.id for place in past.places}
        open_ = (each for each in past.summaries.values() if each.covers <= here and not is_secret(each.text))
        summaries = {each.id: _summary(past, each, cells) for each in open_} | summaries  # the newest state holds
    answers = (_answer(past, turn, at, summaries.get(turn.record.summary or "")) for past, turn, at in turns)
    sources = {turn.record.source or "" for _, turn, _ in turns}
    return Handout(tuple(sorted(sources)), (*answers, *summaries.values()))


def _earlier(conversation: Conversation) -> Iterator[Places]:
    """Yield a conversation as it was before each clear, new beginning and undo, the newest first."""
    past, before = Conversation(), list[Places]()
    for event in conversation.events:
        if isinstance(event, Cleared | Undone):
            before.append(copy(past))
        past.append(event)
    yield from reversed(conversation.earlier)
    for state in reversed(before):
        yield from (state, *reversed(state.earlier))


def _current(past: Places) -> Iterator[tuple[Turn, int]]:
    """Yield the whole answers that hold now, with their positions: of several side by side, all."""
    for offer in {each.asked.record.cell: each for each in past.offers.values()}.values():
        if not any(answer.error or answer.problem for answer in offer.answers):
            yield from ((turn, past.position_of(offer)) for turn in offer.turns)
    stale, offered = past.stale(), {turn.id for each in past.offers.values() for turn in each.turns}
    for at, place in enumerate(past.places):
        if place.id not in stale and place.turn.id not in offered and place.turn.stop_reason not in INCOMPLETE:
            yield place.turn, at


def _answer(past: Places, turn: Turn, at: int, summary: HandoutAnswer | None) -> HandoutAnswer:
    record = turn.record
    return HandoutAnswer(
        record.digest, 0, turn.reply, turn.thinking, turn.stop_reason, asked=record.source or "",
        start=at if record.start == turn.id else past.index(record.start), apart=record.apart,
        summary=summary.digest if summary is not None else "", tokens=record.tokens,
    )  # fmt: skip


def _summary(past: Places, summary: Summary, cells: Container[str]) -> HandoutAnswer:
    turns = {at: place.turn for at, place in enumerate(past.places) if place.turn.id in summary.covers}
    digest, source = summary_digest(summary.text, turns.values()), summary.by.rpartition(" ")[2]
    return HandoutAnswer(
        digest, text=summary.text, asked=source if source in cells else "", method=summary.method, covers=tuple(turns)
    )
