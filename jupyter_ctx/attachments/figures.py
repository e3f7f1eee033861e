"""Pictures of the notebook's values: figures and charts drawn by their own libraries, and images of any kind.

No library is imported for a value that does not come from it. A figure is drawn as it is shown in a cell; its size,
resolution, canvas and colors stay as they are, nothing is displayed, and equal figures give equal bytes.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import partial
from io import BytesIO
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from ..errors import ChatError, InvalidRequestError, MissingDependencyError
from .guarded import guarded, said_by
from .kinds import module_of, name_of
from .media import IMAGE_TYPES, SIGNATURE_BYTES, ImageFile, media_type_of, modest, of_pil

MOST_PICTURES = 10  # of one list
PICTURE_DEPTH = 2  # of collections in collections in which pictures are looked for
LOOKED_AT = 100  # members of a collection, to see whether they are parts of figures
INCHES = 300.0  # beyond which a figure is not measured before it is drawn
MOST_PIXELS = 25_000_000  # of a figure that is measured
ALTAIR_PPI = 144  # twice the pixels of the chart on a page, so that small labels can be read
WITHOUT_PICTURES = ("ipywidgets", "jupyter_ctx")  # among the forms in which their values show themselves
LARGEST = 2_048  # pixels of the longer edge of a picture that is kept for whichever model is asked later

Drawn = ImageFile | None


class PictureIn:
    """A picture in a value: its name, how to draw it, and the picture once it is drawn."""

    def __init__(self, name: str, draw: Draw, value: Any, *, is_sure: bool = True, is_keyed: bool = False) -> None:
        self.name, self.draw, self.value = name, draw, value
        self.is_sure, self.is_keyed, self.drawn = is_sure, is_keyed, cast(Drawn, None)

    def __repr__(self) -> str:
        return f"<image {self.name}>" if self.drawn is not None else repr(self.value)


class Pictures(NamedTuple):
    """The pictures of a value with their names, and the value with words in their place; ``None``: it is no more."""

    found: list[tuple[str, ImageFile]]
    rest: Any = None


def pictures_in(name: str, value: Any, masked: Callable[[str], str], edge: int = LARGEST) -> Pictures:
    """Return the pictures that a value is, or has in it, and what else is in it; ``edge``: their most pixels a side.

    Raises InvalidRequestError, and MissingDependencyError where a library lacks what it draws pictures with.
    """
    split = _Split()
    rest = guarded(name, lambda: split.of(value, name), masked)
    _check_number(name, [each for each in split.found if each.is_sure])
    for each in split.found:
        each.drawn = guarded(name, partial(each.draw, name, each.value, edge), masked)
    found = [each for each in split.found if each.drawn is not None]
    _check_number(name, found)
    if len(found) == 1 and not found[0].is_keyed and not split.has_rest:
        found[0].name = name
    has_rest = split.has_rest or len(found) < len(split.found)
    named = [(each.name, each.drawn) for each in found if each.drawn is not None]
    return Pictures(named, rest if has_rest and named else None)


def _check_number(name: str, found: list[PictureIn]) -> None:
    if len(found) > MOST_PICTURES:
        raise InvalidRequestError(
            f"{name} has {len(found):,} pictures, and {MOST_PICTURES} at most go with a prompt: name some of them, "
            f"such as {found[0].name}. Nothing was sent."
        )


Draw = Callable[[str, Any, int], Drawn]


class _Split:
    """Finds the pictures in a value; each figure once.

    has_rest: whether there is anything else in it
    """

    def __init__(self) -> None:
        self.found: list[PictureIn] = []
        self.has_rest = False

    def of(self, value: Any, name: str, depth: int = 0, *, is_keyed: bool = False) -> Any:
        """Return a value with the pictures that were found in place of those in it."""
        if type(value) in (str, int, float, bool, type(None)):
            self.has_rest = True
            return value
        figure = _figure(value)
        if figure is not None:
            return self._picture(PictureIn(name, _matplotlib, figure, is_keyed=is_keyed and figure is value))
        draw = _way_of(value)
        if draw is not None:
            is_sure = draw not in (_bundled, _by_itself)
            return self._picture(PictureIn(name, draw, value, is_sure=is_sure, is_keyed=is_keyed))
        if depth < PICTURE_DEPTH:
            before = len(self.found)
            made = self._members(value, name, depth)
            if made is not None and (len(self.found) > before or not self.has_rest):
                return made
        self.has_rest = True
        return value

    def _picture(self, picture: PictureIn) -> PictureIn:
        for other in self.found:
            if other.value is picture.value:
                return other
        self.found.append(picture)
        return picture

    def _members(self, value: Any, name: str, depth: int) -> Any:
        """Return a collection with its members split; ``None`` for anything else."""
        fields = _fields(value)
        if type(value) is dict:
            return self._of_keys(value, lambda key: f"{name}[{key!r}]", depth)
        if fields is not None:
            return SimpleNamespace(**self._of_keys(fields, lambda key: f"{name}.{key}", depth))
        if isinstance(value, list | tuple) or _is_array_of_objects(value):
            kind = list if isinstance(value, list) else tuple  # whatever a subclass iterates over
            members = list(value.flat) if _is_array_of_objects(value) else list(kind.__iter__(value))
            looked_at = [self.of(each, f"{name}[{n}]", depth + 1) for n, each in enumerate(members[:LOOKED_AT])]
            self.has_rest |= len(members) > LOOKED_AT
            return [*looked_at, *members[LOOKED_AT:]]
        return None

    def _of_keys(self, value: Mapping[Any, Any], name: Callable[[Any], str], depth: int) -> dict[Any, Any]:
        found = dict(value)
        for key, member in islice(value.items(), LOOKED_AT):
            found[key] = self.of(member, name(key), depth + 1, is_keyed=True)
        self.has_rest |= len(value) > LOOKED_AT
        return found


def _fields(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of a data class or a SimpleNamespace."""
    kind = type(value)
    if kind is SimpleNamespace or (is_dataclass(kind) and module_of(kind) == "__main__"):
        return dict(vars(value)) if hasattr(value, "__dict__") else None
    return None


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


