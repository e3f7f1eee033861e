"""Pictures of the notebook's values: figures and charts drawn by their own libraries, and images of any kind.

No library is imported for a value that does not come from it. A figure is drawn as it is shown in a cell; its size,
resolution, canvas and colors stay as they are, nothing is displayed, and equal figures give equal bytes.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from itertools import islice
from typing import Any

from ..errors import ChatError, InvalidRequestError, MissingDependencyError
from ..template.kinds import module_of, name_of
from .guarded import DRAW_SECONDS, guarded, said_by
from .media import IMAGE_TYPES, SIGNATURE_BYTES, media_type_of
from .pixels import LONG_EDGE, ImageFile, modest, of_pil

MOST_PICTURES = 10  # of one list
LOOKED_AT = 100  # members of a collection, to see whether they are parts of figures
INCHES = 300.0  # beyond which a figure is not measured before it is drawn
MOST_PIXELS = 25_000_000  # of a figure that is measured
ALTAIR_PPI = 144  # twice the pixels of the chart on a page, so that small labels can be read
OWN_PACKAGE = "jupyter_ctx"

Drawn = ImageFile | None


def pictures_of(name: str, value: Any, masked: Callable[[str], str]) -> list[ImageFile]:
    """Return the pictures that a value is, or is made of; none for any other value.

    Raises InvalidRequestError, and MissingDependencyError where a library lacks what it draws pictures with.
    """
    with guarded(name, DRAW_SECONDS, masked):
        found = list(_drawable(value))
    if not found:
        return []
    if len(found) > MOST_PICTURES:
        raise InvalidRequestError(
            f"{name} has {len(found):,} pictures, and {MOST_PICTURES} at most go with a prompt: name some of them, "
            f"such as {name}[0]. Nothing was sent."
        )
    with guarded(name, DRAW_SECONDS, masked):
        drawn = [draw(name, each) for draw, each in found]
        return [] if None in drawn else [picture for picture in drawn if picture is not None]


Draw = Callable[[str, Any], Drawn]


def _drawable(value: Any) -> Iterator[tuple[Draw, Any]]:
    """Yield how to draw each picture of a value, and the figure or image; each figure once."""
    seen: list[Any] = []
    for each in (value, *_members(value)):
        found = _figure(each)
        if found is not None and not any(found is other for other in seen):
            seen.append(found)
    if seen:
        yield from ((_matplotlib, figure) for figure in seen)
        return
    draw = _way_of(value)
    if draw is not None:
        yield draw, value
    elif isinstance(value, list | tuple) and value:
        ways = [_way_of(each) for each in islice(value, LOOKED_AT)]
        if all(ways) and len(ways) == len(value):
            yield from ((way, each) for way, each in zip(ways, value, strict=True) if way is not None)


def _members(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the first members of what functions that plot return: lists, tuples, dicts and arrays of objects."""
    members: Iterable[Any] = ()
    if isinstance(value, Mapping) and type(value) is dict:
        members = value.values()
    elif isinstance(value, list | tuple):
        members = value
    elif _is_array_of_objects(value):
        members = value.flat
    if depth < 2:
        for member in islice(members, LOOKED_AT):
            yield member
            yield from _members(member, depth + 1)


