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
PHOTOS = ("JPEG", "MPO", "WEBP")  # Pillow's names of formats that lose something
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
    media_type = media_type_of(data)
    if media_type not in IMAGE_TYPES:
        raise InvalidRequestError(f"{name} is not a PNG, JPEG, GIF or WebP image. Nothing was sent.")
    image = ImageFile(media_type, data, *image_size(data), of)
    is_small = max(image.width, image.height) <= edge
    if is_small and len(data) <= PLAIN_BYTES:
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
    if is_small and len(data) <= min(len(smaller.data), MOST_IMAGE_BYTES):
        return image
    return replace(smaller, of=of or smaller.of)


def of_pil(name: str, image: Any, edge: int, most: int = MOST_IMAGE_BYTES) -> ImageFile:
    """Return an image of Pillow as an upright file without its metadata, which may tell where it was taken.

    Its longer edge has ``edge`` pixels at most, three quarters or half of them where it has more than ``most`` bytes.
    """
    from PIL import ImageOps

    if not all(image.size):
        raise InvalidRequestError(f"{name} is an empty image of {_pixels(*image.size)} pixels. Nothing was sent.")
    is_photo = image.format in PHOTOS
    whole = _displayable(ImageOps.exif_transpose(image))
    for longer in (edge, edge * 3 // 4, edge // 2):
        scale = min(1.0, longer / max(whole.size))
        width, height = (max(1, round(side * scale)) for side in whole.size)
        made = whole.resize((width, height), reducing_gap=2.0) if scale < 1 else whole
        media_type, data = _encoded(made, is_photo, min(most, PLAIN_BYTES))
        if len(data) <= most:
            break
    return ImageFile(media_type, data, width, height, whole.size if scale < 1 else None)


def _displayable(image: Any) -> Any:
    """Return an image in a mode that PNG has, without its metadata: numbers of any range as shades of gray."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        numbers = image.convert("F")
        low, high = numbers.getextrema()
        scale = 255 / (high - low) if high > low else 0.0
        image = numbers.point(lambda value: value * scale - low * scale).convert("L")
    elif image.mode not in ("L", "LA", "RGB", "RGBA") or "transparency" in image.info:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    made = image.copy()
    made.info = {}
    return made


def _encoded(image: Any, is_photo: bool, most_png: int) -> tuple[str, bytes]:
    """Return a PNG, or a JPEG of a photograph and of what has more bytes, on white where it is transparent."""
    png, jpeg = BytesIO(), BytesIO()
    is_transparent = image.mode in ("RGBA", "LA")
    if not is_photo or is_transparent:
        image.save(png, format="PNG")
        if png.tell() <= most_png:
            return "image/png", png.getvalue()
    if is_transparent:
        image = image.convert("RGBA")
        white = image.copy()
        white.paste("white", (0, 0, *image.size))
        white.alpha_composite(image)
        image = white.convert("RGB")
    image.save(jpeg, format="JPEG", quality=QUALITY)
    if 0 < png.tell() <= jpeg.tell():
        return "image/png", png.getvalue()
    return "image/jpeg", jpeg.getvalue()
