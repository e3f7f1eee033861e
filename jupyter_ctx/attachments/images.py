"""Images and PDFs: tell them by their first bytes, draw what displays itself as an image, make images small enough.

No plotting library is imported for a value that does not come from it, figures stay as they are, nothing is displayed.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from ..context.vision import UNKNOWN_VISION, image_size
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError, MissingDependencyError
from ..template.expressions import module_of

FILE_SIGNATURES = (  # what a file begins with; its name may say anything
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF[\s\S]{4}WEBP", "image/webp"),
    (rb"%PDF-", "application/pdf"),
)
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
        whole = f", reduced from {self.of[0]:,} × {self.of[1]:,}" if self.of else ""
        return f"{self.width:,} × {self.height:,}{whole}" if self.width else "image"

    @property
    def noun(self) -> str:
        """What is sent, for the model."""
        return f"an image of {self.width:,} × {self.height:,} pixels" if self.width else "an image"


def as_attachment(name: str, image: ImageFile) -> Attachment:
    """Return an image as it goes beside a prompt."""
    return Attachment(name, image.media_type, image.data, guessed_tokens(image.media_type, image.data))


def modest(name: str, data: bytes, edge: int, most_edge: int = 0, most_bytes: int = PLAIN_BYTES) -> ImageFile:
    """Return an image of a size that providers take, with ``edge`` pixels at its longer edge where it has more.

    It stays as it is up to ``most_edge`` pixels. Raises InvalidRequestError, and MissingDependencyError where it is too
    large and Pillow is not installed.
    """
    image = ImageFile(media_type_of(data) or "image/png", data, *image_size(data))
    if max(image.width, image.height) <= max(edge, most_edge) and len(data) <= most_bytes:
        return image
    try:
        from PIL import Image

        with Image.open(BytesIO(data)) as opened:
            return of_pil(opened, edge)
    except Exception as error:
        if len(data) <= MOST_IMAGE_BYTES:  # providers make it smaller themselves
            return image
        large = f"{name} has {len(data):,} bytes, of which providers take about {MOST_IMAGE_BYTES:,}"
        kind = MissingDependencyError if isinstance(error, ImportError) else InvalidRequestError
        raise kind(f"{large}. Pillow makes it smaller (pip install pillow), but: {error}. Nothing was sent.") from None


def of_pil(image: Any, edge: int) -> ImageFile:
    """Return an image of Pillow as an upright file without its metadata, which may tell where it was taken.

    Its longer edge has ``edge`` pixels at most. A photograph, and what has many bytes, is a JPEG, else a PNG.
    """
    from PIL import Image, ImageOps

    is_photo = image.format in ("JPEG", "MPO", "WEBP")  # which lose something anyway
    whole = ImageOps.exif_transpose(image)
    made = whole.convert("RGBA" if whole.has_transparency_data else "RGB")
    made.thumbnail((edge, edge))
    made.info = {}
    media_type, file = "image/png", BytesIO()
    if not is_photo:
        made.save(file, format="PNG")
    if is_photo or file.tell() > PLAIN_BYTES:
        white = Image.new("RGBA", made.size, "white")
        white.alpha_composite(made.convert("RGBA"))
        media_type, file = "image/jpeg", BytesIO()
        white.convert("RGB").save(file, format="JPEG", quality=QUALITY)
    return ImageFile(media_type, file.getvalue(), *made.size, whole.size if made.size != whole.size else None)


# images of values

MOST_PICTURES = 10  # of one value
LOOKED_AT = 100  # members of a collection that is searched for pictures, at most
WITHOUT_PICTURES = ("builtins", "ipywidgets", "jupyter_ctx")  # whose values are not displayed as images


def pictures_in(name: str, value: Any, edge: int) -> tuple[list[tuple[str, ImageFile]], Any]:
    """Return the pictures that a value is or has, with their names, and what is no picture of it, or ``None``.

    ``edge``: their most pixels a side. Raises InvalidRequestError, and whatever drawing raises.
    """
    image = _image(name, _figure_of(value), edge)
    if image is not None:
        return [(name, image)], None
    found, rest = dict[int, tuple[str, ImageFile]](), dict[Any, Any]()
    sources = [(key, member, _figure_of(member)) for key, member in _members(value)]  # which keeps their ids apart
    for key, member, source in sources:
        label = f"{name}[{key!r}]"
        image = None if id(source) in found else _image(label, source, edge)
        if image is not None:
            found[id(source)] = label, image
        if id(source) not in found:
            rest[key] = member
        if len(found) > MOST_PICTURES:
            raise InvalidRequestError(
                f"{name} has more than the {MOST_PICTURES} pictures that go with a prompt: name some of them, "
                f"such as {name}[{sources[0][0]!r}]. Nothing was sent."
            )
    if not found:
        return [], value
    others = rest if isinstance(value, dict) else [*rest.values()]
    return [*found.values()], others or None


def _members(value: Any) -> list[tuple[Any, Any]]:
    """Return the members of a small collection with their keys; nothing for any other value."""
    if type(value).__name__ in ("ndarray", "Series") and str(getattr(value, "dtype", "")) == "object":
        value = sys.modules["numpy"].ravel(value).tolist()
    if not isinstance(value, dict | list | tuple) or len(value) > LOOKED_AT:
        return []
    return list(value.items() if isinstance(value, dict) else enumerate(value))


def _figure_of(value: Any) -> Any:
    """Return the figure that a part of one belongs to, such as axes, lines, bars, a grid of seaborn; else the value."""
    figures = sys.modules.get("matplotlib.figure")
    libraries = {module_of(base) for base in type(value).__mro__}
    if figures is None or libraries.isdisjoint(("matplotlib", "seaborn")):
        return value
    part = value
    if isinstance(value, tuple) and hasattr(value, "get_children"):  # the bars of a chart
        part = next(iter(value.get_children()), None)
    while part is not None and not isinstance(part, figures.Figure):
        part = getattr(part, "figure", None)  # a line is on axes, these on a part of a figure, which may be on another
    return value if part is None else part


def _image(name: str, value: Any, edge: int) -> ImageFile | None:
    """Return the image that a value is drawn as; ``None``: it is none."""
    bases = [f"{module_of(base)}.{base.__name__}" for base in type(value).__mro__]
    if "PIL.Image" in bases:
        return of_pil(value, edge)
    file = BytesIO()
    if "matplotlib.Figure" in bases:
        was_stale = value.stale
        scale = min(1.0, edge / (max(value.get_size_inches()) * value.dpi))
        value.savefig(file, format="png", dpi=scale * value.dpi, bbox_inches="tight")  # with the margins of a cell
        value.stale = was_stale  # else pyplot draws it again at the end of the cell
    elif "plotly.BaseFigure" in bases:
        value.write_image(file, format="png")
    elif "altair.TopLevelMixin" in bases:
        value.save(file, format="png", scale_factor=2)  # for small labels
    data = file.getvalue() or (_image_data(bytes(value)) if type(value) in (bytes, bytearray) else _displayed(value))
    return modest(name, data, edge) if data else None


def _displayed(value: Any) -> bytes | None:
    """Return the image as which IPython displays a value; ``None``: there is none, or it is a formula, sent as text."""
    if module_of(type(value)) in WITHOUT_PICTURES or hasattr(type(value), "_repr_latex_"):
        return None
    from IPython import get_ipython
    from IPython.core.formatters import DisplayFormatter

    shell = get_ipython()
    display = shell.display_formatter if shell else DisplayFormatter()
    forms, _ = display.format(value, include=IMAGE_TYPES)
    return next(filter(None, map(_image_data, map(forms.get, IMAGE_TYPES))), None)


def _image_data(made: Any) -> bytes | None:
    """Return the bytes of an image, from bytes or base64; ``None``: it is none."""
    with suppress(ValueError):
        data = b64decode(made) if isinstance(made, str) else made
        return data if isinstance(data, bytes) and media_type_of(data) in IMAGE_TYPES else None
    return None
