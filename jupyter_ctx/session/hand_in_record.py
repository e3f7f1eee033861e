"""Write down a conversation for handing in: every answer that there was, with what its request had."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from ..conversation.conversation import Conversation
from ..conversation.events import Added, Event
from ..conversation.messages import Attachment, Turn
from ..conversation.text_safety import clean
from ..export.hand_in import HandedAnswer, HandedRecord, TurnRows
from ..runtime.redaction import Redactor, without_address_keys
from .replay import asked_by
from .view import part_states, scope_then

Masked = Callable[[str], str]
Standing = tuple[str, int, int]  # what became of an answer, and the numbers of its turn and its version
_FOLDERS = re.compile(r"(?<=^local/).*[/\\]")  # of a model that is a file on this machine


class _Answered(NamedTuple):
    """An answer as it was given; ``turns_before`` as in a HandedAnswer."""

    turn: Turn
    origin: str
    turns_before: TurnRows
    problem: str = ""


def hand_in_record(conversation: Conversation, name: str, system: str, redactor: Redactor) -> HandedRecord:
    """Return all that was asked in a conversation, with ``***`` for the secrets in its texts."""

    def masked(text: str) -> str:
        return clean(redactor.masked(text))

    standing = _standing(conversation)
    not_undone = set(map(id, conversation.standing))
    past, answers = Conversation(), dict[str, HandedAnswer]()
    for event in conversation.events:
        apart = ("not taken" if id(event) in not_undone else "undone", 0, 0)
        for answered in _answers(past, event):
            key = answered.turn.id
            answers[key] = _handed(answered, standing.get(key, apart), masked)
        past.append(event)
    return HandedRecord(masked(name), masked(system), _utc(time.time()), tuple(answers.values()))


def _answers(past: Conversation, event: Event) -> Iterator[_Answered]:
    """Yield the answers that came with an event, which the conversation does not have yet."""
    if isinstance(event, Added):
        yield from (_Answered(turn, "added", {}) for turn in event.turns)
    for asked in asked_by(past, event):
        yield _asked(asked.before, asked.at, asked.turn, asked.problem)


def _asked(before: Conversation, at: int, turn: Turn, problem: str = "") -> _Answered:
    """Return an answer with what its request had: nothing is sent for a stored one."""
    origin = "stored" if turn.record.stored else "asked"
    if turn.record.stored or not turn.record.digest:
        return _Answered(turn, origin, {}, problem)
    scope, start = scope_then(before, at, "", turn)
    rows, end = defaultdict[str, list[tuple[int, int]]](list), 0
    for state, row in groupby(part_states(before, scope, start)[:at]):
        first, end = end + 1, end + len(list(row))
        rows[state].append((first, end))
    return _Answered(turn, origin, {state: tuple(each) for state, each in rows.items()}, problem)


def _standing(conversation: Conversation) -> dict[str, Standing]:
    standing = dict[str, Standing]()
    for place in conversation.cleared:
        standing.update({version.id: ("before a clear", 0, 0) for version in place.versions})
    for number, place in enumerate(conversation.places, 1):
        for version, turn in enumerate(place.versions, 1):
            state = "current" if turn.id == place.turn.id else "older version"
            standing[turn.id] = (state, number, version)
    return standing


def _handed(answered: _Answered, standing: Standing, masked: Masked) -> HandedAnswer:
    turn, record = answered.turn, answered.turn.record
    return HandedAnswer(
        *standing,
        origin=answered.origin,
        prompt=masked(turn.typed),
        attached_text=masked(turn.prompt[len(turn.typed) :].lstrip("\n")),
        sources=tuple(masked(without_address_keys(source)) for source in turn.sources),
        files=tuple(_file(file, masked) for file in turn.attachments),
        reply=masked(turn.reply),
        problem=masked(answered.problem),
        model=masked(_FOLDERS.sub("", turn.model)),
        ending=turn.stop_reason,
        at="" if record.at is None else _utc(record.at),
        window=record.window,
        usage=turn.usage,
        cost=turn.cost,
        seconds=record.seconds,
        turns_before=answered.turns_before,
    )


def _file(file: Attachment, masked: Masked) -> str:
    about = f"{len(file.data):,} bytes, SHA-256 {sha256(file.data).hexdigest()}"
    if file.address:
        about = "fetched by the provider"
    return f"{masked(without_address_keys(file.name))} ({file.media_type}): {about}"


def _utc(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
