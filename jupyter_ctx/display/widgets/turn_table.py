"""A table of turns that can be sorted, with boxes to pin and to exclude each turn, and its full text on demand.

The page has one table. The boxes lie over its first cells, in rows of the same fixed height, in the same container,
so that both scroll as one: a widget cannot stand inside the HTML of another.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import in_words
from ..tables import (
    TableRow,
    TableRows,
    caption_html,
    column_sides,
    heads_html,
    row_html,
    table,
)
from ..text import WRAPS, spoken_html, text_html, to_plain
from .clicks import button, set_class, tried
from .pager import PAGER_STYLE, Pager
from .static_twin import LIVE, Twin, show

TURNS_PER_PAGE = 15  # a few at a time, because each row has three widgets
ROW_HEIGHT = 28  # pixels, of a row of the table and of the boxes over it
AS_SENT = "as sent"  # the order of the conversation, from the page of the newest turns
MARK_NAMES = ("pin", "exclude")
MARK_TIPS = ("always sent, however full it is", "not sent until this is unticked")
MARK_WIDTHS = {"pin": 44, "exclude": 64, "full text": 64}  # pixels, of the columns below the boxes
MOST_IN_FULL = 200_000  # characters of a full text
UNFOLDED = "jctx-unfolded"  # the class of the button whose text is shown


@dataclass(frozen=True, slots=True)
class MarkBoxes:
    """Whether a turn is pinned, and whether it is excluded."""

    pinned: bool
    excluded: bool


@dataclass(frozen=True, slots=True)
class SelectionTable:
    """What a TurnTable draws.

    ``rows``: their first cell is the turn's number. ``marks``: those of the turns, by number. ``texts``: the full text
    of each row, "" for none.
    """

    head: TableRow
    rows: TableRows
    caption: str
    marks: Mapping[int, MarkBoxes]
    texts: Sequence[str]


def table_forms(what: SelectionTable) -> dict[str, str]:
    """Return the table without boxes, as HTML and as plain text."""
    return table(what.head, what.rows, what.caption)


@dataclass(frozen=True, slots=True)
class _RowWidgets:
    """The widgets over one row."""

    box: Any
    marks: tuple[Any, Any]
    unfold: Any


class TurnTable:
    """A widget of the table that ``read`` returns.

    ``mark`` is called with a turn's number, "pin" or "exclude", and whether the box is now ticked.
    """

    def __init__(self, read: Callable[[], SelectionTable], mark: Callable[[int, str, bool], object]) -> None:
        self._read, self._mark = read, mark
        self._lock = threading.RLock()
        self._drawing = False
        self._ended = ""
        self._twin: Twin | None = None
        self._shown: Sequence[int] = ()  # the indexes of the rows in view
        self._full: tuple[str, str, str] | None = None  # the turn, the role and the text that is shown in full
        self._table = self._read()
        self._build()
        self._draw()

    def show(self) -> None:
        """Show the table in the running cell; from now on, ``update`` refreshes the static twin there."""
        self._twin = show(self.widget, table_forms(self._table))

    def update(self, change: object = None) -> None:
        """Redraw the table; ``change`` is not used."""
        del change
        if self._ended:
            return
        try:
            what = self._read()
            with self._lock:
                self._table = what
                self._draw()
                if self._twin is not None:
                    self._twin.update(table_forms(what))
        except Exception as error:  # a turn must not fail because of the table
            self._say(in_words(error), "alert")

    def end(self, why: str) -> None:
        """Leave the table as it is from now on, and say why."""
        with self._lock:
            self._ended = why
            for row in self._rows:
                for box in row.marks:
                    box.disabled = True
            self._say(why, "status")

    def _say(self, text: str, role: str) -> None:
        self._line.value = spoken_html(text, role)

    # drawing

    def _draw(self) -> None:
        with self._lock:
            self._shown = self._pager.in_view(self._table.rows)
            self._html.value = _page_html(self._table, self._shown)
            self._follow_full()
            self._set_boxes()
            self._draw_full()

    def _set_boxes(self) -> None:
        """Set the boxes over the first row of each turn that can be marked, and the button of each row with a text."""
        self._drawing = True  # setting a box is not a click
        try:
            while len(self._rows) < len(self._shown):
                self._rows.append(self._new_row(len(self._rows)))
            seen = set[int]()
            for place, index in enumerate(self._shown):
                number = _number(self._table.rows[index])
                first = number is not None and number not in seen
                seen.update([number] if number is not None else [])
                self._set_row(self._rows[place], index, number, self._table.marks.get(number or 0) if first else None)
            children = tuple(row.box for row in self._rows[: len(self._shown)])
            if self._column.children != children:
                self._column.children = children
        finally:
            self._drawing = False

    def _set_row(self, row: _RowWidgets, index: int, number: int | None, marks: MarkBoxes | None) -> None:
        values = (marks.pinned, marks.excluded) if marks else (False, False)
        for box, name, tip, on in zip(row.marks, MARK_NAMES, MARK_TIPS, values, strict=True):
            with box.hold_sync():
                box.value = on
                box.description = f"{name} {number}" if marks else ""
                box.tooltip = f"{name} turn {number}: {tip}" if marks else ""
                box.disabled = marks is None or bool(self._ended)
            _set_display(box, shown=marks is not None)
        with row.unfold.hold_sync():
            row.unfold.tooltip = row.unfold.description = f"full text of {self._named(index)}"
        is_open = self._full is not None and self._full == self._full_of(index)
        set_class(row.unfold, UNFOLDED, on=is_open)
        _set_display(row.unfold, shown=bool(self._table.texts[index]))

    def _named(self, index: int) -> str:
        """Return what a row is of, in words, such as ``turn 3, assistant``."""
        number, role, _ = self._full_of(index)
        return _row_name("turn", number, role) or "this row"

    def _full_of(self, index: int) -> tuple[str, str, str]:
        row, head = self._table.rows[index], list(self._table.head)
        if isinstance(row, str):
            return "", "", ""
        return row[0], row[head.index("role")] if "role" in head else "", self._table.texts[index]

    def _follow_full(self) -> None:
        """Close the text that is shown in full where its row is not on this page; draw a turn's newest text."""
        if self._full is None:
            return
        here = [self._full_of(index) for index in self._shown]
        same = (full for full in here if full[0] and full[:2] == self._full[:2] and full[2])
        self._full = self._full if self._full in here else next(same, None)

    def _draw_full(self) -> None:
        """Draw the text that is shown in full."""
        if self._full is None:
            self._below.value = ""
            return
        number, role, text = self._full
        name = html.escape(to_plain(_row_name("Turn", number, role)), quote=True)
        cut = f"\n… {len(text) - MOST_IN_FULL:,} more characters" if len(text) > MOST_IN_FULL else ""
        self._below.value = (
            f'<div class="jctx-full" role="region" tabindex="0" aria-label="{name}" data-lm-suppress-shortcuts="true">'
            f"<b>{name}</b>\n{text_html(text[:MOST_IN_FULL] + cut)}</div>"
        )

    # clicks

    def _clicked(self, place: int, name: str, box: Any) -> None:
        number = _number(self._table.rows[self._shown[place]]) if place < len(self._shown) else None
        if self._drawing or self._ended or number is None:
            return
        result, role = tried(lambda: self._mark(number, name, bool(box.value)))
        self.update()
        self._say(result, role)

    def _unfold(self, place: int) -> None:
        """Show the full text of a row below the table, or hide it."""
        with self._lock:
            wanted = self._full_of(self._shown[place])
            self._full = None if self._full == wanted else wanted
            self._draw()

    # building

    def _new_row(self, place: int) -> _RowWidgets:
        import ipywidgets

        boxes = []
        for name in MARK_NAMES:
            box = ipywidgets.Checkbox(indent=False, layout=_cell_layout(MARK_WIDTHS[name]))
            box.observe(lambda _, name=name, box=box: self._clicked(place, name, box), "value")
            boxes.append(box)
        unfold = button(lambda: self._unfold(place), (), _cell_layout(MARK_WIDTHS["full text"]))
        row = ipywidgets.HBox([*boxes, unfold], layout=ipywidgets.Layout(height=f"{ROW_HEIGHT}px", margin="0"))
        return _RowWidgets(row, (boxes[0], boxes[1]), unfold)

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        self._rows = list[_RowWidgets]()
        self._html = ipywidgets.HTML(layout=layout(margin="0", overflow="visible", min_width="100%"))
        self._column = ipywidgets.VBox(layout=layout(margin="0", overflow="visible"))
        self._column.add_class("jctx-boxes")
        self._column.add_class("jctx-toolbar")
        self._below, self._line = ipywidgets.HTML(), ipywidgets.HTML()
        self._pager = Pager(self._table.head, AS_SENT, TURNS_PER_PAGE, self._draw, newest_first=True)
        style = ipywidgets.HTML(TABLE_STYLE + PAGER_STYLE, layout=layout(display="none"))
        scroll = ipywidgets.Box([self._html, self._column], layout=layout(margin="0"))
        scroll.add_class("jctx-scroll")
        parts = [style, self._pager.menu, scroll, self._pager.buttons, self._below, self._line]
        self.widget = ipywidgets.VBox(parts, layout=layout(overflow="visible"))
        self.widget.add_class("jctx-turns")
        self.widget.add_class(LIVE)


