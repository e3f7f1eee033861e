"""Draw what the turns of a conversation took: tokens beside the limit, cuts, summaries and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation.conversation import Conversation
from ..conversation.messages import TurnRecord
from ..errors import InvalidRequestError
from ..session.usage_table import Usages
from .pictures import DARK, LIGHT, Palette, Picture, aligned, canvas, labelled, show_legend, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TURNS = 400  # of one picture: the newest


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """What one turn took.

    turn: its number, from 1
    input: tokens of the request, cached ones included
    cached: tokens of these that were read from a cache
    output: tokens of the reply
    window: tokens that the model was believed to hold; 0 where unknown
    cost: US dollars of all its answers; ``None`` where unknown
    first: number of the first turn that the request carried, where that is a later one than before; else 0
    summarized: whether the request carried a summary for the first time
    """

    turn: int
    input: int
    cached: int
    output: int
    window: int
    cost: float | None
    first: int = 0
    summarized: bool = False

    @property
    def events(self) -> str:
        """What happened before the turn was sent, in words."""
        cut = f"cut: sent from turn {self.first} on" if self.first else ""
        return ", ".join(filter(None, (cut, "summary" if self.summarized else "")))


def turn_figures(conversation: Conversation, usages: Usages) -> list[TurnFigures]:
    """Return what each turn since the last clear took, where its provider reported that."""
    found, start, summary = list[TurnFigures](), 0, None
    costs: dict[int, list[float]] = {}
    for row in usages:
        if row.cost is not None:
            costs.setdefault(row.turn, []).append(row.cost)
    for number, place in enumerate(conversation.places, 1):
        usage, record = place.turn.usage, place.turn.record
        if usage is None or not record.digest:
            continue
        first, began = _beginning(conversation, record, start), record.summary is not None and record.summary != summary
        cost = sum(costs[number]) if number in costs else None
        cut = first + 1 if first > start else 0
        found.append(
            TurnFigures(
                number,
                usage.input_tokens,
                usage.cache_read_tokens,
                usage.output_tokens,
                record.window,
                cost,
                cut,
                began,
            )
        )
        start, summary = max(start, first), record.summary or summary
    return found


def _beginning(conversation: Conversation, record: TurnRecord, before: int) -> int:
    """Return the position of the first turn that a request carried; settings of its own say nothing of others."""
    return before if record.apart else conversation.index(record.start)


def draw_turns(
    conversation: Conversation, usages: Usages, limit: int | None = None, *, title: str = "", dark: bool = False
) -> Picture:
    """Draw tokens and cost of each turn since the last clear, with the limit, cuts and summaries.

    ``limit`` is what a prompt may have now, in tokens; ``dark`` is for dark pages. Raises InvalidRequestError where no
    provider has reported tokens yet, and MissingDependencyError.
    """
    every = _every(conversation, usages)
    shown, palette = every[-MAX_TURNS:], DARK if dark else LIGHT
    priced = any(turn.cost for turn in shown)
    figure, axes = canvas(4.6 if priced else 3.4, palette, (3, 1) if priced else (1,))
    _tokens(axes[0], shown, limit, palette)
    titled(axes[0], title or "Tokens of each turn", palette)
    if priced:
        axes[0].tick_params(labelbottom=False)
        _cost(axes[1], shown, palette)
    labelled(axes[-1], "turn", "x", palette)
    show_legend(figure, axes[0], palette)
    axes[-1].set_xlim(shown[0].turn - 0.7, shown[-1].turn + 0.7)
    axes[-1].locator_params(axis="x", integer=True, min_n_ticks=1)
    return Picture(figure, _text(every, limit, title))


def turns_text(conversation: Conversation, usages: Usages, limit: int | None = None, *, title: str = "") -> str:
    """Return what :func:`draw_turns` draws as text. Raises InvalidRequestError where there is nothing."""
    return _text(_every(conversation, usages), limit, title)


def _every(conversation: Conversation, usages: Usages) -> list[TurnFigures]:
    found = turn_figures(conversation, usages)
    if not found:
        raise InvalidRequestError("There is nothing to draw: no answer with reported tokens since the last clear.")
    return found


def _tokens(axes: Axes, turns: Sequence[TurnFigures], limit: int | None, palette: Palette) -> None:
    numbers = [turn.turn for turn in turns]
    fresh, cached = [turn.input - turn.cached for turn in turns], [turn.cached for turn in turns]
    if any(cached):
        axes.bar(numbers, cached, 0.8, color=palette.series[1], label="input, cached")
    axes.bar(numbers, fresh, 0.8, bottom=cached, color=palette.series[0], label="input")
    whole = [turn.input for turn in turns]
    axes.bar(numbers, [turn.output for turn in turns], 0.8, bottom=whole, color=palette.series[2], label="output")
    largest = 4 * max(turn.input + turn.output for turn in turns)  # above, the turns would be a thin line
    windows = [turn.window if 0 < turn.window < largest else math.nan for turn in turns]
    if not all(map(math.isnan, windows)):
        axes.step(numbers, windows, where="mid", color=palette.quiet, linewidth=1, linestyle=":", label="window")
    if limit and limit < largest:
        axes.axhline(limit, color=palette.alarm, linewidth=1, linestyle="--", label="limit now")
    _marks(axes, turns, palette)
    axes.grid(axis="y", color=palette.grid)
    axes.yaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")
    labelled(axes, "tokens", "y", palette)


def _marks(axes: Axes, turns: Sequence[TurnFigures], palette: Palette) -> None:
    """Mark cuts and summaries above their turns."""
    for name, sign, marked in (
        ("cut", "v", [turn for turn in turns if turn.first]),
        ("summary", "s", [turn for turn in turns if turn.summarized]),
    ):
        heights = [turn.input + turn.output for turn in marked]
        if marked:
            axes.plot(
                [turn.turn for turn in marked], heights, sign, color=palette.alarm, markeredgecolor=palette.card,
                markersize=8 if sign == "v" else 5, label=name,
            )  # fmt: skip


def _cost(axes: Axes, turns: Sequence[TurnFigures], palette: Palette) -> None:
    axes.bar([turn.turn for turn in turns], [turn.cost or 0.0 for turn in turns], 0.8, color=palette.quiet)
    axes.grid(axis="y", color=palette.grid)
    axes.yaxis.set_major_formatter(lambda dollars, _: f"${dollars:.4g}")
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    labelled(axes, "cost", "y", palette)


def _text(turns: Sequence[TurnFigures], limit: int | None, title: str) -> str:
    head = ("turn", "input", "cached", "output", "window", "cost", "")
    rows = (
        (f"{turn.turn}", f"{turn.input:,}", f"{turn.cached:,}", f"{turn.output:,}",
         f"{turn.window:,}" if turn.window else "–", "–" if turn.cost is None else f"${turn.cost:.4g}", turn.events)
        for turn in turns
    )  # fmt: skip
    bound = f", limit now {limit:,}" if limit else ""
    known = [turn.cost for turn in turns if turn.cost is not None]
    total = f"\ncost of these turns: ${sum(known):.4g}" if known else ""
    return f"{title or 'Tokens of each turn'}{bound}\n{aligned(head, rows)}{total}"
