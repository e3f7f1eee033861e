"""Export conversations to files on disk, and load them."""

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
    """Write a conversation to a file in the format of its suffix, whole or not at all, and return the absolute path.

    Raises InvalidRequestError when there is nothing to export, when the folder does not exist, and when the path is
    a file that is not an earlier export, or the running ``notebook``.
    """
    added = carried(conversation)
    text = written(added, path.suffix)
    if not added.turns:
        raise InvalidRequestError("There is nothing to export: this conversation has no turns yet.")
    if not path.parent.is_dir():
        raise InvalidRequestError(f"The folder {path.parent.absolute()} does not exist: create it, or name another.")
    _keep_what_is_there(path, notebook)
    try:
        write_whole(path, text)
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} cannot be written: {_why(error)}. Name another place.") from None
    return path.absolute()


def _keep_what_is_there(path: Path, notebook: str | None) -> None:
    """Raise InvalidRequestError when the path is a file that is not an earlier export."""
    if notebook and _is_same(path, notebook):
        raise InvalidRequestError(f"{path} is the running notebook: choose another name.")
    if os.path.isfile(path) and not _was_exported(path):
        raise InvalidRequestError(f"{path} exists and is not an earlier export: delete it, or choose another name.")


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
    """Return the conversation in a file. Raises InvalidRequestError, which names the file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequestError(f"{path} is not UTF-8 text, so it cannot be a conversation.") from None
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} cannot be read: {_why(error)} (looked for from {Path.cwd()}).") from None
    try:
        return read(text, path.suffix)
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{path}: {error}") from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
