"""Draw figures with matplotlib, each with a text that says the same.

A picture is drawn on its own figure: pyplot, its list of open figures and its windows are never touched.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidRequestError, MissingDependencyError
from ..runtime.files import path_of
from ..wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, DOTS = 7.5, 96  # inches, and dots an inch on the page; the image has twice as many
MAX_LABEL = 44  # characters of a label
MAX_ALT = 1_000  # characters of the text that a screen reader reads for the image
PNG = "image/png"
FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Yu Gothic", "Hiragino Sans", "PingFang SC",
    "WenQuanYi Zen Hei", "Malgun Gothic", "Noto Sans Arabic", "Noto Sans Devanagari", "Nirmala UI", "Arial Unicode MS",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a picture: a card of its own colour is readable on any page, light or dark."""

    card: str
    ink: str
    quiet: str
    grid: str
    series: tuple[str, str, str]  # told apart without red and green, and in print
    alarm: str


LIGHT = Palette("#ffffff", "#212121", "#616161", "#e0e0e0", ("#1565c0", "#90caf9", "#ef6c00"), "#b71c1c")
DARK = Palette("#1e1e1e", "#eeeeee", "#b0b0b0", "#424242", ("#64b5f6", "#1e5c97", "#ffb74d"), "#ef9a9a")


class Picture:
    """A figure that a notebook shows, with its text twin.

    ``figure``: the ``matplotlib.figure.Figure``, to be changed at will.
    ``text``: the same figures as text, shown where images are not.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        self.figure = figure
        self.text = visible(text)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        del include, exclude
        width, height = (round(inches * DOTS) for inches in self.figure.get_size_inches())
        image = b64encode(self._rendered("png", 2 * DOTS)).decode()
        return {PNG: image, "text/plain": self.text}, {
            PNG: {"width": width, "height": height, "alt": self.text[:MAX_ALT]}
        }

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file in the format of its suffix, such as .png, .svg or .pdf, and return its path.

        Raises InvalidRequestError where matplotlib has no such format, or the file cannot be written.
        """
        file = path_of(path)
        try:
            file.write_bytes(self._rendered(file.suffix.lstrip(".") or "png", 2 * DOTS))
        except (OSError, ValueError) as error:
            raise InvalidRequestError(f"{file} cannot be written: {error}") from None
        return file.absolute()

    def _rendered(self, kind: str, dots: int) -> bytes:
        from matplotlib.text import Text

        families, file = _families(), BytesIO()
        for text in self.figure.findobj(Text):
            text.set_fontfamily(families)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a sign that the font lacks is drawn as a box, and is in the text
            self.figure.savefig(file, format=kind, dpi=dots, facecolor=self.figure.get_facecolor())
        return file.getvalue()


def canvas(height: float, palette: Palette, panels: Sequence[float] = (1,)) -> tuple[Figure, list[Axes]]:
    """Return a figure of this height in inches, with panels below each other of these heights in proportion.

    Raises MissingDependencyError.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError('Pictures need matplotlib: pip install "jupyter_ctx[pictures]"') from None
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=palette.card)
    grid = figure.add_gridspec(len(panels), 1, height_ratios=list(panels))
    axes: list[Axes] = []
    for i in range(len(panels)):
        axes.append(figure.add_subplot(grid[i], sharex=axes[0] if axes else None))
        _plain(axes[-1], palette)
    return figure, axes


@cache
def _families() -> list[str]:
    """Return matplotlib's default font, then installed ones for the signs that it lacks."""
    from matplotlib import font_manager, rcParams

    installed = set(font_manager.get_font_names())
    return [*rcParams["font.family"], *(name for name in FALLBACKS if name in installed)]


def _plain(axes: Axes, palette: Palette) -> None:
    """Take away the frame, and set every colour, so that no style of the user's makes text unreadable."""
    axes.set_facecolor(palette.card)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(palette.grid)
    axes.tick_params(colors=palette.quiet, labelcolor=palette.ink, labelsize=9, length=0)
    axes.set_axisbelow(True)


def titled(axes: Axes, title: str, palette: Palette) -> None:
    """Set the title of a panel, at its left."""
    axes.set_title(label_of(title, 90), loc="left", color=palette.ink, fontsize=10, parse_math=False)


def labelled(axes: Axes, text: str, side: str, palette: Palette) -> None:
    """Set what an axis measures; ``side`` is ``x`` or ``y``."""
    getattr(axes, f"set_{side}label")(label_of(text), color=palette.quiet, fontsize=9, parse_math=False)


def ticks(axes: Axes, side: str, labels: Iterable[str]) -> None:
    """Label the places 0, 1, 2 … of an axis; a dollar in a label is no formula."""
    shown = [label_of(label) for label in labels]
    getattr(axes, f"set_{side}ticks")(range(len(shown)), labels=shown, parse_math=False)


def show_legend(figure: Figure, axes: Axes, palette: Palette) -> None:
    """Show the legend of a panel below all panels."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=8, frameon=False, fontsize=8, labelcolor=palette.ink
    )


def label_of(text: str, most: int = MAX_LABEL) -> str:
    """Return a text as a label: one line, and of a long one both ends, for labels differ at either."""
    line = " ".join(visible(text).split())
    half = (most - 1) // 2
    return line if len(line) <= most else f"{line[: most - 1 - half]}…{line[-half:]}"


def aligned(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text, for the text of a picture."""
    cells = [[" ".join(visible(cell).split()) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)
