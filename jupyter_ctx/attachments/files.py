"""Files that go with a prompt: text for every model, images and PDFs where the model takes them."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG

from ..context.summary_facts import fenced
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from .attached import Attached
from .media import IMAGE_TYPES, SIGNATURE_BYTES, guessed_tokens, media_type_of
from .pixels import MOST_IMAGE_BYTES, modest, size_of

MOST_BYTES = 32_000_000  # what the largest requests may have
MOST_IMAGE_FILE = 200_000_000  # of an image, which is made smaller
MOST_EDGE = 8_000  # pixels, the most that Anthropic takes


def attached_file(path: Path) -> Attached:
    """Return a file that goes with a prompt; a text file joins it. Raises InvalidRequestError."""
    data = _read(path.expanduser())
    media_type = media_type_of(data)
    if media_type is None:
        return Attached(path.name, f"File {path.name}:\n{fenced(_text(path, data))}")
    return attached_data(path.name, media_type, data)


def attached_data(name: str, media_type: str, data: bytes) -> Attached:
    """Return an image or a PDF that goes with a prompt; an image that is too large for providers is made smaller.

    Raises InvalidRequestError, and MissingDependencyError where Pillow would be needed.
    """
    what = ""
    if media_type != "application/pdf" and (len(data) > MOST_IMAGE_BYTES or max(size_of(data)) > MOST_EDGE):
        made = modest(name, data)
        media_type, data, what = made.media_type, made.data, made.size
    return Attached(name, files=(Attachment(name, media_type, data, guessed_tokens(media_type, data)),), what=what)


def _read(path: Path) -> bytes:
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):  # a device may never end, and a pipe may never begin
            raise InvalidRequestError(f"-a {path} is not a regular file: name an image, a PDF or a text file.")
        with path.open("rb") as file:
            data = file.read(SIGNATURE_BYTES)
            most = MOST_IMAGE_FILE if media_type_of(data) in IMAGE_TYPES else MOST_BYTES
            _check_size(path, found.st_size, most)
            data += file.read(most)
    except OSError as error:
        raise InvalidRequestError(f"-a {path}: {error.strerror} (looked for from {Path.cwd()}).") from None
    if not data:
        raise InvalidRequestError(f"-a {path}: the file is empty.")
    _check_size(path, len(data), most)  # it may have grown, and some files do not tell their size
    return data


def _check_size(path: Path, size: int, most: int) -> None:
    if size > most:
        raise InvalidRequestError(f"-a {path}: {size:,} bytes are more than the {most:,} that can be sent.")


def _text(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidRequestError(f"-a {path}: neither UTF-8 text, nor a PNG, JPEG, GIF or WebP image, nor a PDF.")
    return text
