"""Draw what a run scored with matplotlib: rates with intervals by arm, and a text that says the same.

A picture is drawn on its own figure: pyplot, its list of open figures and its windows are never touched.
"""

from __future__ import annotations

import html
import warnings
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...display.tables import table_text
from ...errors import InvalidRequestError, MissingDependencyError
from ...runtime.files import path_of
from ...wording import visible
from ..statistics.tally import scorers_of
from ..statistics.verdicts import ArmRow, number_text, percent
from .comparison import summary
from .sides import check_scorer, results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, DOTS = 7.5, 96  # inches, and dots an inch on the page; the image has twice as many
ARM_HEIGHT, FRAME_HEIGHT = 0.32, 0.95  # inches of one arm, and of all beside the arms
MAX_ARMS = 60  # of one picture
MAX_LABEL, MAX_TITLE = 38, 90  # characters of a label, and of the title
MAX_ALT = 1_000  # characters of the text that a screen reader reads for the image
PNG = "image/png"
HALF_BRIGHT = 1.5  # the sum of red, green and blue, each from 0 to 1
# on a dark page the lightness of a light card is turned, and its hues stay: JupyterLab and VS Code say which page it is
DARK_STYLE = (
    "<style>:is([data-jp-theme-light=false],.vscode-dark) .jctx-light{filter:invert(.88) hue-rotate(180deg)}</style>"
)
FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Yu Gothic", "Hiragino Sans", "PingFang SC",
    "WenQuanYi Zen Hei", "Malgun Gothic", "Noto Sans Arabic", "Noto Sans Devanagari", "Nirmala UI", "Arial Unicode MS",
)  # fmt: skip


