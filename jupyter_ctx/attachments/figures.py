"""Pictures of the notebook's values: figures of matplotlib, and whatever IPython displays as an image.

No plotting library is imported for a value that does not come from it, figures stay as they are, nothing is displayed.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from ..context.vision import image_size
from ..errors import InvalidRequestError
from ..template.expressions import module_of
from .media import IMAGE_TYPES, ImageFile, media_type_of, modest, of_pil
from .printing import Verbatim
from .user_code import call_user_code

MOST_PICTURES = 10  # of one value
PICTURE_DEPTH, LOOKED_AT = 2, 100  # of collections in collections, and most members of each that is searched
LARGEST = 2_048  # pixels of the longer edge of a picture that is kept for whichever model is asked later
WITHOUT_PICTURES = ("builtins", "ipywidgets", "jupyter_ctx")  # whose values are not displayed as images
CHART_EXPORTS: dict[str, tuple[str, dict[str, Any]]] = {  # of a chart, by its class: the method, and keywords
    "plotly.BaseFigure": ("write_image", {}),
    "altair.TopLevelMixin": ("save", {"scale_factor": 2}),  # for small labels
}


class Pictures(NamedTuple):
    """The pictures of a value with their names, and the value with words in their place; ``None``: it is no more."""

    found: list[tuple[str, ImageFile]]
    rest: Any = None


def pictures_in(name: str, value: Any, masked: Callable[[str], str], edge: int = LARGEST) -> Pictures:
    """Return the pictures that a value is, or has in it, and what else is in it; ``edge``: their most pixels a side.

    Raises InvalidRequestError.
    """
    found: dict[int, tuple[str, ImageFile, Any]] = {}  # by the id of what is drawn, which is kept with it

    def read(name: str, value: Any, depth: int) -> Any:
        """Return a value with words in place of the pictures in it."""
        source = _figure_of(value)
        image = None if id(source) in found else _image(name, source, edge)
        if image is not None:
            if len(found) == MOST_PICTURES:
                raise InvalidRequestError(
                    f"{name} is one more picture than the {MOST_PICTURES} that go with a prompt: name some of them, "
                    f"such as {next(iter(found.values()))[0]}. Nothing was sent."
                )
            found[id(source)] = name, image, source
        if id(source) in found:
            return Verbatim(f"<image {found[id(source)][0]}>")
        members = _members(value) if depth < PICTURE_DEPTH else {}
        parts = {key: read(f"{name}[{key!r}]", member, depth + 1) for key, member in members.items()}
        if all(parts[key] is members[key] for key in parts):
            return value
        return parts if isinstance(value, dict) else [*parts.values()]

    rest = call_user_code(name, lambda: read(name, value, 0), masked)
    pictures = [(picture, image) for picture, image, _ in found.values()]
    return Pictures(pictures, None if not pictures or _is_of_pictures(rest) else rest)


def _members(value: Any) -> dict[Any, Any]:
    """Return the members of a small collection by their keys; nothing for any other value."""
    if type(value).__name__ in ("ndarray", "Series") and str(getattr(value, "dtype", "")) == "object":
        value = sys.modules["numpy"].ravel(value).tolist()
    if not isinstance(value, dict | list | tuple) or len(value) > LOOKED_AT:
        return {}
    return value if isinstance(value, dict) else dict(enumerate(value))


def _is_of_pictures(rest: Any) -> bool:
    """Return whether nothing but words for pictures is left of a value."""
    if isinstance(rest, dict | list):
        return all(map(_is_of_pictures, rest.values() if isinstance(rest, dict) else rest))
    return isinstance(rest, Verbatim)


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
    width, height = (round(side / scale) for side in image_size(file.getvalue()))
    return modest(name, file.getvalue(), edge, (width, height) if scale < 1 else None)


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
