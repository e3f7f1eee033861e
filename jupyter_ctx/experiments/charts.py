"""Draw what a run scored: rates with intervals by arm, and a heat map of two parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from ..errors import InvalidRequestError
from .comparison import summary
from .observations import observations, prompts_of
from .pictures import DARK, LIGHT, Picture, aligned, canvas, label_of, labelled, ticks, titled
from .results import Result
from .table_rows import ArmRow
from .tally import Tally, by_arm, scorers_of, tally
from .verdicts import number_text, percent

MAX_ARMS, MAX_VALUES = 60, 40  # arms of one picture, and values of one parameter
WIDE = 8  # columns of a heat map, above which a cell has no room for its number of rows
ARM_HEIGHT, FRAME_HEIGHT = 0.32, 0.95  # inches of one arm, and of all beside the arms


def draw_rates(results: Any, scorer: str | None = None, *, group: str | None = None, dark: bool = False) -> Picture:
    """Draw the rate or the mean of each arm with its 95 % interval, by one scorer; without a name, the first.

    ``results`` are a run's, or a run; ``group`` is the column that says which rows belong together; ``dark`` is for
    dark pages. Raises InvalidRequestError where there are no scores, and MissingDependencyError.
    """
    found = _results(results)
    name = _scorer(found, scorer)
    group = group or getattr(results, "group", None)
    rows = [row for row in summary(found, group=group) if row.scorer == name]
    shown, palette = rows[:MAX_ARMS], DARK if dark else LIGHT
    figure, (axes,) = canvas(FRAME_HEIGHT + ARM_HEIGHT * len(shown), palette)
    for place, row in enumerate(shown):
        if row.value is None:
            continue
        if row.low is not None and row.high is not None:
            axes.plot((row.low, row.high), (place, place), color=palette.series[0], linewidth=2, solid_capstyle="butt")
        axes.plot(row.value, place, "o", color=palette.series[0], markersize=7)
    share = all(row.kind != "mean" for row in shown)
    if share:
        axes.set_xlim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
    ticks(axes, "y", (f"{label_of(row.arm or 'all', 38)} ({row.n})" for row in shown))
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="x", color=palette.grid)
    more = f"; the first {MAX_ARMS} of {len(rows)} arms" if len(rows) > MAX_ARMS else ""
    titled(axes, f"{name}, with 95 % intervals (in brackets: rows){more}", palette)
    return Picture(figure, _rates_text(name, rows))


def _rates_text(name: str, rows: Sequence[ArmRow]) -> str:
    def line(row: ArmRow) -> tuple[str, ...]:
        shown = percent if row.kind != "mean" else number_text
        value, low, high = ("–" if end is None else shown(end) for end in (row.value, row.low, row.high))
        return (
            row.arm or "all",
            value,
            f"{low.removesuffix(' %')} to {high}" if row.low is not None else "no interval",
            str(row.n),
        )

    return f"{name}, with 95 % intervals\n" + aligned(("arm", "value", "interval", "rows"), map(line, rows))


def draw_heat_map(
    results: Any, scorer: str | None = None, *, x: str | None = None, y: str | None = None, dark: bool = False
) -> Picture:
    """Draw the rate or the mean for each pair of values of two parameters of a sweep.

    ``x`` and ``y`` name the parameters; without them they are the two that vary. What varies beside them is averaged,
    and the title says so. Raises InvalidRequestError where there are no two parameters, and MissingDependencyError.
    """
    found = _results(results)
    name, (across, down), others = _scorer(found, scorer), *_parameters(found, x, y)
    columns, rows = _values(found, across), _values(found, down)
    cells = {
        (j, i): _cell([each for each in found if _at(each, across) == column and _at(each, down) == row], name)
        for i, column in enumerate(columns)
        for j, row in enumerate(rows)
    }
    kinds = {cell.kind for cell in cells.values() if cell.rows}
    values = {place: sum(cell.rows.values()) / len(cell.rows) for place, cell in cells.items() if cell.rows}
    shown = number_text if "mean" in kinds else percent
    palette = DARK if dark else LIGHT
    figure, (axes,) = canvas(FRAME_HEIGHT + 0.3 + 0.42 * len(rows), palette)
    grid = [[values.get((j, i), float("nan")) for i in range(len(columns))] for j in range(len(rows))]
    low, high = (min(values.values()), max(values.values())) if "mean" in kinds else (0.0, 1.0)
    image: Any = axes.imshow(grid, cmap="cividis", aspect="auto", vmin=low, vmax=high)
    for (j, i), cell in cells.items():
        value = values.get((j, i))
        ink = palette.quiet if value is None else _ink_on(image.to_rgba([value])[0].tolist())
        text = "no score" if value is None else f"{shown(value)} ({len(cell.rows)})"
        text = text.partition(" (")[0] if len(columns) > WIDE else text
        size = 8 if len(columns) <= 2 * WIDE else 4
        axes.text(i, j, text, ha="center", va="center", color=ink, fontsize=size, parse_math=False)
    ticks(axes, "x", columns)
    ticks(axes, "y", rows)
    labelled(axes, across, "x", palette)
    labelled(axes, down, "y", palette)
    pooled = f"; {', '.join(others)} averaged" if others else ""
    title = f"{name} (in brackets: rows){pooled}"
    titled(axes, title, palette)
    body = (
        (row, *("–" if (j, i) not in values else f"{shown(values[j, i])} ({len(cells[j, i].rows)})"
                for i in range(len(columns))))
        for j, row in enumerate(rows)
    )  # fmt: skip
    return Picture(figure, f"{title}\n" + aligned((f"{down} \\ {across}", *columns), body))


def _cell(results: Sequence[Result], name: str) -> Tally:
    """Return what a scorer says of some arms together; rows with the same prompt in any of them are one."""
    arms = by_arm(results).values()
    return tally(results, name, observations({result.row for result in results}, *map(prompts_of, arms)))


def _ink_on(color: Sequence[float]) -> str:
    """Return black or white, whichever stands out more from a colour: WCAG 2.2, relative luminance."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