def _row_name(turn: str, number: str, role: str) -> str:
    parts = (f"{turn} {number}" if number.isdigit() else "", role)
    return ", ".join(filter(None, parts))


def _number(row: TableRow | str) -> int | None:
    return int(row[0]) if not isinstance(row, str) and row[0].isdigit() else None


def _cell_layout(width: int) -> Any:
    import ipywidgets

    return ipywidgets.Layout(width=f"{width}px", height=f"{ROW_HEIGHT}px", margin="0", justify_content="center")


def _set_display(widget: Any, *, shown: bool) -> None:
    """Show a widget, or leave its place empty."""
    visibility = None if shown else "hidden"
    if widget.layout.visibility != visibility:
        widget.layout.visibility = visibility


def _page_html(what: SelectionTable, shown: Sequence[int]) -> str:
    """Return the table of the rows in view, with empty cells below the boxes."""
    heads = "".join(
        f'<th class="jctx-boxed" style="width:{width}px;min-width:{width}px">{name}</th>'
        for name, width in MARK_WIDTHS.items()
    )
    width, sides = len(MARK_WIDTHS), column_sides(what.head, what.rows)
    rows = "".join(
        f"<tr><td></td>{'<td></td>' * (width - 1)}{row_html(what.rows[index], sides)}</tr>" for index in shown
    )
    return (
        f'<div class="jctx-rows"><table class="jctx-table">{caption_html(what.caption)}'
        f"<thead><tr>{heads}{heads_html(what.head, sides)}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


_LINE = "var(--jp-border-color2,#ccc)"
TABLE_STYLE = (
    "<style>"
    ".jctx-rows{overflow-x:auto}.jctx-rows table{border-collapse:separate;border-spacing:0;width:100%;margin:0;"
    "font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif);"
    "color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))}"
    f".jctx-rows caption{{caption-side:bottom;text-align:left;padding:4px 0}}"
    f".jctx-rows :is(td,th){{box-sizing:border-box;height:{ROW_HEIGHT}px;padding:0 8px;white-space:nowrap;"
    f"border:0;border-bottom:1px solid {_LINE}}}"
    ".jctx-rows .jctx-boxed{padding:0;text-align:center;font-weight:600}"
    ".jctx-rows .jctx-text{max-width:0;min-width:8em;width:40%;overflow:hidden;text-overflow:ellipsis}"
    ".jctx-turns .jctx-scroll{position:relative;overflow-x:auto;overflow-y:hidden;display:block}"
    ".jctx-turns .jctx-rows{overflow:visible}"
    ".jctx-turns .widget-html-content{line-height:18px}"
    # more exact than what a gauge around it says of toolbars
    f".jctx-turns .jctx-scroll .jctx-boxes{{position:absolute;left:0;top:{ROW_HEIGHT}px;display:block;width:auto}}"
    ".jctx-turns .jctx-boxes .widget-hbox{display:flex;flex-flow:row nowrap}"
    ".jctx-boxes .widget-checkbox{justify-content:center}"
    ".jctx-boxes .widget-label-basic{display:flex;align-items:center;justify-content:center;margin:0;height:100%}"
    ".jctx-boxes .widget-label-basic input{margin:0}"
    ".jctx-boxes .widget-label-basic span{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    ".jctx-boxes .jupyter-button{background:none;box-shadow:none;padding:0;line-height:normal;font-size:0;"
    "color:var(--jp-ui-font-color1,inherit)}"
    # a sign that is no part of the button's name, where the browser knows how to say so
    ".jctx-boxes .jupyter-button::before{font-size:14px;content:'▸';content:'▸' / ''}"
    f".jctx-boxes .{UNFOLDED}::before{{content:'▾';content:'▾' / ''}}"
    ".jctx-boxes .jupyter-button:hover{background:var(--jp-layout-color2,#eee)}"
    ".jctx-boxes :is(input,button):focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-2px}"
    f".jctx-full{{white-space:pre-wrap;{WRAPS};max-height:20em;overflow:auto;padding:4px 8px;"
    f"border-left:3px solid {_LINE};font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif);"
    "color:var(--jp-ui-font-color1,inherit)}"
    "</style>"
)
