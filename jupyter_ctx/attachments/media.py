"""Images and PDFs: tell them by their first bytes, estimate their tokens, make images as small as providers read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from ..context.vision import UNKNOWN_VISION, image_size
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError, MissingDependencyError

FILE_SIGNATURES = (  # what a file begins with; its name may say anything
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF[\s\S]{4}WEBP", "image/webp"),
    (rb"%PDF-", "application/pdf"),
)
SIGNATURE_BYTES = 32  # that are enough to tell
IMAGE_TYPES = tuple(kind for _, kind in FILE_SIGNATURES if kind.startswith("image/"))
PDF_PAGE = rb"/Type\s*/Page\b"
TOKENS_A_PAGE, BYTES_A_PAGE = 2_000, 50_000
MOST_IMAGE_BYTES = 3_700_000  # 5 MB in base64, the most that Anthropic takes
PLAIN_BYTES = 1_500_000  # a PNG above that may be a photograph, which JPEG makes much smaller
QUALITY = 90


def media_type_of(data: bytes) -> str | None:
    """Return the media type of an image or a PDF by its first bytes; ``None``: it is neither."""
    return next((kind for start, kind in FILE_SIGNATURES if re.match(start, data)), None)


def guessed_tokens(media_type: str, data: bytes) -> int:
    """Estimate the tokens of a PDF, or of an image for a model of which nothing is known."""
    if media_type == "application/pdf":
        return TOKENS_A_PAGE * (len(re.findall(PDF_PAGE, data)) or 1 + len(data) // BYTES_A_PAGE)
    return UNKNOWN_VISION.tokens(*image_size(data))


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image as it is sent."""

    media_type: str
    data: bytes
    width: int = 0  # in pixels; 0 where its file does not tell
    height: int = 0
    of: tuple[int, int] | None = None  # the pixels that it had before it was made smaller

    @property
    def size(self) -> str:
        """Its pixels, and those of the whole."""
        whole = f", reduced from {_pixels(*self.of)}" if self.of else ""
        return f"{_pixels(self.width, self.height)}{whole}" if self.width else "image"

    @property
    def noun(self) -> str:
        """What is sent, for the model."""
        return f"an image of {_pixels(self.width, self.height)} pixels" if self.width else "an image"


def as_attachment(name: str, image: ImageFile) -> Attachment:
    """Return an image as it goes beside a prompt."""
    return Attachment(name, image.media_type, image.data, guessed_tokens(image.media_type, image.data))


def _pixels(width: int, height: int) -> str:
    return f"{width:,} × {height:,}"


def modest(name: str, data: bytes, edge: int, of: tuple[int, int] | None = None) -> ImageFile:
    """Return an image of a size that providers take, made smaller where its longer edge has more than ``edge`` pixels.

    ``of``: the pixels that it had before it was drawn smaller. Raises InvalidRequestError, and
    MissingDependencyError where it is too large and Pillow is not installed.
    """
    image = ImageFile(media_type_of(data) or "image/png", data, *image_size(data), of)
    if max(image.width, image.height) <= edge and len(data) <= PLAIN_BYTES:
        return image
    try:
        from PIL import Image

        with Image.open(BytesIO(data)) as opened:
            smaller = of_pil(name, opened, edge)
    except Exception as error:
        if len(data) <= MOST_IMAGE_BYTES:  # providers make it smaller themselves
            return image
        large = f"{name} has {len(data):,} bytes, of which providers take about {MOST_IMAGE_BYTES:,}"
        kind = MissingDependencyError if isinstance(error, ImportError) else InvalidRequestError
        raise kind(f"{large}. Pillow makes it smaller (pip install pillow), but: {error}. Nothing was sent.") from None
    return replace(smaller, of=of or smaller.of)


def of_pil(name: str, image: Any, edge: int, most: int = MOST_IMAGE_BYTES) -> ImageFile:
    """Return an image of Pillow as an upright file without its metadata, which may tell where it was taken.

    Its longer edge has ``edge`` pixels at most, half of them where it has more than ``most`` bytes.
    """
    from PIL import ImageOps

    if not all(image.size):
        raise InvalidRequestError(f"{name} is an empty image of {_pixels(*image.size)} pixels. Nothing was sent.")
    is_photo = image.format in ("JPEG", "MPO", "WEBP")  # which lose something anyway
    whole = ImageOps.exif_transpose(image)
    if whole.mode not in ("L", "RGB", "RGBA"):
        whole = whole.convert("RGBA" if whole.has_transparency_data else "RGB")
    for longer in (edge, edge // 2):
        made = ImageOps.contain(whole, (longer, longer)) if max(whole.size) > longer else whole.copy()
        made.info = {}
        media_type, data = _encoded(made, is_photo, min(most, PLAIN_BYTES))
        if len(data) <= most:
            break
    return ImageFile(media_type, data, *made.size, whole.size if made.size != whole.size else None)


def _encoded(image: Any, is_photo: bool, most_png: int) -> tuple[str, bytes]:
    """Return a PNG, or a JPEG of a photograph and of what has more bytes, on white where it is transparent."""
    file = BytesIO()
    if not is_photo or image.mode == "RGBA":
        image.save(file, format="PNG")
        if file.tell() <= most_png:
            return "image/png", file.getvalue()
    if image.mode == "RGBA":
        white = image.copy()
        white.paste("white", (0, 0, *image.size))
        white.alpha_composite(image)
        image = white.convert("RGB")
    file = BytesIO()
    image.save(file, format="JPEG", quality=QUALITY)
    return "image/jpeg", file.getvalue()
