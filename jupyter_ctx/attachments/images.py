"""Images and PDFs: tell them by their first bytes, draw what displays itself as an image, make images small enough.

No plotting library is imported for a value that does not come from it, figures stay as they are, nothing is displayed.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple

from ..context.vision import UNKNOWN_VISION, image_size
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError, MissingDependencyError
from ..template.expressions import module_of
from .user_code import call_user_code

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


def modest(name: str, data: bytes, edge: int) -> ImageFile:
    """Return an image of a size that providers take, made smaller where its longer edge has more than ``edge`` pixels.

    Raises InvalidRequestError, and MissingDependencyError where it is too large and Pillow is not installed.
    """
    image = ImageFile(media_type_of(data) or "image/png", data, *image_size(data))
    if max(image.width, image.height) <= edge and len(data) <= PLAIN_BYTES:
        return image
    try:
        from PIL import Image

        with Image.open(BytesIO(data)) as opened:
            return of_pil(name, opened, edge)
    except Exception as error:
        if len(data) <= MOST_IMAGE_BYTES:  # providers make it smaller themselves
            return image
        large = f"{name} has {len(data):,} bytes, of which providers take about {MOST_IMAGE_BYTES:,}"
        kind = MissingDependencyError if isinstance(error, ImportError) else InvalidRequestError
        raise kind(f"{large}. Pillow makes it smaller (pip install pillow), but: {error}. Nothing was sent.") from None


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


# images of values

MOST_PICTURES = 10  # of one value
LOOKED_AT = 100  # members of a collection that is searched for pictures, at most
LARGEST = 2_048  # pixels of the longer edge of a picture that is kept for whichever model is asked later
WITHOUT_PICTURES = ("builtins", "ipywidgets", "jupyter_ctx")  # whose values are not displayed as images
CHART_EXPORTS: dict[str, tuple[str, dict[str, Any]]] = {  # of a chart, by its class: the method, and keywords
    "plotly.BaseFigure": ("write_image", {}),
    "altair.TopLevelMixin": ("save", {"scale_factor": 2}),  # for small labels
}


class Pictures(NamedTuple):
    """The pictures that a value is or has, with their names, and its other members; ``None``: there are none."""

    found: list[tuple[str, ImageFile]]
    rest: Any = None


def pictures_in(name: str, value: Any, masked: Callable[[str], str], edge: int = LARGEST) -> Pictures:
    """Return the picture that a value is, or those among its members; ``edge``: their most pixels a side.

    Raises InvalidRequestError.
    """
    return call_user_code(name, lambda: _pictures(name, value, edge), masked)


def _pictures(name: str, value: Any, edge: int) -> Pictures:
    image = _image(name, _figure_of(value), edge)
    if image is not None:
        return Pictures([(name, image)])
    members, found, rest = _members(value), dict[int, tuple[str, ImageFile]](), dict[Any, Any]()
    sources = {key: _figure_of(member) for key, member in members.items()}
    for key, source in sources.items():
        label = f"{name}[{key!r}]"
        image = None if id(source) in found else _image(label, source, edge)
        if image is not None:
            found[id(source)] = label, image
        if id(source) not in found:
            rest[key] = members[key]
        if len(found) > MOST_PICTURES:
            raise InvalidRequestError(
                f"{label} is one more picture than the {MOST_PICTURES} that go with a prompt: name some of them, "
                f"such as {next(iter(found.values()))[0]}. Nothing was sent."
            )
    others = rest if isinstance(value, dict) else [*rest.values()]
    return Pictures([*found.values()], others if found and rest else None)


def _members(value: Any) -> dict[Any, Any]:
    """Return the members of a small collection by their keys; nothing for any other value."""
    if type(value).__name__ in ("ndarray", "Series") and str(getattr(value, "dtype", "")) == "object":
        value = sys.modules["numpy"].ravel(value).tolist()
    if not isinstance(value, dict | list | tuple) or len(value) > LOOKED_AT:
        return {}
    return value if isinstance(value, dict) else dict(enumerate(value))


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
    if "matplotlib.Figure" in bases:
        return _drawn_by_matplotlib(name, value, edge)
    if "PIL.Image" in bases:
        return of_pil(name, value, edge)
    export, keywords = next((CHART_EXPORTS[base] for base in bases if base in CHART_EXPORTS), ("", {}))
    if export:
        file = BytesIO()
        getattr(value, export)(file, format="png", **keywords)
        data: bytes | None = file.getvalue()
    elif "ipywidgets.Image" in bases or type(value) in (bytes, bytearray):
        data = _image_data(bytes(getattr(value, "value", value)))
    else:
        data = _displayed(value)
    return None if data is None else modest(name, data, edge)


def _drawn_by_matplotlib(name: str, figure: Any, edge: int) -> ImageFile:
    """Draw a figure with the margins that a cell shows, and no larger than ``edge``."""
    file, was_stale = BytesIO(), figure.stale
    scale = min(1.0, edge / (max(figure.get_size_inches()) * figure.dpi))
    figure.savefig(file, format="png", dpi=scale * figure.dpi, bbox_inches="tight")
    figure.stale = was_stale  # else pyplot draws it again at the end of the cell
    return modest(name, file.getvalue(), edge)


def _displayed(value: Any) -> bytes | None:
    """Return the image as which IPython displays a value; ``None``: there is none, or it is a formula, sent as text."""
    if module_of(type(value)) in WITHOUT_PICTURES or hasattr(type(value), "_repr_latex_"):
        return None
    from IPython import get_ipython
    from IPython.core.formatters import DisplayFormatter

    shell = get_ipython()
    display = shell.display_formatter if shell else DisplayFormatter()
    forms = (display.formatters[kind](value) for kind in ("image/png", "image/jpeg"))
    image = next(filter(None, map(_image_data, forms)), None)
    return image or _image_data(display.mimebundle_formatter(value, include=IMAGE_TYPES))


def _image_data(made: Any) -> bytes | None:
    """Return the bytes of an image, from bytes, base64, or a bundle of forms, with or without metadata beside them."""
    data = made[0] if isinstance(made, tuple) and made else made
    if isinstance(data, Mapping):
        return next(filter(None, (_image_data(data.get(media_type)) for media_type in IMAGE_TYPES)), None)
    if isinstance(data, str):
        with suppress(ValueError):
            data = b64decode(data)
    return data if isinstance(data, bytes) and media_type_of(data) in IMAGE_TYPES else None
