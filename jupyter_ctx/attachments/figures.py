"""Pictures of the notebook's values: figures of matplotlib, and whatever IPython displays as an image.

No plotting library is imported for a value that does not come from it, figures stay as they are, nothing is displayed.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from ..context.vision import image_size
from ..errors import InvalidRequestError, MissingDependencyError
from .guarded import guarded
from .kinds import module_of, name_of
from .media import IMAGE_TYPES, ImageFile, media_type_of, modest, of_pil

MOST_PICTURES = 10  # of one value
PICTURE_DEPTH, LOOKED_AT = 2, 100  # of collections in collections, and members of each, that are searched for pictures
FIGURE_MARGIN = 0.1  # inches around a figure, as in a cell
LARGEST = 2_048  # pixels of the longer edge of a picture that is kept for whichever model is asked later
WITHOUT_PICTURES = ("builtins", "ipywidgets", "jupyter_ctx")  # whose values are not displayed as images
EXPORTERS: dict[str, tuple[str, str, str, dict[str, Any]]] = {  # a chart's class: package, module, method, keywords
    "plotly.BaseFigure": ("kaleido", "kaleido", "write_image", {}),
    "altair.TopLevelMixin": ("vl-convert-python", "vl_convert", "save", {"scale_factor": 2}),  # for small labels
}


@dataclass(frozen=True, repr=False)
class DrawnPicture:
    """The picture of a value, which stands in its place in the collection that holds it."""

    name: str
    value: Any
    image: ImageFile

    def __repr__(self) -> str:
        return f"<image {self.name}>"


class Pictures(NamedTuple):
    """The pictures of a value with their names, and the value with words in their place; ``None``: it is no more."""

    found: list[tuple[str, ImageFile]]
    rest: Any = None


def pictures_in(name: str, value: Any, masked: Callable[[str], str], edge: int = LARGEST) -> Pictures:
    """Return the pictures that a value is, or has in it, and what else is in it; ``edge``: their most pixels a side.

    Raises InvalidRequestError, and MissingDependencyError where a library lacks what it draws pictures with.
    """
    reader = _PictureReader(edge)
    rest = guarded(name, lambda: reader.read(name, value), masked)
    found = [(picture.name, picture.image) for picture in reader.found]
    if len(found) == 1 and not reader.has_rest and not isinstance(value, dict):
        found = [(name, found[0][1])]
    return Pictures(found, rest if found and reader.has_rest else None)


class _PictureReader:
    """Finds and draws the pictures in a value, each figure once; ``has_rest``: whether there is anything else."""

    def __init__(self, edge: int) -> None:
        self.found: list[DrawnPicture] = []
        self.has_rest = False
        self._edge = edge

    def read(self, name: str, value: Any, depth: int = 0) -> Any:
        """Return a value with pictures in place of what can be drawn."""
        source = _source(value)
        known = next((picture for picture in self.found if picture.value is source), None)
        if known is not None:
            return known
        image = _image(name, source, self._edge)
        if image is not None:
            self.found.append(DrawnPicture(name, source, image))
            if len(self.found) > MOST_PICTURES:
                raise InvalidRequestError(
                    f"{name} is one more picture than the {MOST_PICTURES} that go with a prompt: name some of them, "
                    f"such as {self.found[0].name}. Nothing was sent."
                )
            return self.found[-1]
        members = _members(value) if depth < PICTURE_DEPTH else None
        if members is None:
            self.has_rest = True
            return value
        first = dict(islice(members, LOOKED_AT))
        read = {key: self.read(f"{name}[{key!r}]", member, depth + 1) for key, member in first.items()}
        if all(read[key] is first[key] for key in read):
            return value
        others = dict(members)
        self.has_rest |= bool(others)
        whole = {**read, **others}
        return whole if isinstance(value, dict) else [*whole.values()]


def _members(value: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return the keys and the members of a collection; ``None`` for any other value."""
    if isinstance(value, dict):
        return iter(value.items())
    if name_of(type(value)) in ("ndarray", "Series") and str(getattr(value, "dtype", "")) == "object":
        value = sys.modules["numpy"].ravel(value).tolist()
    return enumerate(value) if isinstance(value, list | tuple) else None