def _matplotlib(name: str, figure: Any, edge: int) -> Drawn:
    """Draw a figure of matplotlib with the margins that a cell shows."""
    was_stale = figure.stale
    width, height = (float(side) for side in figure.get_size_inches())
    dpi = float(figure.dpi)
    box = _shown_part(figure, width, height, dpi)
    if box is not None:
        width, height = float(box.width), float(box.height)
    size = max(round(width * dpi), 1), max(round(height * dpi), 1)
    used = min(dpi, edge / max(width, height))
    data = BytesIO()
    with sys.modules["matplotlib"].rc_context({"savefig.bbox": None}):
        figure.savefig(
            data, format="png", dpi=used, bbox_inches=box, pad_inches=0, facecolor=figure.get_facecolor(),
            edgecolor=figure.get_edgecolor(), transparent=False, metadata={"Software": None},
        )  # fmt: skip
    figure.stale = was_stale  # else pyplot draws it again at the end of the cell
    return modest(name, data.getvalue(), edge, size if used < dpi else None)


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
    has_forms = callable(getattr(kind, "_repr_mimebundle_", None)) and module_of(kind) not in WITHOUT_PICTURES
    return _bundled if has_forms else None


def _bytes(name: str, value: Any, edge: int) -> Drawn:
    return modest(name, bytes(value), edge)


def _by_itself(name: str, value: Any, edge: int) -> Drawn:
    """Take the image as which a value shows itself; ``None``: it has none at present."""
    for method in ("_repr_png_", "_repr_jpeg_"):
        own = getattr(type(value), method, None)
        found = _data(own(value)) if own is not None else None
        if found:
            return modest(name, found, edge)
    return None


def _bundled(name: str, value: Any, edge: int) -> Drawn:
    found = _image_in(_bundle(value))
    return None if found is None else modest(name, found, edge)


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


def _plotly(name: str, figure: Any, edge: int) -> Drawn:
    """Draw a figure of plotly with kaleido, which needs Chrome."""
    width, height = figure.layout.width or 700, figure.layout.height or 500
    long = max(width, height)
    scale = min(1.0, edge / long)
    try:
        data = figure.to_image(format="png", width=width, height=height, scale=scale)
    except Exception as error:
        raise _plotly_error(name, error) from None
    return modest(name, data, edge, (round(width), round(height)) if scale < 1 else None)


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


def _altair(name: str, chart: Any, edge: int) -> Drawn:
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
    return modest(name, data.getvalue(), edge)


def _display_image(name: str, image: Any, edge: int) -> Drawn:
    """Take the image that IPython displays."""
    found = _data(image.data)
    if found is None:
        raise InvalidRequestError(
            f"{name} is an image at an address, which the notebook does not hold: Image(url=…, embed=True) loads it, "
            "or attach a file. Nothing was sent."
        )
    return modest(name, found, edge)


def _widget_image(name: str, image: Any, edge: int) -> Drawn:
    """Take the image that a widget holds."""
    found = _data(bytes(image.value))
    return None if found is None else modest(name, found, edge)


_LIBRARIES: dict[str, Draw] = {
    "plotly.BaseFigure": _plotly,
    "altair.TopLevelMixin": _altair,
    "PIL.Image": of_pil,
    "IPython.Image": _display_image,
    "ipywidgets.Image": _widget_image,
}
