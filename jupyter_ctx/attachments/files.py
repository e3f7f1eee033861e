"""Files that go with a prompt: text for every model, images and PDFs where the model takes them."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from stat import S_ISREG

from ..context.summary_facts import fenced
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from .attached import Attached

FILE_SIGNATURES = (  # what a file begins with; its name may say anything
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF[\s\S]{4}WEBP", "image/webp"),
    (rb"%PDF-", "application/pdf"),
)
PDF_PAGE = rb"/Type\s*/Page\b"
MOST_BYTES = 32_000_000  # what the largest requests may have
# Tokens as Anthropic states them, which takes the most; the provider's report corrects the guess.
PIXELS_A_TOKEN, MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS = 750, 85, 1_600
TOKENS_A_PAGE, BYTES_A_PAGE = 2_000, 50_000


def attached_file(path: Path) -> Attached:
    """Return a file that goes with a prompt; a text file joins it. Raises InvalidRequestError."""
    data = _read(path.expanduser())
    media_type = media_type_of(data)
    if media_type is None:
        return Attached(path.name, f"File {path.name}:\n{fenced(_text(path, data))}")
    return Attached(path.name, files=(Attachment(path.name, media_type, data, guessed_tokens(media_type, data)),))


def media_type_of(data: bytes) -> str | None:
    """Return the media type of an image or a PDF by its first bytes; ``None``: it is neither."""
    return next((kind for start, kind in FILE_SIGNATURES if re.match(start, data)), None)


def _read(path: Path) -> bytes:
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):  # a device may never end, and a pipe may never begin
            raise InvalidRequestError(f"-a {path} is not a regular file: name an image, a PDF or a text file.")
        _check_size(path, found.st_size)
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"-a {path}: {error.strerror} (looked for from {Path.cwd()}).") from None
    if not data:
        raise InvalidRequestError(f"-a {path}: the file is empty.")
    _check_size(path, len(data))  # it may have grown, and some files do not tell their size
    return data


def _check_size(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise InvalidRequestError(f"-a {path}: {size:,} bytes are more than the {MOST_BYTES:,} that can be sent.")


def _text(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidRequestError(f"-a {path}: neither UTF-8 text, nor a PNG, JPEG, GIF or WebP image, nor a PDF.")
    return text


def guessed_tokens(media_type: str, data: bytes) -> int:
    """Estimate the tokens of an image or a PDF."""
    if media_type == "application/pdf":
        return TOKENS_A_PAGE * (len(re.findall(PDF_PAGE, data)) or 1 + len(data) // BYTES_A_PAGE)
    import imagesize

    try:
        width, height = imagesize.get(BytesIO(data))
    except Exception:  # whatever its version raises for an image that is cut off or odd: the provider may read it
        return MAX_IMAGE_TOKENS
    return (
        min(max(width * height // PIXELS_A_TOKEN, MIN_IMAGE_TOKENS), MAX_IMAGE_TOKENS)
        if width > 0 < height
        else MAX_IMAGE_TOKENS
    )
