"""A file that goes with a prompt: an image, a PDF, a notebook or another text."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

from ..context.summary_facts import fenced
from ..context.vision import Vision
from ..conversation.messages import Attachment
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from .attached import Attached, TextRoom, attached_redacted
from .images import MOST_IMAGE_BYTES, as_attachment, guessed_tokens, media_type_of, modest
from .notebook_cells import notebook_text, with_images

MOST_BYTES = 32_000_000  # what the largest requests may have


def exists(word: str) -> bool:
    """Return whether a text names a file or a folder that is there."""
    try:
        return os.path.exists(os.path.expanduser(word))
    except (OSError, ValueError):
        return False


def attached_file(path: Path, redactor: Redactor, room: TextRoom) -> Attached:
    """Return a file that goes with a prompt; a text file joins it, with secrets blanked. Raises InvalidRequestError."""
    data = _read(path.expanduser())
    media_type = media_type_of(data)
    if media_type is not None:
        return attached_data(path.name, media_type, data, room.vision)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidRequestError(
            f"-a {path}: neither UTF-8 text, nor a PNG, JPEG, GIF or WebP image, nor a PDF. "
            "Read it in a cell, with its encoding if it is text, and attach the variable: -a NAME."
        )
    return attached_text(path.name, text, f"File {path.name}", redactor, room)


def attached_text(name: str, text: str, head: str, redactor: Redactor, room: TextRoom) -> Attached:
    """Return a file's or a page's text below its ``head``, with secrets blanked; of a notebook its cells."""
    redactor.blanked, files, what = 0, tuple[Attachment, ...](), ""
    cells = notebook_text(text) if '"cells"' in text else None
    if cells is not None:
        text, files, what = with_images(cells, name, room)
    return attached_redacted(name, f"{redactor.masked(head)}:\n{fenced(redactor.masked(text))}", redactor, files, what)


def attached_data(name: str, media_type: str, data: bytes, vision: Vision) -> Attached:
    """Return an image or a PDF that goes with a prompt; an image that its provider would make smaller is so already.

    Raises InvalidRequestError, and MissingDependencyError where Pillow would be needed.
    """
    if media_type == "application/pdf":
        file = Attachment(name, media_type, data, guessed_tokens(media_type, data))
        return Attached(name, f"{clean(name)}: a PDF.", (file,))
    image = modest(name, data, vision.drawn, vision.reads, MOST_IMAGE_BYTES)
    text = f"{clean(name)}: {image.noun}."  # which tells the model which is which
    return Attached(name, text, (as_attachment(name, image),), image.size if image.data is not data else "")


def _read(path: Path) -> bytes:
    try:
        if not S_ISREG(path.stat().st_mode):  # a device may never end, and a pipe may never begin
            raise InvalidRequestError(f"-a {path} is not a regular file: name an image, a PDF or a text file.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"-a {path}: {error.strerror} (looked for from {Path.cwd()}).") from None
    if not 0 < len(data) <= MOST_BYTES:
        problem = f"is larger than the {MOST_BYTES:,} bytes that can be sent" if data else "is empty"
        raise InvalidRequestError(f"-a {path}: the file {problem}.")
    return data
