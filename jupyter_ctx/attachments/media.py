"""Images and PDFs: tell them by their first bytes, estimate their tokens, make images as small as providers read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from ..context.vision import UNKNOWN_VISION, image_size
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


def media_type_of(data: bytes) -> str | None:
    """Return the media type of an image or a PDF by its first bytes; ``None``: it is neither."""
    return next((kind for start, kind in FILE_SIGNATURES if re.match(start, data)), None)


def guessed_tokens(media_type: str, data: bytes) -> int:
    """Estimate the tokens of a PDF, or of an image for a model of which nothing is known."""
    if media_type == "application/pdf":
        return TOKENS_A_PAGE * (len(re.findall(PDF_PAGE, data)) or 1 + len(data) // BYTES_A_PAGE)
    return UNKNOWN_VISION.tokens(*image_size(data))


MOST_IMAGE_BYTES = 3_700_000  # 5 MB in base64, the most that Anthropic takes
PLAIN_BYTES = 1_500_000  # a PNG above that may be a photograph, which JPEG makes much smaller
PHOTOS = ("JPEG", "MPO", "WEBP")  # Pillow's names of formats that lose something
QUALITY = 90


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image as it is sent.

    width, height: in pixels; 0 where its file does not tell
    of: the pixels that it had before it was made smaller; ``None``: it was not
    """

    media_type: str
    data: bytes
    width: int = 0
    height: int = 0
    of: tuple[int, int] | None = None

    @property
    def size(self) -> str:
        """Its pixels, and those of the whole, in words."""
        if not self.width:
            return "image"
        whole = f" of {_pixels(*self.of)}" if self.of else ""
        return f"image, {_pixels(self.width, self.height)}{whole} pixels"

    @property
    def noun(self) -> str:
        """What is sent, for the model."""
        return f"an image of {_pixels(self.width, self.height)} pixels" if self.width else "an image"


def _pixels(width: int, height: int) -> str:
    return f"{width:,} × {height:,}"


def modest(name: str, data: bytes, edge: int, of: tuple[int, int] | None = None) -> ImageFile:
    """Return an image of a size that providers take, made smaller where its longer edge has more than ``edge`` pixels.

    ``of``: the pixels that it had before it was drawn smaller. Raises InvalidRequestError, and
    MissingDependencyError where it is too large and Pillow is not installed.
    """
    media_type = media_type_of(data)
    if media_type is None or media_type == "application/pdf":
        raise InvalidRequestError(f"{name} is not a PNG, JPEG, GIF or WebP image. Nothing was sent.")
    width, height = image_size(data)
    if max(width, height) <= edge and len(data) <= PLAIN_BYTES:
        return ImageFile(media_type, data, width, height, of)
    image = _opened(name, data, width, height)
    if image is None:
        return ImageFile(media_type, data, width, height, of)
    made = of_pil(name, image, edge)
    if len(made.data) >= len(data) and max(width, height) <= edge and len(data) <= MOST_IMAGE_BYTES:
        return ImageFile(media_type, data, width, height, of)
    return ImageFile(made.media_type, made.data, made.width, made.height, of or made.of)


def _opened(name: str, data: bytes, width: int, height: int) -> Any:
    """Return an image for Pillow; ``None`` where that is not needed, or cannot read it and it may be sent as it is."""
    fits = len(data) <= MOST_IMAGE_BYTES
    try:
        from PIL import Image
    except ImportError:
        if fits:  # providers make it smaller themselves
            return None
        raise MissingDependencyError(
            f"{name} has {len(data):,} bytes and {_pixels(width, height)} pixels, and providers take about "
            f"{MOST_IMAGE_BYTES:,} bytes: pip install pillow lets it be made smaller."
        ) from None
    try:
        image = Image.open(BytesIO(data))
        image.load()
    except Exception as error:
        if fits:
            return None
        raise InvalidRequestError(
            f"{name} has {len(data):,} bytes, of which providers take about {MOST_IMAGE_BYTES:,}, and Pillow cannot "
            f"make it smaller: {error}. Nothing was sent."
        ) from None
    return image


def of_pil(name: str, image: Any, edge: int, most: int = MOST_IMAGE_BYTES, plain: int = PLAIN_BYTES) -> ImageFile:
    """Return an image of Pillow as a file without its metadata, which may tell where a photograph was taken.

    Its longer edge has ``edge`` pixels at most, three quarters or half of them where it has more than ``most`` bytes;
    a PNG has at most ``plain`` bytes, if JPEG makes it smaller.
    """
    whole = width, height = image.size
    if not width or not height:
        raise InvalidRequestError(f"{name} is an empty image of {_pixels(width, height)} pixels. Nothing was sent.")
    shown = _shown(image)
    for longer in (edge, edge * 3 // 4, edge // 2):
        scale = min(1.0, longer / max(whole))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        made = shown if size == whole else shown.resize(size, reducing_gap=2.0)
        is_photo = image.format in PHOTOS and made.mode in ("L", "RGB")
        media_type, data = _written(made, plain, is_photo=is_photo)
        if len(data) <= most:
            break
    return ImageFile(media_type, data, *size, None if size == whole else whole)


def _shown(image: Any) -> Any:
    """Return an image in a mode that PNG has: numbers of any range as shades of gray."""
    mode = image.mode
    if mode == "P" or (mode in ("1", "L", "RGB") and "transparency" in image.info):
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif mode in ("I", "F") or mode.startswith("I;16"):
        image = _gray(image if mode in ("I", "F") else image.convert("I"))
    elif mode not in ("1", "L", "LA", "RGB", "RGBA"):
        image = image.convert("RGBA" if mode in ("PA", "La", "RGBa") else "RGB")
    if image.mode == "1":
        image = image.convert("L")
    made = image.copy()
    made.info = {}
    return made


def _gray(image: Any) -> Any:
    low, high = image.getextrema()
    scale = 255 / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale - low * scale).convert("L")


def _written(image: Any, plain: int, *, is_photo: bool) -> tuple[str, bytes]:
    """Return a PNG, or a JPEG for a photograph and above ``plain`` bytes, on white where it is transparent."""
    png = BytesIO()
    if not is_photo:
        image.save(png, format="PNG")
        if png.tell() <= plain:
            return "image/png", png.getvalue()
    if image.mode in ("RGBA", "LA"):
        paper = image.convert("RGBA")
        white = paper.copy()
        white.paste((255, 255, 255, 255), (0, 0, *paper.size))
        white.alpha_composite(paper)
        image = white.convert("RGB")
    jpeg = BytesIO()
    image.save(jpeg, format="JPEG", quality=QUALITY)
    if is_photo or jpeg.tell() < png.tell():
        return "image/jpeg", jpeg.getvalue()
    return "image/png", png.getvalue()
