"""Conversations as files on disk, to keep, to share and to bring back."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..conversation.conversation import Conversation
from ..conversation.events import Added
from ..errors import InvalidRequestError
from ..runtime.files import write_whole
from .formats import carried, is_export, read, written


def export(conversation: Conversation, path: Path, notebook: str | None = None) -> Path:
    """Write a conversation to a file, whole or not at all; the suffix says in which form. Return its absolute path.

    Raises InvalidRequestError where there is nothing to export or no such folder, which is not made, and where a
    file is there that was not exported; the running ``notebook`` is never replaced.
    """
    added = carried(conversation)
    text = written(added, path.suffix)
    if not added.turns:
        raise InvalidRequestError("There is nothing to export: this conversation has no turns yet.")
    if not path.parent.is_dir():
        raise InvalidRequestError(f"There is no folder {path.parent.absolute()}: make it first, or name another place.")
    _keep_what_is_there(path, notebook)
    try:
        write_whole(path, text)
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} cannot be written: {_why(error)}. Name another place.") from None
    return path.absolute()


def _keep_what_is_there(path: Path, notebook: str | None) -> None:
    """Raise InvalidRequestError where a file is there that is no earlier export."""
    if notebook and _is_same(path, notebook):
        raise InvalidRequestError(f"{path} is the notebook that runs here: choose another name.")
    if os.path.isfile(path) and not _was_exported(path):
        raise InvalidRequestError(f"{path} is there and is no earlier export: delete it, or choose another name.")


def _is_same(path: Path, notebook: str) -> bool:
    with suppress(OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(notebook) or os.path.samefile(path, notebook)
    return False


def _was_exported(path: Path) -> bool:
    try:
        return is_export(path.read_bytes().decode("utf-8"), path.suffix)
    except (OSError, UnicodeDecodeError):
        return False


def load(path: Path) -> Added:
    """Return what a file holds of a conversation. Raises InvalidRequestError, which names the file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequestError(f"{path} is not UTF-8 text, so it holds no conversation.") from None
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} cannot be read: {_why(error)} (looked for from {Path.cwd()}).") from None
    try:
        return read(text, path.suffix)
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{path}: {error}") from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
