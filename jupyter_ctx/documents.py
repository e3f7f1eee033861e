"""Conversations as files on disk, to keep, to share and to bring back."""

from __future__ import annotations

from pathlib import Path

from .conversation import Added, Conversation
from .errors import InvalidRequestError
from .exchange import carried, read, written
from .files import write_whole


def export(conversation: Conversation, path: Path) -> Path:
    """Write a conversation to a file, whole or not at all; the suffix says in which form. Gives where it is."""
    text = written(carried(conversation), path.suffix)
    try:
        write_whole(path, text)
    except OSError as error:
        raise InvalidRequestError(f"{path} cannot be written: {error.strerror}. Name another place.") from None
    return path.absolute()


def load(path: Path) -> Added:
    """What a file holds of a conversation."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidRequestError(f"{path} cannot be read: {error.strerror} (looked for from {Path.cwd()}).") from None
    except UnicodeDecodeError:
        raise InvalidRequestError(f"{path} is not UTF-8 text, so it holds no conversation.") from None
    return read(text, path.suffix)