class Palette(NamedTuple):
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
        from matplotlib.colors import to_rgb

        del include, exclude
        width, height = (round(inches * DOTS) for inches in self.figure.get_size_inches())
        png = b64encode(self._rendered("png")).decode()
        card = "jctx-light" if sum(to_rgb(self.figure.get_facecolor())) > HALF_BRIGHT else "jctx-dark"
        image = (  # front ends that are given the image alone show it without a text for screen readers
            f'{DARK_STYLE}<img class="{card}" alt="{html.escape(self.text[:MAX_ALT])}" width="{width}" '
            f'style="max-width:100%" src="data:{PNG};base64,{png}">'
        )
        shown = {PNG: {"width": width, "height": height}}
        return {"text/html": image, PNG: png, "text/plain": self.text}, shown

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file in the format of its suffix, such as .png, .svg or .pdf, and return its path.

        Raises InvalidRequestError where matplotlib has no such format, or the file cannot be written.
        """
        file = path_of(path)
        try:
            file.write_bytes(self._rendered(file.suffix.lstrip(".") or "png"))
        except (OSError, ValueError) as error:
            raise InvalidRequestError(f"{file} cannot be written: {error}") from None
        return file.absolute()

    def _rendered(self, form: str) -> bytes:
        from matplotlib.text import Text

        families, file = _families(), BytesIO()
        for text in self.figure.findobj(Text):
            text.set_fontfamily(families)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a sign that the font lacks is drawn as a box, and is in the text
            self.figure.savefig(file, format=form, dpi=2 * DOTS, facecolor=self.figure.get_facecolor())
        return file.getvalue()


def draw_rates(results: Any, scorer: str | None = None, *, group: str | None = None, dark: bool = False) -> Picture:
    """Draw the rate or the mean of each arm with its 95 % interval, by one scorer; without a name, the first.

    ``results`` are a run's, or a run; ``group`` is the column that says which rows belong together; ``dark`` is for
    dark pages. Raises InvalidRequestError where there are no scores, and MissingDependencyError.
    """
    scored = list(results_of(results))
    name = scorer_named(scored, scorer)
    group = group or getattr(results, "group", None)
    rows = [row for row in summary(scored, group=group) if row.scorer == name]
    shown = rows[:MAX_ARMS]
    palette = DARK if dark else LIGHT
    color = palette.series[0]
    figure, (axes,) = canvas(palette, FRAME_HEIGHT + ARM_HEIGHT * len(shown))
    for place, row in enumerate(shown):
        if row.low is not None and row.high is not None:
            axes.plot((row.low, row.high), (place, place), color=color, linewidth=2, solid_capstyle="butt")
        if row.value is not None:
            axes.plot(row.value, place, "o", color=color, markersize=7)
    if all(row.kind != "mean" for row in shown):
        axes.set_xlim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
    labels = [f"{label_of(row.arm or 'all', MAX_LABEL)} ({row.n})" for row in shown]
    axes.set_yticks(range(len(shown)), labels=labels, parse_math=False)  # a dollar in a label is no formula
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="x", color=palette.grid)
    more = f"; the first {MAX_ARMS} of {len(rows)} arms" if len(rows) > MAX_ARMS else ""
    title = f"{name}, with 95 % intervals"
    titled(axes, f"{title} (in brackets: rows){more}", palette)
    return Picture(figure, f"{title}\n{table_text(('arm', 'value', 'interval', 'rows'), list(map(arm_figures, rows)))}")


def scorer_named(results: Sequence[Any], name: str | None) -> str:
    """Return the scorer of this name; without one the first. Raises InvalidRequestError where there is none."""
    known = scorers_of(results)
    if not known:
        raise InvalidRequestError("There is nothing to draw: these results have no scores. Give the run scorers=.")
    if name is not None:
        check_scorer(name, known)
    return name or known[0]


def canvas(palette: Palette, height: float, panels: Sequence[float] = (1,)) -> tuple[Figure, list[Axes]]:
    """Return a figure of this height in inches, with panels below each other of these heights in proportion.

    Raises MissingDependencyError.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError('Pictures need matplotlib: pip install "jupyter_ctx[pictures]"') from None
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=palette.card)
    shown = list(figure.subplots(len(panels), sharex=True, squeeze=False, height_ratios=panels)[:, 0])
    for axes in shown:
        axes.set_facecolor(palette.card)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(palette.grid)
        # whatever the user's style is
        axes.tick_params(colors=palette.quiet, labelcolor=palette.ink, labelsize=9, length=0)
        axes.set_axisbelow(True)
    return figure, shown


@cache
def _families() -> list[str]:
    """Return matplotlib's default font, then installed ones for the signs that it lacks."""
    from matplotlib import font_manager, rcParams

    installed = set(font_manager.get_font_names())
    return [*rcParams["font.family"], *(name for name in FALLBACKS if name in installed)]


def titled(axes: Axes, title: str, palette: Palette) -> None:
    """Set the title of a panel, at its left."""
    axes.set_title(label_of(title, MAX_TITLE), loc="left", color=palette.ink, fontsize=10, parse_math=False)


def labelled(axes: Axes, text: str, side: str, palette: Palette) -> None:
    """Set what an axis measures; ``side`` is ``x`` or ``y``."""
    getattr(axes, f"set_{side}label")(label_of(text, MAX_LABEL), color=palette.quiet, fontsize=9, parse_math=False)


def label_of(text: str, most: int) -> str:
    """Return a text as a label: one line, and of a long one both ends, for labels differ at either."""
    line = " ".join(visible(text).split())
    half = (most - 1) // 2
    return line if len(line) <= most else f"{line[: most - 1 - half]}…{line[-half:]}"


def arm_figures(row: ArmRow) -> tuple[str, ...]:
    """Return the label of an arm, its rate or mean, the interval, and the number of rows, as text."""
    shown = percent if row.kind != "mean" else number_text
    value, low, high = ("–" if end is None else shown(end) for end in (row.value, row.low, row.high))
    interval = f"{low.removesuffix(' %')} to {high}" if row.low is not None else "no interval"
    return row.arm or "all", value, interval, str(row.n)
