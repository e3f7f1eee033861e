"""Tell images and PDFs by their first bytes, and estimate their tokens."""

from __future__ import annotations

import re
from io import BytesIO

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
# Tokens as Anthropic states them, which takes the most; the provider's report corrects the guess.
PIXELS_A_TOKEN, MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS = 750, 85, 1_600
TOKENS_A_PAGE, BYTES_A_PAGE = 2_000, 50_000


def media_type_of(data: bytes) -> str | None:
    """Return the media type of an image or a PDF by its first bytes; ``None``: it is neither."""
    return next((kind for start, kind in FILE_SIGNATURES if re.match(start, data)), None)


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