def _is_array_of_objects(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind == "O"


def _figure(value: Any) -> Any:
    """Return the whole figure of matplotlib that a value is, or belongs to; ``None`` where there is none."""
    figures = sys.modules.get("matplotlib.figure")
    if figures is None or isinstance(value, type):
        return None
    found = value
    for _ in range(5):  # a line is on axes, these on a part of a figure, which may be on another
        if isinstance(found, figures.Figure):
            return found
        if not isinstance(found, _matplotlib_kinds()) and module_of(type(found)) != "seaborn":
            return None
        found = _owner(found)
    return None


def _matplotlib_kinds() -> tuple[type, ...]:
    names = (("artist", "Artist"), ("container", "Container"), ("backend_bases", "FigureCanvasBase"))
    return tuple(getattr(sys.modules.get(f"matplotlib.{module}"), name, type(Ellipsis)) for module, name in names)


def _owner(value: Any) -> Any:
    if module_of(type(value)) == "matplotlib" and isinstance(value, tuple):  # the bars of a chart, as one
        parts = value[0] if value and isinstance(value[0], tuple | list) else value
        return getattr(parts[0], "figure", None) if len(parts) else None
    return getattr(value, "figure", None)


def _matplotlib(name: str, figure: Any) -> Drawn:
    """Draw a figure of matplotlib with the margins that a cell shows."""
    was_stale = figure.stale
    width, height = (float(side) for side in figure.get_size_inches())
    dpi = float(figure.dpi)
    box = _shown_part(figure, width, height, dpi)
    if box is not None:
        width, height = float(box.width), float(box.height)
    size = max(round(width * dpi), 1), max(round(height * dpi), 1)
    used = min(dpi, LONG_EDGE / max(width, height))
    data = BytesIO()
    with sys.modules["matplotlib"].rc_context({"savefig.bbox": None}):
        figure.savefig(
            data, format="png", dpi=used, bbox_inches=box, pad_inches=0, facecolor=figure.get_facecolor(),
            edgecolor=figure.get_edgecolor(), transparent=False, metadata={"Software": None},
        )  # fmt: skip
    figure.stale = was_stale  # else pyplot draws it again at the end of the cell
    return modest(name, data.getvalue(), size if used < dpi else None)


def _shown_part(figure: Any, width: float, height: float, dpi: float) -> Any:
    """Return what a cell shows of a figure, which may be more or less than its size says; ``None``: just its size."""
    if max(width, height) > INCHES or width * height * dpi * dpi > MOST_PIXELS:
        return None
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    if not (0 < box.width <= 2 * width and 0 < box.height <= 2 * height):  # something is far outside, or nothing is in
        return None
    return box.padded(0.1)


def _way_of(value: Any) -> Draw | None:
    """Return how to draw a picture of a value, if that is one."""
    kind = type(value)
    if kind is bytes or kind is bytearray:
        return _bytes if media_type_of(bytes(value[:SIGNATURE_BYTES])) in IMAGE_TYPES else None
    bases = {f"{module_of(base)}.{name_of(base)}" for base in kind.__mro__}
    for base, draw in _LIBRARIES.items():
        if base in bases:
            return draw
    if any(callable(getattr(kind, method, None)) for method in ("_repr_png_", "_repr_jpeg_")):
        return _by_itself
    has_forms = callable(getattr(kind, "_repr_mimebundle_", None)) and module_of(kind) not in (
        "ipywidgets",
        OWN_PACKAGE,
    )
    return _bundled if has_forms else None


def _bytes(name: str, value: Any) -> Drawn:
    return modest(name, bytes(value))


def _by_itself(name: str, value: Any) -> Drawn:
    """Take the image as which a value shows itself; ``None``: it has none at present."""
    for method in ("_repr_png_", "_repr_jpeg_"):
        own = getattr(type(value), method, None)
        found = _data(own(value)) if own is not None else None
        if found:
            return modest(name, found)
    return None


def _bundled(name: str, value: Any) -> Drawn:
    found = _image_in(_bundle(value))
    return None if found is None else modest(name, found)


def _bundle(value: Any) -> Any:
    try:
        found = type(value)._repr_mimebundle_(value, include=IMAGE_TYPES, exclude=None)
    except TypeError:  # it does not take them, so IPython does not call it either
        return None
    return found[0] if isinstance(found, tuple) and found else found


def _image_in(bundle: Any) -> bytes | None:
    if not isinstance(bundle, Mapping):
        return None
    return next((data for kind in IMAGE_TYPES if (data := _data(bundle.get(kind)))), None)


def _data(given: Any) -> bytes | None:
    """Return the bytes of an image, from bytes or base64, with or without metadata beside them."""
    found = given[0] if isinstance(given, tuple) and given else given
    if isinstance(found, str):
        try:
            found = b64decode(found, validate=False)
        except ValueError:
            return None
    return found if isinstance(found, bytes) and media_type_of(found) in IMAGE_TYPES else None


def _plotly(name: str, figure: Any) -> Drawn:
    """Draw a figure of plotly with kaleido, which needs Chrome."""
    width, height = figure.layout.width or 700, figure.layout.height or 500
    long = max(width, height)
    scale = min(1.0, LONG_EDGE / long)
    try:
        data = figure.to_image(format="png", width=width, height=height, scale=scale)
    except Exception as error:
        raise _plotly_error(name, error) from None
    return modest(name, data, (round(width), round(height)) if scale < 1 else None)


def _plotly_error(name: str, error: Exception) -> ChatError:
    said = str(error)
    if "kaleido" in said.lower() and ("pip install" in said or "requires the Kaleido" in said):
        return MissingDependencyError(f"{name} is a figure of plotly, whose pictures need kaleido: pip install kaleido")
    if "Chrome" in said:
        return MissingDependencyError(
            f"{name} is a figure of plotly, whose pictures need Chrome, which was not found: run plotly_get_chrome in "
            "a terminal, or name an installed one in the environment variable BROWSER_PATH."
        )
    return InvalidRequestError(f"{name} cannot be drawn by plotly: {said_by(error)}. Nothing was sent.")


def _altair(name: str, chart: Any) -> Drawn:
    """Draw a chart of altair with vl-convert."""
    data = BytesIO()
    try:
        chart.save(data, format="png", ppi=ALTAIR_PPI)
    except Exception as error:
        if isinstance(error, ImportError) or "vl-convert" in str(error):
            raise MissingDependencyError(
                f"{name} is a chart of altair, whose pictures need vl-convert: pip install vl-convert-python"
            ) from None
        raise InvalidRequestError(f"{name} cannot be drawn by altair: {said_by(error)}. Nothing was sent.") from None
    return modest(name, data.getvalue())


def _display_image(name: str, image: Any) -> Drawn:
    """Take the image that IPython displays."""
    found = _data(image.data)
    if found is None:
        raise InvalidRequestError(
            f"{name} is an image at an address, which the notebook does not hold: Image(url=…, embed=True) loads it, "
            "or attach a file. Nothing was sent."
        )
    return modest(name, found)


def _widget_image(name: str, image: Any) -> Drawn:
    """Take the image that a widget holds."""
    found = _data(bytes(image.value))
    return None if found is None else modest(name, found)


_LIBRARIES: dict[str, Draw] = {
    "plotly.BaseFigure": _plotly,
    "altair.TopLevelMixin": _altair,
    "PIL.Image": of_pil,
    "IPython.Image": _display_image,
    "ipywidgets.Image": _widget_image,
}