def _source(value: Any) -> Any:
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
    bases = [f"{module_of(base)}.{name_of(base)}" for base in type(value).__mro__]
    if "matplotlib.Figure" in bases:
        return _drawn_by_matplotlib(name, value, edge)
    if "PIL.Image" in bases:
        return of_pil(name, value, edge)
    exporter = next((EXPORTERS[base] for base in bases if base in EXPORTERS), None)
    if exporter is not None:
        return modest(name, _exported(name, value, *exporter), edge)
    if "ipywidgets.Image" in bases or type(value) in (bytes, bytearray):
        data = _image_data(bytes(getattr(value, "value", value)))
    else:
        data = _displayed(value)
    if data is None and "IPython.Image" in bases:
        raise InvalidRequestError(
            f"{name} is an image at an address, which the notebook does not hold: Image(url=…, embed=True) loads it, "
            "or attach a file. Nothing was sent."
        )
    return None if data is None else modest(name, data, edge)


def _drawn_by_matplotlib(name: str, figure: Any, edge: int) -> ImageFile:
    """Draw a figure with the margins that a cell shows, and no larger than ``edge``."""
    file, was_stale = BytesIO(), figure.stale
    figure.draw_without_rendering()  # lays it out
    box = figure.get_tightbbox().padded(FIGURE_MARGIN)
    scale = min(1.0, (edge - 1) / max(box.size) / figure.dpi)
    figure.savefig(file, format="png", dpi=scale * figure.dpi, bbox_inches=box, pad_inches=0)
    figure.stale = was_stale  # else pyplot draws it again at the end of the cell
    width, height = (round(side / scale) for side in image_size(file.getvalue()))
    return modest(name, file.getvalue(), edge, (width, height) if scale < 1 else None)


def _exported(name: str, chart: Any, package: str, module: str, method: str, keywords: dict[str, Any]) -> bytes:
    if find_spec(module) is None:
        drawn = f"{name} is a chart of {module_of(type(chart))}, which is drawn with {package}"
        raise MissingDependencyError(f"{drawn}: pip install {package}")
    file = BytesIO()
    getattr(chart, method)(file, format="png", **keywords)
    return file.getvalue()


def _displayed(value: Any) -> bytes | None:
    """Return the image as which IPython displays a value; ``None``: there is none, or it is a formula, sent as text."""
    if module_of(type(value)) in WITHOUT_PICTURES or hasattr(type(value), "_repr_latex_"):
        return None
    from IPython import get_ipython

    shell = get_ipython()
    display = _formatters_of_scripts() if shell is None else shell.display_formatter
    formatters = display.formatters["image/png"], display.formatters["image/jpeg"], display.mimebundle_formatter
    return next(filter(None, (_image_data(_made_by(formatter, value)) for formatter in formatters)), None)


@cache
def _formatters_of_scripts() -> Any:
    from IPython.core.formatters import DisplayFormatter

    return DisplayFormatter()


def _made_by(formatter: Any, value: Any) -> Any:
    """Return what a formatter of IPython makes of a value; unlike a call of it, this raises what that raises."""
    from IPython.utils.dir2 import get_real_method

    registered = None
    with suppress(KeyError):
        registered = formatter.lookup(value)
    if registered is not None:
        return registered(value)
    keywords = {"include": IMAGE_TYPES, "exclude": None} if formatter.print_method == "_repr_mimebundle_" else {}
    method = get_real_method(value, formatter.print_method)
    return None if method is None else method(**keywords)


def _image_data(made: Any) -> bytes | None:
    """Return the bytes of an image, from bytes, base64, or a bundle of forms, with or without metadata beside them."""
    data = made[0] if isinstance(made, tuple) and made else made
    if isinstance(data, Mapping):
        return next(filter(None, (_image_data(data.get(media_type)) for media_type in IMAGE_TYPES)), None)
    if isinstance(data, str):
        with suppress(ValueError):
            data = b64decode(data)
    return data if isinstance(data, bytes) and media_type_of(data) in IMAGE_TYPES else None
