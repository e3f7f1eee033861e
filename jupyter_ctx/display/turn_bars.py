"""Draw what the turns of a conversation took: a bar of its tokens for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .tables import table, table_html
from .text import attribute_html

MOST_TURNS = 200  # of one table, the newest
BAR_SIGNS = 24  # characters of the longest bar
BARS_HEAD = ("turn", "", "input", "cached", "output", "")
# plain colours that are told apart on light and on dark pages, and characters of their own
KINDS = {"cached": ("#90caf9", "░"), "input": ("#1565c0", "█"), "output": ("#f57c00", "▒")}


class TurnFigures(NamedTuple):
    """Tokens that one turn took, ``cached`` ones as part of the ``input``; ``event``: such as "cut" or "summary"."""

    turn: int
    input: int
    cached: int
    output: int
    event: str = ""

    @property
    def parts(self) -> dict[str, int]:
        """The tokens of each part of its bar, from the left."""
        return {"cached": self.cached, "input": self.input - self.cached, "output": self.output}


def turns_bundle(turns: Sequence[TurnFigures], limit: int) -> dict[str, str]:
    """Return the tokens of turns, with cuts, summaries and the limit of a prompt, as HTML, Markdown and plain text."""
    shown = turns[-MOST_TURNS:]
    most = max(1, *(turn.input + turn.output for turn in shown))
    rows = [
        (f"{turn.turn:,}", _text_bar(turn, most), *(f"{count:,}" for count in turn[1:4]), turn.event) for turn in shown
    ]
    drawn = {(index, 1): _bar_html(turn, most) for index, turn in enumerate(shown)}
    caption = f"Tokens of each turn; the limit is {limit:,} now."
    signs = ", ".join(f"{sign} {name}" for name, (_, sign) in KINDS.items())
    lines = (f'<span style="border-bottom:4px solid {colour}">{name}</span>' for name, (colour, _) in KINDS.items())
    page = f"{table_html(BARS_HEAD, rows, caption, drawn)}<div>{' '.join(lines)}</div>"
    return {**table(BARS_HEAD, rows, f"{caption} {signs}"), "text/html": page}


def _text_bar(turn: TurnFigures, most: int) -> str:
    bar, end = "", 0
    for name, tokens in turn.parts.items():
        end += tokens
        bar += KINDS[name][1] * (round(end * BAR_SIGNS / most) - len(bar))
    return bar


def _bar_html(turn: TurnFigures, most: int) -> str:
    parts = "".join(
        f'<div title="{attribute_html(f"{name}: {tokens:,} tokens")}" style="width:{100 * tokens / most:.2f}%;'
        f'height:12px;background-color:{KINDS[name][0]};forced-color-adjust:none"></div>'
        for name, tokens in turn.parts.items()
        if tokens
    )
    return f'<div style="display:flex;width:100px;width:clamp(60px,22vw,300px)">{parts}</div>'
