"""The code blocks of an answer: a table of them, and a button for each that shows it.

A click cannot put code into a cell: a front end takes that from a cell that runs, not from a widget
(jupyterlab/jupyterlab#8893). So the code is shown to be read and copied, with the command that puts it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..answer.highlight import highlighted
from ..text import text_html
from .static_twin import LIVE, show
from .tables import first_words, table, table_html
from .turn_table import TABLE_STYLE

BLOCK_COLUMNS = ("block", "language", "lines", "begins with", "into the next cell")
CODE_BOX = "white-space:pre;font-family:var(--jp-code-font-family,monospace);overflow:auto;max-height:24em;margin:0"
MOST_BUTTONS = 30


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block as it is listed: its language, its code, and the command that puts it into the next cell."""

    language: str
    code: str
    command: str


def block_forms(blocks: Sequence[BlockRow], caption: str) -> dict[str, str]:
    """Return the table of blocks without buttons, as HTML and as plain text."""
    return table(BLOCK_COLUMNS, _rows(blocks), caption)


def _rows(blocks: Sequence[BlockRow]) -> list[tuple[str, ...]]:
    return [
        (str(number), block.language or "–", f"{_lines(block.code):,}", _beginning(block.code), block.command)
        for number, block in enumerate(blocks, 1)
    ]


def _lines(code: str) -> int:
    return code.count("\n") + 1 if code else 0


def _beginning(code: str) -> str:
    return first_words(next((line for line in code.splitlines() if line.strip()), ""))


class BlockButtons:
    """A widget of the table of blocks, with a button for each that shows the block's code."""

    def __init__(self, blocks: Sequence[BlockRow], caption: str) -> None:
        self._blocks, self._forms = blocks, block_forms(blocks, caption)
        self._build(caption)

    def show(self) -> None:
        """Show the widget in the running cell, with its static twin above."""
        show(self.widget, self._forms)

    def _clicked(self, number: int) -> None:
        block = self._blocks[number - 1]
        line = f"{block.command} puts block {number} into the next cell:"
        code = f'<div class="highlight"><pre tabindex="0" style="{CODE_BOX}">{_coloured(block)}</pre></div>'
        self._shown.value = f'<div role="status">{text_html(line)}</div>{code}'

    def _build(self, caption: str) -> None:
        import ipywidgets

        rows = table_html(BLOCK_COLUMNS, _rows(self._blocks), caption)
        self._shown = ipywidgets.HTML()
        self.buttons = [self._button(number) for number in range(1, min(len(self._blocks), MOST_BUTTONS) + 1)]
        row = ipywidgets.HBox(self.buttons, layout=ipywidgets.Layout(flex_flow="row wrap"))
        style = ipywidgets.HTML(TABLE_STYLE, layout=ipywidgets.Layout(display="none"))
        listed = ipywidgets.HTML(f'<div class="jctx-rows" tabindex="0" role="group" aria-label="Code">{rows}</div>')
        self.widget = ipywidgets.VBox([style, listed, row, self._shown])
        self.widget.add_class(LIVE)

    def _button(self, number: int) -> Any:
        import ipywidgets

        layout = ipywidgets.Layout(width="auto", height="24px")
        button = ipywidgets.Button(description=f"Show {number}", tooltip=f"Show block {number}", layout=layout)
        button.on_click(lambda _: self._clicked(number))
        return button


def _coloured(block: BlockRow) -> str:
    return highlighted(block.code, block.language or "python")
