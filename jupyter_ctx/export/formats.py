"""A conversation as a file that people and other tools read, and back.

All formats hold the same: messages as OpenAI's tools have them, and beside them *marks*, which
say the rest. What was edited or written by something else is read as far as it goes without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ..conversation.conversation import Conversation
from ..conversation.events import Added
from ..conversation.messages import Summary, Turn, TurnRecord
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from . import markdown, notebook
from . import openai_json as jsonfile
from .openai_messages import from_messages as from_messages


class Format(Protocol):
    """A module that makes text of a conversation, and a conversation of text."""

    def write(self, added: Added) -> str:
        """A conversation as text."""

    def read(self, text: str) -> Added:
        """The conversation in a text. Raises InvalidRequestError."""

    def is_ours(self, text: str) -> bool:
        """Whether a text was exported."""


FORMATS: Mapping[str, Format] = {".md": markdown, ".json": jsonfile, ".ipynb": notebook}


def carried(conversation: Conversation) -> Added:
    """The turns since the last clear in their current versions, with what stands beside them."""
    places, summary = conversation.places, conversation.summary
    turns = tuple(place.turn for place in places)
    pinned = tuple(place.turn.id for place in places if place.pinned)
    excluded = tuple(place.turn.id for place in places if place.excluded)
    if summary is not None:
        covers = summary.covers & {turn.id for turn in turns}
        summary = replace(summary, covers=covers) if covers else None
    return Added(turns, conversation.system, pinned, excluded, summary)


def renewed(added: Added) -> Added:
    """The same as turns of another conversation: under new ids, without cells, sizes and costs."""
    turns = {
        turn.id: Turn(turn.prompt, turn.reply, turn.attachments, record=TurnRecord(turn.model, turn.stop_reason))
        for turn in added.turns
    }
    summary = added.summary
    if summary is not None:
        covers = frozenset(turns[old].id for old in summary.covers if old in turns)
        summary = Summary(summary.text, covers, summary.method)
    pinned, excluded = (tuple(turns[old].id for old in marked) for marked in (added.pinned, added.excluded))
    return Added(tuple(turns.values()), added.system, pinned, excluded, summary)


def written(added: Added, suffix: str) -> str:
    """A conversation as text that UTF-8 can hold. Raises InvalidRequestError for an unknown suffix."""
    return clean(_format(suffix).write(added))


def read(text: str, suffix: str) -> Added:
    """The conversation in a file, its turns and its summary under new ids.

    Raises InvalidRequestError where it is none, or holds a prompt that cannot be sent.
    """
    return _format(suffix).read(text.removeprefix("\ufeff"))


def is_export(text: str, suffix: str) -> bool:
    """Whether a text carries what each export begins or ends with, whatever was changed in it since."""
    return _format(suffix).is_ours(text.removeprefix("\ufeff"))


def _format(suffix: str) -> Format:
    if not suffix:
        raise InvalidRequestError(f"The name has no suffix to say the form: name a file {', '.join(FORMATS)}.")
    if suffix.lower() not in FORMATS:
        raise InvalidRequestError(f"A conversation cannot be a {suffix!r} file: use one of {', '.join(FORMATS)}.")
    return FORMATS[suffix.lower()]
