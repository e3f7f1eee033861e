"""Draw what the turns of a conversation took: tokens beside the limit, cuts, summaries and cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...conversation.conversation import Conversation
from ...display.tables import table_text
from ...errors import InvalidRequestError
from ...session.usage_table import Usages
from ...wording import dollars
from .pictures import LIGHT, Picture, canvas, labelled, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TURNS = 400  # of one picture: the newest
TURNS_TITLE = "Tokens of each turn"
HEAD = ("turn", "input", "cached", "output", "window", "cost", "")  # of the same as text
HEIGHT, COST_HEIGHT = 3.4, 1.2  # inches


class TurnFigures(NamedTuple):
    """What one turn took.

    ``turn``: its number, from 1.
    ``input``: tokens of the request, cached ones included.
    ``cached``: tokens of these that were read from a cache.
    ``output``: tokens of the reply.
    ``window``: the context window of its request in tokens; 0 where unknown.
    ``cost``: US dollars of all its answers; ``None`` where unknown.
    ``first``: number of the first turn that the request carried, where that is a later one than before; else 0.
    ``summarized``: whether the request carried a summary for the first time.
    """

    turn: int
    input: int
    cached: int
    output: int
    window: int
    cost: float | None
    first: int
    summarized: bool

    @property
    def height(self) -> int:
        """Tokens of the request and the reply."""
        return self.input + self.output

    @property
    def cells(self) -> tuple[str, ...]:
        """The figures as text, and what happened before the turn was sent."""
        counts = [f"{count:,}" for count in (self.input, self.cached, self.output)]
        window = f"{self.window:,}" if self.window else "–"
        cost = "–" if self.cost is None else dollars(self.cost)
        events = [f"cut: sent from turn {self.first} on"] if self.first else []
        events += ["summary"] if self.summarized else []
        return f"{self.turn}", *counts, window, cost, ", ".join(events)


def turn_figures(conversation: Conversation, usages: Usages) -> list[TurnFigures]:
    """Return what each turn since the last clear took; raise InvalidRequestError where no provider reported that."""
    costs = defaultdict[int, float](float)
    for row in usages:
        if row.cost is not None:
            costs[row.turn] += row.cost
    figures, start, summary = list[TurnFigures](), 0, None
    for number, place in enumerate(conversation.places, 1):
        usage, record = place.turn.usage, place.turn.record
        if usage is None or not record.digest:
            continue
        # a request with settings of its own says nothing of others
        first = start if record.apart else conversation.index(record.start)
        cut = first + 1 if first > start else 0
        began = record.summary is not None and record.summary != summary
        tokens = usage.input_tokens, usage.cache_read_tokens, usage.output_tokens
        figures.append(TurnFigures(number, *tokens, record.window or 0, costs.get(number), cut, began))
        start, summary = max(start, first), record.summary or summary
    if not figures:
        raise InvalidRequestError("There is nothing to draw: no answer with reported tokens since the last clear.")
    return figures


def turns_text(turns: Sequence[TurnFigures], limit: int | None = None) -> str:
    """Return what :func:`draw_turns` draws as text."""
    bound = f", limit now {limit:,}" if limit else ""
    costs = [turn.cost for turn in turns if turn.cost is not None]
    of = (
        "these turns"
        if len(costs) == len(turns)
        else f"{len(costs)} of these {len(turns):,} turns (no price of others)"
    )
    total = f"\ncost of {of}: {dollars(sum(costs))}" if costs else ""
    return f"{TURNS_TITLE}{bound}\n{table_text(HEAD, [turn.cells for turn in turns])}{total}"


def draw_turns(turns: Sequence[TurnFigures], limit: int | None = None) -> Picture:
    """Draw tokens and cost of turns, with the limit, cuts and summaries.

    ``limit`` is what a prompt may have now, in tokens. Raises MissingDependencyError.
    """
    shown = turns[-MAX_TURNS:]
    is_priced = any(turn.cost for turn in shown)
    panels = (HEIGHT, COST_HEIGHT) if is_priced else (HEIGHT,)
    figure, axes = canvas(LIGHT, sum(panels), panels)
    titled(axes[0], TURNS_TITLE, LIGHT)
    _draw_tokens(axes[0], shown, limit)
    if is_priced:
        costs = [turn.cost or 0.0 for turn in shown]
        axes[1].bar([turn.turn for turn in shown], costs, color=LIGHT.quiet)
        axes[1].yaxis.set_major_formatter(lambda cost, _: f"${cost:.4g}")
        labelled(axes[1], "cost", "y", LIGHT)
    for panel in axes:
        panel.grid(axis="y", color=LIGHT.grid)
    labelled(axes[-1], "turn", "x", LIGHT)
    axes[-1].set_xlim(shown[0].turn - 0.7, shown[-1].turn + 0.7)
    axes[-1].locator_params(axis="x", integer=True, min_n_ticks=1)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=8, frameon=False, fontsize=8, labelcolor=LIGHT.ink
    )  # fmt: skip
    return Picture(figure, turns_text(turns, limit))


def _draw_tokens(axes: Axes, turns: Sequence[TurnFigures], limit: int | None) -> None:
    """Draw the tokens of turns in a panel, with the limit, cuts and summaries."""
    fresh_color, cached_color, output_color = LIGHT.series
    numbers, cached = [turn.turn for turn in turns], [turn.cached for turn in turns]
    if any(cached):
        axes.bar(numbers, cached, color=cached_color, label="input, cached")
    axes.bar(numbers, [turn.input - turn.cached for turn in turns], bottom=cached, color=fresh_color, label="input")
    inputs = [turn.input for turn in turns]
    axes.bar(numbers, [turn.output for turn in turns], bottom=inputs, color=output_color, label="output")
    most = 4 * max(turn.height for turn in turns)  # above it, the turns would be a thin line
    windows = [turn.window if 0 < turn.window < most else math.nan for turn in turns]
    if not all(map(math.isnan, windows)):
        axes.step(numbers, windows, where="mid", color=LIGHT.quiet, linewidth=1, linestyle=":", label="window")
    if limit and limit < most:
        axes.axhline(limit, color=LIGHT.alarm, linewidth=1, linestyle="--", label="limit now")
    cuts, summaries = [turn for turn in turns if turn.first], [turn for turn in turns if turn.summarized]
    for name, sign, marked in (("cut", "v", cuts), ("summary", "s", summaries)):
        if marked:
            places, heights = [turn.turn for turn in marked], [turn.height for turn in marked]
            axes.plot(places, heights, sign, color=LIGHT.alarm, markeredgecolor=LIGHT.card, label=name)
    axes.yaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")
    labelled(axes, "tokens", "y", LIGHT)
