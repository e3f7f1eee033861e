"""Export conversations to files, and load them: the formats by their suffixes.

JSON keeps all: messages in OpenAI's form, and *marks* (metadata) with everything else. Markdown is for reading. A
notebook has a cell for each turn, and is read as any notebook that was run and saved.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..conversation.conversation import Conversation
from ..conversation.events import Added
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from ..runtime.files import reason_of, write_export
from ..runtime.redaction import Redactor
from . import markdown_text, notebook_file, openai_messages
from .markdown_text import START
from .openai_messages import EXPORT_KEY, found_in

EXPORTERS = {".md": markdown_text.write, ".json": openai_messages.write, ".ipynb": notebook_file.write}  # by suffix
IMPORTERS = {".json": openai_messages.read, ".ipynb": notebook_file.read}


def carried(conversation: Conversation) -> Added:
    """Return the turns since the last clear in their current versions, with pins, exclusions and summary."""
    places, summary = conversation.places, conversation.summary
    turns = tuple(place.turn for place in places)
    pinned = tuple(place.turn.id for place in places if place.pinned)
    excluded = tuple(place.turn.id for place in places if place.excluded)
    if summary is not None:
        covers = summary.covers & {turn.id for turn in turns}
        summary = replace(summary, covers=covers) if covers else None
    return Added(turns, conversation.system, pinned, excluded, summary)


def renewed(added: Added) -> Added:
    """Return what a file would keep of the turns: under new ids, without cells, sizes and costs."""
    return openai_messages.read(openai_messages.write(added))


def redacted(added: Added, redactor: Redactor) -> Added:
    """Return a conversation with ``***`` for the secrets in its texts."""
    masked = redactor.masked
    turns = []
    for turn in added.turns:
        typed = masked(turn.typed)
        attached = masked(turn.prompt[len(turn.typed) :])
        cited = tuple((masked(url), masked(title)) for url, title in turn.record.citations)
        record = replace(turn.record, typed=None if turn.record.typed is None else len(typed), citations=cited)
        rounds = tuple(each.rewritten(masked) for each in turn.rounds)
        turns.append(replace(turn, prompt=typed + attached, reply=masked(turn.reply), record=record, rounds=rounds))
    system = added.system and masked(added.system)
    summary = added.summary and replace(added.summary, text=masked(added.summary.text))
    return replace(added, turns=tuple(turns), system=system, summary=summary)


def written(added: Added, suffix: str) -> str:
    """Return a conversation as text that UTF-8 can encode. Raises InvalidRequestError for an unknown suffix."""
    if suffix.lower() not in EXPORTERS:
        raise InvalidRequestError(
            f"A conversation is exported as {' or '.join(EXPORTERS)}, not {suffix or 'without an ending'}."
        )
    return clean(EXPORTERS[suffix.lower()](added))


def read(text: str, suffix: str) -> Added:
    """Return the conversation in a file's text, with new ids for its turns and its summary.

    Raises InvalidRequestError when the text is not a conversation, or contains a prompt that cannot be sent.
    """
    if suffix.lower() not in IMPORTERS:
        raise InvalidRequestError(
            f"A conversation is imported from {' or '.join(IMPORTERS)}, not {suffix or 'without an ending'}."
        )
    return IMPORTERS[suffix.lower()](text.removeprefix("\ufeff"))


def is_export(text: str, suffix: str) -> bool:
    """Return whether a text begins or ends as exports do, even if it was edited since."""
    text = text.removeprefix("\ufeff")
    if suffix.lower() == ".md":
        return text.startswith(START)
    return "version" in (found_in(text, EXPORT_KEY) or found_in(text, "metadata", EXPORT_KEY))


def export(conversation: Conversation, path: Path, redactor: Redactor, notebook: str | None = None) -> Path:
    """Write a conversation to a file in the format of its suffix, whole or not at all, and return the absolute path.

    Secrets in its texts are written as ``***``.

    Raises InvalidRequestError when there is nothing to export, when the folder does not exist, and when the path is
    a file that is not an earlier export, or the running ``notebook``.
    """
    added = redacted(carried(conversation), redactor)
    text = written(added, path.suffix)
    if not added.turns:
        raise InvalidRequestError("There is nothing to export: this conversation has no turns yet.")
    if notebook and os.path.isfile(path) and os.path.isfile(notebook) and os.path.samefile(path, notebook):
        raise InvalidRequestError(f"{path} is the running notebook: choose another name.")
    return write_export(path, text, partial(is_export, suffix=path.suffix))


def load(path: Path) -> Added:
    """Return the conversation in a file. Raises InvalidRequestError, which names the file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidRequestError(
            f"{path} cannot be read: {reason_of(error)} (looked for from {Path.cwd()})."
        ) from None
    try:
        return read(text, path.suffix)
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{path}: {error}") from None
