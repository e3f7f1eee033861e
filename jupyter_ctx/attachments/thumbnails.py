"""Small pictures of the images that go with a prompt, for pages that show what was sent."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from io import BytesIO

from ..conversation.messages import Attachment
from .media import IMAGE_TYPES, media_type_of, of_pil, size_of

_EDGES = (240, 160, 96)  # pixels, so that they are sharp on a dense screen, too
_MOST_BYTES = 11_000  # 15 kB as an address
_MOST_PIXELS = 40_000_000  # that are read for a small picture


@lru_cache(maxsize=128)  # tables of turns are drawn again and again
def thumbnail(file: Attachment) -> str:
    """Return an image that is sent, made small, as a ``data:`` address; empty where it cannot be shown."""
    width, height = size_of(file.data) if file.is_picture else (0, 0)
    if not 0 < width * height <= _MOST_PIXELS:
        return ""
    try:
        from PIL import Image
    except ImportError:
        return _address(media_type_of(file.data), file.data)
    try:
        with Image.open(BytesIO(file.data)) as image:
            small = of_pil(file.name, image, _EDGES, _MOST_BYTES, _MOST_BYTES)
    except Exception:  # whatever Pillow raises for an image that is cut off or odd: it goes without a picture
        return ""
    return _address(small.media_type, small.data)


def _address(media_type: str | None, data: bytes) -> str:
    if media_type not in IMAGE_TYPES or len(data) > _MOST_BYTES:
        return ""
    return f"data:{media_type};base64,{b64encode(data).decode()}"
