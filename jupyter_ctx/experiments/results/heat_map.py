"""Draw what a sweep over two parameters scored, as a heat map and as the same in text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...display.tables import table_text
from ...errors import InvalidRequestError
from ..statistics.same_rows import observations, prompts_of
from ..statistics.tally import Tally, by_arm, tally
from ..statistics.verdicts import number_text, percent
from ..table.plan import value_labels
from ..table.results import Result
from .pictures import (
    DARK,
    FRAME_HEIGHT,
    LIGHT,
    MAX_LABEL,
    Palette,
    Picture,
    canvas,
    label_of,
    labelled,
    scorer_named,
    titled,
)
from .sides import near, results_of

MAX_VALUES = 40  # of one parameter
WIDE = 8  # columns, above which a cell has no room for its number of rows
LIGHT_FROM = 0.45  # of the range of colours: from there on black stands out more than white, below white does
LINE_HEIGHT, HEAD_HEIGHT = 0.42, 0.3  # inches


def draw_heat_map(
    results: Any, scorer: str | None = None, *, x: str | None = None, y: str | None = None, dark: bool = False
) -> Picture:
    """Draw the rate or the mean for each pair of values of two parameters of a sweep.

    ``x`` and ``y`` name the parameters; without them they are the two that vary; ``dark`` is for dark pages. What
    varies beside them is averaged, and the title says so. Raises InvalidRequestError where there are no two
    parameters, and MissingDependencyError.
    """
    scored = list(results_of(results))
    name = scorer_named(scored, scorer)
    (across, down), others = _parameters(scored, x, y)
    across_values, down_values = _values(scored, across), _values(scored, down)
    cells = [[_cell(scored, {across: i, down: j}, name) for i in across_values] for j in down_values]
    columns, rows = value_labels(list(across_values.values())), value_labels(list(down_values.values()))
    is_mean = any(cell.kind == "mean" for line in cells for cell in line if cell.rows)
    texts = [[_text(cell, is_mean) for cell in line] for line in cells]
    averaged = f"; {', '.join(others)} averaged" if others else ""
    title = f"{name} (in brackets: rows){averaged}"
    palette = DARK if dark else LIGHT
    figure, (axes,) = canvas(palette, FRAME_HEIGHT + HEAD_HEIGHT + LINE_HEIGHT * len(rows))
    titled(axes, title, palette)
    labelled(axes, across, "x", palette)
    labelled(axes, down, "y", palette)
    for side, labels in (("x", columns), ("y", rows)):
        places, shown = range(len(labels)), [label_of(label, MAX_LABEL) for label in labels]
        getattr(axes, f"set_{side}ticks")(places, labels=shown, parse_math=False)
    _colour(axes, cells, texts, is_mean, palette)
    lines = [[row, *line] for row, line in zip(rows, texts, strict=True)]
    head = [f"{down} \\ {across}", *columns]
    return Picture(figure, f"{title}\n{table_text(head, lines)}")


def _colour(
    axes: Any, cells: Sequence[Sequence[Tally]], texts: Sequence[Sequence[str]], is_mean: bool, palette: Palette
) -> None:
    """Draw the cells, each with its text, which has room for the number of rows where the columns are few."""
    values = [[_mean(cell) for cell in line] for line in cells]
    scored = [value for line in values for value in line if not math.isnan(value)]
    low, high = (min(scored), max(scored)) if is_mean else (0.0, 1.0)
    image = axes.imshow(values, cmap="cividis", aspect="auto", vmin=low, vmax=high)
    width = len(cells[0])
    for j, line in enumerate(texts):
        for i, text in enumerate(line):
            shown = text if width <= WIDE else text.partition(" (")[0]
            ink = "#000000" if image.norm(values[j][i]) > LIGHT_FROM else "#ffffff"
            axes.text(
                i, j, shown, ha="center", va="center", color=ink if cells[j][i].rows else palette.quiet,
                fontsize=8 if width <= 2 * WIDE else 4, parse_math=False,
            )  # fmt: skip


def _cell(results: Sequence[Result], values: Mapping[str, str], name: str) -> Tally:
    """Return what a scorer says of the arms with these values, given as code.

    Rows with the same prompt in any of these arms are one.
    """
    chosen = [each for each in results if all(_value(each, parameter) == value for parameter, value in values.items())]
    keys = observations({result.row for result in chosen}, *map(prompts_of, by_arm(chosen).values()))
    return tally(chosen, name, keys, among=results)


def _text(cell: Tally, is_mean: bool) -> str:
    shown = number_text if is_mean else percent
    return f"{shown(_mean(cell))} ({len(cell.rows)})" if cell.rows else "–"


def _mean(cell: Tally) -> float:
    return sum(cell.rows.values()) / len(cell.rows) if cell.rows else math.nan


def _parameters(results: Sequence[Result], x: str | None, y: str | None) -> tuple[tuple[str, str], list[str]]:
    """Return the two parameters of a heat map, and what varies beside them."""
    known = list(dict.fromkeys(name for result in results for name in result.values))
    vary = [name for name in known if len(_values(results, name)) > 1]
    for name in filter(None, (x, y)):
        if name not in known:
            raise InvalidRequestError(f"{name!r} is no parameter of this sweep.{near(name, known)}")
    named = [name for name in (x, y) if name]
    chosen = list(dict.fromkeys((*named, *vary, *known)))[:2]
    if x is None and y is not None:
        chosen.reverse()
    if len(chosen) < 2 or len(set(named)) < len(named):
        raise InvalidRequestError(f"A heat map needs two parameters of a grid; here are: {', '.join(known) or 'none'}.")
    if any(len(_values(results, name)) > MAX_VALUES for name in chosen):
        raise InvalidRequestError(f"A heat map has at most {MAX_VALUES} values of a parameter: draw a part of them.")
    if len(named) < 2 and len(vary) > 2:
        raise InvalidRequestError(f"{', '.join(vary)} vary: name the two to draw, as x={vary[0]!r}, y={vary[1]!r}.")
    return (chosen[0], chosen[1]), [name for name in vary if name not in chosen]


def _values(results: Iterable[Result], name: str) -> dict[str, Any]:
    """Return the values of a parameter, by what they are as code: 1 and "1" are two."""
    return {_value(result, name): result.values[name] for result in results if name in result.values}


def _value(result: Result, name: str) -> str:
    return repr(result.values.get(name))
