"""Draw what the turns of a conversation took: a bar of its tokens for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .tables import table
from .text import attribute_html

MOST_TURNS = 200  # of one table, the newest
BARS_HEAD = ("turn", "", "input", "cached", "output", "")
# plain colours that are told apart on light and on dark pages
TURN_COLOURS = {"cached": "#90caf9", "input": "#1565c0", "output": "#f57c00"}


class TurnFigures(NamedTuple):
    """Tokens that one turn took, ``cached`` ones as part of the ``input``; ``event``: such as "cut" or "summary"."""

    turn: int
    input: int
    cached: int
    output: int
    event: str = ""


def turns_bundle(turns: Sequence[TurnFigures], limit: int) -> dict[str, str]:
    """Return the tokens of turns, with cuts, summaries and the limit of a prompt, as HTML, Markdown and plain text."""
    shown = turns[-MOST_TURNS:]
    most = max(1, *(turn.input + turn.output for turn in shown))
    rows = [(f"{turn.turn:,}", "", *(f"{count:,}" for count in turn[1:4]), turn.event) for turn in shown]
    drawn = {(index, 1): _bar_html(turn, most) for index, turn in enumerate(shown)}
    caption = f"Tokens of each turn; the limit is {limit:,} now."
    lines = (f'<span style="border-bottom:4px solid {colour}">{name}</span>' for name, colour in TURN_COLOURS.items())
    forms = table(BARS_HEAD, rows, caption, drawn)
    return {**forms, "text/html": f"{forms['text/html']}<div>{' '.join(lines)}</div>"}


def _bar_html(turn: TurnFigures, most: int) -> str:
    sizes = {"cached": turn.cached, "input": turn.input - turn.cached, "output": turn.output}
    parts = "".join(
        f'<div title="{attribute_html(f"{name}: {tokens:,} tokens")}" style="width:{100 * tokens / most:.2f}%;'
        f'height:12px;background-color:{TURN_COLOURS[name]};forced-color-adjust:none"></div>'
        for name, tokens in sizes.items()
        if tokens
    )
    return f'<div style="display:flex;width:100px;width:clamp(60px,22vw,300px)">{parts}</div>'
