"""Draw with matplotlib what the turns of a conversation took; a text says the same.

A picture is drawn on its own figure: pyplot, its list of open figures and its windows are never touched.
"""

from __future__ import annotations

import html
import warnings
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import MissingDependencyError
from ..wording import visible
from .tables import table_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_TURNS = 400  # of one picture
MAX_ALT = 1_000  # characters that a screen reader reads for the image


class Picture:
    """A figure that a notebook shows, with its text twin.

    ``figure``: the ``matplotlib.figure.Figure``, to be changed and saved at will.
    ``text``: the same figures as text, shown where images are not.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        self.figure, self.text = figure, visible(text)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        del include, exclude
        file = BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a sign that the font lacks is drawn as a box, and is in the text
            self.figure.savefig(file, format="png")
        png = b64encode(file.getvalue()).decode()
        # front ends that are given the image alone show it without a text for screen readers
        image = f'<img alt="{html.escape(self.text[:MAX_ALT])}" src="data:image/png;base64,{png}">'
        return {"text/html": image, "image/png": png, "text/plain": self.text}


class TurnFigures(NamedTuple):
    """Tokens that one turn took, ``cached`` ones as part of the ``input``; ``event``: such as "cut" or "summary"."""

    turn: int
    input: int
    cached: int
    output: int
    event: str = ""


def turns_text(turns: Sequence[TurnFigures], limit: int) -> str:
    """Return what :func:`draw_turns` draws as text."""
    rows = [[f"{each:,}" for each in turn[:4]] + [turn.event] for turn in turns]
    return f"Tokens of each turn, limit now {limit:,}\n{table_text((*TurnFigures._fields[:4], ''), rows)}"


def draw_turns(turns: Sequence[TurnFigures], limit: int) -> Picture:
    """Draw the tokens of turns, with the cuts, the summaries, and the limit that a prompt has now.

    Raises MissingDependencyError.
    """
    shown = turns[-MAX_TURNS:]
    numbers, inputs, cached, outputs, events = zip(*shown, strict=True)
    figure, axes = _canvas(3.4, "Tokens of each turn")
    axes.bar(numbers, inputs, label="input")
    axes.bar(numbers, cached, label="input, cached")
    axes.bar(numbers, outputs, bottom=inputs, label="output")
    if limit < 4 * max(inputs):  # above it, the turns would be a thin line
        axes.axhline(limit, color="black", linestyle="--", label="limit now")
    for turn, event in zip(shown, events, strict=True):
        axes.text(turn.turn, turn.input + turn.output, event, rotation=90, ha="center", va="bottom")
    axes.set(xlabel="turn", ylabel="tokens")
    axes.locator_params(axis="x", integer=True)
    figure.legend(loc="outside lower center", ncols=4)
    return Picture(figure, turns_text(turns, limit))


def _canvas(height: float, title: str) -> tuple[Figure, Axes]:
    """Return a figure of this height in inches, with one panel under a title. Raises MissingDependencyError."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError('Pictures need matplotlib: pip install "jupyter_ctx[pictures]"') from None
    figure = Figure(figsize=(7.5, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    return figure, axes