# which


def _results(run: Any) -> list[Result]:
    return list(getattr(run, "results", run))


def _scorer(results: Sequence[Result], name: str | None) -> str:
    known = scorers_of(results)
    if not known:
        raise InvalidRequestError("There is nothing to draw: these results have no scores. Give the run scorers=.")
    if name is not None and name not in known:
        raise InvalidRequestError(f"scorer={name!r}: there is none of this name. {_near(name, known)}")
    return name or known[0]


def _parameters(results: Sequence[Result], x: str | None, y: str | None) -> tuple[tuple[str, str], list[str]]:
    """Return the two parameters of a heat map, and what varies beside them."""
    known = list(dict.fromkeys(name for result in results for name in result.values))
    vary = [name for name in known if len(_values(results, name)) > 1]
    for name in filter(None, (x, y)):
        if name not in known:
            raise InvalidRequestError(f"{name!r} is no parameter of this sweep. {_near(name, known)}")
    chosen = [name for name in (x, y) if name]
    chosen += [name for name in (*vary, *known) if name not in chosen][: 2 - len(chosen)]
    if x is None and y is not None:
        chosen.reverse()
    if len(set(chosen)) < 2:
        raise InvalidRequestError(f"A heat map needs two parameters of a grid; here are: {', '.join(known) or 'none'}.")
    if any(len(_values(results, name)) > MAX_VALUES for name in chosen):
        raise InvalidRequestError(f"A heat map has at most {MAX_VALUES} values of a parameter: draw a part of them.")
    if (x is None or y is None) and len(vary) > 2:
        raise InvalidRequestError(f"{', '.join(vary)} vary: name the two to draw, as x={vary[0]!r}, y={vary[1]!r}.")
    return (chosen[0], chosen[1]), [name for name in vary if name not in chosen]


def _values(results: Iterable[Result], name: str) -> list[str]:
    return list(dict.fromkeys(_at(result, name) for result in results if name in result.values))


def _at(result: Result, name: str) -> str:
    return str(result.values.get(name))


def _near(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(map(repr, known)) or 'none'}."
