"""A table of turns that can be sorted, with boxes to pin and to exclude each turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import ChatError, in_words
from ..text import spoken_html
from .static_twin import LIVE, Twin, show
from .tables import TableRow, TableRows, figure, table, table_html

TURNS_PER_PAGE = 15  # a few at a time, because each has two widgets
ROW_HEIGHT = 26  # pixels, of a row of the table and of the boxes beside it
AS_SENT = "as sent"  # the order of the conversation
MARK_NAMES = ("pin", "exclude")


@dataclass(frozen=True, slots=True)
class MarkBoxes:
    """Whether a turn is pinned, and whether it is excluded."""

    pinned: bool
    excluded: bool


@dataclass(frozen=True, slots=True)
class SelectionTable:
    """What a TurnTable draws: rows whose first cell is the turn's number, and the marks of these turns by number."""

    head: TableRow
    rows: TableRows
    caption: str
    marks: Mapping[int, MarkBoxes]


def table_forms(what: SelectionTable) -> dict[str, str]:
    """Return the table without boxes, as HTML and as plain text."""
    return table(what.head, what.rows, what.caption)


class TurnTable:
    """A widget of the table that ``read`` returns.

    ``mark`` is called with a turn's number, "pin" or "exclude", and whether the box is now ticked.
    """

    def __init__(self, read: Callable[[], SelectionTable], mark: Callable[[int, str, bool], object]) -> None:
        self._read, self._mark = read, mark
        self._page = 0
        self._drawing = False
        self._twin: Twin | None = None
        self._numbers: list[int | None] = []
        self._build()
        self.update()

    def show(self) -> None:
        """Show the table in the running cell; from now on, ``update`` refreshes the static twin there."""
        self._twin = show(self.widget, table_forms(self._table))

    def update(self, change: object = None) -> None:
        """Redraw the table; ``change`` is not used."""
        del change
        try:
            self._table = self._read()
            self._draw()
            if self._twin is not None:
                self._twin.update(table_forms(self._table))
        except Exception as error:  # a turn must not fail because of the table
            self._say(in_words(error), "alert")

    def _say(self, text: str, role: str) -> None:
        self._said.value = spoken_html(text, role)

    def _draw(self) -> None:
        what = self._table
        rows = sorted_rows(what.rows, what.head, str(self._by.value), descending=bool(self._down.value))
        pages = max(1, -(-len(rows) // TURNS_PER_PAGE))
        self._page = min(self._page, pages - 1)
        shown = rows[self._page * TURNS_PER_PAGE :][:TURNS_PER_PAGE]
        body = table_html(what.head, shown, what.caption)
        self._html.value = f'<div class="jctx-rows" tabindex="0" role="group" aria-label="Turns">{body}</div>'
        self._set_boxes(shown)
        self._pager.layout.display = None if pages > 1 else "none"
        self._where.value = f"{self._page + 1} of {pages}"
        self._back.disabled, self._next.disabled = self._page == 0, self._page == pages - 1

    def _set_boxes(self, shown: TableRows) -> None:
        """Set the boxes beside the first row of each turn that can be marked."""
        self._drawing = True  # setting a box is not a click
        try:
            self._numbers = [_number(row) for row in shown]
            while len(self._boxes) < len(shown):
                self._boxes.append(self._new_boxes(len(self._boxes)))
            column = []
            for index, number in enumerate(self._numbers):
                marks = self._table.marks.get(number or 0) if number not in self._numbers[:index] else None
                column.append(self._marked(index, marks) if marks else self._none)
            self._column.children = column
        finally:
            self._drawing = False

    def _marked(self, index: int, marks: MarkBoxes) -> Any:
        pair = self._boxes[index]
        for box, name, on in zip(pair.children, MARK_NAMES, (marks.pinned, marks.excluded), strict=True):
            with box.hold_sync():
                box.value, box.description = on, f"{name} {self._numbers[index]}"
        return pair

    def _clicked(self, index: int, name: str, box: Any) -> None:
        number = self._numbers[index] if index < len(self._numbers) else None
        if self._drawing or number is None:
            return
        try:
            said, role = str(self._mark(number, name, bool(box.value))), "status"
        except ChatError as error:
            said, role = str(error), "alert"
        self._say(said, role)
        self.update()

    def _turn_to(self, page: int) -> None:
        self._page = page
        self._draw()

    # building

    def _new_boxes(self, index: int) -> Any:
        import ipywidgets

        boxes = []
        for name in MARK_NAMES:
            box = ipywidgets.Checkbox(indent=False, layout=self._box_layout)
            box.observe(lambda _, name=name, box=box: self._clicked(index, name, box), "value")
            boxes.append(box)
        return ipywidgets.HBox(boxes, layout=self._pair_layout)

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        self._boxes = list[Any]()
        self._box_layout = layout(width="auto", height=f"{ROW_HEIGHT}px", margin="0 8px 0 0")
        self._pair_layout = layout(height=f"{ROW_HEIGHT}px", overflow="hidden")
        self._none = ipywidgets.HBox(layout=self._pair_layout)
        head = [AS_SENT, *self._read().head]
        self._by = ipywidgets.Dropdown(description="Sort by", options=head, layout=layout(width="14em"))
        self._down = ipywidgets.Checkbox(description="largest first", indent=False, layout=layout(width="auto"))
        for choice in (self._by, self._down):
            choice.observe(lambda _: self._turn_to(0), "value")
        self._html = ipywidgets.HTML(layout=layout(flex="1 1 0", overflow="hidden", margin="0"))
        self._column = ipywidgets.VBox(layout=layout(margin=f"{ROW_HEIGHT}px 0 0 0", flex="0 0 auto"))
        self._said, self._where = ipywidgets.HTML(), ipywidgets.Label()
        small = layout(width="auto", height="24px")
        self._back = ipywidgets.Button(description="Back", layout=small)
        self._next = ipywidgets.Button(description="Next", layout=small)
        self._back.on_click(lambda _: self._turn_to(self._page - 1))
        self._next.on_click(lambda _: self._turn_to(self._page + 1))
        self._pager = ipywidgets.HBox([self._back, self._where, self._next])
        style = ipywidgets.HTML(TABLE_STYLE, layout=layout(display="none"))
        both = ipywidgets.HBox([self._column, self._html], layout=layout(align_items="flex-start"))
        choices = ipywidgets.HBox([self._by, self._down])
        self.widget = ipywidgets.VBox([style, choices, both, self._pager, self._said])
        self.widget.add_class(LIVE)


def sorted_rows(rows: TableRows, head: TableRow, by: str, *, descending: bool) -> list[TableRow | str]:
    """Return rows sorted by a column, numbers as numbers; lines across the table stay only in the order ``as sent``."""
    if by == AS_SENT:
        return [*rows][::-1] if descending else [*rows]
    column = list(head).index(by)
    cells = [row for row in rows if not isinstance(row, str)]
    return sorted(cells, key=lambda row: _key(row[column]), reverse=descending)


def _key(cell: str) -> tuple[bool, float, str]:
    number = figure(cell)
    return (number is None, number or 0.0, cell.casefold())


def _number(row: TableRow | str) -> int | None:
    return int(row[0]) if not isinstance(row, str) and row[0].isdigit() else None


TABLE_STYLE = (
    "<style>"
    ".jctx-rows{overflow-x:auto}.jctx-rows table{border-collapse:collapse;width:100%;"
    "font:12px var(--jp-ui-font-family,system-ui,sans-serif);"
    "color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))}"
    f".jctx-rows caption{{caption-side:bottom;text-align:left;padding:4px 0}}.jctx-rows tr{{height:{ROW_HEIGHT}px}}"
    ".jctx-rows td,.jctx-rows th{padding:0 8px;white-space:nowrap;border-bottom:1px solid var(--jp-border-color2,#ccc)}"
    ".jctx-rows .jctx-text{max-width:0;min-width:6em;width:40%;overflow:hidden;text-overflow:ellipsis}"
    "</style>"
)
