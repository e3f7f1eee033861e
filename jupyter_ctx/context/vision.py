"""What models read of an image: how large it is best sent, and how many tokens it takes, as measured or documented."""

from __future__ import annotations

import math
import re
from io import BytesIO
from typing import NamedTuple

PIXELS_A_TOKEN, MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS = 750, 85, 1_600  # of a model of which nothing is known
PHOTOGRAPH = (4_032, 3_024)  # pixels of an image whose file does not tell its size: a phone's camera makes it


class Vision(NamedTuple):
    """How the models of a family read images."""

    patch: int = 0  # pixels of the side of the squares into which an image is divided; 0: not known
    factor: float = 1.0  # tokens of each of them
    drawn: int = 2_048  # pixels of the longer edge of a figure: more cost more and show little
    reads: int = 8_000  # pixels of the longer edge above which the provider makes an image smaller, or refuses it
    patches: int = 100_000  # above which it does so, too
    base: int = 0  # tokens around each image
    note: int = 0  # tokens that tell the model that an image was larger than ``reads``

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of an image of so many pixels; 0: its size is not known."""
        width, height = (width, height) if width else PHOTOGRAPH
        if not self.patch:
            return min(max(width * height // PIXELS_A_TOKEN, MIN_IMAGE_TOKENS), MAX_IMAGE_TOKENS)
        scale = min(1.0, self.reads / max(width, height))
        patches = math.ceil(width * scale / self.patch) * math.ceil(height * scale / self.patch)
        if patches > self.patches:
            side = math.sqrt(width * height / self.patches)  # of the patches that just cover it
            patches = min(max(1, int(width / side)) * max(1, int(height / side)), self.patches)
        return round(self.factor * patches) + self.base + (self.note if scale < 1 else 0)


UNKNOWN_VISION = Vision(drawn=1_568)
# The first pattern that matches at the beginning of a word of the model's name decides
VISIONS = (
    (r"gpt-(?:5[.-][6-9]|[6-9])", Vision(32, 1.2)),
    (r"gpt-5[.-][45]", Vision(32, 1.2, patches=10_000)),
    (r"gpt-5(?:[.-][23]|-mini|-nano)", Vision(32, 1.2, patches=1_536)),
    (r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])|claude-fable", Vision(28, 1, 2_000, 2_000, 4_784, base=77, note=40)),
    (r"claude", Vision(28, 1, 1_568, 1_568, 1_568, base=65)),
    (r"gemini-[12]", Vision(768, 258)),
    (r"gemini", Vision(32, 0, base=1_120)),  # whatever the size: media_resolution decides
)


def vision_of(model: str) -> Vision:
    """Return how a model reads images, judged by its name, whoever serves the model."""
    name = model.lower()
    return next((vision for words, vision in VISIONS if re.search(rf"(?<![a-z0-9])(?:{words})", name)), UNKNOWN_VISION)


def image_size(data: bytes) -> tuple[int, int]:
    """Return the width and the height of an image in pixels; 0 where its file does not tell."""
    import imagesize

    try:
        width, height = imagesize.get(BytesIO(data))
    except Exception:  # whatever its version raises for an image that is cut off or odd: the provider may read it
        return 0, 0
    return (width, height) if width > 0 < height else (0, 0)
